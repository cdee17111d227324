//! The offline page. The service worker caches it, so it contains no personal data.

use leptos::prelude::*;

use super::messages::offline as words;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// Renders the page. It is shown at the requested address, so an empty link retries that address.
pub fn offline_page() -> ServerPage {
    let body = view! {
        <p class="lead"><Icon name="offline"/>" "{words::description()}</p>
        <p>{words::unsent_text()}</p>
        <div class="deeds"><a class="button primary" href="">{words::try_again()}</a></div>
    };
    ServerPage { section: PageSection::Chat, title: words::title().to_owned(), notice: None, body: body.into_any() }
}
