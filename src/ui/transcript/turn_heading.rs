//! A turn's heading: whose turn it is, for those who listen or jump from heading to heading. And the ids by which turns and
//! their list are found on the page.

use chrono::{DateTime, SecondsFormat, Utc};
use leptos::prelude::*;

use crate::browser::{clock, focus};
use crate::domain::TurnId;
use crate::ui::erased::{effect, view};
use crate::ui::locale::comma;

/// The list's id: what the scroll controller watches.
pub const LIST_ID: &str = "transcript";

/// The hidden heading of a turn. Everything in it is told by the article's name too.
#[component]
pub fn TurnHeading(
    /// The element's id; the article is labelled by it.
    id: String,
    /// "You", or "Assistant, claude-…, stopped".
    #[prop(into)]
    who: Signal<String>,
    at: DateTime<Utc>,
) -> impl IntoView {
    view! {
        <h3 id=id class="quiet" tabindex="-1">
            <bdi>{who}</bdi>
            {comma()}
            <TurnTime at/>
        </h3>
    }
}

/// A moment: in UTC as the server writes it, in the reader's own place and language once the page is hydrated.
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

/// The id of a turn's article.
pub fn article_id(turn: TurnId) -> String {
    format!("turn-{turn}")
}

/// The turn whose article has this id.
pub fn turn_of_article(article_id: &str) -> Option<TurnId> {
    article_id.strip_prefix("turn-")?.parse().ok()
}

/// The id of a turn's heading.
pub fn heading_id(turn: TurnId) -> String {
    format!("turn-{turn}-heading")
}

/// Gives the focus to a turn, without moving the page.
pub fn focus_on_turn(turn: TurnId) {
    focus::focus_first_without_scroll(&format!("#{}", heading_id(turn)));
}
