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
    let path = use_location().pathname;
    let (announcer, toasts) = (expect_context::<Announcer>(), expect_context::<Toasts>());
    let shown = StoredValue::new(target.get_untracked());
    let navigate = use_navigate();
    let replace = Callback::new(move |now: AddressTarget| {
        shown.set_value(now);
        navigate(&now.href(chat), NavigateOptions { replace: true, scroll: false, ..Default::default() });
    });
    // Documents opened from here quote into this chat, and pages without the chat list link back to it.
    local_store::put_in_tab(LAST_CHAT_KEY, &chat.to_string());
    let keep = move || {
        if let Some(leaf) = state.leaf_id() {
            history::set_entry_state(&chat_path(chat), &leaf.to_string());
        }
    };
    effect(move || {
        let _ = state.leaf();
        keep();
    });
    // The address of another chat is handled by that chat's page.
    let is_here = move || path.get_untracked() == chat_path(chat);
    let show = move |_, now: AddressTarget| {
        if !is_here() || shown.get_value() == now {
            return navigation.cancel();
        }
        refusals.clear();
        let was_in_text = focus::is_in_text_field();
        let arrive = move || {
            shown.set_value(now);
            keep();
            state.announce_arrival(now.at);
            if let Some(at) = now.at {
                reveal_turn(state, at, !was_in_text && focus::is_in_text_field());
            }
        };
        if now.from.is_none() && now.at.is_some() && state.leaf_id() == now.at && !signals.notices.is_cut() {
            navigation.cancel();
            return arrive();
        }
        let at = now.at.or_else(|| last_shown_leaf(chat));
        let number = navigation.start();
        spawn_local(async move {
            let page = clock::with_timeout(limits::SEND_TIME, load_chat(Some(chat), at, now.from, None)).await;
            // The reader may have navigated elsewhere meanwhile.
            if !navigation.is_current(number) {
                return;
            }
            if target.try_get_untracked() != Some(now) || !is_here() {
                return navigation.fail(number);
            }
            let page = page.unwrap_or_else(|| Err(ApiError::Unreachable));
            match page {
                Ok(page) => {
                    // The fallback that is shown instead is not the requested turn.
                    let is_it = !page.is_turn_gone;
                    state.show_page(page.clone());
                    signals.apply_page(page);
                    arrive();
                    // Runs after the page has followed the path, so that a waiting message is sent to the model of
                    // its branch.
                    set_timeout(
                        move || if is_it { navigation.finish(number) } else { navigation.redirected(number) },
                        Duration::ZERO,
                    );
                    if now.from.is_some() {
                        request_animation_frame(|| focus::focus_first_without_scroll("#message"));
                    }
                }
                Err(error) => {
                    // The address returns to that of the path on screen, so that the same navigation can be retried.
                    state.announce_arrival(None);
                    navigation.fail(number);
                    match sibling_version(state, now.at) {
                        Some(turn) => refusals.report(turn.id(), error),
                        None => {
                            announcer.alert(&problem(&error));
                            toasts.show(problem(&error));
                        }
                    }
                    replace.run(shown.get_value());
                }
            }
        });
    };
    on_change(move || target.get(), show);
    Callback::new(move |at: TurnId| replace.run(AddressTarget { at: Some(at), from: None }))
}

/// Returns the version on screen that this turn would have replaced.
fn sibling_version(state: ChatState, at: Option<TurnId>) -> Option<TurnState> {
    let is_sibling = |turn: &TurnState| turn.with_untracked(|view| at.is_some_and(|at| view.siblings.contains(&at)));
    untrack(|| state.turns()).into_iter().find(is_sibling)
}
