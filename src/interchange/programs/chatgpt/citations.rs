//! Extracts the citation marks of a reply's text into sources with their ranges.
//!
//! Confirmed: a `content_references` member has `matched_text`, `start_idx`, `end_idx`, `type`, `alt`, `items` or
//! `sources`; a mark in the text is enclosed in U+E200 and U+E201; a `citations` member has `start_ix`, `end_ix` and
//! `metadata`; offsets count code points of the stored text. Inferred: a mark refers to the preceding line or the
//! part of it since the last mark (the export contains a position, not a range).

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::Value;

use crate::bounds;
use crate::conversation::ImportedSource;
use crate::reading::fields;

const MARK: char = '\u{e200}';
const MARK_END: char = '\u{e201}';

/// A text without its marks, and their sources.
pub(crate) struct CitedText {
    pub(crate) text: String,
    pub(crate) sources: Vec<ImportedSource>,
    /// Number of marks for something other than pages (a map, an image search) without a text form.
    pub(crate) lost: usize,
}

/// A range of the stored text, in bytes, that is replaced.
struct MarkedRange {
    start: usize,
    end: usize,
    instead: String,
    sources: Vec<ImportedSource>,
    /// No metadata describes the mark.
    is_unknown: bool,
}

/// The search budget of one message. Each text may be compared with each source, and the bounds of a conversation
/// allow thousands of both.
pub(crate) struct SearchBudget(Cell<usize>);

/// Fixed cost of examining a source, in bytes.
const SOURCE_COST: usize = 64;

impl Default for SearchBudget {
    fn default() -> Self {
        Self(Cell::new(bounds::CITATION_SEARCH_BYTES))
    }
}

impl SearchBudget {
    /// Returns whether the budget allows one more source.
    pub(crate) fn allows_source(&self) -> bool {
        self.allows_bytes(SOURCE_COST)
    }

    fn allows_bytes(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Extracts the marks that `metadata` describes from a text.
pub(crate) fn extract_citations(text: &str, metadata: &Value, room: &SearchBudget) -> CitedText {
    let references = fields::list(metadata, "content_references");
    let citations = fields::list(metadata, "citations");
    if references.is_empty() && citations.is_empty() && !text.contains(MARK) {
        return CitedText { text: text.to_owned(), sources: Vec::new(), lost: 0 };
    }
    let mut marks = Vec::new();
    let mut loose = Vec::new();
    let mut lost = 0;
    let places = CharOffsets::new(text, room);
    for reference in references.iter().take_while(|_| room.allows_source()) {
        let sources = sources_of(reference);
        match places.find(reference, "start_idx", "end_idx") {
            Some((start, end)) => {
                let instead = replacement_text(reference, &sources);
                if instead.is_empty() && sources.is_empty() && is_visible(reference) {
                    lost += 1;
                }
                marks.push(MarkedRange { start, end, instead, sources, is_unknown: false });
            }
            None => loose.extend(sources),
        }
    }
    for citation in citations.iter().take_while(|_| room.allows_source()) {
        let sources: Vec<ImportedSource> = citation.get("metadata").and_then(source_of).into_iter().collect();
        match places.find(citation, "start_ix", "end_ix") {
            Some((start, end)) => {
                marks.push(MarkedRange { start, end, instead: String::new(), sources, is_unknown: false });
            }
            None => loose.extend(sources),
        }
    }
    marks.extend(unknown_marks(text));
    let (text, mut sources, unknown) = replace_marks(text, marks);
    let named = |source: &ImportedSource| (source.url.clone(), source.title.clone());
    let mut known: HashSet<(String, String)> = sources.iter().map(named).collect();
    sources.extend(loose.into_iter().filter(|source| known.insert(named(source))));
    CitedText { text, sources, lost: lost + unknown }
}

/// Byte offsets of the text's characters.
struct CharOffsets<'t> {
    text: &'t str,
    starts: Vec<usize>,
    room: &'t SearchBudget,
}

impl<'t> CharOffsets<'t> {
    fn new(text: &'t str, room: &'t SearchBudget) -> Self {
        Self { text, starts: text.char_indices().map(|(at, _)| at).chain([text.len()]).collect(), room }
    }

    /// Finds a mark: at the stated position if it is there, else at its text if that has the form of a mark. A wrong
    /// position never changes other text.
    fn find(&self, of: &Value, start: &str, end: &str) -> Option<(usize, usize)> {
        let matched = of.get("matched_text").and_then(Value::as_str).unwrap_or_default();
        let place = |name: &str| self.starts.get(usize::try_from(fields::count(of, name)?).ok()?).copied();
        let stated = place(start).zip(place(end)).filter(|(start, end)| start < end);
        let is_mark = |words: &str| words.contains(MARK) || (words.starts_with('【') && words.ends_with('】'));
        match stated {
            Some((start, end)) if is_mark(matched) && &self.text[start..end] == matched => Some((start, end)),
            _ if is_mark(matched) && !self.room.allows_bytes(self.text.len()) => None,
            _ if is_mark(matched) => self.text.find(matched).map(|at| (at, at + matched.len())),
            Some((start, end)) if is_mark(&self.text[start..end]) => Some((start, end)),
            _ => None,
        }
    }
}

/// Returns the pages of a reference.
fn sources_of(reference: &Value) -> Vec<ImportedSource> {
    let mut sources = Vec::new();
    for name in ["items", "fallback_items", "sources"] {
        for item in fields::list(reference, name) {
            sources.extend(source_of(item));
            sources.extend(fields::list(item, "supporting_websites").iter().filter_map(source_of));
        }
    }
    if sources.is_empty() {
        sources.extend(source_of(reference));
    }
    sources
}

/// Returns a page or a document; `None` if it has neither an address nor a document name.
pub(crate) fn source_of(of: &Value) -> Option<ImportedSource> {
    let url = fields::text(of, "url").unwrap_or_default();
    let title = fields::first_text(of, &["title", "name"]).unwrap_or_default();
    let is_document = matches!(fields::text(of, "type"), Some("file" | "document"));
    if url.is_empty() && (title.is_empty() || !is_document) {
        return None;
    }
    let snippet = fields::first_text(of, &["snippet", "text"]).unwrap_or_default();
    Some(ImportedSource {
        title: title.to_owned(),
        url: url.to_owned(),
        snippet: snippet.to_owned(),
        cited_range: None,
    })
}

/// Returns the text that replaces a mark. Pages move to the sources; other references have a text form in `alt`.
fn replacement_text(reference: &Value, sources: &[ImportedSource]) -> String {
    let kind = fields::text(reference, "type").unwrap_or_default();
    if !sources.is_empty() && kind != "url" {
        return String::new();
    }
    fields::first_text(reference, &["alt", "name"]).unwrap_or_default().to_owned()
}

/// Returns whether the mark was visible to readers.
fn is_visible(reference: &Value) -> bool {
    let nothing = [
        "hidden",
        "attribution",
        "sources_footnote",
        "tldr",
        "followup_a",
        "grouped_webpages_model_predicted_fallback",
    ];
    !fields::text(reference, "type").is_some_and(|kind| nothing.contains(&kind))
}

fn replace_marks(text: &str, mut marks: Vec<MarkedRange>) -> (String, Vec<ImportedSource>, usize) {
    // A stable sort: of marks at the same position, the described one comes first.
    marks.sort_by_key(|mark| mark.start);
    let mut out = String::with_capacity(text.len());
    let (mut at, mut chars, mut unknown) = (0, 0, 0);
    // Start of the text that the next mark refers to.
    let mut from = 0;
    let mut sources: Vec<ImportedSource> = Vec::new();
    for mark in marks {
        if mark.start < at {
            continue;
        }
        let mut words = &text[at..mark.start];
        if mark.instead.is_empty() {
            words = words.strip_suffix(' ').unwrap_or(words);
        }
        if let Some(line) = words.rfind('\n') {
            from = chars + words[..=line].chars().count();
        }
        out.push_str(words);
        out.push_str(&mark.instead);
        chars += words.chars().count() + mark.instead.chars().count();
        let stretch = (from < chars).then_some((from as u64, chars as u64));
        sources.extend(mark.sources.into_iter().map(|source| ImportedSource { cited_range: stretch, ..source }));
        unknown += usize::from(mark.is_unknown);
        at = mark.end;
    }
    out.push_str(&text[at..]);
    (out, sources, unknown)
}

/// Returns all marks in the text; described ones precede them in the sort.
fn unknown_marks(text: &str) -> Vec<MarkedRange> {
    // The scan runs backwards, so that the matching end is known at each start.
    let mut next_end = None;
    let mut marks = Vec::new();
    for (at, sign) in text.rmatch_indices([MARK, MARK_END]) {
        if sign.starts_with(MARK_END) {
            next_end = Some(at + sign.len());
        } else {
            let end = next_end.unwrap_or(at + sign.len());
            marks.push(MarkedRange { start: at, end, instead: String::new(), sources: Vec::new(), is_unknown: true });
        }
    }
    marks.reverse();
    marks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Address and range of a source.
    type CitedRange = (String, Option<(u64, u64)>);

    fn read(text: &str, metadata: Value) -> (String, Vec<CitedRange>, usize) {
        let CitedText { text, sources, lost } = extract_citations(text, &metadata, &SearchBudget::default());
        (text, sources.into_iter().map(|source| (source.url, source.cited_range)).collect(), lost)
    }

    #[test]
    fn citation_marks_become_sources_with_ranges() {
        let token = "\u{e200}cite\u{e202}turn0search0\u{e201}";
        let text = format!("😀 It is warm. {token} And dry.\nNew line {token}{token}");
        let chars = |text: &str| text.chars().count();
        let length = chars(token);
        let first = chars("😀 It is warm. ");
        let second = first + length + chars(" And dry.\nNew line ");
        let page = |url: &str| json!([{"title": "T", "url": url, "snippet": "s"}]);
        let metadata = json!({"content_references": [
            {"type": "grouped_webpages", "matched_text": token, "start_idx": second, "end_idx": second + length, "items": page("https://b"), "alt": "([T](https://b))"},
            {"type": "grouped_webpages", "matched_text": token, "start_idx": first, "end_idx": first + length, "items": page("https://a")},
            {"type": "map", "matched_text": token, "start_idx": second + length, "end_idx": second + 2 * length},
            {"type": "sources_footnote", "matched_text": " ", "start_idx": 999, "end_idx": 999, "sources": [{"title": "T", "url": "https://a"}, {"title": "C", "url": "https://c"}]},
        ]});
        let (text, sources, lost) = read(&text, metadata);
        assert_eq!(text, "😀 It is warm. And dry.\nNew line");
        let expected = [
            ("https://a".to_owned(), Some((0, 13))),
            ("https://b".to_owned(), Some((23, 31))),
            ("https://c".to_owned(), None),
        ];
        assert_eq!((sources.as_slice(), lost), (expected.as_slice(), 1));
    }

    #[test]
    fn wrong_citation_position_leaves_text_unchanged() {
        let token = "\u{e200}cite\u{e202}x\u{e201}";
        let table = [
            // The position is wrong, the text is right.
            (
                format!("A{token}B"),
                json!({"content_references": [{"type": "grouped_webpages", "matched_text": token, "start_idx": 0, "end_idx": 1, "items": [{"url": "https://a"}]}]}),
                "AB",
                1,
                0,
            ),
            // Neither is a mark.
            (
                "Plain words".to_owned(),
                json!({"content_references": [{"type": "grouped_webpages", "matched_text": "words", "start_idx": 0, "end_idx": 5, "items": [{"url": "https://a"}]}]}),
                "Plain words",
                1,
                0,
            ),
            ("x".to_owned(), json!({"content_references": [{"start_idx": -1, "end_idx": "2"}, null, 3]}), "x", 0, 0),
            // A reference with a text form.
            (
                format!("See {token}."),
                json!({"content_references": [{"type": "entity", "matched_text": token, "start_idx": 4, "end_idx": 11, "alt": "Risa"}]}),
                "See Risa.",
                0,
                0,
            ),
            (format!("A{token}B"), json!({}), "AB", 0, 1),
            ("A\u{e200}B".to_owned(), json!({}), "AB", 0, 1),
            // The older format.
            (
                "Warm【3†source】.".to_owned(),
                json!({"citations": [{"start_ix": 4, "end_ix": 14, "metadata": {"type": "webpage", "title": "T", "url": "https://a", "text": "t"}}]}),
                "Warm.",
                1,
                0,
            ),
            (
                "Warm【3†file.pdf】.".to_owned(),
                json!({"citations": [{"start_ix": 4, "end_ix": 16, "metadata": {"type": "file", "name": "file.pdf"}}]}),
                "Warm.",
                1,
                0,
            ),
        ];
        for (text, metadata, expected, sources, lost) in table {
            let read = read(&text, metadata);
            assert_eq!((read.0.as_str(), read.1.len(), read.2), (expected, sources, lost), "{text}");
        }
    }
}
