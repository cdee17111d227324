//! What the server knows about a finished text beyond the browser: colours of code, math as MathML.
//!
//! The text is drawn by [`crate::ui::markdown`] as everywhere; this room only answers its questions. It sits between
//! `platform` and `service`, uses no store and no network, and all it does is bounded: see `domain::limits`. The work
//! is plain computing of up to a second: call it where blocking is allowed.
//!
//! The library for formulas recurses as deeply as a formula is nested, and a stack that overflows ends the process. So
//! the work is done on a thread with a stack that the longest allowed formula cannot fill.

mod cache;
mod formula;
mod highlighting;

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::domain::limits;
use crate::domain::sources::ReplySources;
use crate::domain::{Block, BlockState, Content, TurnId};
use crate::ui::locale::{Locale, locale, propagate_locale};
use crate::ui::markdown::{self, CodeRun, InlineCitation, MarkupEnricher, MathTree};

/// A formula of `limits::MATH_BYTES` that only nests needs half of this in an unoptimised build. What is not used costs nothing.
const STACK_BYTES: usize = 64 << 20;

/// The parts of a text as the server draws them, or `None` if they are the same as the browser's own: without code in a
/// known language and without math. There are as many as [`markdown::render`] gives. Recent ones are remembered.
pub fn block_markup(text: &str) -> Option<Vec<String>> {
    cited_markup(text, &[])
}

/// The parts of a finished block of text with the marks of its turn's sources, or `None` as [`block_markup`] says.
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
    // The marks come with the text, but are no part of it. No text has a NUL.
    // So does the language of the few words that are added.
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

/// The server's side of one text.
struct RichMarkup {
    start: Instant,
    is_richer: Cell<bool>,
}

impl RichMarkup {
    /// Asks a library for what it can add. A library that gives up loudly has nothing to add.
    fn ask<T>(&self, what: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.start.elapsed() > limits::MARKUP_TIME {
            return None;
        }
        let answer = panic::catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
            tracing::warn!("a block of code or a formula could not be drawn");
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
