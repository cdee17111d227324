//! Facts about a share, as its pages say them: the title of its chat, its parts, and times.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::SharedParts;
use crate::server::server_pages::messages;
use crate::server::server_pages::messages::shares as words;
use crate::ui::erased::view;
use crate::ui::locale::{colon, comma};
use crate::ui::messages as app_words;

/// A part that can be shared, as forms and addresses name it.
pub struct PartChoice {
    pub field: &'static str,
    pub name: fn() -> &'static str,
    pub is_chosen: bool,
}

pub fn part_choices(parts: SharedParts) -> [PartChoice; 4] {
    [
        PartChoice { field: "reasoning", name: words::reasoning, is_chosen: parts.reasoning },
        PartChoice { field: "tools", name: words::tools, is_chosen: parts.tools },
        PartChoice { field: "system_prompt", name: messages::system_prompt, is_chosen: parts.system_prompt },
        PartChoice { field: "documents", name: words::documents, is_chosen: parts.documents },
    ]
}

/// Returns the names of what is shared.
pub fn shared_parts(parts: SharedParts) -> String {
    let chosen = part_choices(parts).into_iter().filter(|part| part.is_chosen).map(|part| (part.name)());
    std::iter::once(words::messages_and_replies()).chain(chosen).collect::<Vec<_>>().join(comma())
}

pub fn chat_title(title: &str) -> String {
    if title.is_empty() { app_words::untitled().to_owned() } else { title.to_owned() }
}

/// Renders a time after its label. Browsers show it in the reader's time zone.
pub fn labelled_time(label: &'static str, at: DateTime<Utc>) -> AnyView {
    let words = at.format("%Y-%m-%d %H:%M UTC").to_string();
    view! { <span>{label}{colon()}<time datetime=at.to_rfc3339()>{words}</time></span> }
}
