//! Server-side markup of a finished text, beyond what the browser renders: highlighted code, and math as MathML.
//!
//! [`crate::ui::markdown`] renders the text as everywhere; this module only answers its queries. It sits between
//! `platform` and `service`, uses no store and no network, and all its work is bounded: see `domain::limits`. It
//! computes for up to a second: call it where blocking is allowed.
//!
//! The formula library recurses as deeply as a formula is nested, and a stack overflow ends the process. So the work
//! runs on a thread with a stack that the longest allowed formula cannot fill.

mod cache;
mod formula;
mod highlighting;
mod previews;

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::domain::blocks::sources::ReplySources;
use crate::domain::limits;
use crate::domain::{Block, BlockState, Content, TurnId};
use crate::ui::locale::{Locale, locale, propagate_locale};
use crate::ui::markdown::{self, CodeRun, InlineCitation, MarkupEnricher, MathTree};

pub use previews::code_previews;

/// A formula of `limits::MATH_BYTES` that only nests needs half of this in an unoptimised build. Unused stack costs
/// no memory.
const STACK_BYTES: usize = 64 << 20;

/// Returns the parts of a text as the server renders them, or `None` if they equal the browser's own: without code in
/// a known language and without math. There are as many parts as [`markdown::render`] returns. Recent results are
/// cached.
pub fn block_markup(text: &str) -> Option<Vec<String>> {
    cited_markup(text, &[])
}

/// Returns the parts of a finished text block with the citation marks of its turn, or `None` as in [`block_markup`].
pub fn block_markup_with_citations(turn: TurnId, block: &Block, sources: &ReplySources) -> Option<Vec<String>> {
    match &block.content {
        Content::Text { text, is_error: false } if block.state != BlockState::Open => {
            cited_markup(text, &InlineCitation::marks_in_block(sources, turn, block.id, text))
        }
        _ => None,
    }
}

fn cited_markup(text: &str, cites: &[InlineCitation]) -> Option<Vec<String>> {
    if !["```", "~~~", "$", "\\(", "\\["].iter().any(|mark| text.contains(mark)) {
        return None;
    }
    // The citation marks and the locale are not part of the text, so they are added to the key. No text contains NUL.
    let key = match (cites, locale()) {
        ([], Locale::English) => Cow::Borrowed(text),
        (cites, locale) => Cow::Owned(format!("{text}\0{locale:?}{cites:?}")),
    };
    let parts =
        cache::get_or_insert_with(&key, || with_deep_stack(propagate_locale(|| draw(text, cites))).map(Arc::new))?;
    Some(parts.to_vec())
}

fn with_deep_stack<T: Send>(work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("markup".into()).stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.ok()?.join().ok()?
    })
}

fn draw(text: &str, cites: &[InlineCitation]) -> Option<Vec<String>> {
    let rich = RichMarkup { start: Instant::now(), is_richer: Cell::new(false) };
    let parts = markdown::render_with(text, cites, &rich);
    rich.is_richer.get().then(|| parts.iter().map(|part| part.markup().as_str().to_owned()).collect())
}

/// The server's enricher for one text.
struct RichMarkup {
    start: Instant,
    is_richer: Cell<bool>,
}

impl RichMarkup {
    /// Runs a library call within the time limit; a panic counts as no result.
    fn ask<T>(&self, render: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.start.elapsed() > limits::MARKUP_TIME {
            return None;
        }
        let answer = panic::catch_unwind(AssertUnwindSafe(render)).unwrap_or_else(|_| {
            tracing::warn!("a code block or a formula could not be rendered");
            None
        });
        self.is_richer.set(self.is_richer.get() || answer.is_some());
        answer
    }
}

impl MarkupEnricher for RichMarkup {
    fn code(&self, language: &str, code: &str) -> Option<Vec<CodeRun>> {
        self.ask(|| highlighting::highlight(language, code))
    }

    fn math(&self, source: &str, display: bool) -> Option<MathTree> {
        self.ask(|| formula::mathml_tree(source, display))
    }
}

#[cfg(test)]
mod tests;
