//! Prepares texts for the parser, which knows neither formulas nor emphasis beside Chinese, Japanese and Korean.
//!
//! The parser reads a text twice where it has formulas, or emphasis beside Chinese, Japanese or Korean. It reads copies
//! of the same length. The first one has stand-ins beside asterisks, which give these their meaning ([`super::cjk`]);
//! it shows which dollars are in running text ([`super::formula`]) and which changes are in code or addresses. The
//! second one is without those changes, and nothing inside a formula looks like Markdown. All ranges are the same, so
//! the text that is drawn is always the text itself.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

use super::cjk::{self, StandIn};
use super::formula::{self, Formula, FormulaSearch};

/// A text that is ready to be parsed.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The text as it was written.
    pub text: &'a str,
    /// The text that the parser reads; as long as `text`.
    parsed: Cow<'a, str>,
    /// The formulas, in order.
    formulas: Vec<Formula>,
}

/// The parser's options, listed one by one: some of the others let the text set attributes, and its formulas would win
/// over emphasis, links and code.
fn options() -> Options {
    // GFM is enabled for its alerts alone.
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
}

impl<'a> Reading<'a> {
    /// Reads a text for the first time.
    pub fn new(text: &'a str) -> Self {
        let wanted = cjk::stand_ins(text);
        if wanted.is_empty() && !formula::may_have(text) {
            return Self { text, parsed: Cow::Borrowed(text), formulas: Vec::new() };
        }
        // All of them: in code and in addresses they change nothing that is searched for.
        let first = with_stand_ins(text, &wanted, &[]);
        let mut search = FormulaSearch::new(text);
        let mut allowed = Vec::new();
        let mut wanted = &*wanted;
        for (event, range) in Parser::new_ext(&first, options()).into_offset_iter() {
            if matches!(event, Event::Text(_)) {
                wanted = &wanted[wanted.partition_point(|stand_in| stand_in.at < range.start)..];
                let (here, later) = wanted.split_at(wanted.partition_point(|stand_in| stand_in.at < range.end));
                wanted = later;
                if search.is_running_text() {
                    allowed.extend_from_slice(here);
                }
            }
            search.read(&event, &range);
        }
        let formulas = search.finish();
        let parsed = with_stand_ins(text, &allowed, &formulas);
        Self { text, parsed, formulas }
    }

    /// Returns the parser of the text. Its ranges are those of the text.
    pub fn events(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.parsed, options()).into_offset_iter()
    }

    /// Returns the formulas that start at a byte or after it.
    pub fn formulas_from(&self, byte: usize) -> &[Formula] {
        &self.formulas[self.formulas.partition_point(|formula| formula.span.start < byte)..]
    }

    /// Returns a piece of text that the parser yielded, as it was written.
    pub fn as_written<'s>(&'s self, piece: &'s str, range: &Range<usize>) -> &'s str {
        match self.parsed.get(range.clone()) {
            Some(parsed) if parsed == piece => &self.text[range.clone()],
            // A reference to a character, which the parser has resolved.
            _ => piece,
        }
    }
}

/// Returns the text with the stand-ins, and with nothing that looks like Markdown inside the formulas.
fn with_stand_ins<'a>(text: &'a str, stand_ins: &[StandIn], formulas: &[Formula]) -> Cow<'a, str> {
    if stand_ins.is_empty() && formulas.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for stand_in in stand_ins {
        bytes[stand_in.at..stand_in.at + stand_in.shown.len()].copy_from_slice(stand_in.shown.as_bytes());
    }
    for formula in formulas {
        let inner = formula.inner();
        for at in formula.span.clone() {
            let is_mark = !inner.contains(&at);
            bytes[at] = match bytes[at] {
                b'\\' if formula.in_table && bytes.get(at + 1) == Some(&b'|') => continue,
                b'\\' | b'[' | b']' | b'(' | b')' if is_mark => b'.',
                b'*' | b'_' | b'~' | b'[' | b']' | b'<' | b'`' | b'\\' if !is_mark => b'x',
                // Its backslash is gone: it must not begin a table.
                b'|' if !formula.in_table => b'x',
                _ => continue,
            };
        }
    }
    // Characters are replaced as a whole, so this is always text.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}
