//! Cuts the elements of a huge JSON array out of a stream, one at a time.
//!
//! The cutter only counts brackets and skips strings; `serde_json` parses the elements. `serde_json` cannot do the
//! cutting, because its streams stop at the first invalid element (a NaN, a control character, an extra bracket) and
//! hold elements of any size. Here an invalid or oversized element is skipped and the next one is read.

use std::io::{self, BufRead};

use memchr::{memchr_iter, memchr2, memrchr};

use crate::bounds;

/// The next item of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ElementStep<'a> {
    /// One element verbatim, not validated.
    Element(&'a [u8]),
    /// An element that exceeds a bound.
    OverLimit(ElementLimit),
    /// The text ends within an element or a list.
    Truncated,
    /// A byte that is not valid JSON; nothing after it is read.
    NotJson,
}

/// The bound that an element exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementLimit {
    Bytes,
    Values,
}

/// Iterates over the elements of a text: those of a top-level array; those of an array in a member named `within` of
/// a top-level object; or the object itself. Consecutive values (JSON lines) are each treated like that.
pub(crate) struct Elements<'w, R> {
    from: R,
    cutter: Cutter<'w>,
    is_over: bool,
    /// The position behind everything that was read.
    at: TextPosition,
    /// The position of the last element.
    start: TextPosition,
}

/// A position in a text: line and column from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl TextPosition {
    const START: Self = Self { line: 1, column: 1 };

    /// Returns the position behind these bytes.
    fn behind(self, bytes: &[u8]) -> Self {
        match memrchr(b'\n', bytes) {
            Some(last) => {
                let lines = memchr_iter(b'\n', bytes).count();
                Self { line: self.line + lines, column: bytes.len() - last }
            }
            None => Self { column: self.column + bytes.len(), ..self },
        }
    }

    /// Returns a position that is relative to this one.
    pub(crate) fn of(self, line: usize, column: usize) -> Self {
        let column = if line <= 1 { self.column + column.saturating_sub(1) } else { column };
        Self { line: self.line + line.saturating_sub(1), column }
    }
}

impl<'w, R: BufRead> Elements<'w, R> {
    /// Creates an iterator; `largest` is the bound of one element in bytes.
    pub(crate) fn new(from: R, within: &'w [&'w str], largest: usize) -> Self {
        let (at, start) = (TextPosition::START, TextPosition::START);
        Self { from, cutter: Cutter::new(within, largest), is_over: false, at, start }
    }

    /// Returns the next item, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<ElementStep<'_>>> {
        self.cutter.clear();
        while !self.is_over {
            let chunk = match self.from.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.is_over = true;
                    return Err(error);
                }
            };
            if chunk.is_empty() {
                self.is_over = true;
                return Ok((!self.cutter.is_between_values()).then_some(ElementStep::Truncated));
            }
            let (used, end) = self.cutter.walk(chunk);
            if let Some(began) = self.cutter.began.take() {
                self.start = self.at.behind(&chunk[..began]);
            }
            self.at = self.at.behind(&chunk[..used]);
            self.from.consume(used);
            match end {
                None => {}
                Some(WalkEnd::NotJson) => {
                    self.is_over = true;
                    return Ok(Some(ElementStep::NotJson));
                }
                Some(WalkEnd::Element) => {
                    return Ok(Some(
                        self.cutter.too_much.map_or(ElementStep::Element(&self.cutter.kept), ElementStep::OverLimit),
                    ));
                }
            }
        }
        Ok(None)
    }

    /// Returns the position of the last element.
    pub(crate) fn element_start(&self) -> TextPosition {
        self.start
    }

    /// Returns the underlying reader.
    pub(crate) fn into_source(self) -> R {
        self.from
    }
}

enum WalkEnd {
    Element,
    NotJson,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    /// Before, between and after values.
    #[default]
    Between,
    /// Within an object or an array.
    Brackets,
    /// Within an element without brackets: a number, a literal, a string, or invalid JSON.
    Bare,
}

#[derive(Default)]
struct Cutter<'w> {
    within: &'w [&'w str],
    largest: usize,
    kept: Vec<u8>,
    /// The index in the current chunk at which an element began.
    began: Option<usize>,
    /// Number of values in the element so far, counted by commas and opening brackets.
    values: usize,
    /// The element exceeded this bound; the rest of it is skipped.
    too_much: Option<ElementLimit>,
    /// The top-level object contained a list that was read; its other members are skipped.
    is_holder: bool,
    mode: Mode,
    /// Number of open brackets, and of those outside of the elements.
    depth: usize,
    base: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last string at depth 1 of a top-level object, and whether a colon followed it.
    key: Vec<u8>,
    has_colon: bool,
}

impl<'w> Cutter<'w> {
    fn new(within: &'w [&'w str], largest: usize) -> Self {
        Self { within, largest, ..Self::default() }
    }

    fn clear(&mut self) {
        self.kept.clear();
        // The buffer shrinks, so that one huge conversation does not hold its memory for the rest of the import.
        self.kept.shrink_to(4 << 20);
        (self.values, self.too_much) = (0, None);
    }

    fn is_between_values(&self) -> bool {
        self.depth == 0 && self.mode == Mode::Between
    }

    /// Processes a chunk; returns the number of consumed bytes and what ended there.
    fn walk(&mut self, chunk: &[u8]) -> (usize, Option<WalkEnd>) {
        let mut at = 0;
        // Start of the bytes to keep when the loop stops.
        let mut from = 0;
        while at < chunk.len() {
            if self.in_string {
                at = self.walk_string(chunk, at);
                continue;
            }
            let byte = chunk[at];
            match self.mode {
                Mode::Between => match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1e => at += 1,
                    b']' if self.depth > 0 => {
                        self.depth -= 1;
                        self.base = 0;
                        at += 1;
                        // The list within the top-level object ends; the rest of the object follows.
                        if self.depth > 0 {
                            (self.mode, self.has_colon) = (Mode::Brackets, false);
                            from = at;
                        }
                    }
                    b'[' if self.depth == 0 => {
                        (self.depth, self.base) = (1, 1);
                        at += 1;
                    }
                    b'{' | b'[' => {
                        (self.mode, from, self.began) = (Mode::Brackets, at, Some(at));
                        (self.depth, self.has_colon) = (self.depth + 1, false);
                        self.key.clear();
                        self.count();
                        at += 1;
                    }
                    b'"' if self.depth > 0 => {
                        (self.mode, from, self.began) = (Mode::Bare, at, Some(at));
                        self.in_string = true;
                        at += 1;
                    }
                    _ if self.depth > 0 => {
                        (self.mode, from, self.began) = (Mode::Bare, at, Some(at));
                        at += 1;
                    }
                    _ => return (at, Some(WalkEnd::NotJson)),
                },
                Mode::Bare => {
                    if matches!(byte, b',' | b']' | b' ' | b'\t' | b'\r' | b'\n') {
                        self.mode = Mode::Between;
                        self.keep(&chunk[from..at]);
                        return (at, Some(WalkEnd::Element));
                    }
                    self.in_string = byte == b'"';
                    at += 1;
                }
                Mode::Brackets => {
                    at += 1;
                    if self.step_in_brackets(byte) {
                        self.keep(&chunk[from..at]);
                        return (at, Some(WalkEnd::Element));
                    }
                }
            }
        }
        if self.mode != Mode::Between {
            self.keep(&chunk[from..]);
        }
        (chunk.len(), None)
    }

    /// Processes one byte within an object or an array; returns whether it ends an element.
    #[inline]
    fn step_in_brackets(&mut self, byte: u8) -> bool {
        match byte {
            b'"' => {
                self.in_string = true;
                if self.is_top_member() {
                    self.key.clear();
                }
            }
            b'[' if self.opens_list() => {
                self.kept.clear();
                (self.values, self.too_much, self.is_holder) = (0, None, true);
                (self.mode, self.depth, self.base) = (Mode::Between, 2, 2);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.count();
            }
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == self.base {
                    self.mode = Mode::Between;
                    if self.base > 0 || !self.is_holder {
                        return true;
                    }
                    (self.values, self.too_much, self.is_holder) = (0, None, false);
                }
            }
            b':' if self.is_top_member() => self.has_colon = true,
            b',' => {
                self.has_colon &= !self.is_top_member();
                self.count();
            }
            _ => {}
        }
        false
    }

    /// Skips to the end of the string or of the chunk.
    fn walk_string(&mut self, chunk: &[u8], at: usize) -> usize {
        if self.is_escaped {
            self.is_escaped = false;
            return at + 1;
        }
        let end = memchr2(b'"', b'\\', &chunk[at..]).map_or(chunk.len(), |found| at + found);
        if self.mode == Mode::Brackets && self.is_top_member() && !self.has_colon {
            let room = bounds::KEY_BYTES.saturating_sub(self.key.len());
            self.key.extend(chunk[at..end].iter().take(room));
        }
        match chunk.get(end) {
            Some(b'"') => self.in_string = false,
            Some(_) => self.is_escaped = true,
            None => return end,
        }
        end + 1
    }

    /// Returns whether the position is directly within a top-level object.
    fn is_top_member(&self) -> bool {
        self.base == 0 && self.depth == 1
    }

    fn opens_list(&self) -> bool {
        self.is_top_member() && self.has_colon && self.within.iter().any(|name| name.as_bytes() == self.key)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let is_holders_own = self.is_holder && self.base == 0;
        if self.too_much.is_some() || is_holders_own {
            return;
        }
        if self.kept.len() + bytes.len() > self.largest {
            (self.kept, self.too_much) = (Vec::new(), Some(ElementLimit::Bytes));
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    /// Counts one more value.
    fn count(&mut self) {
        self.values += 1;
        if self.values > bounds::VALUES && self.too_much.is_none() {
            (self.kept, self.too_much) = (Vec::new(), Some(ElementLimit::Values));
        }
    }
}

#[cfg(test)]
mod tests;
