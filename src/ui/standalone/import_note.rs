//! The note on an imported chat: its origin, and its differences from the source. An export cannot contain more than
//! the import did.

use leptos::prelude::*;

use crate::domain::{ImportDifference, ImportOrigin};
use crate::ui::erased::view;
use crate::ui::locale::locale;
use crate::ui::messages::standalone as words;

/// Longer lists are collapsed at first.
const OPEN_UP_TO: usize = 12;

/// Renders the origin as a sentence, with the list of differences.
pub fn import_note(source: &ImportOrigin) -> AnyView {
    let day = source.imported_at.format("%Y-%m-%d").to_string();
    let sentence = words::imported_from(words::format_name(&source.format), &source.file, &day);
    let count = source.differences.len();
    view! {
        <section class="source" data-differences=count.to_string()>
            <h2>{words::source()}</h2>
            <p dir="auto">{sentence}</p>
            {if count == 0 {
                view! { <p>{words::everything_imported()}</p> }
            } else {
                difference_list(words::differences(count), &source.differences)
            }}
        </section>
    }
}

/// Renders the parts that could not be read at the export, as a sentence with a list.
pub fn damage_note(damaged: &[ImportDifference]) -> AnyView {
    view! {
        <section class="source">
            <h2>{words::damaged()}</h2>
            {difference_list(words::damages(damaged.len()), damaged)}
        </section>
    }
}

fn difference_list(summary: String, differences: &[ImportDifference]) -> AnyView {
    // Notes about files are in English, which screen readers should know.
    let english = (locale().as_str() != "en").then_some("en");
    let rows = differences.iter().map(|one| {
        view! {
            <li lang=english>
                <strong lang=locale().as_str()>{words::difference_kind(one.kind)}</strong>
                " "
                <span dir="auto">{one.place.clone()}</span>
                ": "
                <span dir="auto">{one.text.clone()}</span>
            </li>
        }
    });
    view! {
        <details open=differences.len() <= OPEN_UP_TO>
            <summary>{summary}</summary>
            <ul class="plain-list">{rows.collect_view()}</ul>
        </details>
    }
}
