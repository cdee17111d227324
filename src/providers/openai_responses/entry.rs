//! One output item of a response while it is read, and how events and snapshots name it.

use serde_json::Value;

use crate::openai_responses::text_part::{PartPosition, TextPart};

/// What an item is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputItemKind {
    Message,
    Reasoning,
    /// A call that we answer: `function_call`, or `custom_tool_call` with free text.
    Call,
    /// A call that the provider runs itself.
    ProviderCall,
    /// Types that nobody has heard of, and those that are not told apart.
    Other,
}

impl OutputItemKind {
    /// The kind of an item.
    pub fn from_item(item: &Value) -> Self {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("function_call" | "custom_tool_call") => Self::Call,
            Some("web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call") => Self::ProviderCall,
            // The short form of a message, as some servers write it.
            None if item.get("role").is_some() => Self::Message,
            _ => Self::Other,
        }
    }
}

/// One output item so far.
#[derive(Debug)]
pub struct OutputEntry {
    pub index: Option<u64>,
    /// Every id it was called by: some gateways change it with every event.
    pub ids: Vec<String>,
    pub kind: OutputItemKind,
    pub parts: Vec<(PartPosition, TextPart)>,
    /// The number under which the call was announced.
    pub call: Option<u64>,
    /// The id under which a call of the provider's own was announced.
    pub provider_call_id: Option<String>,
    /// Its signature, or the item as a whole, was told.
    pub is_emitted: bool,
    pub is_done: bool,
    /// As it came last; only when somebody wants it back.
    pub item: Option<Value>,
}

impl OutputEntry {
    /// An item that this event names for the first time.
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

    /// How many characters of the text block that this part is in stand before it: neighbouring parts are one text, up to
    /// what was cited.
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

    /// Its text at this place.
    pub fn part_mut(&mut self, place: PartPosition) -> &mut TextPart {
        let n = self.parts.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
            self.parts.push((place, TextPart::default()));
            self.parts.len() - 1
        });
        &mut self.parts[n].1
    }
}

/// Which of the entries the items of a snapshot are: by id, and where no id names one, the next of its kind that is left.
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
