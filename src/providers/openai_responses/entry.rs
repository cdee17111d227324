//! State of one output item while a response is decoded, and the matching of snapshot items to these states.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::openai_responses::part_matching::{self, FinalText};
use crate::openai_responses::text_part::{PartEnding, PartPosition, TextPart};

/// The number of parts up to which a complete text is compared with several of them together.
const MOST_JOINED: usize = 256;

/// The kind of an output item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputItemKind {
    Message,
    Reasoning,
    /// A tool call that Turnleaf answers: `function_call`, or `custom_tool_call` with free text.
    Call,
    /// A tool call that the provider runs itself.
    ProviderCall,
    /// The result of such a call, as an item of its own.
    ProviderOutput,
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
            // An image becomes an image block; results of calls that Turnleaf answers are not expected here.
            Some("image_generation_call" | "function_call_output" | "custom_tool_call_output") => Self::Other,
            Some(kind) if kind.ends_with("_output") => Self::ProviderOutput,
            Some("mcp_list_tools" | "mcp_approval_request" | "fallback") => Self::ProviderCall,
            Some(kind) if kind.ends_with("_call") || kind.starts_with("program") || kind.contains("compaction") => {
                Self::ProviderCall
            }
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
    /// The provider's id of the call.
    pub call_id: Option<String>,
    /// The type of the item, once it is known.
    pub item_type: String,
    /// The id under which a provider tool call was announced.
    pub provider_call_id: Option<String>,
    /// The provider tool call has ended, and its result comes as an item of its own.
    pub awaits_output: bool,
    /// The signature, or the complete item, was emitted.
    pub is_emitted: bool,
    pub is_done: bool,
    /// The item began with an event of its own; otherwise a text under unknown numbers opened it.
    pub is_added: bool,
    /// The hashes of parts without text and of texts whose citations were emitted.
    seen: HashSet<u64>,
    /// The newest form of the item, if it is kept for the next request.
    pub item: Option<Value>,
}

impl OutputEntry {
    /// Creates the state of an item from the first event that names it.
    pub fn from_event(event: &Value, kind: OutputItemKind) -> Self {
        Self {
            index: event.get("output_index").and_then(Value::as_u64),
            ids: id_of(event).map(str::to_owned).into_iter().collect(),
            kind,
            parts: Vec::new(),
            call: None,
            call_id: None,
            seen: HashSet::new(),
            item_type: event.pointer("/item/type").and_then(Value::as_str).unwrap_or_default().to_owned(),
            provider_call_id: None,
            awaits_output: false,
            is_emitted: false,
            is_done: false,
            is_added: event.get("item").is_some(),
            item: None,
        }
    }

    /// Returns the part that a delta at this position continues; starts one if there is none, or if it ended.
    pub fn part_for_delta(&mut self, place: PartPosition) -> usize {
        let newest =
            self.newest_part(place).filter(|at| place == PartPosition::Arguments || !self.parts[*at].1.is_closed);
        newest.unwrap_or_else(|| self.add_part(place))
    }

    /// Returns the part that an event with its complete text ends; starts one if there is none. `None` means that
    /// several parts already emitted the text. The text decides where it is that of a part, because some servers count
    /// deltas and complete texts differently.
    pub fn part_for_final(&mut self, place: PartPosition, whole: &str, ending: PartEnding) -> Option<usize> {
        let newest = self.newest_part(place);
        if place == PartPosition::Arguments || whole.is_empty() {
            return newest.or_else(|| (!whole.is_empty()).then(|| self.add_part(place)));
        }
        let find = |fits: &dyn Fn(PartPosition, &TextPart) -> bool| {
            self.parts.iter().rposition(|(at, part)| !part.emitted.is_empty() && fits(*at, part))
        };
        let found = find(&|at, part| at == place && part.emitted == whole)
            .or_else(|| find(&|_, part| !part.has_ended(ending) && part.emitted == whole))
            .or_else(|| {
                newest.filter(|at| self.parts[*at].1.is_compatible(whole) && !self.parts[*at].1.emitted.is_empty())
            })
            .or_else(|| {
                find(&|at, part| at.is_same_list(place) && !part.has_ended(ending) && part.is_compatible(whole))
            });
        if found.is_some() {
            return found;
        }
        let emitted: Vec<&str> = self
            .parts
            .iter()
            .filter(|(at, part)| at.is_same_list(place) && !part.emitted.is_empty())
            .map(|(_, part)| part.emitted.as_str())
            .collect();
        if emitted.len() > 1 && emitted.len() <= MOST_JOINED && part_matching::find_run(whole, &emitted).is_some() {
            return None;
        }
        let corrected = match newest {
            Some(at) => Some(at).filter(|at| !self.parts[*at].1.has_ended(ending)),
            // Servers that count from 1 in deltas count from 0 here.
            None => find(&|at, part| at.is_same_list(place) && at.index() > place.index() && !part.has_ended(ending)),
        };
        Some(corrected.unwrap_or_else(|| self.add_part(place)))
    }

    /// Notes that a part begins at this position, so that the text of an earlier one is complete.
    pub fn begin_part(&mut self, place: PartPosition) {
        if let Some(at) = self.newest_part(place) {
            let part = &mut self.parts[at].1;
            part.is_closed |= !part.emitted.is_empty();
        }
    }

    /// Adds an empty part.
    pub fn add_part(&mut self, place: PartPosition) -> usize {
        self.parts.push((place, TextPart::default()));
        self.parts.len() - 1
    }

    /// Returns true if a part without text, or the citations of a text, are seen for the first time.
    pub fn is_first_sight(&mut self, value: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// Returns true if this item may end with this form, although its event names another index and another id.
    pub fn may_end_as(&self, item: &Value) -> bool {
        let (emitted, call_id) = (self.text(), item.get("call_id").and_then(Value::as_str));
        let whole = whole_text(item);
        match self.kind {
            _ if self.is_done => false,
            OutputItemKind::Call => self.call_id.is_some() && self.call_id.as_deref() == call_id,
            OutputItemKind::Message | OutputItemKind::Reasoning => !emitted.is_empty() && whole.starts_with(&emitted),
            OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other => false,
        }
    }

    /// Returns true if this complete text begins with the text of the unfinished item, or with a part of it that is
    /// being received.
    pub fn has_begun(&self, whole: &str) -> bool {
        let is_begun =
            |part: &TextPart| !part.is_closed && !part.emitted.is_empty() && whole.starts_with(&part.emitted);
        !self.is_done
            && self.has_texts()
            && !self.is_blank()
            && (self.parts.iter().any(|(_, part)| is_begun(part)) || whole.starts_with(&self.text()))
    }

    /// Returns true if an event named the item by this id.
    pub fn has_id(&self, id: &str) -> bool {
        self.ids.iter().any(|known| known == id)
    }

    /// Returns true for the kinds of items that are shown as their text.
    pub fn has_texts(&self) -> bool {
        matches!(self.kind, OutputItemKind::Message | OutputItemKind::Reasoning)
    }

    /// Returns true if no text of it was emitted.
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|(_, part)| part.emitted.is_empty())
    }

    /// Gives up the place in the output to the entry that received the text of the item under other numbers.
    pub fn give_place_to(&mut self, other: &mut Self) {
        other.index = self.index.take().or(other.index);
        other.ids.append(&mut self.ids);
        other.is_added |= self.is_added;
        self.kind = OutputItemKind::Other;
        self.is_emitted = true;
        self.item = None;
    }

    /// Returns the text of all its parts.
    pub fn text(&self) -> String {
        self.parts.iter().map(|(_, part)| part.emitted.as_str()).collect()
    }

    fn newest_part(&self, place: PartPosition) -> Option<usize> {
        self.parts.iter().rposition(|(known, _)| *known == place)
    }
}

/// Returns the item's id that an event names.
pub fn id_of(event: &Value) -> Option<&str> {
    let id = event.get("item_id").or_else(|| event.pointer("/item/id")).and_then(Value::as_str);
    id.filter(|id| !id.is_empty())
}

/// Returns the texts of a complete item, in their order: those of its summary, then those of its content, which some
/// servers send as one string.
pub fn final_texts(item: &Value) -> Vec<FinalText> {
    let lists = [("summary", PartPosition::Summary as fn(u64) -> PartPosition), ("content", PartPosition::Content)];
    let mut texts = Vec::new();
    for (field, place) in lists {
        match item.get(field) {
            Some(Value::Array(parts)) => texts
                .extend(parts.iter().zip(0..).filter_map(|(part, n)| Some((place(n), part_text(part)?.to_owned())))),
            Some(Value::String(text)) => texts.push((place(0), text.clone())),
            _ => {}
        }
    }
    texts
}

/// Returns all texts of a complete item as one.
pub fn whole_text(item: &Value) -> String {
    final_texts(item).into_iter().map(|(_, text)| text).collect()
}

/// Returns the text of a part, or its refusal.
pub fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str))
}

/// Returns true for the call of an image.
pub fn is_image_call(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("image_generation_call")
}

/// Returns the entry that received a complete text under other numbers, although the entry `at` is that of its item:
/// the newest unfinished one whose text it begins with, otherwise the only one that no event announced.
pub fn entry_with_text(
    entries: &[OutputEntry],
    at: usize,
    whole: &str,
    is_free: impl Fn(usize) -> bool,
) -> Option<usize> {
    let own = &entries[at];
    if whole.is_empty() || own.is_done || !own.has_texts() || !own.is_blank() {
        return None;
    }
    let is_other = |n: &usize| {
        let entry = &entries[*n];
        *n != at && entry.kind == own.kind && !entry.is_done && !entry.is_blank() && is_free(*n)
    };
    let others = || (0..entries.len()).filter(is_other);
    let mut unannounced = others().filter(|n| !entries[*n].is_added);
    let only = unannounced.next().filter(|_| unannounced.next().is_none() && own.is_added);
    others().rfind(|n| entries[*n].has_begun(whole)).or(only)
}

/// Matches the items of a snapshot to entries of their kind: by id, otherwise by call id or text, otherwise to the
/// first free one. Where the text of an item arrived under other numbers, its entry is the one that has the text.
pub fn match_snapshot_items(entries: &[OutputEntry], output: &[Value]) -> Vec<Option<usize>> {
    let mut is_free: Vec<bool> = entries.iter().map(|_| true).collect();
    let mut places: Vec<Option<usize>> = output.iter().map(|_| None).collect();
    let emitted: Vec<String> = entries.iter().map(OutputEntry::text).collect();
    let texts: Vec<String> = output.iter().map(whole_text).collect();
    let has_id = |at: usize, n: usize| {
        let id = output[n].get("id").and_then(Value::as_str);
        id.is_some_and(|id| entries[at].has_id(id))
    };
    let has_content = |at: usize, n: usize| match entries[at].kind {
        OutputItemKind::Message | OutputItemKind::Reasoning => !texts[n].is_empty() && emitted[at] == texts[n],
        OutputItemKind::Call => {
            let call_id = output[n].get("call_id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
            call_id.is_some() && call_id == entries[at].call_id.as_deref()
        }
        OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other => false,
    };
    let is_any = |at: usize, n: usize| match entries[at].kind {
        OutputItemKind::Message | OutputItemKind::Reasoning | OutputItemKind::Call => true,
        OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other => {
            output[n].get("type").and_then(Value::as_str) == Some(entries[at].item_type.as_str())
        }
    };
    let passes: [&dyn Fn(usize, usize) -> bool; 3] = [&has_id, &has_content, &is_any];
    for fits in passes {
        for (n, place) in places.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
            let kind = OutputItemKind::from_item(&output[n]);
            *place = (0..entries.len()).find(|at| is_free[*at] && entries[*at].kind == kind && fits(*at, n));
            if let Some(at) = *place {
                is_free[at] = false;
                if let Some(other) = entry_with_text(entries, at, &texts[n], |other| is_free[other]) {
                    is_free[other] = false;
                    *place = Some(other);
                }
            }
        }
    }
    places
}
