//! What could not be attached to a message without script, and the way back to it.

use leptos::prelude::*;

use super::{Page, Section};
use crate::ui::erased::view;
use crate::ui::locale::colon;
use crate::ui::words::attaching as said;

/// Names of files, each with why not.
pub fn not_attached(refused: Vec<(String, String)>, back: String) -> Page {
    let row = |(name, why): (String, String)| view! { <li><bdi>{name}</bdi>{colon()}{why}</li> };
    let body = view! {
        <ul class="problem">{refused.into_iter().map(row).collect_view()}</ul>
        <p><a class="button" href=back>{said::back_to_message()}</a></p>
    };
    Page { section: Section::Chat, title: said::not_attached().to_owned(), said: None, body }
}
