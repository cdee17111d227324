//! Sources of a reply: cited pages, and their positions in the text.
//!
//! Every adapter writes them in one format, as a block of type `x:sources`: `{"type": "x:sources", "sources":
//! [{"url", "title"?, "quote"?, "start"?, "end"?}]}`. `start` and `end` count Unicode scalar values in the preceding
//! text block; a source without them applies to the whole reply. The data is untrusted: only `http` and `https` URLs
//! are kept.

use serde_json::{Map, Value, json};

use crate::blocks::block::{Block, Content};
use crate::id::BlockId;
use crate::limits;
use crate::text::hidden_text::{count_hidden_characters, is_hidden_character};

/// The type of blocks that hold sources.
pub const TYPE: &str = "x:sources";

/// The most characters of a quote.
const QUOTE_CHARS: usize = 500;
const URL_BYTES: usize = 2_000;

/// A cited page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePage {
    pub url: String,
    /// The title. It is never empty: the URL replaces a missing one.
    pub title: String,
    pub quote: Option<String>,
}

/// The position of a citation in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMark {
    pub block_id: BlockId,
    /// The end of the cited text, in Unicode scalar values.
    pub at: usize,
    /// The number of the source, from 1.
    pub source: usize,
}

/// The sources of a turn, each URL once, in order of appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplySources {
    pub list: Vec<SourcePage>,
    /// The citations, in the order of the texts.
    pub marks: Vec<SourceMark>,
}

/// Collects the sources of a turn's blocks.
pub fn collect_sources(blocks: &[Block]) -> ReplySources {
    let mut sources = ReplySources::default();
    let mut text: Option<(BlockId, usize)> = None;
    for block in blocks {
        match &block.content {
            Content::Text { text: words, is_error: false } => text = Some((block.id, words.chars().count())),
            Content::Other(fields) if fields.get("type").and_then(Value::as_str) == Some(TYPE) => {
                let given = fields.get("sources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                given.iter().for_each(|given| sources.add(given, text));
            }
            _ => {}
        }
    }
    sources
}

impl ReplySources {
    fn add(&mut self, given: &Value, text: Option<(BlockId, usize)>) {
        let word = |field: &str| given.get(field).and_then(Value::as_str).unwrap_or_default();
        let url = word("url");
        if !is_web_url(url) {
            return;
        }
        let quote = Some(clean_line(word("quote"), QUOTE_CHARS)).filter(|quote| !quote.is_empty());
        let at = match self.list.iter().position(|known| known.url == url) {
            Some(at) => {
                self.list[at].quote = self.list[at].quote.take().or(quote);
                at
            }
            None if self.list.len() >= limits::SOURCES => return,
            None => {
                let title = clean_line(word("title"), limits::TITLE_CHARS);
                let title = if title.is_empty() { url.to_owned() } else { title };
                self.list.push(SourcePage { url: url.to_owned(), title, quote });
                self.list.len() - 1
            }
        };
        let end = given.get("end").and_then(Value::as_u64).and_then(|end| usize::try_from(end).ok());
        if let (Some((block_id, length)), Some(end)) = (text, end) {
            let mark = SourceMark { block_id, at: end.min(length), source: at + 1 };
            if !self.marks.contains(&mark) {
                self.marks.push(mark);
            }
        }
    }
}

/// Returns true if a text is a URL that a page may link to.
pub fn is_web_url(url: &str) -> bool {
    let scheme = |scheme: &str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    (scheme("https://") || scheme("http://"))
        && url.len() <= URL_BYTES
        && !url.contains(char::is_whitespace)
        && count_hidden_characters(url) == 0
}

/// Cleans untrusted text: one line of at most this many characters, without invisible ones.
pub fn clean_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !is_hidden_character(*c)));
    }
    line.chars().take(chars).collect()
}

/// A source as an adapter passes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceInput {
    pub url: String,
    /// The title and the quote; empty if missing.
    pub title: String,
    pub quote: String,
    /// The cited range in the preceding text block, half open. An empty range counts as none.
    pub place: Option<(usize, usize)>,
}

/// Returns the content of a block of sources, or `None` without sources.
pub fn sources_content(given: impl IntoIterator<Item = SourceInput>) -> Option<Map<String, Value>> {
    let written = |given: SourceInput| {
        let mut one = Map::new();
        one.insert("url".into(), json!(given.url));
        for (field, text) in [("title", given.title), ("quote", given.quote)] {
            if !text.is_empty() {
                one.insert(field.into(), json!(text));
            }
        }
        if let Some((start, end)) = given.place.filter(|(start, end)| start < end) {
            one.insert("start".into(), json!(start));
            one.insert("end".into(), json!(end));
        }
        Value::Object(one)
    };
    let all: Vec<Value> = given.into_iter().filter(|given| is_web_url(&given.url)).map(written).collect();
    let sources = (!all.is_empty()).then_some(all)?;
    Some(Map::from_iter([("type".to_owned(), json!(TYPE)), ("sources".to_owned(), Value::Array(sources))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn source_input(url: &str, title: &str, place: Option<(usize, usize)>) -> SourceInput {
        SourceInput { url: url.into(), title: title.into(), quote: String::new(), place }
    }

    fn turn(contents: Vec<Content>) -> Vec<Block> {
        contents.into_iter().zip(0..).map(|(content, seq)| fixtures::block(2, seq, content)).collect()
    }

    fn sources(all: Vec<SourceInput>) -> Content {
        Content::Other(sources_content(all).unwrap())
    }

    #[test]
    fn sources_are_listed_once_and_marked_in_preceding_text() {
        let (a, b) = ("https://a.example/x", "http://b.example");
        let blocks = turn(vec![
            Content::text("Größe "),
            sources(vec![source_input(a, " The\n\u{202e}A \0page ", Some((0, 5))), source_input(b, "", None)]),
            Content::thinking("hm"),
            Content::text("ab"),
            Content::ThinkingSignature { signature: "s".into(), attaches_to: None },
            sources(vec![
                source_input(b, "B", Some((0, 2))),
                source_input(a, "again", Some((1, 99))),
                source_input(a, "", Some((0, 2))),
            ]),
        ]);
        let found = collect_sources(&blocks);
        let titles: Vec<(&str, &str)> = found.list.iter().map(|one| (one.url.as_str(), one.title.as_str())).collect();
        assert_eq!(titles, [(a, "The A page"), (b, b)]);
        let marks: Vec<(BlockId, usize, usize)> =
            found.marks.iter().map(|mark| (mark.block_id, mark.at, mark.source)).collect();
        assert_eq!(marks, [(blocks[0].id, 5, 1), (blocks[3].id, 2, 2), (blocks[3].id, 2, 1)]);
    }

    #[test]
    fn only_web_urls_become_sources() {
        for url in
            ["", "javascript:alert(1)", "ftp://a", "https:/a", "http://a b", "https://a\u{202e}b", "//a", "data:x"]
        {
            assert!(!is_web_url(url), "{url:?}");
            assert_eq!(sources_content([source_input(url, "x", None)]), None, "{url:?}");
        }
        assert!(is_web_url("HTTPS://A.example/ä?q=1#x"));
        for odd in
            [json!({}), json!(3), json!({"sources": 3}), json!({"sources": [3, null, {"url": 4}, {"url": "x:y"}]})]
        {
            let mut fields = odd.as_object().cloned().unwrap_or_default();
            fields.insert("type".into(), json!(TYPE));
            assert_eq!(
                collect_sources(&turn(vec![Content::text("a"), Content::Other(fields)])),
                ReplySources::default(),
                "{odd}"
            );
        }
    }

    #[test]
    fn source_count_is_bounded() {
        let many =
            (0..1_000).map(|n| source_input(&format!("https://a.example/{n}"), &"x".repeat(1_000), None)).collect();
        let found = collect_sources(&turn(vec![sources(many)]));
        assert_eq!(found.list.len(), limits::SOURCES);
        assert!(found.list.iter().all(|one| one.title.len() <= limits::TITLE_CHARS));
    }
}
