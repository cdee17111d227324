//! Chunks to items: the state machine of providers.md 4.2, for choice 0 alone.

use serde_json::Value;

use crate::halves;
use crate::openai_chat::calls::Calls;
use crate::openai_chat::extras::Extras;
use crate::openai_chat::message::{Said, SaidCall};
use crate::openai_chat::usage::Counts;
use crate::provider::Item;

mod part;

/// The text that grows now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Channel {
    #[default]
    None,
    Text,
    Thinking,
    Arguments(u64),
}

/// What the chunks of one response have said.
#[derive(Debug, Default)]
pub struct Chunks {
    /// What goes back in the next request, when somebody wants to know.
    pub said: Option<Said>,
    response_id: String,
    model: String,
    calls: Calls,
    channel: Channel,
    /// A surrogate half at the end of the growing text.
    half: Option<u32>,
    /// A signature that may still come in pieces.
    signature: String,
    extras: Extras,
    counts: Counts,
    finish_reason: Option<String>,
    has_choices: bool,
}

impl Chunks {
    /// Whether any chunk had a place for a reply.
    pub fn has_choices(&self) -> bool {
        self.has_choices
    }

    /// The last `finish_reason` of choice 0.
    pub fn finish_reason(&self) -> Option<&str> {
        self.finish_reason.as_deref()
    }

    /// The usage and the cost that were reported last.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Takes the usage of a chunk and nothing else.
    pub fn usage_of(&mut self, chunk: &Value) {
        self.counts.take(chunk);
    }

    /// Takes one chunk. `is_mended` says that its texts may hold stand-ins of surrogate halves.
    pub fn take(&mut self, chunk: &Value, is_mended: bool, out: &mut Vec<Item>) {
        self.usage_of(chunk);
        if let Some(id) = chunk.get("id").and_then(Value::as_str)
            && self.response_id.is_empty()
        {
            id.clone_into(&mut self.response_id);
        }
        if let Some(model) = text_of(chunk, "model")
            && self.model.is_empty()
        {
            self.model = model.to_owned();
            out.push(Item::Model(model.to_owned()));
        }
        self.extras.sources_of(chunk);
        let choices = chunk.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.has_choices |= chunk.get("choices").is_some();
        for choice in
            choices.iter().filter(|choice| matches!(choice.get("index").and_then(Value::as_u64), None | Some(0)))
        {
            let delta = choice.get("delta").filter(|delta| delta.is_object()).or_else(|| choice.get("message"));
            if let Some(delta) = delta {
                self.delta(delta, is_mended, out);
            }
            if let Some(reason) = text_of(choice, "finish_reason") {
                if self.finish_reason.as_deref() != Some(reason) {
                    self.seam(out);
                    out.push(Item::Stop(reason.to_owned()));
                }
                self.finish_reason = Some(reason.to_owned());
            }
        }
    }

    /// The body is over.
    pub fn end(&mut self, out: &mut Vec<Item>) {
        self.seam(out);
        self.extras.end(out);
    }

    fn delta(&mut self, delta: &Value, is_mended: bool, out: &mut Vec<Item>) {
        self.reasoning(delta, is_mended, out);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, is_mended, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, is_mended, out)),
            _ => {}
        }
        if let Some(refusal) = text_of(delta, "refusal") {
            let text = self.grow(Channel::Text, refusal, is_mended, out);
            if let Some(said) = &mut self.said {
                said.refusal.push_str(&text);
            }
            push_text(Item::Text, text, out);
        }
        match delta.get("tool_calls") {
            Some(Value::Array(calls)) => calls.iter().for_each(|call| self.call(call, is_mended, out)),
            _ => {
                if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
                    self.call(call, is_mended, out);
                }
            }
        }
        for image in delta.get("images").and_then(Value::as_array).into_iter().flatten() {
            self.image(image, out);
        }
        self.extras.keys_of(delta);
    }

    /// Reasoning comes in one of several keys, or in two of them with the same text: the first that has any counts.
    fn reasoning(&mut self, delta: &Value, is_mended: bool, out: &mut Vec<Item>) {
        let details = delta.get("reasoning_details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let fields = ["reasoning_content", "reasoning", "reasoning_text"];
        let found = fields.into_iter().find_map(|field| Some((field, text_of(delta, field)?)));
        let mut text = found.map(|(_, text)| text.to_owned()).unwrap_or_default();
        for detail in details {
            if let Some(said) = &mut self.said {
                said.detail(detail);
            }
            if found.is_none() {
                text.extend(text_of(detail, "text").or_else(|| text_of(detail, "summary")));
            }
        }
        if !text.is_empty() {
            self.think(&text, found.map_or("", |(field, _)| field), is_mended, out);
        }
        for detail in details {
            if let Some(data) = text_of(detail, "data") {
                self.seam_but_channel(out);
                out.push(Item::Redacted(data.to_owned()));
                self.channel = Channel::Thinking;
            }
            self.signature.extend(text_of(detail, "signature"));
        }
    }

    fn think(&mut self, text: &str, field: &'static str, is_mended: bool, out: &mut Vec<Item>) {
        let text = self.grow(Channel::Thinking, text, is_mended, out);
        if let Some(said) = &mut self.said {
            said.reasoning.push_str(&text);
            if said.reasoning_field.is_empty() {
                said.reasoning_field = field;
            }
        }
        push_text(Item::Thinking, text, out);
    }

    fn text(&mut self, text: &str, is_mended: bool, out: &mut Vec<Item>) {
        if text.is_empty() {
            return;
        }
        let text = self.grow(Channel::Text, text, is_mended, out);
        if let Some(said) = &mut self.said {
            said.text.push_str(&text);
        }
        push_text(Item::Text, text, out);
    }

    fn call(&mut self, fragment: &Value, is_mended: bool, out: &mut Vec<Item>) {
        if !matches!(self.channel, Channel::Arguments(_)) {
            self.seam(out);
        }
        let announced = out.len();
        let more = self.calls.fragment(fragment, &self.response_id, out);
        self.say_calls(&out[announced..]);
        if self.channel == Channel::None && !self.calls.is_empty() {
            self.channel = Channel::Arguments(u64::MAX);
        }
        if let Some((index, arguments)) = more {
            let text = self.grow(Channel::Arguments(index), &arguments, is_mended, out);
            if let Some(call) = self.said.as_mut().and_then(|said| said.calls.get_mut(usize::try_from(index).ok()?)) {
                call.arguments.push_str(&text);
            }
            if !text.is_empty() {
                out.push(Item::ToolArguments { index, text });
            }
        }
    }

    /// Calls are announced in order, so the n-th announced is the n-th said.
    fn say_calls(&mut self, announced: &[Item]) {
        let Some(said) = &mut self.said else { return };
        for item in announced {
            if let Item::ToolCall { id, name, .. } = item {
                said.calls.push(SaidCall { id: id.clone(), name: name.clone(), arguments: String::new() });
            }
        }
    }

    /// Moves to a channel and gives what may be shown of its next text.
    fn grow(&mut self, channel: Channel, text: &str, is_mended: bool, out: &mut Vec<Item>) -> String {
        if self.channel != channel || !self.signature.is_empty() {
            let stays_in_calls = matches!((self.channel, channel), (Channel::Arguments(_), Channel::Arguments(_)));
            if stays_in_calls {
                self.give_up_half(out)
            } else {
                self.seam(out)
            }
            self.channel = channel;
        }
        if !is_mended && self.half.is_none() {
            return text.to_owned();
        }
        let (joined, half) = halves::join(self.half.take(), text);
        self.half = half;
        joined
    }

    /// The place between two blocks, or the end: everything that waited for it goes out.
    pub fn seam(&mut self, out: &mut Vec<Item>) {
        self.seam_but_channel(out);
        self.channel = Channel::None;
        let announced = out.len();
        self.calls.announce_all(out);
        self.say_calls(&out[announced..]);
        self.extras.seam(out);
    }

    fn seam_but_channel(&mut self, out: &mut Vec<Item>) {
        self.give_up_half(out);
        if !self.signature.is_empty() {
            out.push(Item::ThinkingSignature(std::mem::take(&mut self.signature)));
        }
    }

    fn give_up_half(&mut self, out: &mut Vec<Item>) {
        if self.half.take().is_none() {
            return;
        }
        let lost = char::REPLACEMENT_CHARACTER.to_string();
        let said = self.said.as_mut();
        match self.channel {
            Channel::None => {}
            Channel::Text => {
                if let Some(said) = said {
                    said.text.push_str(&lost);
                }
                out.push(Item::Text(lost));
            }
            Channel::Thinking => {
                if let Some(said) = said {
                    said.reasoning.push_str(&lost);
                }
                out.push(Item::Thinking(lost));
            }
            Channel::Arguments(index) => {
                if let Some(call) = said.and_then(|said| said.calls.get_mut(usize::try_from(index).ok()?)) {
                    call.arguments.push_str(&lost);
                }
                out.push(Item::ToolArguments { index, text: lost });
            }
        }
    }
}

/// A string field that says something.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn push_text(item: fn(String) -> Item, text: String, out: &mut Vec<Item>) {
    if !text.is_empty() {
        out.push(item(text));
    }
}
