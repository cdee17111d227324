//! Iterates over the conversations of a part, each parsed into one JSON value.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::bounded_reader::import_error;
use super::elements::{ElementLimit, ElementStep, Elements, TextPosition};
use super::member::MemberText;
use super::nested::flatten;
use super::repair::{parse, repeated_name_notes};
use super::{Input, file_location};
use crate::bounds;
use crate::domain::encoding::json_bounds::parse_detecting_duplicates;
use crate::report::{self, ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The callback for elements. It receives the value, a location with its number from 1, and the sink to which the
/// iteration reports its own issues.
pub(crate) type ElementVisitor<'a> =
    &'a mut dyn FnMut(Value, IssueLocation, &mut dyn ImportSink) -> Result<(), ImportError>;

impl Input {
    /// Passes on the elements of a part's top-level array, or of an array in a member named `within` of its top-level
    /// object, or the object itself if it has none. Unreadable elements are reported and skipped; if the part is
    /// truncated or damaged, that is reported and the earlier elements stay valid. Returns the number of elements,
    /// including invalid ones.
    ///
    /// # Errors
    /// Reading stops before any element, a bound is exceeded, or `visit` fails.
    pub(crate) fn for_each_element(
        &mut self,
        part: usize,
        within: &[&str],
        taker: &mut dyn ImportSink,
        visit: ElementVisitor<'_>,
    ) -> Result<u64, ImportError> {
        let file = self.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let elements = Elements::new(self.open_text(part)?, within, bounds::CONVERSATION_BYTES);
        let location = |number: u64| IssueLocation { conversation: number.to_string(), ..file_location(&file) };
        let (text, count) = walk(elements, &location, taker, visit)?;
        let is_replaced = text.has_replacements();
        drop(text);
        self.report_replacements(part, is_replaced, taker)?;
        Ok(count)
    }

    /// Passes on the elements of the list at a path of names within a part's top-level object, such as a table of a
    /// database dump. Returns their number; 0 if there is no such list. Issues and errors are those of
    /// [`Self::for_each_element`].
    pub(crate) fn for_each_listed(
        &mut self,
        part: usize,
        path: &[&str],
        taker: &mut dyn ImportSink,
        visit: ElementVisitor<'_>,
    ) -> Result<u64, ImportError> {
        let file = self.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let list = path.last().copied().unwrap_or_default();
        let text = MemberText::new(self.open_text(part)?, path);
        let elements = Elements::new(text, &[], bounds::CONVERSATION_BYTES);
        let location = |number: u64| IssueLocation { message: format!("{list} {number}"), ..file_location(&file) };
        let (text, count) = walk(elements, &location, taker, visit)?;
        let is_replaced = text.into_source().has_replacements();
        self.report_replacements(part, is_replaced, taker)?;
        Ok(count)
    }

    /// Returns whether a part's top-level object has a member at a path of names.
    pub(crate) fn has_member(&mut self, part: usize, path: &[&str]) -> Result<bool, ImportError> {
        MemberText::new(self.open_text(part)?, path).is_present().map_err(import_error)
    }

    /// Returns the JSON text of the member at a path of names; empty if there is none. `None` if it is longer than
    /// `at_most` bytes.
    pub(crate) fn read_member(
        &mut self,
        part: usize,
        path: &[&str],
        at_most: usize,
    ) -> Result<Option<Vec<u8>>, ImportError> {
        let mut text = Vec::new();
        let member = MemberText::new(self.open_text(part)?, path);
        member.take(at_most as u64 + 1).read_to_end(&mut text).map_err(import_error)?;
        Ok((text.len() <= at_most).then_some(text))
    }

    /// Reports invalid bytes once for each part, however often it is read.
    fn report_replacements(
        &mut self,
        part: usize,
        is_replaced: bool,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        if !is_replaced || !self.replaced.insert(part) {
            return Ok(());
        }
        let file = self.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let text = report::REPLACED.to_owned();
        report_issue(taker, ImportIssue { kind: IssueKind::PutRight, location: file_location(&file), text })
    }
}

/// Passes on the elements of a text; returns the text and their number.
fn walk<R: BufRead>(
    mut elements: Elements<'_, R>,
    location: &dyn Fn(u64) -> IssueLocation,
    taker: &mut dyn ImportSink,
    visit: ElementVisitor<'_>,
) -> Result<(R, u64), ImportError> {
    let mut count = 0;
    let left_out = |text: String, location: IssueLocation| ImportIssue { kind: IssueKind::LeftOut, location, text };
    loop {
        let finding = match elements.next() {
            Ok(None) => break,
            Ok(Some(ElementStep::Element(text))) => {
                count += 1;
                let parsed = parse_element(text);
                let start = elements.element_start();
                match parsed {
                    Ok((value, put_right)) => {
                        for text in put_right {
                            let (kind, text) = (IssueKind::PutRight, text.to_owned());
                            report_issue(taker, ImportIssue { kind, location: location(count), text })?;
                        }
                        visit(value, location(count), taker)?;
                        None
                    }
                    Err(error) => Some(left_out(not_json_text(&error, start), location(count))),
                }
            }
            Ok(Some(ElementStep::OverLimit(limit))) => {
                count += 1;
                let text = match limit {
                    ElementLimit::Bytes => bounds::byte_limit_text(bounds::CONVERSATION_BYTES as u64),
                    ElementLimit::Values => bounds::value_limit_text(bounds::VALUES),
                };
                Some(left_out(text, location(count)))
            }
            Ok(Some(ElementStep::Truncated)) => {
                let TextPosition { line, column } = elements.element_start();
                let text = format!("{} (it begins at line {line} column {column})", report::ENDS_WITHIN);
                Some(left_out(text, location(count + 1)))
            }
            Ok(Some(ElementStep::NotJson)) if count == 0 => return Err(ImportError::WrongFormat("JSON")),
            Ok(Some(ElementStep::NotJson)) => Some(left_out(report::NOT_JSON_BEHIND.into(), location(count + 1))),
            Err(error) => match import_error(error) {
                ImportError::Damaged(reason) if count > 0 => {
                    Some(left_out(report::damaged_from_here(&reason), location(count + 1)))
                }
                other => return Err(other),
            },
        };
        if let Some(finding) = finding {
            report_issue(taker, finding)?;
        }
        if count > bounds::CONVERSATIONS {
            return Err(ImportError::TooLarge(format!(
                "more than {} conversations; the rest was skipped",
                bounds::CONVERSATIONS
            )));
        }
    }
    Ok((elements.into_source(), count))
}

/// Says why and where in the text an element is not JSON.
fn not_json_text(error: &serde_json::Error, start: TextPosition) -> String {
    let TextPosition { line, column } = start.of(error.line(), error.column());
    let text = error.to_string();
    let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why);
    format!("it is not JSON: {why} at line {line} column {column}")
}

/// Parses an element; also returns the repairs as sentences for the report. An element that does not parse may be a
/// nested message tree.
fn parse_element(text: &[u8]) -> Result<(Value, Vec<&'static str>), serde_json::Error> {
    match parse_detecting_duplicates(text) {
        Ok((value, is_repeated)) => Ok((value, repeated_name_notes(is_repeated))),
        Err(_) => flatten(text).map_or_else(|| parse(text), Ok),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn element_is_parsed_as_is_or_flattened_or_repaired() {
        for (text, expected, count) in
            [(r#"{"messages":[]}"#, json!({"messages": []}), 0), (r#"{"a":NaN}"#, json!({"a": null}), 1)]
        {
            let (value, put_right) = parse_element(text.as_bytes()).unwrap();
            assert_eq!((value, put_right.len()), (expected, count), "{text}");
        }
        let (start, end) = (r#"{"children":["#, "]}");
        let deep = format!(r#"{{"messages":[{}{}]}}"#, start.repeat(5_000), end.repeat(5_000));
        assert_eq!(parse_element(deep.as_bytes()).unwrap().0["messages"].as_array().map(Vec::len), Some(5_000));
        assert!(parse_element(b"{").is_err());
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(text in r#"[\[\]{}",:\\udDcC80NaN\x01 -]{0,60}"#) {
            let _ = parse_element(text.as_bytes());
        }
    }
}
