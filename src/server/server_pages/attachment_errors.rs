//! The page about attachments that were refused without script, with a link back to the message.

use leptos::prelude::*;

use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::colon;
use crate::ui::messages::attachments as texts;

/// Renders the names of the refused files, each with its reason.
pub fn attachment_errors_page(refused: Vec<(String, String)>, back: String) -> ServerPage {
    let row = |(name, reason): (String, String)| view! { <li><bdi>{name}</bdi>{colon()}{reason}</li> };
    let body = view! {
        <ul class="problem">{refused.into_iter().map(row).collect_view()}</ul>
        <p><a class="button" href=back>{texts::back_to_message()}</a></p>
    };
    ServerPage { section: PageSection::Chat, title: texts::not_attached().to_owned(), notice: None, body }
}
