//! Chunks that differ only in their text, as almost all chunks of a reply do: the text of the next one is cut out of it
//! without parsing the rest again.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::json_text;
use turnleaf_domain::encoding::json_bounds::end_of_string;

/// The number of chunks that are tried as the pattern of the following ones while none of these fits it: some servers
/// vary more than the text, and learning costs more than parsing.
const ATTEMPTS: u8 = 4;
/// The number of chunks after which a pattern was worth its attempt.
const WORTH: u8 = 16;
const CONTENT: &str = "\"content\"";

/// A chunk that carries text and nothing else, without its text.
#[derive(Debug)]
pub struct RepeatedChunk {
    /// The JSON up to the opening quote of the text, with it, and from the closing quote on.
    around: Option<(String, String)>,
    attempts_left: u8,
    /// The number of chunks that fitted, up to [`WORTH`].
    fitted: u8,
}

impl Default for RepeatedChunk {
    fn default() -> Self {
        Self { around: None, attempts_left: ATTEMPTS, fitted: 0 }
    }
}

impl RepeatedChunk {
    /// Returns the text of a chunk that differs from the learnt one only in it. `None` means that the chunk must be
    /// parsed, also if its text is no valid string or needs to be mended.
    pub fn text_of<'a>(&mut self, json: &'a str) -> Option<Cow<'a, str>> {
        let (before, after) = self.around.as_ref()?;
        let text = json.strip_prefix(before.as_str())?.strip_suffix(after.as_str())?;
        let is_plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        let text = if is_plain {
            Cow::Borrowed(text)
        } else {
            // With its quotes it must be exactly one string.
            let quoted = json.get(before.len() - 1..json.len() - after.len() + 1)?;
            let text: String = serde_json::from_str(quoted).ok()?;
            if text.contains('\0') {
                return None;
            }
            Cow::Owned(text)
        };
        if self.fitted < WORTH {
            self.fitted += 1;
        } else {
            self.attempts_left = ATTEMPTS;
        }
        Some(text)
    }

    /// Learns a chunk that was parsed, if it carries only text.
    pub fn learn(&mut self, json: &str, chunk: &Value) {
        if self.attempts_left > 0
            && let Some(content) = text_alone(chunk)
        {
            self.attempts_left -= 1;
            self.fitted = 0;
            self.around = cut_out(json, chunk, content);
        }
    }
}

/// Returns the text of a chunk whose other members have no effect when they are read again.
fn text_alone(chunk: &Value) -> Option<&str> {
    let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
    let chunk = chunk.as_object()?;
    let [Value::Object(choice)] = chunk.get("choices")?.as_array()?.as_slice() else { return None };
    let delta = choice.get("delta")?.as_object()?;
    let is_first = matches!(choice.get("index").and_then(Value::as_u64), None | Some(0));
    let is_finished = choice.get("finish_reason").and_then(Value::as_str).is_some_and(|reason| !reason.is_empty());
    let others_are_scalar =
        |members: &Map<String, Value>, but: &str| members.iter().all(|(name, value)| name == but || is_scalar(value));
    let has_no_other = delta.iter().all(|(name, value)| match name.as_str() {
        "content" => true,
        "role" => is_scalar(value),
        _ => value.is_null() || value.as_str() == Some(""),
    });
    let is_alone = is_first && !is_finished && has_no_other;
    let is_alone = is_alone && others_are_scalar(chunk, "choices") && others_are_scalar(choice, "delta");
    delta.get("content")?.as_str().filter(|_| is_alone)
}

/// Returns the JSON before and after the text of a chunk.
fn cut_out(json: &str, chunk: &Value, content: &str) -> Option<(String, String)> {
    let name_end = json.find(CONTENT)? + CONTENT.len();
    let start = name_end + json.get(name_end..)?.find('"')?;
    let end = end_of_string(json.as_bytes(), start);
    let (before, after) = (json.get(..=start)?, json.get(end - 1..)?);
    // Another string than the text may have been found. With another text, the chunk must differ in its text alone.
    let other = if content == "a" { "b" } else { "a" };
    let mut expected = chunk.clone();
    *expected.pointer_mut("/choices/0/delta/content")? = other.into();
    let (changed, _) = json_text::parse(&format!("{before}{other}{after}")).ok()?;
    (changed == expected).then(|| (before.to_owned(), after.to_owned()))
}

#[cfg(test)]
mod tests;
