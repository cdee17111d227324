//! Parses the reasoning and calls of older messages: `<details type="…">` within the text.

use std::borrow::Cow;

use html_escape::decode_html_entities;
use serde_json::Value;

use crate::reading::code_fences::CodeFences;

/// A segment of a message's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextSegment<'a> {
    Text(&'a str),
    Details(DetailsElement<'a>),
}

/// A `<details>` element that the program itself wrote.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DetailsElement<'a> {
    /// `reasoning`, `tool_calls` or `code_interpreter`.
    pub(crate) kind: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    /// The raw content after the summary.
    body: &'a str,
}

impl DetailsElement<'_> {
    /// Returns an attribute with its entities decoded.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.attributes.iter().find(|(known, _)| *known == name)?;
        Some(decode_html_entities(value)).filter(|value| !value.is_empty())
    }

    /// Returns a JSON attribute, which may be encoded twice as a string.
    pub(crate) fn json(&self, name: &str) -> Option<Value> {
        Some(json_or_text(&self.attribute(name)?))
    }

    /// Returns the body as text.
    pub(crate) fn body(&self) -> String {
        decode_html_entities(self.body.trim()).into_owned()
    }

    /// Returns the body as reasoning, without quote markers if every line is quoted.
    pub(crate) fn reasoning(&self) -> String {
        let body = self.body();
        let is_quoted = |line: &str| line.trim_start().starts_with('>') || line.trim().is_empty();
        if !body.lines().all(is_quoted) {
            return body;
        }
        let bare = body.lines().map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix('>').unwrap_or(line);
            line.strip_prefix(' ').unwrap_or(line)
        });
        bare.collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

/// Parses JSON, also JSON within a JSON string; anything else is returned as text.
pub(crate) fn json_or_text(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            _ => Value::String(inner),
        },
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    }
}

const OPEN: &str = "<details";
const CLOSE: &str = "</details>";
/// Maximum number of attributes of an element.
const ATTRIBUTES: usize = 64;
const KINDS: [&str; 3] = ["reasoning", "tool_calls", "code_interpreter"];

/// Splits a text at the program's own `<details>` elements. Other elements belong to the model's text, as do those
/// that do not start a line or are in a code block. An unclosed element extends to the end.
pub(crate) fn split_details(text: &str) -> Vec<TextSegment<'_>> {
    split(text, &mut CodeFences::new(text))
}

/// Splits a text also at the elements in code blocks: those of a reply with unclosed code blocks.
pub(crate) fn split_all_details(text: &str) -> Vec<TextSegment<'_>> {
    split(text, &mut CodeFences::new(""))
}

fn split<'t>(text: &'t str, fences: &mut CodeFences<'t>) -> Vec<TextSegment<'t>> {
    let mut stretches = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text[at..].find(OPEN) {
        let start = at + found;
        at = start + OPEN.len();
        if !begins_line(&text[from..start]) {
            continue;
        }
        if let Some(end) = fences.end_at(start) {
            at = end;
            continue;
        }
        let Some((details, end)) = details(text, start) else { continue };
        push_text(&mut stretches, &text[from..start]);
        stretches.push(TextSegment::Details(details));
        (from, at) = (end, end);
        fences.skip_to(end);
    }
    push_text(&mut stretches, &text[from..]);
    stretches
}

/// Returns whether an element after this text starts a line; one that follows another element does, too. Only the
/// trailing white space is examined. A line that is indented as far as code is code.
fn begins_line(before: &str) -> bool {
    let words = before.trim_end();
    let blank = &before[words.len()..];
    match blank.rfind('\n') {
        Some(at) => !is_code_indentation(&blank[at + 1..]),
        None => words.is_empty(),
    }
}

/// Returns whether a line that begins with this white space is code: four columns, or a tab.
fn is_code_indentation(blank: &str) -> bool {
    blank.contains('\t') || blank.chars().count() >= 4
}

fn push_text<'a>(stretches: &mut Vec<TextSegment<'a>>, text: &'a str) {
    let text = without_blank_ends(text);
    if !text.is_empty() {
        stretches.push(TextSegment::Text(text));
    }
}

/// Returns a text without the blank lines around it. The indentation of its first line stays, because it may be code.
pub(crate) fn without_blank_ends(text: &str) -> &str {
    let blank = &text[..text.len() - text.trim_start().len()];
    text[blank.rfind('\n').map_or(0, |at| at + 1)..].trim_end()
}

fn details(text: &str, start: usize) -> Option<(DetailsElement<'_>, usize)> {
    let (attributes, head) = attributes(&text[start + OPEN.len()..])?;
    let (_, kind) = *attributes.iter().find(|(name, _)| *name == "type")?;
    if !KINDS.contains(&kind) {
        return None;
    }
    let inside = start + OPEN.len() + head;
    let (mut body, end) = match closing(&text[inside..]) {
        Some(length) => (&text[inside..inside + length], inside + length + CLOSE.len()),
        None => (&text[inside..], text.len()),
    };
    if let Some((_, behind)) =
        body.trim_start().strip_prefix("<summary>").and_then(|rest| rest.split_once("</summary>"))
    {
        body = behind;
    }
    Some((DetailsElement { kind, attributes, body }, end))
}

/// Returns the attributes, and their length including the closing bracket.
fn attributes(text: &str) -> Option<(Vec<(&str, &str)>, usize)> {
    let mut attributes = Vec::new();
    let mut at = 0;
    // The program writes only a few. Without a limit, nested elements would be scanned quadratically.
    for _ in 0..ATTRIBUTES {
        at += text[at..].len() - text[at..].trim_start().len();
        if text[at..].starts_with('>') {
            return Some((attributes, at + 1));
        }
        let length = text[at..].find(['=', '>', '<', ' ', '\n'])?;
        let name = &text[at..at + length];
        at += length;
        match text[at..].strip_prefix("=\"") {
            Some(rest) => {
                let end = rest.find('"')?;
                attributes.push((name, &rest[..end]));
                at += 2 + end + 1;
            }
            // An attribute without a value. Any other syntax does not come from this program.
            None if length > 0 && text[at..].starts_with([' ', '\n', '>']) => {}
            None => return None,
        }
    }
    None
}

/// Returns the position of the matching closing tag.
fn closing(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 1_usize);
    loop {
        let close = at + text[at..].find(CLOSE)?;
        let opened = text[at..close].matches(OPEN).count();
        depth += opened;
        depth -= 1;
        if depth == 0 {
            return Some(close);
        }
        at = close + CLOSE.len();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_split_at_own_details() {
        let text = "Hello\n<details type=\"reasoning\" done=\"true\" duration=\"3\">\n<summary>Thought for 3 seconds</summary>\n&gt; It&#x27;s\n&gt; &lt;b&gt;\n</details>\nThen\n<details><summary>The model's</summary>x</details>\n<details type=\"tool_calls\" done=\"true\" id=\"c1\" name=\"look\" arguments=\"&quot;{\\&quot;q\\&quot;:1}&quot;\" result=\"&quot;found&quot;\">\n<summary>Tool Executed</summary>\n</details>\nEnd";
        let read = split_details(text);
        let kinds: Vec<String> = read
            .iter()
            .map(|stretch| match stretch {
                TextSegment::Text(text) => (*text).to_owned(),
                TextSegment::Details(details) => details.kind.to_owned(),
            })
            .collect();
        assert_eq!(
            kinds,
            ["Hello", "reasoning", "Then\n<details><summary>The model's</summary>x</details>", "tool_calls", "End"]
        );
        let TextSegment::Details(reasoning) = &read[1] else { panic!("{read:?}") };
        assert_eq!(
            (reasoning.reasoning().as_str(), reasoning.attribute("duration").as_deref()),
            ("It's\n<b>", Some("3"))
        );
        let TextSegment::Details(call) = &read[3] else { panic!("{read:?}") };
        assert_eq!(call.json("arguments"), Some(json!({"q": 1})));
        assert_eq!(call.json("result"), Some(json!("found")));
        assert_eq!(call.attribute("files"), None);
    }

    #[test]
    fn broken_details_stay_text_or_reach_end() {
        let table = [
            ("a <details type=\"reasoning\">b</details>", 1, 0),
            ("<details type=\"reasoning\">cut", 0, 1),
            ("<details type=\"reasoning", 1, 0),
            ("<details type=reasoning>x</details>", 1, 0),
            ("<details type=\"other\">x</details>", 1, 0),
            ("<details type=\"reasoning\" open>in <details>side</details> out</details>behind", 1, 1),
            ("<details", 1, 0),
            (
                "<details type=\"reasoning\"><summary>S</summary>&gt; a</details><details type=\"tool_calls\">b</details>c",
                1,
                2,
            ),
            ("", 0, 0),
            ("a\n  <details type=\"reasoning\">b</details>", 1, 1),
            ("a\r\n<details type=\"reasoning\">b</details>\r\nc", 2, 1),
            // Code by its indentation.
            ("a\n\n \t<details type=\"reasoning\">b</details>", 1, 0),
            ("a\n\n    <details type=\"reasoning\">b</details>\n\nc", 1, 0),
            ("````md\n```html\n<details type=\"reasoning\">b</details>\n```\n````", 1, 0),
            ("a\nb <details type=\"reasoning\">b</details>", 1, 0),
            ("a\n```html\n<details type=\"reasoning\">\nb\n</details>\n```\nc", 1, 0),
            ("~~~\n<details type=\"reasoning\">b</details>\n~~~\n<details type=\"reasoning\">c</details>", 1, 1),
            ("```\ncut off\n<details type=\"reasoning\">b</details>", 1, 1),
            (
                "<details type=\"code_interpreter\">\n```py\n1\n```\n</details>\n```\n<details type=\"reasoning\">\n```",
                1,
                1,
            ),
        ];
        for (text, texts, details) in table {
            let read = split_details(text);
            let count = |is: fn(&TextSegment<'_>) -> bool| read.iter().filter(|stretch| is(stretch)).count();
            assert_eq!(
                (count(|s| matches!(s, TextSegment::Text(_))), count(|s| matches!(s, TextSegment::Details(_)))),
                (texts, details),
                "{text}"
            );
        }
    }

    #[test]
    fn indentation_of_first_line_stays() {
        let table = [("\n  \n    a\n\n", "    a"), ("\ta ", "\ta"), (" \n ", ""), ("a", "a"), ("", "")];
        for (text, expected) in table {
            assert_eq!(without_blank_ends(text), expected, "{text:?}");
        }
    }

    #[test]
    fn details_within_lines_are_skipped_in_linear_time() {
        // Scanning to the end from each of them would take hours.
        let text = "x<details type=\"reasoning\">".repeat(400_000);
        assert_eq!(split_details(&text), [TextSegment::Text(&text)]);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(<details|</details>| type=\"reasoning\"|>|<summary>|</summary>|é|\n| |\"|=|&gt;){0,20}") {
            split_details(&text);
        }
    }
}
