//! Sources of a reply: citations and grounding metadata beside the parts of a candidate. They are collected and
//! emitted at the end, because they refer to the whole text (docs/reference/providers.md 7.3).

use serde_json::{Map, Value, json};

use crate::gemini::provider_tools::GeminiProviderCalls;
use crate::provider::{DecodedItem, opaque_content};
use turnleaf_domain::blocks::sources::{SourceInput, is_web_url, sources_content};

/// Keys of a candidate of which the last value counts.
const LAST_COUNTS: [&str; 2] = [GROUNDING, "urlContextMetadata"];
const GROUNDING: &str = "groundingMetadata";

/// The sources of one reply.
#[derive(Debug, Default)]
pub struct GeminiSources {
    /// The entries of `citationMetadata`: every chunk has its own.
    citations: Vec<Value>,
    last: Map<String, Value>,
}

impl GeminiSources {
    /// Collects the sources of a candidate in one chunk.
    pub fn read_candidate(&mut self, candidate: &Value) {
        let metadata = candidate.get("citationMetadata");
        let citations = ["citationSources", "citations"].into_iter().find_map(|key| metadata?.get(key)?.as_array());
        for citation in citations.into_iter().flatten() {
            if !self.citations.contains(citation) {
                self.citations.push(citation.clone());
            }
        }
        for key in LAST_COUNTS {
            if let Some(value) = candidate.get(key).filter(|value| value.as_object().is_some_and(|map| !map.is_empty()))
            {
                self.last.insert(key.to_owned(), value.clone());
            }
        }
    }

    /// Emits everything at the end of the body. Web pages become sources; the search that found them is a provider
    /// tool call of `own`.
    pub fn finish(&mut self, reply_text: &ReplyText, own: &mut GeminiProviderCalls, out: &mut Vec<DecodedItem>) {
        let (pages, others): (Vec<Value>, Vec<Value>) =
            self.citations.drain(..).partition(|citation| is_web_url(word(citation, "uri")));
        let mut given: Vec<SourceInput> = pages.iter().map(|page| cited_source(page, reply_text)).collect();
        let mut last = std::mem::take(&mut self.last);
        let grounding = last.get(GROUNDING).cloned().unwrap_or_default();
        given.extend(grounded_sources(&grounding, reply_text));
        let queries =
            grounding.get("webSearchQueries").filter(|queries| queries.as_array().is_some_and(|all| !all.is_empty()));
        if !given.is_empty() || queries.is_some() {
            // The rest of the grounding metadata is markup for Google's own display.
            last.shift_remove(GROUNDING);
        }
        out.extend(sources_content(given).map(DecodedItem::Opaque));
        let found = pages_of(&grounding).flatten().map(|(url, title)| json!({"title": title, "url": url}));
        own.finish_search(queries.and_then(Value::as_array), found.collect(), out);
        out.extend(others.into_iter().map(|citation| DecodedItem::Opaque(opaque_content("citation", citation))));
        out.extend(last.into_iter().map(|(key, value)| DecodedItem::Opaque(opaque_content(&key, value))));
    }
}

/// The text of a reply, to convert the offsets of sources, which count bytes of the whole text.
#[derive(Debug, Default)]
pub struct ReplyText {
    text: String,
    /// The byte offset of the last text block in `text`.
    last_block: usize,
    is_broken: bool,
}

impl ReplyText {
    /// Appends the text of emitted items.
    pub fn push_items(&mut self, items: &[DecodedItem]) {
        for item in items {
            match item {
                DecodedItem::Text(text) => {
                    if std::mem::take(&mut self.is_broken) {
                        self.last_block = self.text.len();
                    }
                    self.text.push_str(text);
                }
                DecodedItem::Model(_)
                | DecodedItem::Usage(_)
                | DecodedItem::Cost(_)
                | DecodedItem::ResponseId(_)
                | DecodedItem::StopReason(_) => {}
                _ => self.is_broken = true,
            }
        }
    }

    /// Converts byte offsets in the whole text to character offsets in the last block; `None` if they are in an
    /// earlier block.
    fn place(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let at = |byte: usize| {
            let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
            Some(self.text.get(self.last_block..byte)?.chars().count())
        };
        Some((at(start.max(self.last_block))?, at(end)?))
    }
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, field: &str) -> usize {
    value.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn cited_source(citation: &Value, reply_text: &ReplyText) -> SourceInput {
    let place = reply_text.place(number(citation, "startIndex"), number(citation, "endIndex"));
    SourceInput {
        url: word(citation, "uri").into(),
        title: word(citation, "title").into(),
        quote: String::new(),
        place,
    }
}

/// Returns URL and title of each grounding chunk; `None` for chunks that are no web page.
fn pages_of(grounding: &Value) -> impl Iterator<Item = Option<(&str, &str)>> {
    let chunks = grounding.get("groundingChunks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    chunks.iter().map(|chunk| {
        let page = ["web", "maps", "retrievedContext"].into_iter().find_map(|kind| chunk.get(kind))?;
        Some((word(page, "uri"), word(page, "title"))).filter(|(url, _)| is_web_url(url))
    })
}

/// Returns the web pages that support the text, with their positions, followed by all pages without a position.
fn grounded_sources(grounding: &Value, reply_text: &ReplyText) -> Vec<SourceInput> {
    let pages: Vec<Option<(&str, &str)>> = pages_of(grounding).collect();
    let given = |at: usize, place| {
        let (url, title) = pages.get(at).copied().flatten()?;
        Some(SourceInput { url: url.into(), title: title.into(), quote: String::new(), place })
    };
    let supports = grounding.get("groundingSupports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut all = Vec::new();
    for support in supports {
        let segment = support.get("segment").unwrap_or(&Value::Null);
        let place = reply_text.place(number(segment, "startIndex"), number(segment, "endIndex"));
        let indices = support.get("groundingChunkIndices").and_then(Value::as_array);
        let indices = indices.into_iter().flatten().filter_map(|at| usize::try_from(at.as_u64()?).ok());
        all.extend(indices.filter_map(|at| given(at, place)));
    }
    all.extend((0..pages.len()).filter_map(|at| given(at, None)));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn citations_accumulate_and_grounding_is_replaced() {
        let mut sources = GeminiSources::default();
        for candidate in [
            json!({"citationMetadata": {"citationSources": [{"uri": "a"}]}, "groundingMetadata": {}}),
            json!({"citationMetadata": {"citationSources": [{"uri": "a"}, {"uri": "b"}]}, "groundingMetadata": {"n": 1}}),
            json!({"groundingMetadata": {"n": 2}}),
        ] {
            sources.read_candidate(&candidate);
        }
        let mut out = Vec::new();
        let mut own = GeminiProviderCalls::default();
        sources.finish(&ReplyText::default(), &mut own, &mut out);
        sources.finish(&ReplyText::default(), &mut own, &mut out);
        let expected = [
            opaque_content("citation", json!({"uri": "a"})),
            opaque_content("citation", json!({"uri": "b"})),
            opaque_content("groundingMetadata", json!({"n": 2})),
        ];
        assert_eq!(out, expected.map(DecodedItem::Opaque));
    }
}
