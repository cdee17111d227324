//! The address of a chat and its effect on the screen: another version, a turn chosen in the tree, a reply to
//! continue from, and Back.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_location, use_navigate, use_query_map};

use super::signals::PageSignals;
use crate::api::chats::load_chat;
use crate::api::error::ApiError;
use crate::api::view::PathDirection;
use crate::browser::local_store::{self, LAST_CHAT_KEY};
use crate::browser::{clock, focus, history};
use crate::domain::{ChatId, TurnId, limits};
use crate::ui::announce::Announcer;
use crate::ui::chats::chat_path;
use crate::ui::erased::{effect, on_change};
use crate::ui::kit::Toasts;
use crate::ui::messages::server_messages::problem;
use crate::ui::state::{ChatState, PathNavigation, TurnState};
use crate::ui::transcript::refusals::TurnRefusals;
use crate::ui::transcript::reveal_turn;

/// The position that the address names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddressTarget {
    /// A turn on the path.
    pub at: Option<TurnId>,
    /// The reply that the path ends with, to continue from there.
    pub from: Option<TurnId>,
}

impl AddressTarget {
    fn href(self, chat: ChatId) -> String {
        let path = chat_path(chat);
        match (self.from, self.at) {
            (Some(from), _) => format!("{path}?from={from}"),
            (None, Some(at)) => format!("{path}?at={at}"),
            (None, None) => path,
        }
    }
}

/// Returns the current target of the address.
pub fn address_target() -> Memo<AddressTarget> {
    let query = use_query_map();
    Memo::new(move |_| {
        query.with(|query| {
            let turn = |key: &str| query.get(key)?.parse().ok();
            AddressTarget { at: turn("at"), from: turn("from") }
        })
    })
}

/// Returns the side of that turn which the page shows, for paging without script.
pub fn side_in_address() -> Option<PathDirection> {
    use_query_map().with_untracked(|query| PathDirection::parse(&query.get("side")?))
}

/// Returns whether a page without script was asked not to refresh, so that its reader can write.
pub fn is_held() -> bool {
    use_query_map().with_untracked(|query| query.get("hold").is_some())
}

/// Returns the leaf that this history entry showed before; none on a new visit. Where the address names no turn, the
/// chat opens at its last position, which may be the very branch that the reader navigates back from.
pub fn last_shown_leaf(chat: ChatId) -> Option<TurnId> {
    history::entry_state(&chat_path(chat))?.parse().ok()
}

/// Returns the link to the newest turn when it is not on this page, for the skip link before the chat list.
pub fn latest_turn_link(state: ChatState, chat: ChatId) -> Option<String> {
    let leaf = state.leaf().filter(|_| state.has_more(PathDirection::Newer))?;
    Some(format!("/c/{chat}?at={}#latest", leaf.id()))
}

/// Shows the path that the address names when it changes while the chat is open. Returns a function that replaces the
/// address by that of a path already on screen.
pub fn follow_address(
    (state, navigation): (ChatState, PathNavigation),
    signals: PageSignals,
    chat: ChatId,
    refusals: TurnRefusals,
) -> Callback<TurnId> {
    let target = address_target();
    let shown = StoredValue::new(target.get_untracked());
    let navigate = use_navigate();
    let replace = Callback::new(move |now: AddressTarget| {
        shown.set_value(now);
        navigate(&now.href(chat), NavigateOptions { replace: true, scroll: false, ..Default::default() });
    });
    // Documents opened from here quote into this chat, and pages without the chat list link back to it.
    local_store::put_in_tab(LAST_CHAT_KEY, &chat.to_string());
    let follower = AddressFollower {
        state,
        navigation,
        signals,
        chat,
        refusals,
        announcer: expect_context(),
        toasts: expect_context(),
        target,
        path: use_location().pathname,
        shown,
        replace,
    };
    effect(move || {
        let _ = state.leaf();
        follower.keep_leaf();
    });
    on_change(move || target.get(), move |_, now| follower.show(now));
    Callback::new(move |at: TurnId| replace.run(AddressTarget { at: Some(at), from: None }))
}

/// The open chat and its address.
#[derive(Clone, Copy)]
struct AddressFollower {
    state: ChatState,
    navigation: PathNavigation,
    signals: PageSignals,
    chat: ChatId,
    refusals: TurnRefusals,
    announcer: Announcer,
    toasts: Toasts,
    target: Memo<AddressTarget>,
    path: Memo<String>,
    /// The target whose path is on screen.
    shown: StoredValue<AddressTarget>,
    /// Replaces the address.
    replace: Callback<AddressTarget>,
}

impl AddressFollower {
    /// Stores the leaf with the history entry.
    fn keep_leaf(self) {
        if let Some(leaf) = self.state.leaf_id() {
            history::set_entry_state(&chat_path(self.chat), &leaf.to_string());
        }
    }

    /// Returns whether the address is that of this chat. That of another one is handled by that chat's page.
    fn is_here(self) -> bool {
        self.path.get_untracked() == chat_path(self.chat)
    }

    fn show(self, now: AddressTarget) {
        if !self.is_here() || self.shown.get_value() == now {
            return self.navigation.cancel();
        }
        self.refusals.clear();
        let was_in_text = focus::is_in_text_field();
        let is_end = now.from.is_none() && now.at.is_some() && self.state.leaf_id() == now.at;
        if is_end && !self.signals.notices.is_cut() {
            self.navigation.cancel();
            return self.arrive(now, was_in_text);
        }
        let at = now.at.or_else(|| last_shown_leaf(self.chat));
        let number = self.navigation.start();
        spawn_local(self.load((now, at), number, was_in_text));
    }

    /// Loads the path of a target, at a turn of it, and shows it.
    async fn load(self, (now, at): (AddressTarget, Option<TurnId>), number: u64, was_in_text: bool) {
        let page = clock::with_timeout(limits::SEND_TIME, load_chat(Some(self.chat), at, now.from, None)).await;
        // The reader may have navigated elsewhere meanwhile.
        if !self.navigation.is_current(number) {
            return;
        }
        if self.target.try_get_untracked() != Some(now) || !self.is_here() {
            return self.navigation.fail(number);
        }
        match page.unwrap_or_else(|| Err(ApiError::Unreachable)) {
            Ok(page) => {
                // The fallback that is shown instead is not the requested turn.
                let is_it = !page.is_turn_gone;
                self.state.show_page(page.clone());
                self.signals.apply_page(page);
                self.arrive(now, was_in_text);
                // Runs after the page has followed the path, so that a waiting message is sent to the model of its
                // branch.
                let navigation = self.navigation;
                set_timeout(
                    move || if is_it { navigation.finish(number) } else { navigation.redirected(number) },
                    Duration::ZERO,
                );
                if now.from.is_some() {
                    request_animation_frame(|| focus::focus_first_without_scroll("#message"));
                }
            }
            Err(error) => self.report(now, number, error),
        }
    }

    /// Completes the navigation to a path that is on screen.
    fn arrive(self, now: AddressTarget, was_in_text: bool) {
        self.shown.set_value(now);
        self.keep_leaf();
        self.state.announce_arrival(now.at);
        if let Some(at) = now.at {
            reveal_turn(self.state, at, !was_in_text && focus::is_in_text_field());
        }
    }

    /// Reports that the path could not be loaded. The address returns to that of the path on screen, so that the same
    /// navigation can be retried.
    fn report(self, now: AddressTarget, number: u64, error: ApiError) {
        self.state.announce_arrival(None);
        self.navigation.fail(number);
        match sibling_version(self.state, now.at) {
            Some(turn) => self.refusals.report(turn.id(), error),
            None => {
                self.announcer.alert(&problem(&error));
                self.toasts.show(problem(&error));
            }
        }
        self.replace.run(self.shown.get_value());
    }
}

/// Returns the version on screen that this turn would have replaced.
fn sibling_version(state: ChatState, at: Option<TurnId>) -> Option<TurnState> {
    let is_sibling = |turn: &TurnState| turn.with_untracked(|view| at.is_some_and(|at| view.siblings.contains(&at)));
    untrack(|| state.turns()).into_iter().find(is_sibling)
}
