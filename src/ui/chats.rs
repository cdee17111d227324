//! The person's chats, as every part of the page sees them: one list, loaded once, and what can be done with a chat of
//! it. Not for drawing it: that is the sidebar.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_navigate;

use crate::api::chats::{delete_chat, list_chats, rename_chat, restore_chat};
use crate::api::error::ApiError;
use crate::api::view::ChatItem;
use crate::domain::ChatId;
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;
use crate::ui::words;

/// The list, and what was just done with it. In context.
#[derive(Clone, Copy)]
pub struct Chats {
    resource: Resource<Result<Vec<ChatItem>, ApiError>>,
    /// Deleted a moment ago: gone from the page before the server has said so.
    hidden: RwSignal<Vec<ChatId>>,
    /// The chat whose title is being changed, and the title it has.
    pub renaming: RwSignal<Option<(ChatId, String)>>,
    /// The last title that was given here, for the page that shows the chat.
    pub renamed: RwSignal<Option<(ChatId, String)>>,
}

/// Puts the list into the context.
pub fn provide_chats() -> Chats {
    let chats = Chats {
        resource: Resource::new(|| (), |()| list_chats()),
        hidden: RwSignal::new(Vec::new()),
        renaming: RwSignal::new(None),
        renamed: RwSignal::new(None),
    };
    provide_context(chats);
    chats
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
        let announcer = expect_context::<Announcer>();
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
        let (toasts, announcer) = (expect_context::<Toasts>(), expect_context::<Announcer>());
        self.hidden.update(|hidden| hidden.push(id));
        let note = words::deleted(title);
        announcer.say(words::DELETED);
        spawn_local(async move {
            match delete_chat(id).await {
                Ok(()) => {
                    toasts.offer(note, words::UNDO, Callback::new(move |()| self.restore(id, toasts, announcer)));
                }
                Err(error) => {
                    self.show_again(id);
                    announcer.alert(&error.to_string());
                    toasts.say(error.to_string());
                }
            }
        });
    }

    fn restore(self, id: ChatId, toasts: Toasts, announcer: Announcer) {
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

/// Goes to the new chat's page if the chat that is deleted is the one on screen.
pub fn leave_if_open(id: ChatId) {
    let open = leptos_router::hooks::use_location().pathname;
    if open.get_untracked() == chat_path(id) {
        use_navigate()("/", Default::default());
    }
}

/// The address of a chat's page.
pub fn chat_path(id: ChatId) -> String {
    format!("/c/{id}")
}
