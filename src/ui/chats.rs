//! The person's chats, as every part of the page sees them: one list, loaded once, and what can be done with a chat of
//! it. Not for drawing it: that is the sidebar.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::{use_location, use_navigate};

use crate::api::chats::{delete_chat, list_chats, rename_chat, restore_chat, running_chats};
use crate::api::error::ApiError;
use crate::api::json::Json;
use crate::api::view::ChatItem;
use crate::browser::{document, network};
use crate::domain::ChatId;
use crate::ui::announce::Announcer;
use crate::ui::erased::effect;
use crate::ui::kit::Toasts;
use crate::ui::words;
use crate::ui::words::told::problem;

/// How often the page looks which chats are being answered.
const RUNNING_EVERY: Duration = Duration::from_secs(3);

/// The list, and what was just done with it. In context.
#[derive(Clone, Copy)]
pub struct Chats {
    resource: Resource<Result<Vec<ChatItem>, ApiError>, Json>,
    /// The last list that came: what was seen is not taken away where the next one does not come.
    known: StoredValue<Option<Vec<ChatItem>>>,
    /// Deleted a moment ago: gone from the page before the server has said so.
    hidden: RwSignal<Vec<ChatId>>,
    /// The chat whose title is being changed, and the title it has.
    pub renaming: RwSignal<Option<(ChatId, String)>>,
    /// The last title that was given here, for the page that shows the chat.
    pub renamed: RwSignal<Option<(ChatId, String)>>,
    toasts: Toasts,
    announcer: Announcer,
}

/// Puts the list into the context, which must have the toasts and the announcer.
pub fn provide_chats() -> Chats {
    let chats = Chats {
        resource: Resource::new_with_options(|| (), |()| list_chats(), false),
        known: StoredValue::new(None),
        hidden: RwSignal::new(Vec::new()),
        renaming: RwSignal::new(None),
        renamed: RwSignal::new(None),
        toasts: expect_context(),
        announcer: expect_context(),
    };
    provide_context(chats);
    look_at_running(chats);
    chats
}

/// Looks which chats are being answered and which wait for somebody, and brings the list up to date where it says
/// something else: what is asked in another chat must not stay unseen, nor may what is over be said to go on.
fn look_at_running(chats: Chats) {
    // What the list was asked again for without coming to agree: of a chat that it does not have it says nothing.
    let in_vain = StoredValue::new(None);
    let look = move || {
        if document::is_hidden() || !network::is_online() {
            return;
        }
        spawn_local(async move {
            let Ok(now) = running_chats().await else { return };
            let Ok(listed) = chats.resource.await else { return chats.refresh() };
            if agree(&listed, &now) {
                in_vain.set_value(None);
            } else if in_vain.with_value(|before| before.as_ref() != Some(&now)) {
                in_vain.set_value(Some(now));
                chats.refresh();
            }
        });
    };
    effect(move || {
        if let Ok(ticking) = set_interval_with_handle(look, RUNNING_EVERY) {
            on_cleanup(move || ticking.clear());
        }
    });
}

/// Whether a list says of its chats what is so now: which are being answered, and which of these wait for somebody.
fn agree(listed: &[ChatItem], now: &[(ChatId, bool)]) -> bool {
    let state = |id: ChatId| now.iter().find(|(chat, _)| *chat == id).map(|(_, waits)| *waits);
    listed.iter().all(|item| state(item.id) == item.running.then_some(item.needs_you))
        && now.iter().all(|(chat, _)| listed.iter().any(|item| item.id == *chat))
}

impl Chats {
    /// The chats that are not hidden, newest first.
    pub async fn visible(self) -> Result<Vec<ChatItem>, ApiError> {
        let hidden = self.hidden;
        let all = match self.resource.await {
            Ok(all) => {
                self.known.set_value(Some(all.clone()));
                all
            }
            Err(error) => self.known.get_value().ok_or(error)?,
        };
        Ok(hidden.with(|hidden| all.into_iter().filter(|chat| !hidden.contains(&chat.id)).collect()))
    }

    /// Asks the server again, after something happened that changes the list.
    pub fn refresh(self) {
        self.resource.refetch();
    }

    /// Gives a chat a title.
    pub fn rename(self, id: ChatId, title: String) {
        let announcer = self.announcer;
        spawn_local(async move {
            match rename_chat(id, title.clone()).await {
                Ok(()) => {
                    self.renamed.set(Some((id, title)));
                    announcer.say(words::renamed());
                    self.refresh();
                }
                Err(error) => announcer.alert(&problem(&error)),
            }
        });
    }

    /// Deletes a chat at once and offers to undo it.
    pub fn delete(self, id: ChatId, title: &str) {
        let (toasts, announcer) = (self.toasts, self.announcer);
        self.hidden.update(|hidden| hidden.push(id));
        let note = words::deleted(title);
        announcer.say(words::deleted_can_undo());
        spawn_local(async move {
            match delete_chat(id).await {
                Ok(()) => {
                    toasts.offer(note, words::undo(), Callback::new(move |()| self.restore(id)));
                }
                Err(error) => {
                    self.show_again(id);
                    announcer.alert(&problem(&error));
                    toasts.say(problem(&error));
                }
            }
        });
    }

    fn restore(self, id: ChatId) {
        let (toasts, announcer) = (self.toasts, self.announcer);
        spawn_local(async move {
            match restore_chat(id).await {
                Ok(()) => {
                    self.show_again(id);
                    self.refresh();
                    announcer.say(words::restored());
                }
                Err(error) => toasts.say(problem(&error)),
            }
        });
    }

    fn show_again(self, id: ChatId) {
        self.hidden.update(|hidden| hidden.retain(|other| *other != id));
    }
}

/// What goes to the new chat's page if the chat that is deleted is the one on screen. Made while a component is built:
/// what runs later has no router around it.
pub fn leave_deleted() -> impl Fn(ChatId) + Clone {
    let (open, navigate) = (use_location().pathname, use_navigate());
    move |id| {
        if open.get_untracked() == chat_path(id) {
            navigate("/", Default::default());
        }
    }
}

/// The address of a chat's page.
pub fn chat_path(id: ChatId) -> String {
    format!("/c/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: u128, running: bool, needs_you: bool) -> ChatItem {
        let id = ChatId::from(uuid::Uuid::from_u128(id));
        ChatItem { id, title: String::new(), updated_at: Default::default(), running, needs_you, has_draft: false }
    }

    #[test]
    fn a_list_is_read_again_when_it_says_something_else_than_what_is_so() {
        let id = |id: u128| ChatId::from(uuid::Uuid::from_u128(id));
        let listed = [item(1, false, false), item(2, true, false), item(3, true, true)];
        for (now, is_right) in [
            (vec![(id(2), false), (id(3), true)], true),
            // The first look finds that a reply is over, or that one has begun to wait, which the list missed.
            (vec![(id(3), true)], false),
            (vec![(id(2), true), (id(3), true)], false),
            (vec![(id(2), false), (id(3), false)], false),
            (vec![(id(1), false), (id(2), false), (id(3), true)], false),
            // A chat that was begun elsewhere.
            (vec![(id(2), false), (id(3), true), (id(4), false)], false),
        ] {
            assert_eq!(agree(&listed, &now), is_right, "{now:?}");
        }
    }
}
