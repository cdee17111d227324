//! Converts chunks to items: the state machine of docs/reference/providers.md 4.2. Only choice 0 is decoded.

use serde_json::Value;

use crate::inline_reasoning::InlineReasoning;
use crate::openai_chat::calls::{ChatToolCalls, MoreArguments};
use crate::openai_chat::extras::ChunkExtras;
use crate::openai_chat::message::{ChatCall, ChatReply};
use crate::openai_chat::usage::ChatUsageCounts;
use crate::openai_chat::vendor_members;
use crate::provider::DecodedItem;
use crate::surrogates;

mod content_part;
mod final_message;

/// The kind of text that is being received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ChunkChannel {
    #[default]
    None,
    Text,
    Thinking,
    Arguments(u64),
}

/// The state of one response body.
#[derive(Debug, Default)]
pub struct ChatChunkReader {
    /// The content so far: text and reasoning, and everything else for the next request if it is kept.
    reply: ChatReply,
    keeps_reply: bool,
    response_id: String,
    model: String,
    calls: ChatToolCalls,
    /// The reply arrives in deltas, so that a whole message repeats it.
    has_deltas: bool,
    channel: ChunkChannel,
    /// A lone high surrogate at the end of the text so far; the next delta may complete it.
    surrogate: Option<u32>,
    /// A signature that may arrive in pieces.
    signature: String,
    has_details: bool,
    /// The number of the last part of a summary of the reasoning.
    summary_part: Option<u64>,
    extras: ChunkExtras,
    /// Splits reasoning from the text that contains it.
    inline: InlineReasoning,
    counts: ChatUsageCounts,
    finish_reason: Option<String>,
    has_choices: bool,
}

impl ChatChunkReader {
    /// Creates a reader that keeps the content for the next request.
    pub fn keeping_reply() -> Self {
        let mut reader = Self { keeps_reply: true, ..Self::default() };
        reader.calls.keep_members();
        reader
    }

    /// Returns the content for the next request; incomplete unless it was kept.
    pub fn into_reply(mut self) -> ChatReply {
        for (call, (id, members)) in self.reply.calls.iter_mut().zip(self.calls.into_sent_parts()) {
            (call.id, call.members) = (id, members);
        }
        self.reply
    }

    /// Notes the model that was requested.
    pub fn note_requested_model(&mut self, model: &str) {
        self.inline.note_model(model);
    }

    /// Returns true if any chunk had `choices`.
    pub fn has_choices(&self) -> bool {
        self.has_choices
    }

    /// Returns the last `finish_reason` of choice 0.
    pub fn finish_reason(&self) -> Option<&str> {
        self.finish_reason.as_deref()
    }

    /// Returns the newest usage and cost.
    pub fn counts(&self) -> ChatUsageCounts {
        self.counts
    }

    /// Reads only the usage of a chunk.
    pub fn read_usage(&mut self, chunk: &Value) {
        self.counts.update(chunk);
    }

    /// Reads one chunk. `is_mended` means that its texts may contain surrogate placeholders.
    pub fn read_chunk(&mut self, chunk: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.read_usage(chunk);
        if let Some(id) = chunk.get("id").and_then(Value::as_str)
            && self.response_id.is_empty()
        {
            id.clone_into(&mut self.response_id);
        }
        if let Some(model) = text_of(chunk, "model")
            && self.model.is_empty()
        {
            self.model = model.to_owned();
            self.inline.note_model(model);
            out.push(DecodedItem::Model(model.to_owned()));
        }
        self.extras.read_sources(chunk);
        let choices = chunk.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        self.has_choices |= chunk.get("choices").is_some();
        for choice in
            choices.iter().filter(|choice| matches!(choice.get("index").and_then(Value::as_u64), None | Some(0)))
        {
            match (choice.get("delta").filter(|delta| delta.is_object()), choice.get("message")) {
                (Some(delta), _) => {
                    self.has_deltas = true;
                    self.delta(delta, is_mended, out);
                }
                (None, Some(message)) if self.has_deltas => self.final_message(message, is_mended, out),
                (None, Some(message)) => self.delta(message, is_mended, out),
                (None, None) => {}
            }
            if let Some(reason) = text_of(choice, "finish_reason") {
                self.inline.note_stop(reason);
                if self.finish_reason.as_deref() != Some(reason) {
                    self.finish_calls(out);
                    out.push(DecodedItem::StopReason(reason.to_owned()));
                }
                self.finish_reason = Some(reason.to_owned());
            }
        }
    }

    /// Reads a chunk that carries only this text, and nothing new beside it.
    pub fn read_text(&mut self, text: &str, out: &mut Vec<DecodedItem>) {
        self.text(text, false, out);
    }

    /// Emits everything that was held back, at the end of the body.
    pub fn finish(&mut self, out: &mut Vec<DecodedItem>) {
        self.end_text(out);
        self.extras.finish(out);
    }

    /// Ends the open text and all calls. No name can arrive for calls that have none.
    pub fn finish_calls(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush(out);
        self.calls.drop_nameless(out);
    }

    fn delta(&mut self, delta: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.reasoning(delta, is_mended, out);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, is_mended, out),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.push_content_part(part, is_mended, out)),
            _ => {}
        }
        if let Some(refusal) = text_of(delta, "refusal") {
            self.refusal(refusal, is_mended, out);
        }
        let calls = calls_of(delta);
        if !calls.is_empty() {
            self.calls.begin_list();
            calls.iter().for_each(|call| self.call(call, is_mended, out));
        }
        if self.keeps_reply {
            vendor_members::read_message(&mut self.reply.members, delta);
        }
        for image in delta.get("images").and_then(Value::as_array).into_iter().flatten() {
            self.push_image(image, out);
        }
        self.extras.read_unknown_keys(delta);
    }

    /// Reads reasoning, which arrives in one of several keys, or in two of them with the same text: the first key
    /// that is not empty counts.
    fn reasoning(&mut self, delta: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let details = delta.get("reasoning_details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let fields = ["reasoning_content", "reasoning", "reasoning_text"];
        let found = fields.into_iter().find_map(|field| Some((field, text_of(delta, field)?)));
        let mut text = found.map(|(_, text)| text.to_owned()).unwrap_or_default();
        for detail in details {
            self.has_details = true;
            if self.keeps_reply {
                self.reply.push_detail(detail);
            }
            if found.is_none() {
                let more = text_of(detail, "text").or_else(|| text_of(detail, "summary")).unwrap_or_default();
                // Two parts of a summary in one chunk.
                text.push_str(if more.starts_with("**") && !text.is_empty() { "\n\n" } else { "" });
                text.push_str(more);
            }
        }
        self.begin_summary(details, out);
        if !text.is_empty() {
            self.push_thinking(&text, found.map_or("", |(field, _)| field), is_mended, out);
        }
        for detail in details {
            if let Some(data) = text_of(detail, "data") {
                self.flush_text(out);
                out.push(DecodedItem::RedactedThinking(data.to_owned()));
                self.channel = ChunkChannel::Thinking;
            }
            self.signature.extend(text_of(detail, "signature"));
        }
    }

    /// Notes the parts of a summary, which begin with headings, each in a paragraph of its own.
    fn begin_summary(&mut self, details: &[Value], out: &mut Vec<DecodedItem>) {
        let Some((detail, text)) = details.iter().find_map(|detail| Some((detail, text_of(detail, "summary")?))) else {
            return;
        };
        let part = detail.get("index").and_then(Value::as_u64).unwrap_or_default();
        match self.summary_part.replace(part) {
            None => out.push(DecodedItem::ThinkingHeadings),
            Some(before) if before != part && text.starts_with("**") && !self.reply.reasoning.ends_with("\n\n") => {
                out.extend((self.channel == ChunkChannel::Thinking).then(|| DecodedItem::Thinking("\n\n".to_owned())));
            }
            Some(_) => {}
        }
    }

    /// Emits the text that was held back, because the body failed or ends.
    pub fn end_text(&mut self, out: &mut Vec<DecodedItem>) {
        self.inline.note_end();
        self.finish_calls(out);
    }

    fn push_thinking(&mut self, text: &str, field: &'static str, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.inline.note_reasoning();
        let text = self.accumulate(ChunkChannel::Thinking, text, is_mended, out);
        self.reply.reasoning.push_str(&text);
        if self.reply.reasoning_field.is_empty() {
            self.reply.reasoning_field = field;
        }
        push_text(DecodedItem::Thinking, text, out);
    }

    fn refusal(&mut self, refusal: &str, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let text = self.accumulate(ChunkChannel::Text, refusal, is_mended, out);
        self.reply.refusal.push_str(&text);
        push_text(DecodedItem::Text, text, out);
    }

    fn text(&mut self, text: &str, is_mended: bool, out: &mut Vec<DecodedItem>) {
        if text.is_empty() {
            return;
        }
        let text = self.accumulate(ChunkChannel::Text, text, is_mended, out);
        self.reply.text.push_str(&text);
        self.inline.push(&text, out);
    }

    fn call(&mut self, fragment: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        if !matches!(self.channel, ChunkChannel::Arguments(_)) {
            self.flush(out);
        }
        let announced = out.len();
        let more = self.calls.push_fragment(fragment, is_mended, &self.response_id, out);
        self.record_calls(&out[announced..]);
        if self.channel == ChunkChannel::None && !self.calls.is_empty() {
            self.channel = ChunkChannel::Arguments(u64::MAX);
        }
        if let Some(MoreArguments { number: index, text, is_mended }) = more {
            let text = self.accumulate(ChunkChannel::Arguments(index), &text, is_mended, out);
            if let Some(call) = self.kept_call(index) {
                call.arguments.push_str(&text);
            }
            if !text.is_empty() {
                out.push(DecodedItem::ToolArguments { index, text });
            }
        }
    }

    /// Returns a call of the reply, if the reply is kept.
    fn kept_call(&mut self, number: u64) -> Option<&mut ChatCall> {
        self.reply.calls.get_mut(usize::try_from(number).ok()?)
    }

    /// Calls are announced in order, so the n-th announced call is the n-th call of the reply.
    fn record_calls(&mut self, announced: &[DecodedItem]) {
        if !self.keeps_reply {
            return;
        }
        for item in announced {
            if let DecodedItem::ToolCall { id, name, .. } = item {
                self.reply.calls.push(ChatCall { id: id.clone(), name: name.clone(), ..ChatCall::default() });
            }
        }
    }

    /// Switches to a channel and returns the text with surrogates joined.
    fn accumulate(&mut self, channel: ChunkChannel, text: &str, is_mended: bool, out: &mut Vec<DecodedItem>) -> String {
        if self.channel != channel || !self.signature.is_empty() {
            let stays_in_calls =
                matches!((self.channel, channel), (ChunkChannel::Arguments(_), ChunkChannel::Arguments(_)));
            if stays_in_calls {
                self.flush_lone_surrogate(out)
            } else {
                self.flush(out)
            }
            self.channel = channel;
        }
        if !is_mended && self.surrogate.is_none() {
            return text.to_owned();
        }
        let (joined, surrogate) = surrogates::join_surrogates(self.surrogate.take(), text);
        self.surrogate = surrogate;
        joined
    }

    /// Ends the open text at a block boundary, or at the end, and emits everything that waited for it.
    pub fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush_text(out);
        self.channel = ChunkChannel::None;
        let announced = out.len();
        self.calls.announce_all(&self.response_id, out);
        self.record_calls(&out[announced..]);
        self.extras.flush(out);
    }

    fn flush_text(&mut self, out: &mut Vec<DecodedItem>) {
        self.flush_lone_surrogate(out);
        self.inline.flush(out);
        if !self.signature.is_empty() {
            out.push(DecodedItem::ThinkingSignature(std::mem::take(&mut self.signature)));
        }
    }

    fn flush_lone_surrogate(&mut self, out: &mut Vec<DecodedItem>) {
        if self.surrogate.take().is_none() {
            return;
        }
        let lost = char::REPLACEMENT_CHARACTER.to_string();
        match self.channel {
            ChunkChannel::None => {}
            ChunkChannel::Text => {
                self.reply.text.push_str(&lost);
                self.inline.push(&lost, out);
            }
            ChunkChannel::Thinking => {
                self.reply.reasoning.push_str(&lost);
                out.push(DecodedItem::Thinking(lost));
            }
            ChunkChannel::Arguments(index) => {
                if let Some(call) = self.kept_call(index) {
                    call.arguments.push_str(&lost);
                }
                out.push(DecodedItem::ToolArguments { index, text: lost });
            }
        }
    }
}

/// Returns a string field that is not empty.
fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns the calls of a delta or a message. Some servers send a single call without a list; `function_call` is the
/// legacy format.
fn calls_of(delta: &Value) -> &[Value] {
    match delta.get("tool_calls") {
        Some(Value::Array(calls)) if !calls.is_empty() => calls,
        Some(call @ Value::Object(_)) => std::slice::from_ref(call),
        _ => delta.get("function_call").filter(|call| call.is_object()).map_or(&[][..], std::slice::from_ref),
    }
}

fn push_text(item: fn(String) -> DecodedItem, text: String, out: &mut Vec<DecodedItem>) {
    if !text.is_empty() {
        out.push(item(text));
    }
}
