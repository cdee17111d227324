//! Derived text (`docs/reference/domain.md I10`): the texts of a turn as one text, for search, for other models and
//! for views without blocks.
//!
//! Two text blocks are two paragraphs, whatever is between them. The exception are citations: a provider may split
//! a sentence into several blocks to attach them.

use crate::blocks::block::Content;
use crate::blocks::sources;

/// The types of blocks that cite something in the text before them.
const CITATIONS: [&str; 2] = [sources::TYPE, "x:citation"];

/// Joins texts to one text.
#[derive(Debug, Default)]
pub struct DerivedText {
    text: String,
    /// Something other than a citation follows the text so far.
    is_separated: bool,
    has_citation: bool,
}

impl DerivedText {
    /// Adds a text. A blank one adds nothing, except behind a citation.
    pub fn push(&mut self, text: &str) {
        let may_continue = self.has_citation && !self.is_separated;
        if text.trim().is_empty() && !may_continue {
            self.is_separated = true;
            return;
        }
        let continues = may_continue && continues_sentence(&self.text, text);
        if self.text.is_empty() {
            text.clone_into(&mut self.text);
        } else if continues {
            self.text.push_str(text);
        } else {
            self.text.truncate(self.text.trim_end_matches(['\n', '\r']).len());
            self.text.push_str("\n\n");
            self.text.push_str(text.trim_start_matches(['\n', '\r']));
        }
        (self.is_separated, self.has_citation) = (false, false);
    }

    /// Notes a block that is not part of the text.
    pub fn skip(&mut self, content: &Content) {
        match content {
            Content::Other(_) if CITATIONS.contains(&content.block_type()) => self.has_citation = true,
            _ => self.is_separated = true,
        }
    }

    /// Returns the text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Returns true if a text behind a citation continues the sentence before it: the provider separated the words
/// itself, a mark follows, or the script writes no blanks.
fn continues_sentence(before: &str, after: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else { return true };
    let is_cjk = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}');
    let is_mark = matches!(first, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '\'' | '"' | '”' | '’' | '、' | '。');
    last.is_whitespace() || first.is_whitespace() || is_mark || is_cjk(last) || is_cjk(first)
}

/// Returns the derived text of blocks: the text blocks without errors, in order.
pub fn content_text<'a>(contents: impl IntoIterator<Item = &'a Content>) -> String {
    let mut text = DerivedText::default();
    for content in contents {
        match content {
            Content::Text { text: words, is_error: false } => text.push(words),
            other => text.skip(other),
        }
    }
    text.into_text()
}

/// Returns the derived text as it was stored before texts became paragraphs: with nothing between them. Such turns are
/// sound.
pub fn content_text_without_paragraphs<'a>(contents: impl IntoIterator<Item = &'a Content>) -> String {
    let texts = contents.into_iter().filter_map(|content| match content {
        Content::Text { text, is_error: false } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::block::ToolStatus;
    use crate::fixtures;

    fn other(kind: &str) -> Content {
        serde_json::from_value(json!({"type": kind, "value": 1})).unwrap()
    }

    #[test]
    fn texts_are_paragraphs_unless_citation_splits_sentence() {
        let text = Content::text;
        let call = || fixtures::tool_use("c", "f", json!({}), ToolStatus::Done);
        let error = || Content::Text { text: "It failed.".into(), is_error: true };
        for (contents, derived) in [
            (vec![text("one ")], "one "),
            (vec![text("prelude"), call(), text("zanzibar")], "prelude\n\nzanzibar"),
            (vec![text("prelude"), Content::thinking("hm"), text("zanzibar")], "prelude\n\nzanzibar"),
            (vec![text("prelude"), text("zanzibar")], "prelude\n\nzanzibar"),
            (vec![text("a\n"), other("x:part"), text("\n\n  b\n")], "a\n\n  b\n"),
            (vec![text(" \n"), call(), text("a"), text(""), text("b"), error()], "a\n\nb"),
            (vec![text("The grass is "), text("green")], "The grass is \n\ngreen"),
            (vec![text("The grass is "), other(sources::TYPE), text("green")], "The grass is green"),
            (vec![text("The grass is green"), other("x:citation"), text(", it says.")], "The grass is green, it says."),
            (vec![text("草是绿色"), other(sources::TYPE), text("的。")], "草是绿色的。"),
            (vec![text("It is green."), other(sources::TYPE), text("Next")], "It is green.\n\nNext"),
            (vec![text("a"), other(sources::TYPE), text(" "), other(sources::TYPE), text("b")], "a b"),
            (vec![text("a "), other(sources::TYPE), call(), text("b")], "a \n\nb"),
            (vec![error()], ""),
        ] {
            assert_eq!(content_text(&contents), derived, "{contents:?}");
        }
    }
}
