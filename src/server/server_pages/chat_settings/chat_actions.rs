//! Actions on a chat on its settings page: rename, suggest a title, and delete; and the addresses of its pages.

use leptos::prelude::*;

use crate::domain::{Chat, ChatId};
use crate::server::server_pages::form_fields::TextField;
use crate::server::server_pages::messages::{self, title_suggestion as title_texts};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages as app_words;
use turnleaf_service::chats::titles::ListedTitleRequest;
use turnleaf_service::turns::generations::GenerationStatus;

/// Returns the address of a chat and the prefix of its settings' addresses; also for a new chat that does not exist
/// yet.
pub fn chat_paths(chat: Option<ChatId>) -> (String, String) {
    chat.map_or_else(|| ("/".into(), "/new".into()), |id| (format!("/c/{id}"), format!("/c/{id}")))
}

/// Renders the form that renames the chat.
pub fn rename_form(chat: &Chat, title: &str, error: Option<&str>) -> AnyView {
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

/// Renders the form that asks the model of the chat for a title, with the last suggestions.
pub(super) fn suggest_title_form(chat: &Chat, last: &[ListedTitleRequest]) -> AnyView {
    let row = |one: &ListedTitleRequest| {
        let name = title_texts::listed(one.title.as_deref(), one.status);
        let at = one.started_at;
        let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
        view! {
            <li>
                <a href=format!("/title-suggestions/{}", one.id)><bdi>{name}</bdi></a>" "
                <time class="hint" datetime=at.to_rfc3339()>{exact}</time>
            </li>
        }
    };
    let rows: Vec<AnyView> = last.iter().map(|one| row(one).into_any()).collect();
    let listed = (!rows.is_empty()).then(|| {
        view! {
            <details class="kept">
                <summary>{title_texts::last_suggestions()}</summary>
                <ul>{rows}</ul>
            </details>
        }
    });
    let is_running = last.iter().any(|one| one.status == GenerationStatus::Running);
    let button = if is_running { stop_title_button(chat) } else { suggest_title_button(chat) };
    view! {
        <div class="form">
            {button}
            <p class="hint">{title_texts::hint()}</p>
            {listed}
        </div>
    }
    .into_any()
}

/// Renders the button that asks the model of the chat for a title.
pub fn suggest_title_button(chat: &Chat) -> AnyView {
    view! {
        <form method="post" action="/forms/suggest-title">
            <input type="hidden" name="chat_id" value=chat.id.to_string()/>
            <button type="submit" class="button">{title_texts::suggest_title()}</button>
        </form>
    }
    .into_any()
}

/// Renders the button that stops the request for a title of the chat.
pub fn stop_title_button(chat: &Chat) -> AnyView {
    view! {
        <form method="post" action="/forms/stop-title">
            <input type="hidden" name="chat_id" value=chat.id.to_string()/>
            <button type="submit" class="button">{title_texts::stop_suggesting()}</button>
        </form>
    }
    .into_any()
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
