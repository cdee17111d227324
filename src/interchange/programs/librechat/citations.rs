//! Extracts the pages that a reply cites, and their marks in its text.
//!
//! A mark is the private character U+E202 (or its literal escape) followed by `turn<n><kind><m>`: the m-th result of
//! a kind in the n-th search. U+E203 and U+E204 enclose the marked words, U+E200 and U+E201 enclose several marks
//! (`client/src/utils/citations.ts`; the mapping of kinds to result lists: `client/src/components/Web/Context.tsx`).
//! Without marked words the range is the text of the line before the mark, inferred from where the product displays
//! it.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::ImportedSource;
use crate::domain::blocks::sources::is_web_url;
use crate::reading::fields::{count, first_text, list};

/// The search results of a message.
#[derive(Default)]
pub(super) struct SearchResults {
    /// Indexes in `all` by search, list and position in the list.
    by_mark: HashMap<(u64, &'static str, usize), usize>,
    by_page: HashMap<(String, String), usize>,
    /// The results without duplicate addresses.
    pub(super) all: Vec<ImportedSource>,
}

const LISTS: [&str; 3] = ["organic", "topStories", "references"];

impl SearchResults {
    /// Reads the results from the attachments of a message.
    pub(super) fn from_message(message: &Value) -> Self {
        let mut found = Self::default();
        for attachment in list(message, "attachments") {
            for name in ["web_search", "file_search"] {
                let Some(results) = attachment.get(name) else { continue };
                let turn = count(results, "turn").unwrap_or_default();
                for kind in LISTS {
                    for (at, result) in list(results, kind).iter().enumerate() {
                        found.add((turn, kind, at), result);
                    }
                }
            }
        }
        found
    }

    /// Returns whether an attachment contains search results.
    pub(super) fn is_search_result(attachment: &Value) -> bool {
        attachment.get("web_search").is_some() || attachment.get("file_search").is_some()
    }

    fn add(&mut self, mark: (u64, &'static str, usize), result: &Value) {
        let url = first_text(result, &["link", "url"]).filter(|url| is_web_url(url));
        let title = first_text(result, &["title", "attribution", "fileName"]);
        let (url, title) = match (url, title) {
            (None, None) => return,
            (url, title) => (url.unwrap_or_default().to_owned(), title.unwrap_or_default().to_owned()),
        };
        let snippet = first_text(result, &["snippet", "content"]).unwrap_or_default().to_owned();
        let at = *self.by_page.entry((url.clone(), title.clone())).or_insert_with(|| {
            self.all.push(ImportedSource { title, url, snippet, cited_range: None });
            self.all.len() - 1
        });
        self.by_mark.entry(mark).or_insert(at);
    }

    fn find(&self, turn: u64, kind: &str, at: usize) -> Option<&ImportedSource> {
        let list = match kind {
            "search" => "organic",
            "news" => "topStories",
            "ref" | "file" => "references",
            _ => return None,
        };
        self.all.get(*self.by_mark.get(&(turn, list, at))?)
    }
}

/// Returns the text without its marks, and the cited sources.
pub(super) fn extract_citations(text: &str, found: &SearchResults) -> (String, Vec<ImportedSource>) {
    let is_marked = |text: &str| text.contains(|c| ('\u{e200}'..='\u{e206}').contains(&c)) || text.contains("\\ue20");
    if !is_marked(text) {
        return (text.to_owned(), Vec::new());
    }
    let mut plain = String::with_capacity(text.len());
    let mut sources = Vec::new();
    // Start and end of the marked words, and start of the line, in characters of the plain text.
    let (mut span, mut line, mut length) = ((0, 0), 0_u64, 0_u64);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (mark, size) = mark_of(rest, c);
        rest = &rest[size..];
        match mark {
            None => {
                plain.push(c);
                length += 1;
                if c == '\n' {
                    line = length;
                }
            }
            Some('\u{e203}') => span.0 = length,
            Some('\u{e204}') => span.1 = length,
            Some('\u{e202}') => {
                let Some((turn, kind, at, size)) = reference(rest) else { continue };
                rest = &rest[size..];
                if let Some(source) = found.find(turn, kind, at) {
                    let begin = if span.1 == length && span.0 < span.1 { span.0 } else { line };
                    let stretch = (begin < length).then_some((begin, length));
                    sources.push(ImportedSource { cited_range: stretch, ..source.clone() });
                }
            }
            Some(_) => {}
        }
    }
    (plain, sources)
}

/// Returns the mark at this position, as a character or a literal escape, and its length in bytes.
fn mark_of(rest: &str, c: char) -> (Option<char>, usize) {
    if ('\u{e200}'..='\u{e206}').contains(&c) {
        return (Some(c), c.len_utf8());
    }
    let digit = rest.strip_prefix("\\ue20").and_then(|rest| rest.chars().next()).filter(|c| ('0'..='6').contains(c));
    match digit.and_then(|digit| char::from_u32(0xe200 + digit.to_digit(10)?)) {
        Some(mark) => (Some(mark), "\\ue200".len()),
        None => (None, c.len_utf8()),
    }
}

/// Parses `turn0search3` into the search, the kind, the position, and the length of the whole.
fn reference(text: &str) -> Option<(u64, &'static str, usize, usize)> {
    const KINDS: [&str; 6] = ["search", "image", "news", "video", "ref", "file"];
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix("turn")?;
    let (turn, rest) = rest.split_at(digits(rest));
    let kind = KINDS.into_iter().find(|kind| rest.starts_with(kind))?;
    let rest = &rest[kind.len()..];
    let at = &rest[..digits(rest)];
    let size = "turn".len() + turn.len() + kind.len() + at.len();
    Some((turn.parse().ok()?, kind, at.parse().ok()?, size))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn citation_marks_are_removed_and_point_at_text() {
        let message = json!({"attachments": [
            {"web_search": {"turn": 0, "organic": [{"link": "https://a.example", "title": "A", "snippet": "s"}, {"link": "x"}]}},
            {"web_search": {"turn": 1, "topStories": [{"link": "https://b.example", "title": "B"}], "references": [{"link": "https://a.example", "title": "A"}]}},
            {"type": "memory"},
        ]});
        let found = SearchResults::from_message(&message);
        assert_eq!(found.all.len(), 2);
        type Marked = (&'static str, Option<(u64, u64)>);
        let table: [(&str, &str, &[Marked]); 8] = [
            ("plain", "plain", &[]),
            ("a\nGröße\u{e202}turn0search0 x", "a\nGröße x", &[("A", Some((2, 7)))]),
            ("a \u{e203}bc\u{e204}\u{e202}turn1news0", "a bc", &[("B", Some((2, 4)))]),
            ("ab\\ue202turn0search0", "ab", &[("A", Some((0, 2)))]),
            (
                "ab\u{e200}\u{e202}turn0search0\u{e202}turn1ref0\u{e201}",
                "ab",
                &[("A", Some((0, 2))), ("A", Some((0, 2)))],
            ),
            ("\u{e202}turn0search0", "", &[("A", None)]),
            ("a\u{e202}turn7search0\u{e202}turn0search9\u{e202}odd", "aodd", &[]),
            ("a\u{e202}turn99999999999999999999search0", "aturn99999999999999999999search0", &[]),
        ];
        for (text, plain, sources) in table {
            let (found_plain, marked) = extract_citations(text, &found);
            let marked: Vec<(&str, Option<(u64, u64)>)> =
                marked.iter().map(|source| (source.title.as_str(), source.cited_range)).collect();
            assert_eq!((found_plain.as_str(), marked.as_slice()), (plain, sources), "{text:?}");
        }
    }
}
