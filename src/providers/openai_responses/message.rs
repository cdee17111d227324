//! Replay of a response as input items of the next request to the same model (docs/reference/providers.md 2.6, 6.5):
//! its output items unchanged, except those that the API would refuse.

use serde_json::{Value, json};

use crate::openai_responses::entry::OutputItemKind;
use turnleaf_domain::tools::tool::parse_arguments;

/// One output item of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputItem {
    pub kind: OutputItemKind,
    /// The item of its `done` event, otherwise of its `added` event; null if neither arrived.
    pub item: Value,
    /// All of its text that was emitted.
    pub text: String,
    /// The number of the call in the response, from 0, in the order of the blocks.
    pub call: Option<u64>,
    /// True if the `done` event of the item was received.
    pub is_done: bool,
}

/// The output items of one response, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponsesReply {
    pub items: Vec<OutputItem>,
    /// True if the response was received to its end.
    pub is_complete: bool,
}

/// A call that is sent back and therefore needs its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentCall {
    /// The number of [`OutputItem::call`].
    pub number: usize,
    pub call_id: String,
    /// The type of the item for its result.
    pub output_type: &'static str,
}

/// The form in which an item is sent back.
enum SentForm {
    Unchanged(Value),
    Rewritten(Value),
    Dropped,
}

impl ResponsesReply {
    /// Counts the calls of the response.
    pub fn call_count(&self) -> usize {
        self.items.iter().filter(|output_item| output_item.call.is_some()).count()
    }

    /// Returns the items to send, and the calls among them. `answered` tells which calls have a result: a call whose
    /// arguments are not JSON goes back only if it has one, and then with `{}`, because servers parse the arguments.
    /// From an interrupted response only complete calls go back.
    ///
    /// If reasoning is missing, everything that depends on it is omitted, too: ids, because the server would look the
    /// reasoning up, and provider tool calls, which require it.
    pub fn input_items(&self, with_reasoning: bool, answered: impl Fn(usize) -> bool) -> (Vec<Value>, Vec<SentCall>) {
        let answered = |number: usize| self.is_complete && answered(number);
        let mut walk = self.walk(with_reasoning, with_reasoning, answered);
        if with_reasoning && walk.lost_reasoning {
            walk = self.walk(true, false, answered);
        }
        let Walk { mut items, mut calls, lost_reasoning } = walk;
        items.reverse();
        calls.reverse();
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            // With an id, the server requires the reasoning before the item.
            if lost_reasoning || item.get("id").is_some_and(|id| id.as_str().is_none_or(str::is_empty)) {
                item.remove("id");
            }
        }
        (items, calls)
    }

    /// Walks from the end, because reasoning must be followed by the unchanged item that it led to.
    fn walk(&self, with_reasoning: bool, with_own: bool, answered: impl Fn(usize) -> bool) -> Walk {
        let mut walk = Walk { items: Vec::new(), calls: Vec::new(), lost_reasoning: !with_reasoning };
        let mut has_follower = false;
        for output_item in self.items.iter().rev() {
            let sent = match output_item.kind {
                OutputItemKind::Reasoning => {
                    match reasoning(output_item).filter(|_| has_follower && with_reasoning) {
                        Some(item) => walk.items.push(item),
                        None => walk.lost_reasoning = true,
                    }
                    continue;
                }
                OutputItemKind::Call => call(output_item, &answered, &mut walk.calls),
                OutputItemKind::Message => message(output_item),
                OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other
                    if output_item.is_done && with_own =>
                {
                    SentForm::Unchanged(output_item.item.clone())
                }
                OutputItemKind::ProviderCall | OutputItemKind::ProviderOutput | OutputItemKind::Other => {
                    SentForm::Dropped
                }
            };
            has_follower = matches!(sent, SentForm::Unchanged(_));
            if let SentForm::Unchanged(item) | SentForm::Rewritten(item) = sent {
                walk.items.push(item);
            }
        }
        walk
    }
}

/// The items to send back, in reverse order.
struct Walk {
    items: Vec<Value>,
    calls: Vec<SentCall>,
    lost_reasoning: bool,
}

/// Returns a reasoning item if the server can read it: encrypted or, with open weights, as plain text. An id alone is
/// not enough, because the provider stores nothing.
fn reasoning(output_item: &OutputItem) -> Option<Value> {
    let mut item = output_item.item.clone();
    let fields = item.as_object_mut().filter(|_| output_item.is_done)?;
    let is_sealed = fields.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if is_sealed {
        // The API refuses plain text beside the encrypted content.
        fields.remove("content");
    } else if fields.get("content").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return None;
    }
    // The API requires the key even if it is empty.
    if !fields.get("summary").is_some_and(Value::is_array) {
        fields.insert("summary".into(), json!([]));
    }
    Some(item)
}

fn message(output_item: &OutputItem) -> SentForm {
    let is_cut = !output_item.is_done || output_item.item.get("status").and_then(Value::as_str) == Some("incomplete");
    let content = output_item.item.get("content");
    let is_empty = content.is_none_or(|content| match content {
        Value::Array(parts) => parts.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => true,
    });
    match (is_cut, output_item.text.is_empty()) {
        (false, _) if !is_empty => SentForm::Unchanged(output_item.item.clone()),
        (_, false) => SentForm::Rewritten(json!({"role": "assistant", "content": output_item.text})),
        (_, true) => SentForm::Dropped,
    }
}

fn call(output_item: &OutputItem, answered: impl Fn(usize) -> bool, calls: &mut Vec<SentCall>) -> SentForm {
    let number = output_item.call.and_then(|number| usize::try_from(number).ok());
    let (Some(number), Value::Object(item)) = (number, &output_item.item) else { return SentForm::Dropped };
    let is_custom = item.get("type").and_then(Value::as_str) == Some("custom_tool_call");
    let is_whole = output_item.is_done && (is_custom || parse_arguments(&output_item.text).is_some());
    if !is_whole && !answered(number) {
        return SentForm::Dropped;
    }
    let mut item = item.clone();
    let text = |field: &str| item.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let has_id = text("call_id").is_some();
    let call_id = text("call_id").or_else(|| text("id")).map_or_else(|| format!("call-{number}"), str::to_owned);
    let output_type = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
    calls.push(SentCall { number, call_id: call_id.clone(), output_type });
    let is_sendable = is_whole && (is_custom || !output_item.text.trim().is_empty());
    if is_sendable && has_id && item.get(if is_custom { "input" } else { "arguments" }).is_some_and(Value::is_string) {
        return SentForm::Unchanged(Value::Object(item));
    }
    let arguments = if is_sendable || is_custom { output_item.text.as_str() } else { "{}" };
    item.insert(if is_custom { "input" } else { "arguments" }.into(), json!(arguments));
    item.insert("call_id".into(), json!(call_id));
    item.remove("id");
    item.remove("status");
    // Empty arguments and missing arguments are the same call.
    let item = Value::Object(item);
    if is_whole { SentForm::Unchanged(item) } else { SentForm::Rewritten(item) }
}

#[cfg(test)]
mod tests;
