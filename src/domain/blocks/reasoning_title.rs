//! Titles of reasoning: some providers begin each part of their reasoning with a line `**Heading**`. The last heading
//! of a block is its title, while it streams and afterwards, and each heading begins a section of it.

use std::ops::Range;

use serde_json::{Value, json};

use crate::blocks::block::{Block, BlockState, Content};

/// The key of `block_metadata` that marks reasoning whose paragraphs may begin with headings.
const HEADINGS: &str = "headings";

/// The number of bytes up to which a line can be a heading.
const LONGEST: usize = 400;

/// A section of a reasoning block: a heading with the text up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasoningPart {
    /// `None` for the text before the first heading, and for a block without a title.
    pub title: Option<String>,
    /// The bytes of its text, without the line of the heading and the blank lines around the text.
    pub text: Range<usize>,
}

/// Returns the metadata of a reasoning block whose paragraphs may begin with headings.
pub fn headings_metadata() -> Value {
    json!({ HEADINGS: true })
}

/// Returns the last line `**Heading**` that begins a paragraph, with the byte offset of its line. The last line counts
/// only if the text is complete, because an incomplete one may continue.
pub fn last_heading(text: &str, is_complete: bool) -> Option<(usize, &str)> {
    headings_from_end(text, is_complete).next()
}

/// Returns all headings of a text like [`last_heading`], the last one first.
fn headings_from_end(text: &str, is_complete: bool) -> impl Iterator<Item = (usize, &str)> {
    let mut end = text.len();
    let mut lines = text.rsplit('\n').peekable();
    let mut is_last = true;
    std::iter::from_fn(move || {
        while let Some(line) = lines.next() {
            let start = end - line.len();
            end = start.saturating_sub(1);
            let is_ended = is_complete || !std::mem::take(&mut is_last);
            let begins_paragraph = lines.peek().is_none_or(|before| before.trim().is_empty());
            if is_ended
                && begins_paragraph
                && let Some(heading) = heading_of_line(line)
            {
                return Some((start, heading));
            }
        }
        None
    })
}

/// Returns the heading that the text begins with, if its first line is one.
pub fn first_heading(text: &str) -> Option<&str> {
    heading_of_line(text.trim_start().lines().next()?)
}

fn heading_of_line(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.len() > LONGEST {
        return None;
    }
    let heading = line.strip_prefix("**")?.strip_suffix("**")?.trim();
    (!heading.is_empty() && !heading.contains("**") && !heading.starts_with('*') && !heading.ends_with('*'))
        .then_some(heading)
}

/// Returns the range without the blank lines at its start and the white space at its end.
fn without_blank_ends(text: &str, range: Range<usize>) -> Range<usize> {
    let begun = text[range.clone()].trim_start_matches(['\n', '\r']);
    let start = range.end - begun.len();
    start..start + begun.trim_end().len()
}

impl Block {
    fn has_headings(&self) -> bool {
        self.block_metadata.get(HEADINGS) == Some(&Value::Bool(true))
    }

    /// Splits a reasoning block into its sections, in order. There is always one; without headings it has the title of
    /// the block.
    pub fn reasoning_parts(&self) -> Vec<ReasoningPart> {
        let Content::Thinking { thinking, .. } = &self.content else { return Vec::new() };
        let mut headings: Vec<(usize, &str)> = Vec::new();
        if self.has_headings() {
            headings.extend(headings_from_end(thinking, self.state != BlockState::Open));
            headings.reverse();
        }
        let Some((first, _)) = headings.first() else {
            return vec![ReasoningPart { title: self.reasoning_title(), text: 0..thinking.len() }];
        };
        let mut parts = Vec::with_capacity(headings.len() + 1);
        let before = without_blank_ends(thinking, 0..*first);
        if !before.is_empty() {
            parts.push(ReasoningPart { title: None, text: before });
        }
        for (at, (start, title)) in headings.iter().enumerate() {
            let end = headings.get(at + 1).map_or(thinking.len(), |(next, _)| *next);
            let body = thinking[*start..end].find('\n').map_or(end, |line| start + line + 1);
            parts.push(ReasoningPart {
                title: Some((*title).to_owned()),
                text: without_blank_ends(thinking, body..end),
            });
        }
        parts
    }

    /// Returns the title of a reasoning block: its own one, or its last heading while it has none.
    pub fn reasoning_title(&self) -> Option<String> {
        let Content::Thinking { title, thinking, .. } = &self.content else { return None };
        match title.as_ref().filter(|title| !title.trim().is_empty()) {
            Some(title) => Some(title.clone()),
            None if self.has_headings() => {
                last_heading(thinking, self.state != BlockState::Open).map(|(_, heading)| heading.to_owned())
            }
            None => None,
        }
    }

    /// Returns all titles of a reasoning block in order: its headings, and its own title if that is none of them.
    pub fn reasoning_titles(&self) -> Vec<String> {
        let Content::Thinking { thinking, .. } = &self.content else { return Vec::new() };
        let mut titles: Vec<String> = Vec::new();
        if self.has_headings() {
            let headings = headings_from_end(thinking, self.state != BlockState::Open);
            titles.extend(headings.map(|(_, heading)| heading.to_owned()));
            titles.reverse();
        }
        titles.extend(self.reasoning_title().filter(|title| !titles.contains(title)));
        titles
    }

    /// Returns the title of a reasoning block if its text does not show it.
    pub fn separate_reasoning_title(&self) -> Option<String> {
        let Content::Thinking { thinking, .. } = &self.content else { return None };
        let is_heading = |title: &str| headings_from_end(thinking, true).any(|(_, heading)| heading == title.trim());
        self.reasoning_title().filter(|title| !is_heading(title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_heading_of_paragraphs_is_title() {
        for (text, while_open, complete) in [
            ("", None, None),
            ("**One**", None, Some("One")),
            ("**One**\n", Some("One"), Some("One")),
            ("**One**\n\nText **bold**\n\n**Two**\n\nMore.\n\n\n", Some("Two"), Some("Two")),
            ("**One**\n\nText.\n\n**Tw", Some("One"), Some("One")),
            ("\n **One** \r\nText.", Some("One"), Some("One")),
            ("Text.\n**One**\nText.", None, None),
            ("**One** and more\n\n**Two** **three**\n", None, None),
            ("****\n\n***One***\n\n** **\n", None, None),
            ("**检查偏移**\n\n好。", Some("检查偏移"), Some("检查偏移")),
        ] {
            let heading = |is_complete| last_heading(text, is_complete).map(|(_, heading)| heading);
            assert_eq!((heading(false), heading(true)), (while_open, complete), "{text:?}");
        }
        assert_eq!(last_heading("**One**\n\n**Two**\n", false), Some((9, "Two")));
        assert_eq!((first_heading("\n**One**\nText."), first_heading("Text\n**One**")), (Some("One"), None));
        let long = format!("**{}**\n", "x".repeat(LONGEST));
        assert_eq!(last_heading(&long, true), None);
    }

    #[test]
    fn headings_begin_sections() {
        let parts = |text: &str, title: Option<&str>, state: BlockState, has_headings: bool| {
            let (thinking, title) = (text.to_owned(), title.map(str::to_owned));
            let content = Content::Thinking { thinking, signature: None, redacted: None, title, duration_ms: None };
            let mut block = crate::fixtures::block(1, 0, content);
            block.state = state;
            if has_headings {
                block.block_metadata = headings_metadata();
            }
            let show = |part: ReasoningPart| format!("{}|{}", part.title.unwrap_or_default(), &text[part.text]);
            block.reasoning_parts().into_iter().map(show).collect::<Vec<_>>()
        };
        use BlockState::{Done, Open};
        for (text, state, expected) in [
            ("", Done, vec!["|"]),
            ("Text.\n", Done, vec!["|Text.\n"]),
            ("**One**\n\nFirst.\n\n**Two**\nThen.\n", Done, vec!["One|First.", "Two|Then."]),
            ("Before.\n\n**One**\n\n  First.", Done, vec!["|Before.", "One|  First."]),
            ("**One**\n\n**Two**", Done, vec!["One|", "Two|"]),
            ("**One**\n\nFirst.\n\n**Two**", Open, vec!["One|First.\n\n**Two**"]),
            ("**One**\n\nFirst.\n\n**Two**\n", Open, vec!["One|First.", "Two|"]),
            ("**检查**\n好。", Done, vec!["检查|好。"]),
        ] {
            assert_eq!(parts(text, None, state, true), expected, "{text:?}");
        }
        assert_eq!(parts("**One**\n\nText.", Some("Plan"), Done, false), ["Plan|**One**\n\nText."]);
    }

    #[test]
    fn titles_are_all_headings_and_own_title() {
        let titles = |text: &str, title: Option<&str>, has_headings: bool| {
            let (thinking, title) = (text.to_owned(), title.map(str::to_owned));
            let content = Content::Thinking { thinking, signature: None, redacted: None, title, duration_ms: None };
            let mut block = crate::fixtures::block(1, 0, content);
            if has_headings {
                block.block_metadata = headings_metadata();
            }
            (block.reasoning_titles().join(" "), block.separate_reasoning_title())
        };
        let text = "**One**\n\nText.\n\n**Two**\n\nMore.";
        assert_eq!(titles(text, Some("Two"), true), ("One Two".into(), None));
        assert_eq!(titles(text, Some("Three"), true), ("One Two Three".into(), Some("Three".into())));
        assert_eq!(titles(text, Some("Two"), false), ("Two".into(), None), "headings of other models are emphasis");
        assert_eq!(titles("Text.", Some("Plan"), false), ("Plan".into(), Some("Plan".into())));
        assert_eq!(titles("Text.", Some(" "), false), (String::new(), None));
    }
}
