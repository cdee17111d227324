//! What could not be attached to a message without script, and the way back to it.

use leptos::prelude::*;

use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::colon;
use crate::ui::messages::attachments as said;

/// Names of files, each with why not.
pub fn attachment_errors_page(refused: Vec<(String, String)>, back: String) -> ServerPage {
    let row = |(name, why): (String, String)| view! { <li><bdi>{name}</bdi>{colon()}{why}</li> };
    let body = view! {
        <ul class="problem">{refused.into_iter().map(row).collect_view()}</ul>
        <p><a class="button" href=back>{said::back_to_message()}</a></p>
    };
    ServerPage { section: PageSection::Chat, title: said::not_attached().to_owned(), notice: None, body }
}
