//! Builder of one content block: applies the deltas and emits items (docs/reference/providers.md 3.3, 3.4).

use serde_json::{Map, Value, json};

use crate::anthropic::message::{AnthropicBlock, is_nameless_call};
use crate::call_id::{nameless_call_content, unique_call_id};
use crate::pictures;
use crate::provider::{DecodedItem, opaque_content};
use crate::surrogates;
use turnleaf_domain::blocks::client_redaction::redact_value;
use turnleaf_domain::blocks::sources::{SourceInput, is_web_url, sources_content};

/// The kind of item that a block is decoded to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnthropicBlockKind {
    Text,
    Thinking,
    Redacted,
    /// A tool call that Turnleaf answers, with its position among these calls of the reply.
    Call(u64),
    /// A tool call without a name, which can be neither run nor sent back.
    NamelessCall,
    /// A tool call that the provider runs itself.
    ProviderCall,
    /// The result of such a provider tool call.
    ProviderCallResult,
    /// Something that the provider did by itself: it compacted the conversation, or another model answers. It is shown as
    /// a provider tool call with its result.
    ProviderStep,
    /// Every other block: kept, not interpreted.
    Other,
}

/// A content block that is still being received.
#[derive(Debug)]
pub struct ContentBlockBuilder {
    pub index: Option<u64>,
    position: usize,
    kind: AnthropicBlockKind,
    /// The block as `content_block_start` had it, with the known deltas merged in.
    value: Map<String, Value>,
    /// The `input` as it is streamed; empty if `content_block_start` had all of it.
    input: String,
    citations: Vec<Value>,
    /// Deltas of unknown types.
    strange: Vec<Value>,
    /// A lone high surrogate at the end of the text so far; the next delta may complete it.
    surrogate: Option<u32>,
    pub is_closed: bool,
    /// True once `content_block_stop` was received.
    pub is_done: bool,
    /// Items that wait until all earlier blocks have ended, because items are emitted in the order of the blocks.
    pub pending_items: Vec<DecodedItem>,
}

impl ContentBlockBuilder {
    /// Creates the builder of a block from `content_block_start`, or from a complete block. `call_ids`
    /// has the ids of the reply's tool calls; a call without an id gets one that is derived from the response id, and
    /// repeated ids are made distinct. `position` is that of the block in the response.
    pub fn new(
        (index, position): (Option<u64>, usize),
        block: &Value,
        is_mended: bool,
        call_ids: &mut Vec<String>,
        response_id: &str,
    ) -> Self {
        let mut value = block.as_object().cloned().unwrap_or_default();
        if is_mended {
            value.values_mut().for_each(resolve_surrogates);
        }
        let kind = match value.get("type").and_then(Value::as_str) {
            Some("text") => AnthropicBlockKind::Text,
            Some("thinking") => AnthropicBlockKind::Thinking,
            Some("redacted_thinking") => AnthropicBlockKind::Redacted,
            Some("tool_use") if is_nameless_call(&value) => AnthropicBlockKind::NamelessCall,
            Some("tool_use") => {
                let given = value.get("id").and_then(Value::as_str).unwrap_or_default();
                let id = unique_call_id(given, call_ids, response_id);
                value.insert("id".into(), json!(id));
                call_ids.push(id);
                AnthropicBlockKind::Call(call_ids.len() as u64 - 1)
            }
            Some("server_tool_use" | "mcp_tool_use") if has(&value, "id") && has(&value, "name") => {
                AnthropicBlockKind::ProviderCall
            }
            Some(kind) if kind.ends_with("_tool_result") && has(&value, "tool_use_id") => {
                AnthropicBlockKind::ProviderCallResult
            }
            Some("compaction" | "fallback") => AnthropicBlockKind::ProviderStep,
            _ => AnthropicBlockKind::Other,
        };
        let mut building = Self {
            index,
            position,
            kind,
            value,
            input: String::new(),
            citations: Vec::new(),
            strange: Vec::new(),
            surrogate: None,
            is_closed: false,
            is_done: false,
            pending_items: Vec::new(),
        };
        building.announce();
        building
    }

    fn announce(&mut self) {
        match self.kind {
            AnthropicBlockKind::Text | AnthropicBlockKind::Thinking => {
                // The text is usually empty here; it is complete if the reply is a single document.
                let whole = self.value.get(self.field()).and_then(Value::as_str).unwrap_or_default().to_owned();
                self.push_text(whole);
            }
            AnthropicBlockKind::Redacted => {
                self.pending_items.push(DecodedItem::RedactedThinking(self.text("data").to_owned()))
            }
            AnthropicBlockKind::Call(index) => {
                let (id, name) = (self.text("id").to_owned(), self.text("name").to_owned());
                self.pending_items.push(DecodedItem::ToolCall { index, id, name });
            }
            AnthropicBlockKind::ProviderCall => {
                let server = Some(self.text("server_name")).filter(|name| !name.is_empty()).map(str::to_owned);
                let (id, name) = (self.text("id").to_owned(), self.text("name").to_owned());
                self.pending_items.push(DecodedItem::ProviderToolCall { id, name, server });
            }
            AnthropicBlockKind::ProviderStep => {
                let (id, name) = (self.step_id(), self.text("type").to_owned());
                self.pending_items.push(DecodedItem::ProviderToolCall { id, name, server: None });
            }
            AnthropicBlockKind::NamelessCall | AnthropicBlockKind::ProviderCallResult | AnthropicBlockKind::Other => {}
        }
    }

    fn step_id(&self) -> String {
        format!("{}-{}", self.text("type"), self.position)
    }

    /// Applies one delta to the block.
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

    /// Closes the block, at its `content_block_stop` or at the end of the body.
    pub fn close(&mut self) {
        if self.surrogate.take().is_some() {
            let lost = char::REPLACEMENT_CHARACTER.to_string();
            match self.kind {
                AnthropicBlockKind::Text | AnthropicBlockKind::Thinking => self.append(self.field(), lost),
                _ => self.append_input(lost),
            }
        }
        match self.kind {
            AnthropicBlockKind::Call(_) | AnthropicBlockKind::NamelessCall | AnthropicBlockKind::ProviderCall
                if self.input.is_empty() =>
            {
                let whole = self.value.get("input").filter(|input| input.as_object().is_none_or(|map| !map.is_empty()));
                if let Some(whole) = whole.filter(|input| !input.is_null()).map(Value::to_string) {
                    self.append_input(whole);
                }
            }
            AnthropicBlockKind::Thinking if !self.text("signature").is_empty() => {
                self.pending_items.push(DecodedItem::ThinkingSignature(self.text("signature").to_owned()));
            }
            _ => {}
        }
        if self.kind == AnthropicBlockKind::NamelessCall {
            let content = nameless_call_content(self.text("id"), &self.input);
            self.pending_items.push(DecodedItem::Opaque(content));
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

    /// Emits what the domain has no block type for: the block itself if its type is unknown, the citations after the
    /// text that they belong to, and deltas of unknown types.
    fn emit_extras(&mut self) {
        if self.kind == AnthropicBlockKind::Other {
            let value = Value::Object(self.value.clone());
            let mut map = opaque_content(self.value.get("type").and_then(Value::as_str).unwrap_or("unknown"), value);
            if !self.strange.is_empty() {
                map.insert("deltas".into(), Value::Array(std::mem::take(&mut self.strange)));
            }
            self.pending_items.push(DecodedItem::Opaque(map));
            return;
        }
        if self.kind == AnthropicBlockKind::ProviderCallResult {
            self.pending_items.push(provider_tool_result(&self.value));
        }
        if self.kind == AnthropicBlockKind::ProviderStep {
            self.emit_step();
        }
        let citations = self.value.get("citations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.pending_items.extend(sources(citations, self.text("text")));
        for delta in std::mem::take(&mut self.strange) {
            let kind = delta.get("type").and_then(Value::as_str).unwrap_or("delta").to_owned();
            self.pending_items.push(DecodedItem::Opaque(opaque_content(&kind, delta)));
        }
    }

    /// Emits what the provider did by itself: the content is the result, other members are the arguments.
    fn emit_step(&mut self) {
        let members = self.value.iter().filter(|(name, _)| !matches!(name.as_str(), "type" | "id" | "content"));
        let arguments: Map<String, Value> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
        let (id, name) = (self.step_id(), self.text("type").to_owned());
        if !arguments.is_empty() {
            let text = redact_value(&Value::Object(arguments)).to_string();
            self.pending_items.push(DecodedItem::ProviderToolArguments { id: id.clone(), text });
        }
        // Of a step that was cut off the end is unknown.
        if self.is_done {
            let content = self.value.get("content").filter(|content| !content.is_null());
            let result = content.map_or_else(|| json!(""), redact_value);
            self.pending_items.push(DecodedItem::ProviderToolResult { id, name, result, is_error: false });
        }
    }

    /// Returns the block for the next request.
    pub fn into_block(self) -> AnthropicBlock {
        AnthropicBlock { is_whole: self.is_whole(), is_done: self.is_done, value: self.value }
    }

    /// Frees the content of a block that is not needed for the next request.
    pub fn clear(&mut self) {
        self.value = Map::new();
        self.input = String::new();
    }

    /// Returns true if the `input`, where the block needs one, is an object, as the API demands.
    fn is_whole(&self) -> bool {
        match self.value.get("input") {
            Some(input) => input.is_object(),
            None => !matches!(self.kind, AnthropicBlockKind::Call(_) | AnthropicBlockKind::NamelessCall),
        }
    }

    fn field(&self) -> &'static str {
        if self.kind == AnthropicBlockKind::Thinking { "thinking" } else { "text" }
    }

    fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn append_text_delta(&mut self, field: &'static str, more: &str, is_mended: bool) {
        let more = self.join_surrogates(more, is_mended);
        self.append(field, more);
    }

    /// Joins a delta with the surrogate that the previous one ended with.
    fn join_surrogates(&mut self, more: &str, is_mended: bool) -> String {
        if !is_mended && self.surrogate.is_none() {
            return more.to_owned();
        }
        let (joined, surrogate) = surrogates::join_surrogates(self.surrogate.take(), more);
        self.surrogate = surrogate;
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
            AnthropicBlockKind::Text if !text.is_empty() => self.pending_items.push(DecodedItem::Text(text)),
            AnthropicBlockKind::Thinking if !text.is_empty() => self.pending_items.push(DecodedItem::Thinking(text)),
            _ => {}
        }
    }

    fn append_input(&mut self, more: String) {
        self.input.push_str(&more);
        match self.kind {
            _ if more.is_empty() => {}
            AnthropicBlockKind::Call(index) => {
                self.pending_items.push(DecodedItem::ToolArguments { index, text: more })
            }
            AnthropicBlockKind::ProviderCall => self
                .pending_items
                .push(DecodedItem::ProviderToolArguments { id: self.text("id").to_owned(), text: more }),
            _ => {}
        }
    }
}

fn has(block: &Map<String, Value>, field: &str) -> bool {
    block.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// Returns the result of a provider tool call: `content` without its encrypted fields. Content that has only text
/// parts becomes one text.
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

/// Returns the citations of a text as items that cite the whole text. Citations of documents have no URL and stay
/// opaque.
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

/// Replaces the surrogate placeholders in a value that was received complete.
fn resolve_surrogates(piece: &mut Value) {
    match piece {
        Value::String(text) => {
            let (mut whole, surrogate) = surrogates::join_surrogates(None, text);
            whole.extend(surrogate.map(|_| char::REPLACEMENT_CHARACTER));
            *text = whole;
        }
        Value::Array(pieces) => pieces.iter_mut().for_each(resolve_surrogates),
        Value::Object(fields) => fields.values_mut().for_each(resolve_surrogates),
        _ => {}
    }
}
