//! Reader for lists of messages as OpenAI's API takes them, which many programs, logs and data sets hold: an object with
//! `messages`, a bare list of messages, lists of either, and JSON lines of either. ShareGPT's form, `conversations` of
//! `from` and `value`, is the same with other names. [`MessageKeys`] names the keys of any other form.
//!
//! Confirmed by public definitions:
//! - OpenAI's API reference, “Create chat completion”: roles, content parts, `tool_calls`, `tool_call_id`,
//!   `function_call`, `refusal`, `audio`, `annotations`
//! - DeepSeek's API reference: `reasoning_content`; OpenRouter's: `reasoning`, `reasoning_details`, `images`
//! - `hiyouga/LLaMA-Factory`, `data/README.md`: ShareGPT's `from` and `value` with `human`, `gpt`, `function_call`,
//!   `observation`, `system`, and the messages of OpenAI's form
//! - Anthropic's API reference: content blocks `tool_use`, `tool_result`, `thinking`, `image`, `document`, which
//!   programs mix into the same lists
//!
//! Inferred: `<think>` at the beginning of a reply is reasoning; a result without an id answers the first open call of
//! its tool. Such lists rarely name their chat: its id then derives from the file name and the first message of a
//! person, so that a list that grew is found again. Messages are linear.
//!
//! Hand-written samples for the tests follow these definitions: `samples/openai_messages/`.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::bounds;
use crate::conversation::Conversation;
use crate::input::{Input, InputPart};
use crate::reading::fields::{self, list, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::open_calls::OpenCalls;
use crate::reading::parts::{PartOutcomes, SeenConversations, deliver};
use crate::reading::session_lines::value_size;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::reading::{export_entries, message_builder};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};
pub use message_keys::{InvalidMessageKeys, MessageKeys};

mod keys;
mod message;
mod message_keys;
mod parts;
mod pieces;

/// Members of a top-level object that hold several lists of messages.
const WRAPPERS: [&str; 4] = ["conversations", "data", "chats", "items"];

/// Returns whether the value is a message, or an object or a list that holds messages.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let keys = MessageKeys::default();
    let is_message = |value: &Value| keys.has_role(value) && message::is_message(&keys.message(value.clone()));
    let begins_with_message = |list: &[Value]| list.first().is_some_and(is_message);
    match value {
        Value::Array(list) => begins_with_message(list),
        Value::Object(_) => keys.messages_of(value).is_some_and(begins_with_message) || is_message(value),
        _ => false,
    }
}

/// Reads all files. A damaged part does not stop the others.
pub(crate) fn read(input: &mut Input, keys: &MessageKeys, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let parts = input.parts();
    let is_candidate = export_entries::candidate_filter(input);
    let mut seen = SeenConversations::default();
    let mut outcomes = PartOutcomes::default();
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_candidate(part)) {
        let mut lists = MessageLists { keys, seen: &mut seen, open: None };
        let mut read = if has_lines(input, number, part) {
            input.for_each_line(number, taker, &mut |line, taker| {
                let conversation = line.number.to_string();
                let place = IssueLocation { file: part.name.clone(), conversation, ..IssueLocation::default() };
                lists.add(line.value, place, taker)
            })
        } else {
            input.for_each_element(number, &[], taker, &mut |value, place, taker| lists.add(value, place, taker))
        };
        if let Ok(_) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) = &read {
            let closed = lists.close(taker);
            read = read.and_then(|read| closed.map(|()| read));
        }
        outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
    }
    outcomes.finish()
}

/// Returns whether a part holds one value per line, so that a broken line does not affect the next one: its first line
/// is a whole object, or its name says so and the first line is not only the beginning of a value.
fn has_lines(input: &mut Input, number: usize, part: &InputPart) -> bool {
    let start = input.read_start(number).unwrap_or_default();
    let first = start.trim_start_matches('\u{feff}').split_once('\n').map(|(line, _)| line.trim_end());
    let is_whole = |line: &str| line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok();
    let is_beginning = |line: &str| matches!(line, "{" | "[") || line.ends_with(',');
    first.is_some_and(is_whole) || (part.is_json_lines() && !first.is_some_and(is_beginning))
}

/// The lists of messages of one part.
struct MessageLists<'a> {
    keys: &'a MessageKeys,
    seen: &'a mut SeenConversations,
    /// Messages that are in no list of their own: together they are one chat.
    open: Option<OpenList>,
}

struct OpenList {
    messages: Vec<Value>,
    place: IssueLocation,
    bytes: usize,
    left_out: u64,
}

impl MessageLists<'_> {
    fn add(&mut self, value: Value, place: IssueLocation, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if let Value::Array(messages) = value {
            return self.deliver(holder_of(messages), place, taker);
        }
        if self.keys.messages_of(&value).is_some() {
            return self.deliver(value, place, taker);
        }
        if let Some(lists) = self.wrapped_lists(&value) {
            return self.add_wrapped(value, lists, place, taker);
        }
        if self.keys.has_role(&value) {
            self.add_message(value, place);
            return Ok(());
        }
        let text = "it is not a message, and holds no messages".to_owned();
        report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location: place, text })
    }

    /// Returns the member that holds several lists.
    fn wrapped_lists(&self, value: &Value) -> Option<&'static str> {
        let holds_lists = |name: &&str| {
            let first = list(value, name).first();
            first.is_some_and(|first| first.is_array() || self.keys.messages_of(first).is_some())
        };
        WRAPPERS.into_iter().find(holds_lists)
    }

    fn add_wrapped(
        &mut self,
        mut value: Value,
        name: &str,
        place: IssueLocation,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let lists = value.get_mut(name).map(Value::take).unwrap_or_default();
        let Value::Array(lists) = lists else { return Ok(()) };
        for (number, one) in (1..).zip(lists) {
            let conversation = format!("{}.{number}", place.conversation);
            let place = IssueLocation { conversation, ..place.clone() };
            match one {
                Value::Array(messages) => self.deliver(holder_of(messages), place, taker)?,
                other => self.deliver(other, place, taker)?,
            }
        }
        Ok(())
    }

    fn add_message(&mut self, message: Value, place: IssueLocation) {
        let open = self.open.get_or_insert_with(|| OpenList { messages: Vec::new(), place, bytes: 0, left_out: 0 });
        open.bytes = open.bytes.saturating_add(value_size(&message));
        if open.messages.len() >= bounds::MESSAGES || open.bytes > bounds::CONVERSATION_BYTES {
            open.left_out += 1;
        } else {
            open.messages.push(message);
        }
    }

    /// Delivers the messages that are in no list of their own.
    fn close(&mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        let Some(OpenList { messages, place, left_out, .. }) = self.open.take() else { return Ok(()) };
        if left_out > 0 {
            let text = format!("the conversation is too large: {left_out} messages were skipped");
            report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location: place.clone(), text })?;
        }
        self.deliver(holder_of(messages), place, taker)
    }

    fn deliver(&mut self, value: Value, place: IssueLocation, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        let mut notes = ConversationNotes::new(place);
        let conversation = conversation(&value, self.keys, &mut notes);
        let conversation = conversation.and_then(|conversation| self.seen.admit(conversation, &value, &mut notes));
        // The parsed JSON is freed before the conversation is delivered.
        drop(value);
        deliver(conversation, notes, taker)
    }
}

/// Returns an object that holds bare messages, so that one reader handles both.
fn holder_of(messages: Vec<Value>) -> Value {
    Value::Object(Map::from_iter([(LIST.to_owned(), Value::Array(messages))]))
}

/// The member of an object that holds bare messages. A mapping may name any other member, but this is no member's name.
const LIST: &str = "(messages)";

/// Reads one list of messages with what stands beside it.
fn conversation(value: &Value, keys: &MessageKeys, notes: &mut ConversationNotes) -> Option<Conversation> {
    let (head, messages) = match value.get(LIST).and_then(Value::as_array) {
        Some(messages) => (Value::Null, messages.as_slice()),
        None => keys.conversation(value),
    };
    let source_id = fields::id(&head, "id").unwrap_or_else(|| made_id(messages, keys, notes.file()));
    notes.set_conversation(&source_id);
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(messages.len());
    let mut names = UniqueIds::default();
    let mut open = OpenCalls::default();
    for (number, message) in (1..).zip(messages) {
        let message = &keys.message(message.clone());
        let id = fields::id(message, "id").unwrap_or_else(|| number.to_string());
        if !message.is_object() {
            notes.add_not_an_object(&id);
            continue;
        }
        let (id, _) = names.assign_to_message(id, notes);
        let parent = nodes.last().map(|node| node.id.clone());
        let message = message::read(message, &id, &mut open, notes);
        nodes.push(SourceNode { id, parent, children: Vec::new(), message });
    }
    let last = nodes.last().map(|node| node.id.clone());
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    let (first_prompt, messages, current) = message_builder::split_system_prompt(messages, current);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_lost(&head, notes);
    message_builder::report_missing_files(&messages, notes);
    let system_prompt = fields::first_text(&head, &["system", "system_prompt"]);
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        source_id,
        title: text(&head, "title").unwrap_or_default().to_owned(),
        system_prompt: [system_prompt.unwrap_or_default(), &first_prompt]
            .into_iter()
            .filter(|prompt| !prompt.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n"),
        created_at: notes.date(&head, "created_at", "").or_else(|| times().min()),
        updated_at: notes.date(&head, "updated_at", "").or_else(|| times().max()),
        model: text(&head, "model").map(str::to_owned),
        current,
        messages,
        ..Conversation::default()
    })
}

/// Derives the id of a list that names none from its file and the first message of a person.
fn made_id(messages: &[Value], keys: &MessageKeys, file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or_default();
    let mut renamed = messages.iter().map(|message| keys.message(message.clone()));
    let first =
        renamed.find(message::is_of_person).or_else(|| messages.first().map(|first| keys.message(first.clone())));
    let beginning = first.map(|message| [message.get("role").cloned(), message.get("content").cloned()]);
    fields::content_id(&json!([base, beginning]))
}

fn report_lost(head: &Value, notes: &mut ConversationNotes) {
    keys::CONVERSATION.report_lost(head, "", notes);
    let members = head.as_object().into_iter().flatten();
    let parameters: Map<String, Value> = members
        .filter(|(name, _)| keys::PARAMETERS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    message_builder::report_parameters(&Value::Object(parameters), &[], notes);
}

#[cfg(test)]
mod tests;
