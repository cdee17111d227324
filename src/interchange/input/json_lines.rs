//! Reads a part that holds one JSON value per line (JSON lines).
//!
//! A line break ends a value here whatever the line contains, so a broken line does not affect the next one. The
//! general walk over elements has no such end: a text that is cut within a string takes everything behind it along.

use std::io::{self, BufRead};

use memchr::memchr;
use serde_json::Value;

use super::bounded_reader::import_error;
use super::repair::{parse, string_end};
use super::{Input, InputPart, file_location};
use crate::bounds;
use crate::domain::text::plural::counted;
use crate::report::{self, ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// One line that holds a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct JsonLine {
    /// The number of the line in the file, from 1; blank lines count.
    pub(crate) number: u64,
    pub(crate) value: Value,
}

/// The callback for lines. It receives the value and the sink to which the iteration reports its own issues.
pub(crate) type LineVisitor<'a> = &'a mut dyn FnMut(JsonLine, &mut dyn ImportSink) -> Result<(), ImportError>;

impl InputPart {
    /// Returns whether the name says that the part holds JSON lines.
    pub(crate) fn is_json_lines(&self) -> bool {
        let name = self.base_name().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.ends_with(".jsonl") || name.ends_with(".ndjson")
    }
}

impl Input {
    /// Passes on the lines of a part whose name says JSON lines; of any other part the elements, numbered in order.
    ///
    /// # Errors
    /// Same as [`Self::for_each_line`].
    pub(crate) fn for_each_record(
        &mut self,
        part: usize,
        taker: &mut dyn ImportSink,
        visit: LineVisitor<'_>,
    ) -> Result<u64, ImportError> {
        if self.parts().all().get(part).is_some_and(InputPart::is_json_lines) {
            return self.for_each_line(part, taker, visit);
        }
        let mut number = 0;
        self.for_each_element(part, &[], taker, &mut |value, _, taker| {
            number += 1;
            visit(JsonLine { number, value }, taker)
        })
    }

    /// Passes on the values of a part with one JSON value per line. Blank lines are skipped. Lines that are not JSON,
    /// too long or cut are reported and skipped; if the part is damaged, that is reported and the earlier lines stay
    /// valid. Returns the number of values; 0 if the part is blank.
    ///
    /// # Errors
    /// No line is JSON although there are some, reading stops before any value, or `visit` fails.
    pub(crate) fn for_each_line(
        &mut self,
        part: usize,
        taker: &mut dyn ImportSink,
        visit: LineVisitor<'_>,
    ) -> Result<u64, ImportError> {
        let file = self.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let mut lines = Lines::new(self.open_text(part)?, bounds::CONVERSATION_BYTES);
        let mut broken = BrokenLines::new(&file);
        let mut values = 0;
        loop {
            let step = match lines.next() {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(error) => match import_error(error) {
                    ImportError::Damaged(reason) if values > 0 => {
                        broken.add(lines.number + 1, report::damaged_from_here(&reason), taker)?;
                        break;
                    }
                    other => return Err(other),
                },
            };
            let number = step.number;
            match step.read() {
                Ok((value, repairs)) => {
                    values += 1;
                    broken.go_on(taker)?;
                    for text in repairs {
                        report_issue(taker, line_issue(IssueKind::PutRight, &file, number, text.to_owned()))?;
                    }
                    visit(JsonLine { number, value }, taker)?;
                }
                Err(reason) => broken.add(number, reason, taker)?,
            }
        }
        if lines.from.has_replacements() {
            let text = report::REPLACED.to_owned();
            report_issue(taker, ImportIssue { kind: IssueKind::PutRight, location: file_location(&file), text })?;
        }
        broken.finish(values, taker)?;
        Ok(values)
    }
}

fn line_issue(kind: IssueKind, file: &str, number: u64, text: String) -> ImportIssue {
    ImportIssue { kind, location: IssueLocation { message: format!("line {number}"), ..file_location(file) }, text }
}

/// Reports broken lines: nothing before the first value, because a text of another format consists of nothing else,
/// and no more than the limit one by one.
struct BrokenLines<'f> {
    file: &'f str,
    waiting: Vec<ImportIssue>,
    is_json: bool,
    count: usize,
}

impl<'f> BrokenLines<'f> {
    fn new(file: &'f str) -> Self {
        Self { file, waiting: Vec::new(), is_json: false, count: 0 }
    }

    fn add(&mut self, number: u64, reason: String, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.count += 1;
        if self.count > bounds::ISSUES {
            return Ok(());
        }
        let issue = line_issue(IssueKind::LeftOut, self.file, number, reason);
        if self.is_json {
            return report_issue(taker, issue);
        }
        self.waiting.push(issue);
        Ok(())
    }

    /// Reports what was held back, because a value shows that the part is JSON.
    fn go_on(&mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.is_json = true;
        self.waiting.drain(..).try_for_each(|issue| report_issue(taker, issue))
    }

    /// Reports the number of lines above the limit; without any value, the first broken line is the reason of the
    /// error.
    fn finish(self, values: u64, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if values == 0 {
            return match self.waiting.into_iter().next() {
                Some(first) => {
                    report_issue(taker, first)?;
                    Err(ImportError::WrongFormat("JSON, one value per line"))
                }
                None => Ok(()),
            };
        }
        match self.count.saturating_sub(bounds::ISSUES) as u64 {
            0 => Ok(()),
            more => {
                let lines = counted(more, "more line was skipped", "more lines were skipped");
                let text = format!("{lines} for such reasons");
                report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location: file_location(self.file), text })
            }
        }
    }
}

/// One line that is not blank.
struct LineStep<'l> {
    number: u64,
    /// `None` if the line is too long.
    text: Option<&'l [u8]>,
    /// A line break ends it, so it is not cut.
    is_ended: bool,
}

impl LineStep<'_> {
    /// Parses the line; also returns the repairs as sentences. An error is the reason for the report.
    fn read(&self) -> Result<(Value, Vec<&'static str>), String> {
        let Some(text) = self.text else {
            return Err(bounds::byte_limit_text(bounds::CONVERSATION_BYTES as u64));
        };
        if has_too_many_values(text) {
            return Err(bounds::value_limit_text(bounds::VALUES));
        }
        parse(text).map_err(|error| {
            if error.is_eof() && !self.is_ended {
                return report::ENDS_WITHIN.to_owned();
            }
            let text = error.to_string();
            let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why);
            format!("it is not JSON: {why} at column {}", error.column())
        })
    }
}

/// Returns whether a JSON text has more values than `bounds::VALUES`, without parsing it.
pub(crate) fn has_too_many_values(text: &[u8]) -> bool {
    // Every value takes a byte at least.
    if text.len() <= bounds::VALUES {
        return false;
    }
    let (mut at, mut values) = (0, 0);
    while let Some(&byte) = text.get(at) {
        at = if byte == b'"' { string_end(text, at) } else { at + 1 };
        values += usize::from(matches!(byte, b',' | b'{' | b'['));
    }
    values > bounds::VALUES
}

/// Cuts a text into lines of bounded length.
struct Lines<R> {
    from: R,
    largest: usize,
    /// The line without its end.
    kept: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(from: R, largest: usize) -> Self {
        Self { from, largest, kept: Vec::new(), number: 0 }
    }

    /// Returns the next line that is not blank.
    fn next(&mut self) -> io::Result<Option<LineStep<'_>>> {
        loop {
            let (bytes, is_ended) = self.fill_line()?;
            if bytes == 0 && !is_ended {
                return Ok(None);
            }
            self.number += 1;
            let is_too_long = bytes > self.largest;
            if is_too_long || !is_blank(&self.kept) {
                let text = (!is_too_long).then(|| trimmed(&self.kept));
                return Ok(Some(LineStep { number: self.number, text, is_ended }));
            }
        }
    }

    /// Reads up to the next line break. Returns the length of the line and whether a line break ended it.
    fn fill_line(&mut self) -> io::Result<(usize, bool)> {
        self.kept.clear();
        // The buffer shrinks, so that one huge line does not hold its memory for the rest of the import.
        self.kept.shrink_to(4 << 20);
        let mut bytes = 0_usize;
        loop {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                return Ok((bytes, false));
            }
            let end = memchr(b'\n', chunk);
            let line = &chunk[..end.unwrap_or(chunk.len())];
            bytes = bytes.saturating_add(line.len());
            if bytes > self.largest {
                self.kept = Vec::new();
            } else {
                self.kept.extend_from_slice(line);
            }
            let used = line.len() + usize::from(end.is_some());
            self.from.consume(used);
            if end.is_some() {
                return Ok((bytes, true));
            }
        }
    }
}

/// Record separators may precede the values of a JSON text sequence (RFC 7464).
fn is_padding(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0x1e
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(is_padding)
}

fn trimmed(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !is_padding(byte)).unwrap_or(line.len());
    line[start..].trim_ascii_end()
}

#[cfg(test)]
mod tests;
