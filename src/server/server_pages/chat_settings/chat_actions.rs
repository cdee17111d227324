//! Actions on a chat on its settings page: rename and delete; and the addresses of its pages.

use leptos::prelude::*;

use crate::domain::{Chat, ChatId};
use crate::server::server_pages::form_fields::TextField;
use crate::server::server_pages::messages;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages as app_words;

/// Returns the address of a chat and the prefix of its settings' addresses; also for a new chat that does not exist
/// yet.
pub fn chat_paths(chat: Option<ChatId>) -> (String, String) {
    chat.map_or_else(|| ("/".into(), "/new".into()), |id| (format!("/c/{id}"), format!("/c/{id}")))
}

/// Renders the form that renames the chat.
pub(super) fn rename_form(chat: &Chat, title: &str, error: Option<&str>) -> AnyView {
    let field = TextField {
        label: app_words::title(),
        name: "title",
        form: "naming",
        value: title,
        error,
        is_required: true,
        ..TextField::default()
    };
    view! {
        <form class="form" id="naming" method="post" action="/forms/rename">
            <input type="hidden" name="chat_id" value=chat.id.to_string()/>
            {field.draw()}
            <div class="deeds"><button type="submit" class="button">{app_words::rename()}</button></div>
        </form>
    }
}

/// Renders the form that deletes the chat. Deletion can be undone, so there is no confirmation.
pub(super) fn delete_form(chat: &Chat) -> AnyView {
    view! {
        <form class="panel" method="post" action="/forms/delete-chat">
            <h2>{messages::delete_chat()}</h2>
            <p class="hint">{messages::delete_chat_hint()}</p>
            <input type="hidden" name="chat_id" value=chat.id.to_string()/>
            <div class="deeds">
                <button type="submit" class="button danger"><Icon name="trash"/>{messages::delete_chat()}</button>
            </div>
        </form>
    }
}
