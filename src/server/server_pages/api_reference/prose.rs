//! How what the description says is written: paragraphs, code within them, tables.

use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::ui::erased::view;

/// A table that scrolls by itself. A group, not a region: a page of a hundred tables would have a hundred landmarks of a
/// few names.
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

/// What the API says of itself is in English, whatever the page is in.
pub(super) const ENGLISH: &str = "en";

/// Paragraphs.
pub(super) fn prose(written: &str) -> AnyView {
    let paragraphs = written.split("\n\n").filter(|text| !text.trim().is_empty());
    paragraphs.map(|text| view! { <p lang=ENGLISH>{inline(text)}</p> }).collect_view().into_any()
}

/// Text in which what stands between backticks is code.
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
