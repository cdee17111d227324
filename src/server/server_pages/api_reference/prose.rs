//! Rendering of the API's descriptions: paragraphs, inline code, tables.

use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::ui::erased::view;

/// Renders a table that scrolls by itself. It is a group, not a region, because a page with a hundred tables would
/// have a hundred landmarks with few distinct names.
pub(super) fn table(caption: &'static str, heads: &[&'static str], rows: AnyView) -> AnyView {
    let heads = heads.iter().map(|head| view! { <th scope="col">{*head}</th> }).collect_view();
    view! {
        <div class="api-scroll" role="group" tabindex="0" aria-label=caption>
            <table class="api-table">
                <caption>{caption}</caption>
                <thead><tr>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The language of the API's descriptions, whatever the language of the page.
pub(super) const ENGLISH: &str = "en";

/// Renders paragraphs.
pub(super) fn prose(written: &str) -> AnyView {
    let paragraphs = written.split("\n\n").filter(|text| !text.trim().is_empty());
    paragraphs.map(|text| view! { <p lang=ENGLISH>{inline(text)}</p> }).collect_view().into_any()
}

/// Renders text with code between backticks.
pub(super) fn inline(written: &str) -> AnyView {
    let piece = |(number, piece): (usize, &str)| match number % 2 {
        0 => piece.to_owned().into_any(),
        _ => view! { <code>{piece.to_owned()}</code> }.into_any(),
    };
    written.split('`').enumerate().map(piece).collect_view().into_any()
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields: Option<&Map<String, Value>> = value.as_object();
    fields.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}
