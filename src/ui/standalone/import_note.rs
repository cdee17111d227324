//! Where a chat came from that was taken in, and what of it is not as it was there. An export cannot have more.

use leptos::prelude::*;

use crate::domain::{ImportDifference, ImportOrigin};
use crate::ui::erased::view;
use crate::ui::locale::locale;
use crate::ui::messages::standalone as words;

/// More of them are closed at first.
const OPEN_UP_TO: usize = 12;

/// Said in a sentence, with a list of what is not as it was.
pub fn import_note(source: &ImportOrigin) -> AnyView {
    let day = source.imported_at.format("%Y-%m-%d").to_string();
    let said = words::imported_from(words::format_name(&source.format), &source.file, &day);
    let count = source.differences.len();
    view! {
        <section class="source" data-differences=count.to_string()>
            <h2>{words::source()}</h2>
            <p dir="auto">{said}</p>
            {if count == 0 {
                view! { <p>{words::everything_imported()}</p> }
            } else {
                difference_list(words::differences(count), &source.differences)
            }}
        </section>
    }
}

/// What of a chat could not be read when it was exported, in a sentence with a list.
pub fn damage_note(damaged: &[ImportDifference]) -> AnyView {
    view! {
        <section class="source">
            <h2>{words::damaged()}</h2>
            {difference_list(words::damages(damaged.len()), damaged)}
        </section>
    }
}

fn difference_list(summary: String, differences: &[ImportDifference]) -> AnyView {
    // What is told of a file is in English; a reader's voice should know.
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
