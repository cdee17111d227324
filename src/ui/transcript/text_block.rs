//! Text of the model as Markdown. A delta renders again only the parts of an open block that it can have changed.

use leptos::prelude::*;

use super::shown_section::ShownSection;
use crate::api::view::BlockMarkup;
use crate::browser::document;
use crate::domain::blocks::sources;
use crate::domain::text::language;
use crate::domain::{Block, BlockId, BlockState, Content};
use crate::ui::erased::view;
use crate::ui::markdown::view::MarkdownText;
use crate::ui::markdown::{self, InlineCitation, MarkupPart, PlainEnricher, ReplyLinks, StreamingMarkdown};
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::tool_rendering::hidden_badge;

/// The markup of a citation mark.
const MARK: &str = "<sup class=\"md-cite\">";

/// A block of text or reasoning, finished or streaming.
#[component]
pub fn TextBlock(
    state: ChatState,
    turn: TurnState,
    block: BlockId,
    /// The only section of the reasoning that is rendered. It is rendered again when the section changes.
    #[prop(default = None)]
    section: Option<Memo<ShownSection>>,
) -> impl IntoView {
    let known_hosts = state.known_hosts();
    let streaming = StoredValue::new(None::<StreamingMarkdown>);
    let (of_state, of_language) = (turn.clone(), turn.clone());
    let (id, of_sources) = (turn.id(), turn.clone());
    let is_fresh = document::is_hydrated() && turn.is_first_render(block);
    let sources = Memo::new(move |_| of_sources.with(|view| sources::collect_sources(&view.turn.blocks)));
    let kind = turn.with_untracked(|view| {
        view.turn.blocks.iter().find(|b| b.id == block).map(|b| b.content.block_type().to_owned())
    });
    let parts = Memo::new(move |_| {
        let sources = sources.get();
        let draw = |block: &Block, text: &str, is_open: bool, markup: Option<&BlockMarkup>| {
            let draw = |streaming: &mut Option<StreamingMarkdown>| {
                let cites = match section {
                    None if !is_open => InlineCitation::marks_in_block(&sources, id, block.id, text),
                    _ => Vec::new(),
                };
                let mut parts = draw_parts(text, is_open, markup, &cites, streaming);
                parts.extend(hidden_badge(text, is_open));
                parts
            };
            streaming.try_update_value(draw)
        };
        read_text(&turn, block, section, draw).unwrap_or_default()
    });
    // A standalone page has no server for the confirmation page.
    let links = StoredValue::new(ReplyLinks::new(id, block, standalone_context().is_none()));
    let parts = Memo::new(move |_| {
        let draw = |links: &mut ReplyLinks| parts.with(|parts| known_hosts.with(|known| links.draw(parts, known)));
        links.try_update_value(draw).unwrap_or_default()
    });
    let is_open =
        Memo::new(move |_| read_text(&of_state, block, section, |_, _, is_open, _| Some(is_open)).unwrap_or_default());
    // Fonts and voices depend on the text's language; the interface may be in another one.
    let lang =
        Memo::new(move |_| read_text(&of_language, block, section, |_, text, is_open, _| language_of(text, is_open)));
    view! {
        <div
            class="text"
            class:growing=is_open
            lang=lang
            data-block-id=block.to_string()
            data-block-type=kind
        >
            <MarkdownText parts is_fresh/>
        </div>
    }
}

/// Returns the text of a text or reasoning block.
fn text_of(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Text { text, .. } => Some(text),
        Content::Thinking { thinking, .. } => Some(thinking),
        _ => None,
    }
}

/// Reads the text of a block, or of a section of it, and whether it may still grow. Tracks what it reads.
fn read_text<T>(
    turn: &TurnState,
    block: BlockId,
    section: Option<Memo<ShownSection>>,
    read: impl FnOnce(&Block, &str, bool, Option<&BlockMarkup>) -> Option<T>,
) -> Option<T> {
    match section.map(|section| section.get()) {
        None => turn
            .with_block(block, |block, markup| read(block, text_of(block)?, block.state == BlockState::Open, markup))?,
        Some(ShownSection { range, is_open, .. }) => {
            let of_section = |block: &Block| read(block, text_of(block)?.get(range)?, is_open, None);
            untrack(|| turn.with_block(block, |block, _| of_section(block)))?
        }
    }
}

fn language_of(text: &str, is_open: bool) -> Option<&'static str> {
    if is_open { language::detect_while_streaming(text) } else { language::detect(text) }
}

/// Removes the buttons of a part on a standalone page.
fn without_standalone_buttons(part: MarkupPart) -> MarkupPart {
    if standalone_context().is_some() { markdown::without_buttons(&part) } else { part }
}

/// Returns the current parts of a text.
fn draw_parts(
    text: &str,
    is_open: bool,
    markup: Option<&BlockMarkup>,
    cites: &[InlineCitation],
    streaming: &mut Option<StreamingMarkdown>,
) -> Vec<MarkupPart> {
    if !is_open {
        *streaming = None;
        // The server may have rendered it before it knew the sources.
        let has_marks = |markup: &&BlockMarkup| cites.is_empty() || markup.parts.iter().any(|part| part.contains(MARK));
        return match markup.filter(has_marks) {
            Some(markup) => {
                markup.parts.iter().cloned().map(MarkupPart::from_server).map(without_standalone_buttons).collect()
            }
            None => {
                let parts = markdown::render_with(text, cites, &PlainEnricher);
                parts.into_iter().map(without_standalone_buttons).collect()
            }
        };
    }
    let grown = streaming.take().filter(|grown| text.starts_with(grown.text()));
    let mut grown = grown.unwrap_or_default();
    let known = grown.text().len();
    grown.push(&text[known..]);
    let parts = grown.parts().to_vec();
    *streaming = Some(grown);
    parts
}
