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

/// How often the page looks which chats are being answered.
const RUNNING_EVERY: Duration = Duration::from_secs(3);

/// The list, and what was just done with it. In context.
#[derive(Clone, Copy)]
pub struct Chats {
    resource: Resource<Result<Vec<ChatItem>, ApiError>, Json>,
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

/// Looks which chats are being answered and which wait for somebody, and brings the list up to date when that changed:
/// what is asked in another chat must not stay unseen.
fn look_at_running(chats: Chats) {
    let known = StoredValue::new(None);
    let look = move || {
        if document::is_hidden() || !network::is_online() {
            return;
        }
        spawn_local(async move {
            let Ok(now) = running_chats().await else { return };
            let before = known.try_update_value(|known| known.replace(now.clone())).flatten();
            if before.is_some_and(|before| before != now) {
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

impl Chats {
    /// The chats that are not hidden, newest first.
    pub async fn visible(self) -> Result<Vec<ChatItem>, ApiError> {
        let hidden = self.hidden;
        let all = self.resource.await?;
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
                    announcer.say(words::RENAMED);
                    self.refresh();
                }
                Err(error) => announcer.alert(&error.to_string()),
            }
        });
    }

    /// Deletes a chat at once and offers to undo it.
    pub fn delete(self, id: ChatId, title: &str) {
        let (toasts, announcer) = (self.toasts, self.announcer);
        self.hidden.update(|hidden| hidden.push(id));
        let note = words::deleted(title);
        announcer.say(words::DELETED);
        spawn_local(async move {
            match delete_chat(id).await {
                Ok(()) => {
                    toasts.offer(note, words::UNDO, Callback::new(move |()| self.restore(id)));
                }
                Err(error) => {
                    self.show_again(id);
                    announcer.alert(&error.to_string());
                    toasts.say(error.to_string());
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
                    announcer.say(words::RESTORED);
                }
                Err(error) => toasts.say(error.to_string()),
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
