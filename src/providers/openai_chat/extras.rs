//! Collects the rest of chunks beside text, reasoning and calls: citations, sources, provider tool calls and unknown
//! keys. The items are emitted at block boundaries, so that they never split a text block.

use serde_json::{Map, Value};

use crate::openai_chat::vendor_members::DECODED_MEMBERS;
use crate::provider::{DecodedItem, opaque_content};
use turnleaf_domain::blocks::sources::{SourceInput, is_web_url, sources_content};

/// Items that wait for the next block boundary.
#[derive(Debug, Default)]
pub struct ChunkExtras {
    /// The waiting items.
    waiting: Vec<DecodedItem>,
    /// Citations of web pages, which wait as well.
    pages: Vec<SourceInput>,
    /// Provider tool calls with the provider's own numbers.
    own: Vec<ExecutedTool>,
    /// Sources that some servers repeat on every chunk; the last ones count.
    sources: Map<String, Value>,
    /// A delta had something of this.
    has_read: bool,
}

impl ChunkExtras {
    /// Reads the sources beside the choices of a chunk.
    pub fn read_sources(&mut self, chunk: &Value) {
        for name in ["citations", "search_results"] {
            if let Some(Value::Array(list)) = chunk.get(name)
                && !list.is_empty()
            {
                self.sources.insert(name.into(), Value::Array(list.clone()));
            }
        }
    }

    /// Reads the arrays and objects of a delta under unknown keys, each element by itself.
    pub fn read_unknown_keys(&mut self, delta: &Value) {
        for (key, value) in delta.as_object().into_iter().flatten() {
            let pieces = match value {
                Value::Array(pieces) => pieces.as_slice(),
                Value::Object(fields) if !fields.is_empty() => std::slice::from_ref(value),
                _ => continue,
            };
            match key.as_str() {
                "provider_specific_fields" => continue,
                known if DECODED_MEMBERS.contains(&known) => continue,
                "executed_tools" => pieces.iter().for_each(|piece| self.read_executed_tool(piece)),
                "annotations" => pieces.iter().for_each(|piece| match page(piece) {
                    Some(page) => self.pages.push(page),
                    None => self.waiting.push(DecodedItem::Opaque(opaque_content("citation", piece.clone()))),
                }),
                key => self
                    .waiting
                    .extend(pieces.iter().map(|piece| DecodedItem::Opaque(opaque_content(key, piece.clone())))),
            }
            self.has_read = true;
        }
    }

    /// Reads those of a whole message, unless the deltas had any, which it repeats.
    pub fn read_final_keys(&mut self, message: &Value) {
        if !self.has_read {
            self.read_unknown_keys(message);
        }
    }

    /// Adds a part of a content array that is neither text nor reasoning.
    pub fn push_part(&mut self, part: &Value) {
        self.waiting.push(DecodedItem::Opaque(opaque_content("part", part.clone())));
    }

    /// Adds an image that cannot be decoded.
    pub fn push_image(&mut self, part: &Value) {
        self.waiting.push(DecodedItem::Opaque(opaque_content("images", part.clone())));
    }

    /// Emits the waiting items at a block boundary.
    pub fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        out.extend(sources_content(self.pages.drain(..)).map(DecodedItem::Opaque));
        out.append(&mut self.waiting);
    }

    /// Reads a provider tool call. Some servers report it twice, first without its result.
    fn read_executed_tool(&mut self, piece: &Value) {
        let text = |field: &str| piece.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let number = piece.get("index").and_then(Value::as_u64).unwrap_or(self.own.len() as u64);
        let at = match self.own.iter().rposition(|call| call.number == number && !call.is_over) {
            Some(at) => at,
            None => {
                let id = format!("executed-{}", self.own.len());
                let name = text("name").or_else(|| text("type")).unwrap_or("tool").to_owned();
                self.waiting.push(DecodedItem::ProviderToolCall { id: id.clone(), name, server: None });
                let arguments = text("arguments").map(str::to_owned).unwrap_or_default();
                self.waiting.push(DecodedItem::ProviderToolArguments { id: id.clone(), text: arguments });
                self.own.push(ExecutedTool { number, id, is_over: false });
                self.own.len() - 1
            }
        };
        let found = piece
            .pointer("/search_results/results")
            .filter(|found| found.as_array().is_some_and(|all| !all.is_empty()));
        let result = text("output").map(|output| Value::String(output.to_owned())).or_else(|| found.cloned());
        if let Some(result) = result {
            let call = &mut self.own[at];
            call.is_over = true;
            let name = text("type").unwrap_or("tool").to_owned();
            self.waiting.push(DecodedItem::ProviderToolResult { id: call.id.clone(), name, result, is_error: false });
        }
    }

    /// Emits the rest at the end of the body.
    pub fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush(out);
        let sources = std::mem::take(&mut self.sources);
        let list = |name: &str| sources.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let found = list("search_results").iter().map(|one| {
            let word = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            SourceInput { url: word("url"), title: word("title"), quote: word("snippet"), place: None }
        });
        let found: Vec<SourceInput> = found.collect();
        // The numbers in the text refer to the order of the citations.
        let cited: Vec<SourceInput> = list("citations")
            .iter()
            .filter_map(|one| one.as_str().or_else(|| one.get("url").and_then(Value::as_str)))
            .map(|url| found.iter().find(|found| found.url == url).cloned().unwrap_or_else(|| source_of_url(url)))
            .collect();
        let others: Vec<SourceInput> =
            found.into_iter().filter(|one| cited.iter().all(|known| known.url != one.url)).collect();
        out.extend(sources_content(cited.into_iter().chain(others)).map(DecodedItem::Opaque));
    }
}

/// A provider tool call.
#[derive(Debug)]
struct ExecutedTool {
    number: u64,
    id: String,
    is_over: bool,
}

fn source_of_url(url: &str) -> SourceInput {
    SourceInput { url: url.to_owned(), ..SourceInput::default() }
}

/// Parses the citation of a web page, whose fields may be nested one level deeper. Offsets count characters.
fn page(annotation: &Value) -> Option<SourceInput> {
    let fields = annotation.get("url_citation").unwrap_or(annotation);
    let word = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |field: &str| fields.get(field).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let place = number("start_index").zip(number("end_index"));
    let page = SourceInput { url: word("url"), title: word("title"), quote: word("content"), place };
    is_web_url(&page.url).then_some(page)
}
