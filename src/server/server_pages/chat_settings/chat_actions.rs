//! What is done with a chat on the page of its settings: another title, deleting; and where its pages are.

use leptos::prelude::*;

use crate::domain::{Chat, ChatId};
use crate::server::server_pages::form_fields::TextField;
use crate::server::server_pages::messages;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages as app_words;

/// Where a chat is read, and where what is set of it begins: of the next chat, before it is there, too.
pub fn chat_paths(chat: Option<ChatId>) -> (String, String) {
    chat.map_or_else(|| ("/".into(), "/new".into()), |id| (format!("/c/{id}"), format!("/c/{id}")))
}

/// The form that gives the chat another title.
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

/// The form that deletes the chat. It can be undone, so nothing is asked.
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
