//! What is shown where there is no network. A browser keeps it, so it says nothing of anybody.

use leptos::prelude::*;

use super::messages::offline as words;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// The page. It stands at whatever address was asked for: to ask for that again is to follow a link to nothing else.
pub fn offline_page() -> ServerPage {
    let body = view! {
        <p class="lead"><Icon name="offline"/>" "{words::description()}</p>
        <p>{words::unsent_text()}</p>
        <div class="deeds"><a class="button primary" href="">{words::try_again()}</a></div>
    };
    ServerPage { section: PageSection::Chat, title: words::title().to_owned(), notice: None, body: body.into_any() }
}
