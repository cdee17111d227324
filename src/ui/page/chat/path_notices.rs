//! Notices above the message box about turns that are not on screen: newer messages on another version, turns that a
//! cut path hides, and the origin of a copied chat.

use leptos::prelude::*;

use crate::api::view::{ChatPage, CopySource, NewerTurnsView, RunningReply};
use crate::browser::scroll;
use crate::domain::{ChatId, TurnId};
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::locale::sentence_end;
use crate::ui::messages;
use crate::ui::messages::transcript as texts;
use crate::ui::transcript::async_form::AsyncForm;

/// The turns beside the path on screen.
#[derive(Clone, Copy)]
pub struct PathNotices {
    newer: RwSignal<Option<NewerTurnsView>>,
    hidden: RwSignal<Option<u64>>,
    running: RwSignal<Vec<RunningReply>>,
    /// The notice that the address's target was deleted.
    gone: RwSignal<Option<&'static str>>,
}

fn deleted_notice(page: &ChatPage) -> Option<&'static str> {
    page.is_turn_gone.then_some(texts::turn_gone())
}

impl PathNotices {
    pub fn new(page: &ChatPage) -> Self {
        Self {
            newer: RwSignal::new(page.elsewhere),
            hidden: RwSignal::new(page.hides_below),
            running: RwSignal::new(page.running.clone()),
            gone: RwSignal::new(deleted_notice(page)),
        }
    }

    /// Applies another page of the chat.
    pub fn update(self, page: &ChatPage) {
        self.update_counts(page);
        self.gone.set(deleted_notice(page));
    }

    /// Applies the reloaded page of the path on screen. Nobody has gone elsewhere, so that what was said about the
    /// address's target stays to be read.
    pub fn update_reloaded(self, page: &ChatPage) {
        self.update_counts(page);
        if page.is_turn_gone {
            self.gone.set(deleted_notice(page));
        }
    }

    fn update_counts(self, page: &ChatPage) {
        self.newer.set(page.elsewhere);
        self.hidden.set(page.hides_below);
        // Compared first, so that a focused button stays.
        if self.running.with_untracked(|before| *before != page.running) {
            self.running.set(page.running.clone());
        }
    }

    /// Clears the notices: the newest turn of the chat is on screen.
    pub fn clear(self) {
        self.newer.set(None);
        self.hidden.set(None);
        self.gone.set(None);
    }

    /// Sets or clears the notice that the chat was deleted meanwhile.
    pub fn set_chat_deleted(self, is_gone: bool) {
        if is_gone != (self.gone.try_get_untracked().flatten() == Some(texts::chat_gone())) {
            let _ = self.gone.try_set(is_gone.then_some(texts::chat_gone()));
        }
    }

    /// Returns the number of replies shown as running on other paths.
    pub fn also_running_count(self) -> usize {
        self.running.try_with_untracked(Vec::len).unwrap_or_default()
    }

    /// Returns whether the path is cut where it is to be continued; turns of other tabs must not extend it.
    pub fn is_cut(self) -> bool {
        self.hidden.try_get_untracked().flatten().is_some()
    }
}

/// The bars above the message box.
#[component]
pub fn PathNoticeBars(notices: PathNotices, chat: ChatId, #[prop(into)] leaf: Signal<Option<TurnId>>) -> impl IntoView {
    let cut = move || {
        let hidden = notices.hidden.get()?;
        let back = leaf.get().map(|leaf| format!("/c/{chat}?at={leaf}"));
        Some(view! {
            <div class="beside-bar">
                <Icon name="branch"/>
                <p><strong>{texts::continue_from_here()}</strong>{sentence_end()}{texts::hides_below(hidden)}</p>
                <a class="button" role="button" data-cancel="branch" href=back data-noscroll="" prop:replace=true>
                    {messages::cancel()}
                </a>
            </div>
        })
    };
    let newer = move || {
        let newer = notices.newer.get()?;
        Some(view! {
            <div class="beside-bar">
                <p>{texts::newer_elsewhere(newer.turns)}</p>
                <a
                    class="button"
                    href=format!("/c/{chat}?at={}", newer.newest)
                    data-noscroll=""
                    prop:replace=true
                    on:click=move |_| scroll::scroll_to_latest()
                >
                    {texts::show()}
                </a>
            </div>
        })
    };
    let also = move || {
        let running = notices.running.get();
        (!running.is_empty()).then(|| {
            view! {
                <div class="beside-bar" role="group" aria-label=texts::also_answered()>
                    <p>{texts::also_answered()}</p>
                    {running.into_iter().map(|reply| also_running_bar(chat, reply)).collect_view()}
                </div>
            }
        })
    };
    let gone = move || {
        let sentence = notices.gone.get()?;
        Some(view! {
            <div class="beside-bar">
                <Icon name="trash"/>
                <p>{sentence}</p>
                <a class="button" rel="external" href="/trash">{messages::trash()}</a>
            </div>
        })
    };
    view! {
        {live_view(gone)}
        {live_view(also)}
        {live_view(cut)}
        {live_view(newer)}
    }
}

/// A reply on another path: a link to it, and a button that stops it from here.
fn also_running_bar(chat: ChatId, reply: RunningReply) -> AnyView {
    let RunningReply { turn_id, model, words } = reply;
    let description =
        [Some(words), model].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let (go, end) = (texts::go_to_reply(&description), texts::stop_other(&description));
    let posting = AsyncForm::from_context();
    view! {
        <div class="also-running">
            <bdi>{description}</bdi>
            <a
                class="button"
                href=format!("/c/{chat}?at={turn_id}")
                aria-label=go
                data-noscroll=""
                prop:replace=true
                on:click=move |_| scroll::scroll_to_latest()
            >
                {texts::show()}
            </a>
            <form
                method="post"
                action="/forms/stop"
                class="inline-form no-print"
                on:submit=move |event| posting.submit(event, || ())
            >
                <input type="hidden" name="turn_id" value=turn_id.to_string()/>
                <button type="submit" class="button" aria-label=end aria-disabled=move || posting.aria_disabled()>
                    <Icon name="stop"/>
                    {texts::stop_word()}
                </button>
            </form>
            {posting.problem_view()}
        </div>
    }
    .into_any()
}

/// The link back to the chat that this one was copied from.
#[component]
pub fn CopiedFromLine(from: CopySource) -> impl IntoView {
    view! {
        <p class="copied-from">
            <a href=format!("/c/{}?at={}", from.chat_id, from.turn_id)>{texts::copied_from(&from.title)}</a>
        </p>
    }
}
