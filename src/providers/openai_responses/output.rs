//! Output items out of events: which item an event belongs to when servers skip, repeat or change what names it, and
//! what of it is new (providers.md 6.3). Deltas are told as they come; `done` events and the final snapshot add what
//! the deltas left out.

use serde_json::{Map, Value, json};

use crate::openai_responses::entry::{self, Entry, Kind};
use crate::openai_responses::message::{Said, SaidItem};
use crate::openai_responses::part::{Place, resolve_all};
use crate::pictures::SaidImage;
use crate::provider::Item;

mod cited;
mod own;

/// Texts that come in pieces: how their events begin, whose they are, what counts their places, and where the `done`
/// event has the whole.
const TEXTS: [(&str, Kind, &str, &str); 6] = [
    ("response.output_text", Kind::Message, "content_index", "text"),
    ("response.refusal", Kind::Message, "content_index", "refusal"),
    ("response.reasoning_summary_text", Kind::Reasoning, "summary_index", "text"),
    ("response.reasoning_text", Kind::Reasoning, "content_index", "text"),
    ("response.function_call_arguments", Kind::Call, "", "arguments"),
    ("response.custom_tool_call_input", Kind::Call, "", "input"),
];

/// The text that grows now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Channel {
    #[default]
    None,
    /// Of the message at this place of `entries`.
    Text(usize),
    Thinking(usize, Place),
}

/// The output of one response.
#[derive(Debug, Default)]
pub struct Output {
    /// In the order of first appearance.
    entries: Vec<Entry>,
    calls: u64,
    channel: Channel,
    keeps_items: bool,
}

impl Output {
    /// One that keeps what has to go back in the next request.
    pub fn keeping_items() -> Self {
        Self { keeps_items: true, ..Self::default() }
    }

    /// Takes an event about an item. `is_mended` says that its texts may hold stand-ins of surrogate halves.
    pub fn take(&mut self, event: &str, value: &Value, is_mended: bool, out: &mut Vec<Item>) {
        let place = |counter: &str| value.get(counter).and_then(Value::as_u64).unwrap_or(0);
        match event {
            "response.output_item.added" => {
                if let Some(item) = value.get("item") {
                    let at = self.open(value, Kind::of(item));
                    self.keep(at, item, is_mended);
                    // The name may still be missing; what the item holds already comes again with its end.
                    if item.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty()) {
                        self.announce(at, item, out);
                    }
                    self.announce_own(at, item, out);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = value.get("item") {
                    let at = self.find(value, Kind::of(item));
                    self.settle(at, item, is_mended, out);
                }
            }
            "response.content_part.done" | "response.reasoning_part.done" => {
                if let Some(part) = value.get("part") {
                    let is_reasoning = part.get("type").and_then(Value::as_str) == Some("reasoning_text");
                    let at = self.find(value, if is_reasoning { Kind::Reasoning } else { Kind::Message });
                    self.part(at, Place::Content(place("content_index")), part, is_mended, out);
                }
            }
            "response.reasoning_summary_part.done" => {
                if let Some(part) = value.get("part") {
                    let at = self.find(value, Kind::Reasoning);
                    self.part(at, Place::Summary(place("summary_index")), part, is_mended, out);
                }
            }
            _ => {
                let Some((begin, step)) = event.rsplit_once('.') else { return };
                let Some((_, kind, counter, field)) = TEXTS.iter().find(|(known, ..)| *known == begin) else { return };
                let field = if step == "delta" { "delta" } else { field };
                let Some(text) = value.get(field).and_then(Value::as_str) else { return };
                let place = match *counter {
                    "content_index" => Place::Content(place(counter)),
                    "summary_index" => Place::Summary(place(counter)),
                    _ => Place::Arguments,
                };
                let at = self.find(value, *kind);
                let part = self.entries[at].part(place);
                let more = if step == "delta" { part.grow(text, is_mended) } else { part.whole(text, is_mended) };
                self.tell(at, place, more, out);
            }
        }
    }

    /// Takes the output that the terminal event carries: an empty one says nothing, since some servers leave it out.
    pub fn snapshot(&mut self, output: &[Value], is_mended: bool, out: &mut Vec<Item>) {
        for (index, (item, place)) in output.iter().zip(entry::matched(&self.entries, output)).enumerate() {
            let named = json!({"output_index": index, "item_id": item.get("id")});
            let at = place.unwrap_or_else(|| self.open(&named, Kind::of(item)));
            self.settle(at, item, is_mended, out);
        }
    }

    /// The place between two blocks, or the end: halves that waited go out.
    pub fn seam(&mut self, out: &mut Vec<Item>) {
        for at in 0..self.entries.len() {
            for n in 0..self.entries[at].parts.len() {
                let (place, part) = &mut self.entries[at].parts[n];
                let (place, lost) = (*place, part.give_up());
                self.tell(at, place, lost, out);
            }
        }
    }

    /// What has to go back in the next request, in the order of the output.
    pub fn into_said(mut self) -> Said {
        self.entries.sort_by_key(|entry| entry.index.unwrap_or(u64::MAX));
        let said = |entry: Entry| SaidItem {
            kind: entry.kind,
            text: entry.parts.into_iter().map(|(_, part)| part.told).collect(),
            item: entry.item.unwrap_or_default(),
            call: entry.call,
            is_done: entry.is_done,
        };
        Said { items: self.entries.into_iter().map(said).collect(), is_complete: false }
    }

    /// The item that an event belongs to, opened when there is none: the newest with its index, else with its id, else
    /// the newest of all, and always of this kind.
    fn find(&mut self, value: &Value, kind: Kind) -> usize {
        let index = value.get("output_index").and_then(Value::as_u64);
        let id = value.get("item_id").and_then(Value::as_str);
        let found = self.entries.iter().rposition(|entry| {
            entry.kind == kind
                && match (index, id) {
                    (Some(_), _) => entry.index == index,
                    (None, Some(id)) => entry.ids.iter().any(|known| known == id),
                    (None, None) => true,
                }
        });
        found.unwrap_or_else(|| self.open(value, kind))
    }

    fn open(&mut self, value: &Value, kind: Kind) -> usize {
        self.entries.push(Entry::of(value, kind));
        self.entries.len() - 1
    }

    fn keep(&mut self, at: usize, item: &Value, is_mended: bool) {
        if self.keeps_items {
            let mut item = item.clone();
            if is_mended {
                resolve_all(&mut item);
            }
            self.entries[at].item = Some(item);
        }
    }

    /// Takes an item that is whole.
    fn settle(&mut self, at: usize, item: &Value, is_mended: bool, out: &mut Vec<Item>) {
        let list = |field: &str| item.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        match self.entries[at].kind {
            Kind::Message => {
                if let Some(text) = item.get("content").and_then(Value::as_str) {
                    let more = self.entries[at].part(Place::Content(0)).whole(text, is_mended);
                    self.tell(at, Place::Content(0), more, out);
                }
                for (part, n) in list("content").iter().zip(0..) {
                    self.part(at, Place::Content(n), part, is_mended, out);
                }
            }
            Kind::Reasoning => {
                for (part, n) in list("summary").iter().zip(0..) {
                    self.part(at, Place::Summary(n), part, is_mended, out);
                }
                for (part, n) in list("content").iter().zip(0..) {
                    self.part(at, Place::Content(n), part, is_mended, out);
                }
                self.sign(at, item, out);
            }
            Kind::Call => {
                self.announce(at, item, out);
                let arguments = match item.get("arguments").or_else(|| item.get("input")) {
                    Some(Value::String(text)) => text.clone(),
                    // Some servers send the arguments as the object they are.
                    Some(whole @ Value::Object(_)) => whole.to_string(),
                    _ => String::new(),
                };
                let more = self.entries[at].part(Place::Arguments).whole(&arguments, is_mended);
                self.tell(at, Place::Arguments, more, out);
            }
            Kind::Own => self.settle_own(at, item, is_mended, out),
            Kind::Other => {
                if !std::mem::replace(&mut self.entries[at].is_told, true) {
                    match image_of(item) {
                        Some(image) => {
                            self.channel = Channel::None;
                            out.push(Item::Image(image));
                        }
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

    fn sign(&mut self, at: usize, item: &Value, out: &mut Vec<Item>) {
        let signature = item.get("encrypted_content").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(signature) = signature
            && !std::mem::replace(&mut self.entries[at].is_told, true)
        {
            self.channel = Channel::None;
            out.push(Item::ThinkingSignature(signature.to_owned()));
        }
    }

    fn announce(&mut self, at: usize, item: &Value, out: &mut Vec<Item>) {
        if self.entries[at].call.is_some() || self.entries[at].kind != Kind::Call {
            return;
        }
        let index = self.calls;
        self.calls += 1;
        self.channel = Channel::None;
        self.entries[at].call = Some(index);
        let text = |field: &str| item.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let id = text("call_id").or_else(|| text("id")).map_or_else(|| format!("call-{index}"), str::to_owned);
        out.push(Item::ToolCall { index, id, name: text("name").unwrap_or_default().to_owned() });
        // Arguments that came before the name.
        let told = self.entries[at].part(Place::Arguments).told.clone();
        self.tell(at, Place::Arguments, told, out);
    }

    fn tell(&mut self, at: usize, place: Place, text: String, out: &mut Vec<Item>) {
        if text.is_empty() {
            return;
        }
        match self.entries[at].kind {
            Kind::Message => {
                if matches!(self.channel, Channel::Text(other) if other != at) {
                    // Two messages in a row are two texts, and nothing may be put into either.
                    self.opaque("message", &json!({"output_index": self.entries[at].index}), out);
                }
                self.channel = Channel::Text(at);
                out.push(Item::Text(text));
            }
            Kind::Reasoning => {
                let channel = Channel::Thinking(at, place);
                let is_next = matches!(self.channel, Channel::Thinking(..)) && self.channel != channel;
                self.channel = channel;
                out.push(Item::Thinking(if is_next { format!("\n\n{text}") } else { text }));
            }
            Kind::Call => {
                out.extend(self.entries[at].call.map(|index| Item::ToolArguments { index, text }));
            }
            Kind::Own | Kind::Other => {}
        }
    }

    /// The content of an `x:` block: the value as it came, under a key of its own.
    fn opaque(&mut self, name: &str, value: &Value, out: &mut Vec<Item>) {
        self.channel = Channel::None;
        let mut map = Map::new();
        map.insert("type".into(), Value::from(format!("x:{name}")));
        map.insert("value".into(), value.clone());
        out.push(Item::Opaque(map));
    }
}

/// The image that the provider made by a call of its own, with what it understood that it was to show.
fn image_of(item: &Value) -> Option<SaidImage> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let result = text("result").filter(|_| text("type") == Some("image_generation_call"))?;
    SaidImage::read(result, text("revised_prompt"))
}
