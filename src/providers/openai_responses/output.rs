//! Assembles output items from events (docs/reference/providers.md 6.3): finds the item of an event although servers
//! skip, repeat or change indexes and ids, and emits only what is new. Deltas are emitted at once; `done` events and
//! the final snapshot add what the deltas left out, and correct what they emitted.

use serde_json::{Value, json};

use crate::call_id::{nameless_call_content, unique_call_id};
use crate::openai_responses::entry::{self, OutputEntry, OutputItemKind, id_of};
use crate::openai_responses::message::{OutputItem, ResponsesReply};
use crate::openai_responses::text_part::{FinalSource, PartEnding, PartPosition, resolve_all_surrogates};
use crate::pictures::GeneratedImage;
use crate::provider::{DecodedItem, opaque_content};

mod citations;
mod item_lookup;
mod open_text;
mod provider_tools;

/// Texts that are streamed: the prefix of their events, the kind of item, the counter of their position, and the
/// field of the `done` event that has the complete text.
const TEXTS: [(&str, OutputItemKind, &str, &str); 6] = [
    ("response.output_text", OutputItemKind::Message, "content_index", "text"),
    ("response.refusal", OutputItemKind::Message, "content_index", "refusal"),
    ("response.reasoning_summary_text", OutputItemKind::Reasoning, "summary_index", "text"),
    ("response.reasoning_text", OutputItemKind::Reasoning, "content_index", "text"),
    ("response.function_call_arguments", OutputItemKind::Call, "", "arguments"),
    ("response.custom_tool_call_input", OutputItemKind::Call, "", "input"),
];

/// The text that is being received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OutputChannel {
    #[default]
    None,
    /// The text of the message at this index of the entries.
    Text(usize),
    /// This part of the reasoning at this index.
    Thinking(usize, usize),
}

/// A part of a block of text or reasoning.
#[derive(Debug, Clone, Copy)]
struct OutputSegment {
    entry: usize,
    part: usize,
    /// The number of bytes of the part that earlier blocks have.
    skipped: usize,
    /// The number of bytes of the part up to the end of the block, once that has ended.
    end: Option<usize>,
    separator: &'static str,
}

/// A block of text or reasoning.
#[derive(Debug, Default)]
struct OutputBlock {
    channel: OutputChannel,
    /// The parts of the block, in order of first appearance.
    segments: Vec<OutputSegment>,
    /// A part was corrected, and the corrected text of the block is not emitted yet.
    is_corrected: bool,
}

impl OutputBlock {
    fn segment(&self, entry: usize, part: usize) -> Option<usize> {
        self.segments.iter().rposition(|segment| segment.entry == entry && segment.part == part)
    }
}

/// The output of one response.
#[derive(Debug, Default)]
pub struct ResponseOutput {
    /// The items in the order of first appearance.
    entries: Vec<OutputEntry>,
    /// The ids of the announced calls.
    call_ids: Vec<String>,
    open: OutputBlock,
    /// The blocks of text and reasoning that have ended, in order.
    closed: Vec<OutputBlock>,
    keeps_items: bool,
}

impl ResponseOutput {
    /// Creates an output that keeps its items for the next request.
    pub fn keeping_items() -> Self {
        Self { keeps_items: true, ..Self::default() }
    }

    /// Reads an event about an item. `is_mended` means that its texts may contain surrogate placeholders.
    pub fn read_event(&mut self, event: &str, value: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let place = |counter: &str| value.get(counter).and_then(Value::as_u64).unwrap_or(0);
        match event {
            "response.output_item.added" => {
                if let Some(item) = value.get("item") {
                    let at = self.open(value, OutputItemKind::from_item(item));
                    self.keep(at, item, is_mended);
                    self.announce(at, item, out);
                    self.announce_provider_call(at, item, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = value.get("item") {
                    let kind = OutputItemKind::from_item(item);
                    let by_content =
                        || self.entries.iter().rposition(|entry| entry.kind == kind && entry.may_end_as(item));
                    let at = match self.known(value, kind) {
                        Some(at) => self.with_text(at, &entry::whole_text(item)),
                        None => by_content().unwrap_or_else(|| self.open(value, kind)),
                    };
                    let source = FinalSource::Item { is_completed: is_completed(item) };
                    self.finish_item(at, (item, source), is_mended, out);
                }
            }
            "response.content_part.done" | "response.reasoning_part.done" => {
                if let Some(part) = value.get("part") {
                    let at = self.find_for_final(value, kind_of_part(part), entry::part_text(part));
                    self.finish_part(at, PartPosition::Content(place("content_index")), part, is_mended, out);
                }
            }
            "response.reasoning_summary_part.done" => {
                if let Some(part) = value.get("part") {
                    let at = self.find_for_final(value, OutputItemKind::Reasoning, entry::part_text(part));
                    self.finish_part(at, PartPosition::Summary(place("summary_index")), part, is_mended, out);
                }
            }
            "response.content_part.added" | "response.reasoning_part.added" => {
                let kind = value.get("part").map_or(OutputItemKind::Message, kind_of_part);
                if let Some(at) = self.known(value, kind) {
                    self.entries[at].begin_part(PartPosition::Content(place("content_index")));
                }
            }
            "response.reasoning_summary_part.added" => {
                if let Some(at) = self.known(value, OutputItemKind::Reasoning) {
                    self.entries[at].begin_part(PartPosition::Summary(place("summary_index")));
                }
            }
            _ => {
                let Some((begin, step)) = event.rsplit_once('.') else { return };
                let Some((_, kind, counter, field)) = TEXTS.iter().find(|(known, ..)| *known == begin) else { return };
                let field = if step == "delta" { "delta" } else { field };
                let Some(text) = value.get(field).and_then(Value::as_str) else { return };
                let place = match *counter {
                    "content_index" => PartPosition::Content(place(counter)),
                    "summary_index" => PartPosition::Summary(place(counter)),
                    _ => PartPosition::Arguments,
                };
                if step == "delta" {
                    let at = self.find_for_delta(value, *kind);
                    let part = self.entries[at].part_for_delta(place);
                    let more = self.entries[at].parts[part].1.push_delta(text, is_mended);
                    self.emit_text(at, part, more, out);
                } else {
                    let at = self.find_for_final(value, *kind, Some(text));
                    self.end_text(at, place, text, PartEnding::Text, is_mended, out);
                }
            }
        }
    }

    /// Reads the output of the terminal event. An empty output is ignored, because some servers omit it.
    pub fn read_snapshot(&mut self, output: &[Value], is_mended: bool, out: &mut Vec<DecodedItem>) {
        for (index, (item, place)) in output.iter().zip(entry::match_snapshot_items(&self.entries, output)).enumerate()
        {
            let named = json!({"output_index": index, "item_id": item.get("id")});
            let kind = OutputItemKind::from_item(item);
            let at = place.unwrap_or_else(|| self.open(&named, kind));
            // The entry that the item began with, if its text arrived in another one.
            let is_own = |entry: &OutputEntry| entry.kind == kind && !entry.is_done && entry.is_blank();
            let id = id_of(&named);
            let own = id.and_then(|id| self.entries.iter().position(|entry| is_own(entry) && entry.has_id(id)));
            if let Some(own) = own.filter(|own| *own != at && self.entries[at].has_texts()) {
                self.give_place(own, at);
            }
            let source = FinalSource::Snapshot { is_completed: is_completed(item) };
            self.finish_item(at, (item, source), is_mended, out);
        }
    }

    /// Ends all open texts: lone surrogates that waited for their other half are emitted as U+FFFD. No name can arrive
    /// for calls that have none.
    pub fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        for at in 0..self.entries.len() {
            for n in 0..self.entries[at].parts.len() {
                let lost = self.entries[at].parts[n].1.flush_lone_surrogate();
                self.emit_text(at, n, lost, out);
            }
            self.drop_nameless(at, out);
            self.end_awaiting_call(at, out);
        }
        self.close_text(out);
        self.emit_late_corrections(out);
    }

    /// Returns the items for the next request, in the order of the output.
    pub fn into_reply(mut self) -> ResponsesReply {
        self.entries.sort_by_key(|entry| entry.index.unwrap_or(u64::MAX));
        let to_item = |entry: OutputEntry| OutputItem {
            kind: entry.kind,
            text: entry.parts.into_iter().map(|(_, part)| part.emitted).collect(),
            item: entry.item.unwrap_or_default(),
            call: entry.call,
            is_done: entry.is_done,
        };
        ResponsesReply { items: self.entries.into_iter().map(to_item).collect(), is_complete: false }
    }

    fn open(&mut self, value: &Value, kind: OutputItemKind) -> usize {
        self.entries.push(OutputEntry::from_event(value, kind));
        self.entries.len() - 1
    }

    fn keep(&mut self, at: usize, item: &Value, is_mended: bool) {
        if self.keeps_items {
            let mut item = item.clone();
            if is_mended {
                resolve_all_surrogates(&mut item);
            }
            self.entries[at].item = Some(item);
        }
    }

    /// Reads a complete item.
    fn finish_item(
        &mut self,
        at: usize,
        (item, source): (&Value, FinalSource),
        is_mended: bool,
        out: &mut Vec<DecodedItem>,
    ) {
        if let Some(kind) = item.get("type").and_then(Value::as_str) {
            kind.clone_into(&mut self.entries[at].item_type);
        }
        match self.entries[at].kind {
            OutputItemKind::Message => self.finish_texts(at, (item, source), is_mended, out),
            OutputItemKind::Reasoning => {
                self.finish_texts(at, (item, source), is_mended, out);
                self.emit_signature(at, item, out);
            }
            OutputItemKind::Call => {
                self.announce(at, item, out);
                let arguments = match item.get("arguments").or_else(|| item.get("input")) {
                    Some(Value::String(text)) => text.clone(),
                    // Some servers send the arguments as an object instead of a string.
                    Some(whole @ Value::Object(_)) => whole.to_string(),
                    _ => String::new(),
                };
                self.end_text(at, PartPosition::Arguments, &arguments, PartEnding::Text, is_mended, out);
            }
            OutputItemKind::ProviderCall => self.finish_provider_call(at, item, is_mended, out),
            OutputItemKind::ProviderOutput => self.finish_provider_output(at, item, is_mended, out),
            OutputItemKind::Other => {
                if !std::mem::replace(&mut self.entries[at].is_emitted, true) {
                    match image_of(item) {
                        Some(image) => {
                            self.close_text(out);
                            out.push(DecodedItem::Image(image));
                        }
                        None if entry::is_image_call(item) => self.emit_whole_call(item, is_mended, out),
                        None => {
                            let name = item.get("type").and_then(Value::as_str).unwrap_or("unknown");
                            self.opaque(name, item, out);
                        }
                    }
                }
            }
        }
        if let Some(id) = item.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
            self.entries[at].ids.push(id.to_owned());
        }
        if !std::mem::replace(&mut self.entries[at].is_done, true) {
            self.keep(at, item, is_mended);
        }
    }

    fn emit_signature(&mut self, at: usize, item: &Value, out: &mut Vec<DecodedItem>) {
        let signature = item.get("encrypted_content").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(signature) = signature
            && !std::mem::replace(&mut self.entries[at].is_emitted, true)
        {
            self.close_text(out);
            out.push(DecodedItem::ThinkingSignature(signature.to_owned()));
        }
    }

    /// Announces a call, once its name is known; the arguments that arrived before it follow.
    fn announce(&mut self, at: usize, item: &Value, out: &mut Vec<DecodedItem>) {
        if self.entries[at].call.is_some() || self.entries[at].kind != OutputItemKind::Call {
            return;
        }
        let text = |field: &str| item.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let Some(name) = text("name") else { return };
        let index = self.call_ids.len() as u64;
        self.close_text(out);
        self.entries[at].call = Some(index);
        let id = unique_call_id(text("call_id").or_else(|| text("id")).unwrap_or_default(), &self.call_ids, "");
        self.call_ids.push(id.clone());
        out.push(DecodedItem::ToolCall { index, id, name: name.to_owned() });
        self.entries[at].call_id = text("call_id").map(str::to_owned);
        let part = self.entries[at].part_for_delta(PartPosition::Arguments);
        let emitted = self.entries[at].parts[part].1.emitted.clone();
        self.emit_text(at, part, emitted, out);
    }

    /// Emits what arrived of a call without a name as an opaque item: it can be neither run nor sent back. Arguments
    /// that a call with a name has as well came under a wrong index.
    fn drop_nameless(&mut self, at: usize, out: &mut Vec<DecodedItem>) {
        let entry = &self.entries[at];
        if entry.kind != OutputItemKind::Call || entry.call.is_some() || entry.is_emitted {
            return;
        }
        let arguments = entry.text();
        let id = entry.ids.first().cloned().unwrap_or_default();
        let is_known =
            !entry.is_done && self.entries.iter().any(|other| other.call.is_some() && other.text() == arguments);
        self.entries[at].is_emitted = true;
        if !arguments.is_empty() && !is_known {
            self.close_text(out);
            out.push(DecodedItem::Opaque(nameless_call_content(&id, &arguments)));
        }
    }

    /// Emits an opaque `x:` block: the type, and the unchanged value as `value`.
    fn opaque(&mut self, name: &str, value: &Value, out: &mut Vec<DecodedItem>) {
        self.close_text(out);
        out.push(DecodedItem::Opaque(opaque_content(name, value.clone())));
    }
}

/// Returns true if a complete item says that nothing of it is missing.
fn is_completed(item: &Value) -> bool {
    item.get("status").and_then(Value::as_str) == Some("completed")
}

/// Returns the kind of item that a part belongs to.
fn kind_of_part(part: &Value) -> OutputItemKind {
    match part.get("type").and_then(Value::as_str) {
        Some("reasoning_text") => OutputItemKind::Reasoning,
        _ => OutputItemKind::Message,
    }
}

/// Returns the image of an image generation call, with the revised prompt as its description.
fn image_of(item: &Value) -> Option<GeneratedImage> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let result = text("result").filter(|_| text("type") == Some("image_generation_call"))?;
    GeneratedImage::parse(result, text("revised_prompt"))
}

#[cfg(test)]
mod tests;
