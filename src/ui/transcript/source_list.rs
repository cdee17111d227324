//! The sources of a reply, below it.

use leptos::prelude::*;

use crate::domain::blocks::sources;
use crate::ui::erased::view;
use crate::ui::markdown::view::MarkdownText;
use crate::ui::state::TurnState;
use crate::ui::tool_rendering;

/// The list; nothing where there are no sources.
#[component]
pub fn SourceList(turn: TurnState) -> impl IntoView {
    let id = turn.id();
    let parts = Memo::new(move |_| {
        let sources = turn.with(|view| sources::collect_sources(&view.turn.blocks));
        tool_rendering::sources(&sources, id).into_iter().collect::<Vec<_>>()
    });
    view! { <MarkdownText parts class="drawn"/> }
}
