//! Formulas in running text: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`.
//!
//! They are found in what the parser has read as text, so that code, links and addresses win over them. A dollar is
//! far more often money or a variable of a shell than mathematics. Single dollars follow the rule of pandoc and GitHub:
//! no space inside, no digit behind the closing one. What is left in doubt is decided by what stands between: emphasis
//! that crosses a dollar wins unless the text has a sign that only formulas have (`\frac`, `^`, a subscript), and words
//! without such a sign are words. `tests/formulas.rs` is the table of cases.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::cjk;

/// A formula in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    /// The formula with its marks.
    pub span: Range<usize>,
    /// The bytes of each of its marks.
    pub mark: usize,
    pub display: bool,
    /// In a table, `\|` is a vertical bar.
    pub in_table: bool,
}

impl Formula {
    /// Returns the range between the marks.
    pub fn inner(&self) -> Range<usize> {
        self.span.start + self.mark..self.span.end - self.mark
    }
}

/// Returns whether a text can have a formula at all.
pub fn may_have(text: &str) -> bool {
    text.contains('$') || text.contains("\\(") || text.contains("\\[")
}

/// The search for formulas in the events of a text.
#[derive(Debug)]
pub struct FormulaSearch<'a> {
    text: &'a str,
    found: Vec<Formula>,
    /// The marks of the current paragraph, heading or cell.
    marks: Vec<FormulaMark>,
    /// The position of the reader: the code spans and links so far, and the innermost open link and emphasis.
    place: InlinePosition,
    links: Vec<u32>,
    emphasis: Vec<u32>,
    opened: u32,
    /// True if the text here is code or the address of a link.
    is_literal: bool,
    in_table: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct InlinePosition {
    codes: u32,
    links: u32,
    link: u32,
    emphasis: u32,
}

#[derive(Debug, Clone, Copy)]
struct FormulaMark {
    kind: MarkKind,
    at: usize,
    end: usize,
    place: InlinePosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    Dollars,
    /// A bracket behind a backslash; whether it is square.
    Open(bool),
    Close(bool),
}

impl<'a> FormulaSearch<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
            marks: Vec::new(),
            place: InlinePosition::default(),
            links: Vec::new(),
            emphasis: Vec::new(),
            opened: 0,
            is_literal: false,
            in_table: false,
        }
    }

    /// Returns the formulas, in order and not overlapping.
    pub fn finish(mut self) -> Vec<Formula> {
        self.pair_marks();
        self.found
    }

    /// Returns whether text at this place is running text: neither code nor the address of a link.
    pub fn is_running_text(&self) -> bool {
        !self.is_literal
    }

    /// Reads the next event.
    pub fn read(&mut self, event: &Event, range: &Range<usize>) {
        match event {
            Event::Text(_) if !self.is_literal => self.read_text(range),
            Event::Code(_) => self.place.codes += 1,
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough) => {
                self.opened += 1;
                self.emphasis.push(self.opened);
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) => {
                self.emphasis.pop();
            }
            Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {
                self.open_link();
                self.is_literal = true;
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => self.open_link(),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                self.links.pop();
                self.is_literal = false;
            }
            Event::Rule => self.pair_marks(),
            Event::Start(tag) => {
                self.pair_marks();
                self.is_literal = matches!(tag, Tag::CodeBlock(_));
                self.in_table |= matches!(tag, Tag::Table(_));
            }
            Event::End(tag) => {
                self.pair_marks();
                self.is_literal = false;
                self.in_table &= !matches!(tag, TagEnd::Table);
            }
            _ => {}
        }
        self.place.link = self.links.last().copied().unwrap_or(0);
        self.place.emphasis = self.emphasis.last().copied().unwrap_or(0);
    }

    fn open_link(&mut self) {
        self.opened += 1;
        self.place.links += 1;
        self.links.push(self.opened);
    }

    fn read_text(&mut self, range: &Range<usize>) {
        let place = self.place;
        let piece = &self.text[range.clone()];
        // An escaped character starts an event of its own.
        let is_escaped = piece.starts_with(['(', ')', '[', ']', '$']) && is_behind_backslash(self.text, range.start);
        let kind = match piece.as_bytes().first().filter(|_| is_escaped) {
            Some(b'(') => Some(MarkKind::Open(false)),
            Some(b'[') => Some(MarkKind::Open(true)),
            Some(b')') => Some(MarkKind::Close(false)),
            Some(b']') => Some(MarkKind::Close(true)),
            _ => None,
        };
        if let Some(kind) = kind {
            self.marks.push(FormulaMark { kind, at: range.start - 1, end: range.start + 1, place });
        }
        let from = range.start + usize::from(is_escaped);
        for (offset, _) in self.text[from..range.end].match_indices('$') {
            let at = from + offset;
            match self.marks.last_mut() {
                Some(last) if last.kind == MarkKind::Dollars && last.end == at && last.place == place => {
                    last.end = at + 1
                }
                _ => self.marks.push(FormulaMark { kind: MarkKind::Dollars, at, end: at + 1, place }),
            }
        }
    }

    /// Finds the formulas of the text that ends here.
    fn pair_marks(&mut self) {
        let marks = std::mem::take(&mut self.marks);
        let mut rest = &*marks;
        while let Some((open, later)) = rest.split_first() {
            let close = match open.kind {
                MarkKind::Dollars => closing_dollars(self.text, open, later),
                MarkKind::Open(is_square) => closing_bracket(open, is_square, later),
                MarkKind::Close(_) => None,
            };
            rest = close.map_or(later, |at| &later[at + 1..]);
            if let Some(close) = close.map(|at| &later[at]) {
                self.found.push(Formula {
                    span: open.at..close.end,
                    mark: open.end - open.at,
                    display: match open.kind {
                        MarkKind::Dollars => open.end - open.at == 2,
                        MarkKind::Open(is_square) | MarkKind::Close(is_square) => is_square,
                    },
                    in_table: self.in_table,
                });
            }
        }
    }
}

/// Returns whether the character at a byte is escaped: two backslashes are one that is written.
fn is_behind_backslash(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the closing bracket among the later marks. Of two opening ones, the latest counts.
fn closing_bracket(open: &FormulaMark, is_square: bool, later: &[FormulaMark]) -> Option<usize> {
    for (at, mark) in later.iter().enumerate() {
        match mark.kind {
            MarkKind::Open(_) => return None,
            MarkKind::Close(square) if square == is_square => {
                let (from, to) = (open.place, mark.place);
                return (from.codes == to.codes && from.links == to.links && from.link == to.link).then_some(at);
            }
            _ => {}
        }
    }
    None
}

/// Returns the closing dollars among the later marks.
fn closing_dollars(text: &str, open: &FormulaMark, later: &[FormulaMark]) -> Option<usize> {
    let is_display = match open.end - open.at {
        1 => false,
        2 => true,
        _ => return None,
    };
    // A display formula may have single dollars inside (`\text{if $x$}`), an inline formula has none.
    let is_next = |mark: &FormulaMark| mark.kind == MarkKind::Dollars && (!is_display || mark.end - mark.at == 2);
    let at = later.iter().position(is_next)?;
    let close = later.get(at).filter(|close| close.end - close.at == open.end - open.at)?;
    let (from, to) = (open.place, close.place);
    if from.codes != to.codes || from.link != to.link {
        return None;
    }
    let inside = &text[open.end..close.at];
    let has_sign = has_formula_sign(inside);
    let is_crossed = from.emphasis != to.emphasis || from.links != to.links;
    let is_formula = if is_display {
        !inside.trim().is_empty() && (has_sign || !(is_crossed || is_prose(inside.trim())))
    } else {
        may_stand_between(text, open, close)
            && (has_sign || !(is_crossed || inside.contains(['\n', '\r']) || is_prose(inside)))
    };
    is_formula.then_some(at)
}

/// Returns whether single dollars are placed like those of a formula.
fn may_stand_between(text: &str, open: &FormulaMark, close: &FormulaMark) -> bool {
    let inside = &text[open.end..close.at];
    let before = text[..open.at].chars().next_back();
    let after = text[close.end..].chars().next();
    if inside.is_empty() || inside.starts_with(char::is_whitespace) || inside.ends_with(char::is_whitespace) {
        return false;
    }
    // `$5 or $6`, and `${a}${b}`.
    if after.is_some_and(|c| c.is_ascii_digit() || c == '{') {
        return false;
    }
    // `5$`, `US$5`; but `H$_2$O`, `3$\times$`.
    if before.is_some_and(|c| c.is_ascii_alphanumeric()) && !inside.starts_with(['\\', '^', '_']) {
        return false;
    }
    // `the $n$th`; but `$HOME/$USER`, `"$a" "$b"`.
    !after.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        || inside.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '}' | ']' | ')'))
}

/// Returns whether a text has a sign that only formulas have: a command, a power, a subscript, a product of two names.
fn has_formula_sign(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    bytes.iter().enumerate().any(|(here, byte)| {
        let (earlier, before, after) = (at(here.checked_sub(2)), at(here.checked_sub(1)), at(Some(here + 1)));
        match byte {
            b'^' => true,
            b'\\' => after.is_ascii_alphabetic(),
            // `x_i`, `\hat{x}_i`, `x_{ij}`; but a name of a program: `my_name`.
            b'_' => {
                let is_short = before.is_ascii_alphabetic() && !earlier.is_ascii_alphanumeric() && earlier != b'_';
                after == b'{' || (!after.is_ascii_whitespace() && (is_short || matches!(before, b'}' | b')' | b']')))
            }
            b'*' => before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric(),
            _ => false,
        }
    })
}

/// Returns whether a text is words rather than a formula: `5 and he paid 10`, `HOME is set to 5`, `5元和10`.
fn is_prose(text: &str) -> bool {
    let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(is_word).count();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return words > 0 || text.contains(cjk::is_cjk);
    }
    words > 1 && text.contains(' ') && !text.contains(['=', '+', '<', '>'])
}
