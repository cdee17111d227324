//! State of one output item while a response is decoded, and the matching of snapshot items to these states.

use serde_json::Value;

use crate::openai_responses::text_part::{PartPosition, TextPart};

/// The kind of an output item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputItemKind {
    Message,
    Reasoning,
    /// A tool call that Turnleaf answers: `function_call`, or `custom_tool_call` with free text.
    Call,
    /// A tool call that the provider runs itself.
    ProviderCall,
    /// Unknown types, and those without a kind of their own.
    Other,
}

impl OutputItemKind {
    /// Returns the kind of an item.
    pub fn from_item(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call" | "custom_tool_call") => Self::Call,
            Some("web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call") => Self::ProviderCall,
            // Some servers send messages in a short form without type.
            None if item.get("role").is_some() => Self::Message,
            _ => Self::Other,
        }
    }
}

/// An output item that is being received.
#[derive(Debug)]
pub struct OutputEntry {
    pub index: Option<u64>,
    /// All ids of the item: some gateways change the id with every event.
    pub ids: Vec<String>,
    pub kind: OutputItemKind,
    pub parts: Vec<(PartPosition, TextPart)>,
    /// The number under which the call was announced.
    pub call: Option<u64>,
    /// The id under which a provider tool call was announced.
    pub provider_call_id: Option<String>,
    /// The signature, or the complete item, was emitted.
    pub is_emitted: bool,
    pub is_done: bool,
    /// The newest form of the item, if it is kept for the next request.
    pub item: Option<Value>,
}

impl OutputEntry {
    /// Creates the state of an item from the first event that names it.
    pub fn from_event(event: &Value, kind: OutputItemKind) -> Self {
        let id = event.get("item_id").or_else(|| event.pointer("/item/id")).and_then(Value::as_str);
        Self {
            index: event.get("output_index").and_then(Value::as_u64),
            ids: id.filter(|id| !id.is_empty()).map(str::to_owned).into_iter().collect(),
            kind,
            parts: Vec::new(),
            call: None,
            provider_call_id: None,
            is_emitted: false,
            is_done: false,
            item: None,
        }
    }

    /// Returns the offset, in characters, of a part in its text block: adjacent parts form one text, which a part
    /// with citations ends.
    pub fn characters_before(&self, place: PartPosition) -> usize {
        let PartPosition::Content(at) = place else { return 0 };
        let mut before: Vec<(u64, &TextPart)> = Vec::new();
        for (place, part) in &self.parts {
            if let PartPosition::Content(n) = place
                && *n < at
            {
                before.push((*n, part));
            }
        }
        before.sort_by_key(|(n, _)| *n);
        before.iter().fold(0, |sum, (_, part)| if part.is_cited { 0 } else { sum + part.emitted.chars().count() })
    }

    /// Returns the text at this position; creates it if necessary.
    pub fn part_mut(&mut self, place: PartPosition) -> &mut TextPart {
        let n = self.parts.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            self.parts.push((place, TextPart::default()));
            self.parts.len() - 1
        });
        &mut self.parts[n].1
    }
}

/// Matches the items of a snapshot to entries: by id, otherwise to the first free entry of the same kind.
pub fn match_snapshot_items(entries: &[OutputEntry], output: &[Value]) -> Vec<Option<usize>> {
    let mut is_free: Vec<bool> = entries.iter().map(|_| true).collect();
    let mut places: Vec<Option<usize>> = output
        .iter()
        .map(|item| {
            let id = item.get("id").and_then(Value::as_str)?;
            let at = entries.iter().position(|entry| entry.ids.iter().any(|known| known == id))?;
            std::mem::replace(&mut is_free[at], false).then_some(at)
        })
        .collect();
    for (item, place) in output.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
        let kind = OutputItemKind::from_item(item);
        *place = (0..entries.len()).find(|at| is_free[*at] && entries[*at].kind == kind);
        if let Some(at) = *place {
            is_free[at] = false;
        }
    }
    places
}
