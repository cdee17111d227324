//! The whole message with which some servers end a stream of deltas: it repeats what the deltas said, so only the rest
//! of each of its texts is emitted.

use serde_json::Value;

use super::{ChatChunkReader, calls_of, text_of};
use crate::openai_chat::vendor_members;
use crate::provider::DecodedItem;
use crate::surrogates;

impl ChatChunkReader {
    /// Reads the whole message. A text that does not begin with what the deltas said adds nothing to it.
    pub(super) fn final_message(&mut self, message: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        let reasoning = ["reasoning_content", "reasoning", "reasoning_text"]
            .into_iter()
            .find_map(|field| Some((field, text_of(message, field)?)));
        if let Some((field, whole)) = reasoning
            && !self.inline.has_found()
        {
            let whole = resolved(whole, is_mended);
            if let Some(rest) = rest_of(&self.reply.reasoning, &whole) {
                self.push_thinking(rest, field, false, out);
            }
        }
        let whole = resolved(&content_of(message), is_mended);
        if let Some(rest) = rest_of(&self.reply.text, &whole) {
            self.surrogate = None;
            self.text(rest, false, out);
        }
        if let Some(refusal) = text_of(message, "refusal") {
            let whole = resolved(refusal, is_mended);
            if let Some(rest) = rest_of(&self.reply.refusal, &whole) {
                self.refusal(rest, false, out);
            }
        }
        self.final_calls(message, is_mended, out);
        if self.keeps_reply {
            if !self.has_details {
                message.get("reasoning_details").and_then(Value::as_array).into_iter().flatten().for_each(|detail| {
                    self.reply.push_detail(detail);
                });
            }
            if self.reply.members.is_empty() {
                vendor_members::read_message(&mut self.reply.members, message);
            }
        }
        for image in message.get("images").and_then(Value::as_array).into_iter().flatten() {
            if !self.reply.images.contains(image) {
                self.push_image(image, out);
            }
        }
        self.extras.read_final_keys(message);
    }

    /// Reads the calls of the whole message: those that no delta announced, and the arguments of those that are not
    /// complete.
    fn final_calls(&mut self, message: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        self.calls.begin_list();
        for (element, position) in calls_of(message).iter().zip(0..) {
            let Some(at) = self.calls.repeated(position, element) else {
                self.call(element, is_mended, out);
                continue;
            };
            let announced = out.len();
            let more = self.calls.complete_repeated(at, element, &self.response_id, out);
            self.record_calls(&out[announced..]);
            let Some((index, whole)) = more else { continue };
            let text = resolved(&whole, is_mended);
            if let Some(call) = self.kept_call(index) {
                call.arguments.clone_from(&text);
            }
            out.push(DecodedItem::ToolArgumentsReplaced { index, text });
        }
    }
}

/// Returns the text of a message, of whose parts only texts count.
fn content_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let is_text = |part: &&Value| matches!(text_of(part, "type"), Some("text" | "output_text"));
            parts.iter().filter(is_text).filter_map(|part| text_of(part, "text")).collect()
        }
        _ => String::new(),
    }
}

/// Returns what a whole text has behind the one that was emitted.
fn rest_of<'w>(emitted: &str, whole: &'w str) -> Option<&'w str> {
    whole.strip_prefix(emitted).filter(|rest| !rest.is_empty())
}

/// Joins the surrogates of a text that may contain placeholders for them.
fn resolved(text: &str, is_mended: bool) -> String {
    if !is_mended {
        return text.to_owned();
    }
    let (mut joined, surrogate) = surrogates::join_surrogates(None, text);
    joined.extend(surrogate.map(|_| char::REPLACEMENT_CHARACTER));
    joined
}
