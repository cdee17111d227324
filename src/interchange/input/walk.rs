//! Going through the conversations of a part, each as one JSON value.

use serde_json::Value;

use super::elements::{Elements, Step, TooMuch};
use super::measured::stopped;
use super::nested::flattened;
use super::repair::{parse, told};
use super::{Input, place};
use crate::bounds;
use crate::domain::json_bounds::parse_with_repetition;
use crate::report::{self, Finding, Place, What};
use crate::taker::{Stopped, Taker, tell};

/// What `each` hands over: one element, its number from 1 as a place, and the taker that the walk tells its own findings.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(Value, Place, &mut dyn Taker) -> Result<(), Stopped>;

impl Input {
    /// Hands over the elements of a part's top-level array, or of an array in a member of its top-level object that has
    /// one of the names `within`, or the object itself where it has none. What cannot be read is told and passed over;
    /// where the part ends too early or is damaged, that is told, and what came before is good. Gives how many elements
    /// were there, bad ones too.
    ///
    /// # Errors
    /// When there is no element before it cannot be read on, when a bound is reached, and what `visit` says.
    pub(crate) fn each(
        &mut self,
        part: usize,
        within: &[&str],
        taker: &mut dyn Taker,
        visit: Visit<'_>,
    ) -> Result<u64, Stopped> {
        let file = self.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let mut elements = Elements::new(self.text(part)?, within, bounds::CONVERSATION_BYTES);
        let mut count = 0;
        let left_out = |text: String, place: Place| Finding { what: What::LeftOut, place, text };
        loop {
            let here = |number: u64| Place { conversation: number.to_string(), ..place(&file) };
            let finding = match elements.next() {
                Ok(None) => break,
                Ok(Some(Step::Element(text))) => {
                    count += 1;
                    match value(text) {
                        Ok((value, put_right)) => {
                            for text in put_right {
                                tell(
                                    taker,
                                    Finding { what: What::PutRight, place: here(count), text: text.to_owned() },
                                )?;
                            }
                            visit(value, here(count), taker)?;
                            None
                        }
                        Err(error) => Some(left_out(format!("it is not JSON: {error}"), here(count))),
                    }
                }
                Ok(Some(Step::TooMuch(what))) => {
                    count += 1;
                    let text = match what {
                        TooMuch::Bytes => bounds::larger_than(bounds::CONVERSATION_BYTES as u64),
                        TooMuch::Values => bounds::more_values_than(bounds::VALUES),
                    };
                    Some(left_out(text, here(count)))
                }
                Ok(Some(Step::Cut)) => Some(left_out(report::ENDS_WITHIN.into(), here(count + 1))),
                Ok(Some(Step::NotJson)) if count == 0 => return Err(Stopped::NotThis("JSON")),
                Ok(Some(Step::NotJson)) => Some(left_out(report::NOT_JSON_BEHIND.into(), here(count + 1))),
                Err(error) => match stopped(error) {
                    Stopped::Damaged(why) if count > 0 => {
                        Some(left_out(report::damaged_from_here(&why), here(count + 1)))
                    }
                    other => return Err(other),
                },
            };
            if let Some(finding) = finding {
                tell(taker, finding)?;
            }
            if count > bounds::CONVERSATIONS {
                return Err(Stopped::TooLarge(format!("there are more than {} conversations", bounds::CONVERSATIONS)));
            }
        }
        if elements.into_source().has_replacements() {
            let text = report::REPLACED.to_owned();
            tell(taker, Finding { what: What::PutRight, place: place(&file), text })?;
        }
        Ok(count)
    }
}

/// An element as a value, and what was put right to read it: sentences for a report. What does not parse as it stands may
/// be a tree that is written as one.
fn value(text: &[u8]) -> Result<(Value, Vec<&'static str>), serde_json::Error> {
    match parse_with_repetition(text) {
        Ok((value, is_repeated)) => Ok((value, told(is_repeated))),
        Err(_) => flattened(text).map_or_else(|| parse(text), Ok),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_element_is_read_as_it_stands_or_as_a_tree_or_repaired() {
        for (text, expected, count) in
            [(r#"{"messages":[]}"#, json!({"messages": []}), 0), (r#"{"a":NaN}"#, json!({"a": null}), 1)]
        {
            let (value, put_right) = value(text.as_bytes()).unwrap();
            assert_eq!((value, put_right.len()), (expected, count), "{text}");
        }
        let (start, end) = (r#"{"children":["#, "]}");
        let deep = format!(r#"{{"messages":[{}{}]}}"#, start.repeat(5_000), end.repeat(5_000));
        assert_eq!(value(deep.as_bytes()).unwrap().0["messages"].as_array().map(Vec::len), Some(5_000));
        assert!(value(b"{").is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in r#"[\[\]{}",:\\udDcC80NaN\x01 -]{0,60}"#) {
            let _ = value(text.as_bytes());
        }
    }
}
