//! What is shown where there is no network. A browser keeps it, so it says nothing of anybody.

use leptos::prelude::*;

use super::words::offline as words;
use super::{Page, Section};
use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// The page. It stands at whatever address was asked for: to ask for that again is to follow a link to nothing else.
pub fn page() -> Page {
    let body = view! {
        <p class="lead"><Icon name="offline"/>" "{words::what()}</p>
        <p>{words::kept()}</p>
        <div class="deeds"><a class="button primary" href="">{words::try_again()}</a></div>
    };
    Page { section: Section::Chat, title: words::title().to_owned(), said: None, body: body.into_any() }
}
