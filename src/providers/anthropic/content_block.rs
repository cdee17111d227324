//! One content block out of its fragments: what each delta does to it, and what it gives out (providers.md 3.3, 3.4).

use serde_json::{Map, Value, json};

use crate::anthropic::message::AnthropicBlock;
use crate::pictures;
use crate::provider::DecodedItem;
use crate::surrogates;
use turnleaf_domain::client_redaction::redact_value;
use turnleaf_domain::sources::{SourceInput, is_web_url, sources_content};

/// What a block becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Redacted,
    /// A call for us, and which one of the reply it is.
    Call(u64),
    /// A call that the provider runs itself.
    ProviderCall,
    /// What such a call gave.
    ProviderCallResult,
    /// Everything else: kept, not interpreted.
    Other,
}

/// One block so far.
#[derive(Debug)]
pub struct ContentBlockBuilder {
    pub index: Option<u64>,
    kind: Kind,
    /// As it began, with the deltas that are understood joined in.
    value: Map<String, Value>,
    /// The `input` as the model writes it; empty where it came whole.
    input: String,
    citations: Vec<Value>,
    /// Deltas that nobody has heard of.
    strange: Vec<Value>,
    /// A surrogate half at the end of the growing text.
    half: Option<u32>,
    pub is_closed: bool,
    /// Its own end came.
    pub is_done: bool,
    /// What waits for the blocks before this one to end.
    pub pending_items: Vec<DecodedItem>,
}

impl ContentBlockBuilder {
    /// A block as `content_block_start` has it, or a whole one. `calls` counts the calls of the reply; the response's
    /// id makes one for a call that has none.
    pub fn new(index: Option<u64>, block: &Value, is_mended: bool, calls: &mut u64, response_id: &str) -> Self {
        let mut value = block.as_object().cloned().unwrap_or_default();
        if is_mended {
            value.values_mut().for_each(resolve_surrogates);
        }
        let kind = match value.get("type").and_then(Value::as_str) {
            Some("text") => Kind::Text,
            Some("thinking") => Kind::Thinking,
            Some("redacted_thinking") => Kind::Redacted,
            Some("tool_use") => {
                *calls += 1;
                Kind::Call(*calls - 1)
            }
            Some("server_tool_use" | "mcp_tool_use") if has(&value, "id") && has(&value, "name") => Kind::ProviderCall,
            Some(kind) if kind.ends_with("_tool_result") && has(&value, "tool_use_id") => Kind::ProviderCallResult,
            _ => Kind::Other,
        };
        let mut building = Self {
            index,
            kind,
            value,
            input: String::new(),
            citations: Vec::new(),
            strange: Vec::new(),
            half: None,
            is_closed: false,
            is_done: false,
            pending_items: Vec::new(),
        };
        building.announce(response_id);
        building
    }

    fn announce(&mut self, response_id: &str) {
        match self.kind {
            Kind::Text | Kind::Thinking => {
                // Mostly empty; whole in a reply that is one document.
                let whole = self.value.get(self.field()).and_then(Value::as_str).unwrap_or_default().to_owned();
                self.push_text(whole);
            }
            Kind::Redacted => self.pending_items.push(DecodedItem::RedactedThinking(self.text("data").to_owned())),
            Kind::Call(index) => {
                if self.text("id").is_empty() {
                    self.value.insert("id".into(), json!(format!("call-{response_id}-{index}")));
                }
                let (id, name) = (self.text("id").to_owned(), self.text("name").to_owned());
                self.pending_items.push(DecodedItem::ToolCall { index, id, name });
            }
            Kind::ProviderCall => {
                let server = Some(self.text("server_name")).filter(|name| !name.is_empty()).map(str::to_owned);
                let (id, name) = (self.text("id").to_owned(), self.text("name").to_owned());
                self.pending_items.push(DecodedItem::ProviderToolCall { id, name, server });
            }
            Kind::ProviderCallResult | Kind::Other => {}
        }
    }

    /// Applies one delta.
    pub fn apply_delta(&mut self, delta: &Value, is_mended: bool) {
        let text = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text_delta" => self.append_text_delta("text", text("text"), is_mended),
            "thinking_delta" => self.append_text_delta("thinking", text("thinking"), is_mended),
            "compaction_delta" => self.append_text_delta("content", text("content"), is_mended),
            "signature_delta" => {
                self.value.insert("signature".into(), text("signature").into());
            }
            "input_json_delta" => {
                let more = self.join_surrogates(text("partial_json"), is_mended);
                self.append_input(more);
            }
            "citations_delta" => {
                let mut citation = delta.get("citation").cloned().unwrap_or_default();
                if is_mended {
                    resolve_surrogates(&mut citation);
                }
                self.citations.push(citation);
            }
            _ => self.strange.push(delta.clone()),
        }
    }

    /// The block has ended, in its own time or with the body.
    pub fn close(&mut self) {
        if self.half.take().is_some() {
            let lost = char::REPLACEMENT_CHARACTER.to_string();
            match self.kind {
                Kind::Text | Kind::Thinking => self.append(self.field(), lost),
                _ => self.append_input(lost),
            }
        }
        match self.kind {
            Kind::Call(_) | Kind::ProviderCall if self.input.is_empty() => {
                let whole = self.value.get("input").filter(|input| input.as_object().is_none_or(|map| !map.is_empty()));
                if let Some(whole) = whole.filter(|input| !input.is_null()).map(Value::to_string) {
                    self.append_input(whole);
                }
            }
            Kind::Thinking if !self.text("signature").is_empty() => {
                self.pending_items.push(DecodedItem::ThinkingSignature(self.text("signature").to_owned()));
            }
            _ => {}
        }
        if !self.input.trim().is_empty() {
            let mut input = serde_json::from_str(&self.input).unwrap_or_default();
            pictures::neutralize_image_names(&mut input);
            self.value.insert("input".into(), input);
        }
        if !self.citations.is_empty() {
            let known = self.value.get_mut("citations").and_then(Value::as_array_mut).map(std::mem::take);
            let all: Vec<Value> = known.into_iter().flatten().chain(std::mem::take(&mut self.citations)).collect();
            self.value.insert("citations".into(), Value::Array(all));
        }
        self.emit_extras();
        self.is_closed = true;
    }

    /// Gives out what is kept beside the domain's own kinds: the block itself where it is none of them, citations
    /// behind the text they belong to, and deltas that nobody has heard of.
    fn emit_extras(&mut self) {
        if self.kind == Kind::Other {
            let value = Value::Object(self.value.clone());
            let mut map = opaque_content(self.value.get("type").and_then(Value::as_str).unwrap_or("unknown"), value);
            if !self.strange.is_empty() {
                map.insert("deltas".into(), Value::Array(std::mem::take(&mut self.strange)));
            }
            self.pending_items.push(DecodedItem::Opaque(map));
            return;
        }
        if self.kind == Kind::ProviderCallResult {
            self.pending_items.push(provider_tool_result(&self.value));
        }
        let citations = self.value.get("citations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.pending_items.extend(sources(citations, self.text("text")));
        for delta in std::mem::take(&mut self.strange) {
            let kind = delta.get("type").and_then(Value::as_str).unwrap_or("delta").to_owned();
            self.pending_items.push(DecodedItem::Opaque(opaque_content(&kind, delta)));
        }
    }

    /// What goes back of it in the next request.
    pub fn into_block(self) -> AnthropicBlock {
        AnthropicBlock { is_whole: self.is_whole(), is_done: self.is_done, value: self.value }
    }

    /// Nobody will ask for it again.
    pub fn clear(&mut self) {
        self.value = Map::new();
        self.input = String::new();
    }

    /// Whether its `input`, if it has one, is the object that the API demands.
    fn is_whole(&self) -> bool {
        match self.value.get("input") {
            Some(input) => input.is_object(),
            None => !matches!(self.kind, Kind::Call(_)),
        }
    }

    fn field(&self) -> &'static str {
        if self.kind == Kind::Thinking { "thinking" } else { "text" }
    }

    fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn append_text_delta(&mut self, field: &'static str, more: &str, is_mended: bool) {
        let more = self.join_surrogates(more, is_mended);
        self.append(field, more);
    }

    /// The next piece of a text, its halves put together.
    fn join_surrogates(&mut self, more: &str, is_mended: bool) -> String {
        if !is_mended && self.half.is_none() {
            return more.to_owned();
        }
        let (joined, half) = surrogates::join_surrogates(self.half.take(), more);
        self.half = half;
        joined
    }

    fn append(&mut self, field: &'static str, more: String) {
        match self.value.get_mut(field) {
            Some(Value::String(text)) => text.push_str(&more),
            _ => {
                self.value.insert(field.into(), Value::String(more.clone()));
            }
        }
        if field == self.field() {
            self.push_text(more);
        }
    }

    fn push_text(&mut self, text: String) {
        match self.kind {
            Kind::Text if !text.is_empty() => self.pending_items.push(DecodedItem::Text(text)),
            Kind::Thinking if !text.is_empty() => self.pending_items.push(DecodedItem::Thinking(text)),
            _ => {}
        }
    }

    fn append_input(&mut self, more: String) {
        self.input.push_str(&more);
        match self.kind {
            _ if more.is_empty() => {}
            Kind::Call(index) => self.pending_items.push(DecodedItem::ToolArguments { index, text: more }),
            Kind::ProviderCall => self
                .pending_items
                .push(DecodedItem::ProviderToolArguments { id: self.text("id").to_owned(), text: more }),
            _ => {}
        }
    }
}

fn has(block: &Map<String, Value>, field: &str) -> bool {
    block.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// The content of an `x:` block: the piece as it came, under a key of its own.
pub fn opaque_content(name: &str, piece: Value) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), Value::from(format!("x:{name}"))), ("value".to_owned(), piece)])
}

/// What a call of the provider's own gave: `content` without what is sealed; texts alone as one text.
fn provider_tool_result(block: &Map<String, Value>) -> DecodedItem {
    let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
    let content = block.get("content").unwrap_or(&Value::Null);
    let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or_default()
        || content.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_error"));
    let words = |part: &Value| {
        let is_text = part.get("type").and_then(Value::as_str) == Some("text");
        part.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    let texts: Option<Vec<String>> = content.as_array().and_then(|parts| parts.iter().map(words).collect());
    let result = match texts {
        Some(texts) if !texts.is_empty() => Value::String(texts.join("\n\n")),
        _ => redact_value(content),
    };
    let name = text("type").trim_end_matches("_tool_result").to_owned();
    DecodedItem::ProviderToolResult { id: text("tool_use_id").to_owned(), name, result, is_error }
}

/// Citations behind the text they belong to: all of it. Those of documents have no address, and stay as they came.
fn sources(citations: &[Value], text: &str) -> Vec<DecodedItem> {
    let word =
        |citation: &Value, field: &str| citation.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (of_pages, others): (Vec<&Value>, Vec<&Value>) =
        citations.iter().partition(|citation| is_web_url(&word(citation, "url")));
    let end = text.chars().count();
    let given = of_pages.into_iter().map(|citation| SourceInput {
        url: word(citation, "url"),
        title: word(citation, "title"),
        quote: word(citation, "cited_text"),
        place: Some((0, end)),
    });
    let mut items: Vec<DecodedItem> = sources_content(given).map(DecodedItem::Opaque).into_iter().collect();
    items.extend(others.into_iter().map(|citation| DecodedItem::Opaque(opaque_content("citation", citation.clone()))));
    items
}

/// Resolves the stand-ins of surrogate halves in a piece that came whole.
fn resolve_surrogates(piece: &mut Value) {
    match piece {
        Value::String(text) => {
            let (mut whole, half) = surrogates::join_surrogates(None, text);
            whole.extend(half.map(|_| char::REPLACEMENT_CHARACTER));
            *text = whole;
        }
        Value::Array(pieces) => pieces.iter_mut().for_each(resolve_surrogates),
        Value::Object(fields) => fields.values_mut().for_each(resolve_surrogates),
        _ => {}
    }
}
