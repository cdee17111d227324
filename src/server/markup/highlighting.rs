//! Syntax highlighting: a scanner that recognises comments, strings, numbers and words of a language.
//!
//! It is not a grammar: it is right about nearly all that a reader looks for, runs in linear time, and keeps nothing
//! in memory. A general library with editor grammars was measured first: 170 MB stay after fourteen languages have
//! been used once, the first use of a language takes 50 ms to a second, 64 KB of Rust half a second. That is not
//! worth the finer colours on a server that has 30 MB for itself.

mod languages;
mod markup;
mod runs;
mod scanner;

use crate::domain::limits;
use crate::ui::markdown::{CodeClass, CodeRun};

use languages::{Language, LanguageKind};
use runs::HighlightRuns;

/// Returns the highlighted runs of a code block. `None`: the language is unknown, or the block exceeds the bounds.
pub fn highlight(language: &str, code: &str) -> Option<Vec<CodeRun>> {
    let is_long = |line: &str| line.len() > limits::HIGHLIGHT_LINE_BYTES;
    if code.len() > limits::HIGHLIGHT_BYTES || code.split('\n').any(is_long) {
        return None;
    }
    let language = languages::find_language(language)?;
    let mut runs = HighlightRuns::default();
    scan_as(language, code, &mut runs);
    Some(runs.0)
}

fn scan_as(language: &Language, code: &str, runs: &mut HighlightRuns) {
    match language.kind {
        LanguageKind::Markup => markup::scan(code, runs),
        LanguageKind::Diff => scan_diff(code, runs),
        LanguageKind::Code => scanner::scan(language, code, runs),
    }
}

/// Scans a diff by the beginnings of its lines.
fn scan_diff(code: &str, runs: &mut HighlightRuns) {
    for line in code.split_inclusive('\n') {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', b' ', ..] => CodeClass::Heading,
            [b'@', b'@', ..] => CodeClass::Comment,
            [b'+', ..] => CodeClass::Inserted,
            [b'-', ..] => CodeClass::Deleted,
            _ => CodeClass::Text,
        };
        runs.push(line.len(), class);
    }
}
