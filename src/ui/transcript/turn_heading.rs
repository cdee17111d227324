//! A turn's heading: the author, for screen readers and for navigation by headings. Also the ids of turns and of
//! their list on the page.

use chrono::{DateTime, SecondsFormat, Utc};
use leptos::prelude::*;

use crate::browser::{clock, focus};
use crate::domain::TurnId;
use crate::ui::erased::{effect, view};
use crate::ui::locale::comma;

/// The list's id, which the scroll controller observes.
pub const LIST_ID: &str = "transcript";

/// The hidden heading of a turn. The article's name contains the same text.
#[component]
pub fn TurnHeading(
    /// The element's id; it labels the article.
    id: String,
    /// "You", or "Assistant, claude-…, stopped".
    #[prop(into)]
    author: Signal<String>,
    at: DateTime<Utc>,
) -> impl IntoView {
    view! {
        <h3 id=id class="quiet" tabindex="-1">
            <bdi>{author}</bdi>
            {comma()}
            <TurnTime at/>
        </h3>
    }
}

/// A time: in UTC as the server renders it, in the reader's own time zone and language after hydration.
#[component]
pub fn TurnTime(at: DateTime<Utc>) -> impl IntoView {
    let machine = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let minutes = machine.get(..16).unwrap_or(&machine).replace('T', " ");
    let words = RwSignal::new(format!("{minutes} UTC"));
    effect(move || {
        if let Some(local) = clock::format_local_time(at) {
            words.set(local);
        }
    });
    view! { <time datetime=machine>{words}</time> }
}

/// Returns the id of a turn's article.
pub fn article_id(turn: TurnId) -> String {
    format!("turn-{turn}")
}

/// Returns the turn whose article has this id.
pub fn turn_of_article(article_id: &str) -> Option<TurnId> {
    article_id.strip_prefix("turn-")?.parse().ok()
}

/// Returns the id of a turn's heading.
pub fn heading_id(turn: TurnId) -> String {
    format!("turn-{turn}-heading")
}

/// Focuses a turn without scrolling.
pub fn focus_on_turn(turn: TurnId) {
    focus::focus_first_without_scroll(&format!("#{}", heading_id(turn)));
}
