//! What happens to a chat in another tab or on another device: the page looks at the chat every moment while somebody
//! sees it, shows a reply that was started elsewhere as it is written, and takes over titles and drafts.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::beside::Beside;
use crate::api::chats::{glance_at_chat, load_chat};
use crate::api::error::ApiError;
use crate::api::view::{ChatGlance, ChatPage, DraftView};
use crate::browser::document;
use crate::domain::ChatId;
use crate::ui::chats::Chats;
use crate::ui::connection::Connection;
use crate::ui::erased::{effect, on_change};
use crate::ui::state::ChatState;
use crate::ui::transcript::more::follow_path;

/// How often the page looks: what another tab began must be seen within 2 s (reliability.md F36).
const INTERVAL: Duration = Duration::from_millis(1_500);

/// After so many failures in a row the pauses grow no more: 1.5 s · 2⁴.
const FAILURES: u32 = 4;

/// The revision of a chat, how many replies are being written elsewhere in it, and which models can be chosen.
pub type Rev = (i64, usize, u64);

/// What is known of a chat, to see what is new in a glance at it.
#[derive(Clone, Copy)]
struct Known {
    /// That a reply ended is no new revision. None after something began here: the next glance tells what it led to.
    rev: StoredValue<Option<Rev>>,
    title: StoredValue<String>,
    is_looking: StoredValue<bool>,
    /// How many looks in a row failed, and how many are left out for it.
    failures: StoredValue<u32>,
    pause: StoredValue<u32>,
}

impl Known {
    /// A server that does not answer is asked half as often each time.
    fn failed(self) {
        let failures = (self.failures.get_value() + 1).min(FAILURES);
        self.failures.set_value(failures);
        self.pause.set_value((1 << failures) - 1);
    }
}

/// Looks at the chat while the page is seen. With the page comes what is known with the path on screen, whoever loaded
/// it. `take` gets the page anew when its path changed elsewhere, after the path was shown; `draft` is set when the draft
/// did, `leaves` when the tree has more ends or fewer. What is returned must be called when a reply begins here.
pub fn watch(
    state: ChatState,
    beside: Beside,
    (page, rev): (&ChatPage, StoredValue<Option<Rev>>),
    chat_id: ChatId,
    draft: RwSignal<DraftView>,
    leaves: RwSignal<u64>,
    take: impl Fn(ChatPage) + Copy + 'static,
) -> impl Fn() + Copy + Send + Sync + 'static {
    let known = Known {
        rev,
        title: StoredValue::new(page.chat.as_ref().map(|chat| chat.title.clone()).unwrap_or_default()),
        is_looking: StoredValue::new(false),
        failures: StoredValue::new(0),
        pause: StoredValue::new(0),
    };
    let chats = use_context::<Chats>();
    let connection = use_context::<Connection>();
    let look = move || {
        // A page that is gone, hidden, offline or still waiting for an answer does not ask.
        if document::is_hidden()
            || state.is_hiding()
            || connection.is_some_and(Connection::is_waiting)
            || known.is_looking.try_get_value() != Some(false)
        {
            return;
        }
        if known.pause.get_value() > 0 {
            return known.pause.update_value(|pause| *pause -= 1);
        }
        known.is_looking.set_value(true);
        let looked = async move {
            let leaf = state.leaf_id();
            let draft_rev = draft.try_with_untracked(|draft| draft.rev).unwrap_or(0);
            let glance = glance_at_chat(chat_id, leaf, draft_rev).await;
            if !state.is_there() {
                return;
            }
            if let Some(connection) = connection {
                connection.heard(&glance);
            }
            let is_gone = glance == Err(ApiError::NotFound);
            if is_gone || glance.is_ok() {
                beside.chat_is_gone(is_gone);
            }
            let Ok(glance) = glance else { return known.failed() };
            known.failures.set_value(0);
            // Something began here while the answer was on its way: the next one tells.
            if state.leaf_id() != leaf || state.is_hiding() {
                return;
            }
            if leaves.get_untracked() != glance.leaves {
                leaves.set(glance.leaves);
            }
            if let Some(newer) = &glance.draft {
                draft.set(newer.clone());
            }
            take_title(known, chats, chat_id, &glance);
            // Where a path is to be gone on from, nothing lengthens it.
            if beside.is_cut() {
                return;
            }
            let now = (glance.rev, glance.running, glance.models_rev);
            let is_told = beside.also_running() == glance.running;
            if glance.leaf == leaf && is_told && known.rev.get_value().is_none_or(|rev| rev == now) {
                return known.rev.set_value(Some(now));
            }
            let page = load_chat(Some(chat_id), glance.leaf, None, None).await;
            if !state.is_there() || state.leaf_id() != leaf || beside.is_cut() {
                return;
            }
            // What could not be loaded is asked for again: known is what was taken.
            let Ok(page) = page else { return known.failed() };
            if follow_path(state, page.clone()).await {
                known.rev.set_value(rev_of(&page));
                take(page);
            }
        };
        spawn_local(async move {
            looked.await;
            let _ = known.is_looking.try_set_value(false);
        });
    };
    effect(move || {
        let seen = window_event_listener(ev::visibilitychange, move |_| look());
        let ticking = set_interval_with_handle(look, INTERVAL).ok();
        on_cleanup(move || {
            seen.remove();
            if let Some(ticking) = ticking {
                ticking.clear();
            }
        });
    });
    // The server is there again: what it has is wanted now.
    if let Some(connection) = connection {
        on_change(
            move || connection.is_offline(),
            move |_, is_offline| {
                if !is_offline {
                    known.pause.set_value(0);
                    look();
                }
            },
        );
    }
    move || known.rev.set_value(None)
}

/// What is known with this page.
pub fn rev_of(page: &ChatPage) -> Option<Rev> {
    page.chat.as_ref().map(|chat| (chat.rev, page.running.len(), page.models_rev))
}

/// Takes over the title that a glance tells.
fn take_title(known: Known, chats: Option<Chats>, chat_id: ChatId, glance: &ChatGlance) {
    if known.title.with_value(|title| *title != glance.title) {
        known.title.set_value(glance.title.clone());
        if let Some(chats) = chats {
            chats.renamed.set(Some((chat_id, glance.title.clone())));
            chats.refresh();
        }
    }
}
