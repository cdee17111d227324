//! Reader for the data folder of Jan: `threads/ID/thread.json` with `messages.jsonl` beside it, and the assistants in
//! `assistants/ID/assistant.json`; as a folder, an archive, or `messages.jsonl` alone.
//!
//! Confirmed by the product's source (repository `janhq/jan`):
//! - the files: `src-tauri/src/core/threads/{utils,helpers}.rs`;
//! - a thread: `core/src/types/thread/threadEntity.ts`, and how it is stored (the model in `assistants[0].model`, stars
//!   in `metadata.is_favorite`): `web-app/src/services/threads/default.ts`;
//! - a message and its parts: `core/src/types/message/messageEntity.ts`; reasoning in tags, calls in `metadata` of
//!   earlier versions, inline files: `web-app/src/lib/{messages,completion}.ts`;
//! - an assistant: `core/src/types/assistant/assistantEntity.ts`.
//!
//! Inferred: messages are in the order of their lines; `completed_at` is the end of a reply where it is later than
//! `created_at`.
//!
//! Hand-written samples for the tests follow these definitions: `samples/jan/`.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::bounds;
use crate::conversation::Conversation;
use crate::input::{Input, InputPart};
use crate::reading::fields::{content_id, id, is_set, list, text};
use crate::reading::known_keys::KnownKeys;
use crate::reading::message_builder;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, read_each_part};
use crate::reading::session_lines::{SessionLines, value_size};
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

mod content;
mod keys;

const THREAD_FILE: &str = "thread.json";
const MESSAGES_FILE: &str = "messages.jsonl";

/// Names of assistants that say nothing: the usual one, and the place of a model without an assistant.
const USUAL_ASSISTANTS: [&str; 2] = ["Jan", "Model"];

/// Returns whether the value is a thread or a message of Jan.
pub(crate) fn is_record(value: &Value) -> bool {
    match text(value, "object") {
        Some("thread") => value.get("assistants").is_some_and(Value::is_array),
        Some("thread.message") => id(value, "thread_id").is_some() && value.get("content").is_some_and(Value::is_array),
        _ => false,
    }
}

/// Reads all threads.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let is_archive = input.is_archive();
    let is_messages = |part: &InputPart| !is_archive || part.base_name() == MESSAGES_FILE;
    let assistants = assistants(input, bounds::ASSISTANTS_BYTES, taker)?;
    let mut seen = SeenConversations::default();
    let mut threads_read = HashSet::new();
    read_each_part(input, taker, &is_messages, &mut |input, part, taker| {
        let name = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let mut thread = Thread::default();
        input.for_each_line(part, taker, &mut |line, _| {
            thread.messages.add(line);
            Ok(())
        })?;
        if is_archive {
            let file = format!("{}{THREAD_FILE}", name.strip_suffix(MESSAGES_FILE).unwrap_or_default());
            thread.header = header(input, &file);
            threads_read.insert(file);
        } else if !thread.rows().any(is_record) {
            return Err(ImportError::WrongFormat("a thread of Jan"));
        }
        let mut notes = ConversationNotes::new(IssueLocation { file: name, ..IssueLocation::default() });
        let conversation = conversation(&thread, &assistants, &mut notes);
        seen.deliver(conversation, &thread.messages.lines, notes, taker)
    })?;
    report_lone_threads(input, &threads_read, taker)
}

/// Reports threads without a file of messages: new ones, or ones whose messages are lost.
fn report_lone_threads(
    input: &Input,
    threads_read: &HashSet<String>,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    for part in input.parts().all().iter().filter(|part| part.base_name() == THREAD_FILE) {
        if input.is_archive() && !threads_read.contains(&part.name) {
            let mut notes =
                ConversationNotes::new(IssueLocation { file: part.name.clone(), ..IssueLocation::default() });
            notes.add_no_messages();
            notes.report(taker)?;
        }
    }
    Ok(())
}

/// Returns the object in a small file; null if it cannot be read.
fn header(input: &mut Input, file: &str) -> Value {
    let bytes = input.read_part(file, bounds::SIDE_FILE_BYTES).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Returns the assistants by their ids, as far as they fit into this number of bytes.
fn assistants(
    input: &mut Input,
    mut bytes: usize,
    taker: &mut dyn ImportSink,
) -> Result<HashMap<String, Value>, ImportError> {
    let parts = input.parts();
    let mut read = HashMap::new();
    for part in parts.all().iter().filter(|part| part.base_name() == "assistant.json") {
        let assistant = shortened_assistant(header(input, &part.name));
        let Some(id) = id(&assistant, "id") else { continue };
        let size = value_size(&assistant);
        if size > bytes {
            let text = "the assistants are too large together: this one was skipped with its instructions".to_owned();
            let location = IssueLocation { file: part.name.clone(), ..IssueLocation::default() };
            report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text })?;
            continue;
        }
        bytes -= size;
        read.insert(id, assistant);
    }
    Ok(read)
}

/// Drops the members of an assistant that are neither read nor reported.
fn shortened_assistant(assistant: Value) -> Value {
    const READ: [&str; 5] = ["id", "assistant_id", "name", "assistant_name", "instructions"];
    let Value::Object(members) = assistant else { return Value::Null };
    let is_lost = |name: &str| {
        let KnownKeys { read, ignored, .. } = keys::ASSISTANT;
        !read.contains(&name) && !ignored.contains(&name)
    };
    members.into_iter().filter(|(name, _)| READ.contains(&name.as_str()) || is_lost(name)).collect()
}

/// The thread that is being read.
#[derive(Default)]
struct Thread {
    /// Null if its file is missing.
    header: Value,
    messages: SessionLines,
}

impl Thread {
    fn rows(&self) -> impl Iterator<Item = &Value> {
        self.messages.lines.iter().map(|line| &line.value)
    }
}

/// Builds the conversation of a thread; `None` if it has no messages.
fn conversation(
    thread: &Thread,
    assistants: &HashMap<String, Value>,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let Thread { header, .. } = thread;
    let source_id = id(header, "id").or_else(|| thread.rows().find_map(|row| id(row, "thread_id")));
    let source_id = source_id.unwrap_or_else(|| content_id(&thread.rows().cloned().collect()));
    notes.set_conversation(&source_id);
    if header.is_null() {
        notes.add(IssueKind::Lost, "", "the title and the assistant of the thread are not in the export");
    }
    keys::THREAD.report_lost(header, "", notes);
    thread.messages.report_left_out(notes);
    let assistant = list(header, "assistants").first().unwrap_or(&Value::Null);
    let model = assistant.get("model").unwrap_or(&Value::Null);
    let model_id = text(model, "id").filter(|model| *model != "*");
    let provider = text(model, "engine").map(str::to_owned);
    let calls = content::names_of_calls(thread.rows());
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(thread.messages.lines.len());
    let mut names = UniqueIds::default();
    for line in &thread.messages.lines {
        let row = &line.value;
        let id = id(row, "id").unwrap_or_else(|| content_id(row));
        if !row.is_object() {
            notes.add_not_a_message(&format!("line {}", line.number));
            continue;
        }
        let (id, _) = names.assign_to_message(id, notes);
        let message = content::message(row, &id, provider.as_deref(), &calls, notes);
        let parent = nodes.last().map(|node| node.id.clone());
        nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
    }
    let last = nodes.last().map(|node| node.id.clone());
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    message_builder::report_missing_files(&messages, notes);
    let system_prompt = instructions(assistant, assistants, notes);
    let metadata = header.get("metadata").unwrap_or(&Value::Null);
    keys::THREAD_METADATA.report_lost(metadata, "", notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (first, last) = (times().min(), times().max());
    Some(Conversation {
        source_id,
        title: text(header, "title").unwrap_or_default().to_owned(),
        system_prompt,
        // `created` is rewritten when a thread changes.
        created_at: first.or_else(|| notes.date(header, "created", "")),
        updated_at: notes.date(header, "updated", "").or(last),
        model: model_id.map(str::to_owned),
        is_pinned: is_set(metadata, "is_favorite"),
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the instructions of a thread's assistant, and reports what else it has.
fn instructions(assistant: &Value, assistants: &HashMap<String, Value>, notes: &mut ConversationNotes) -> String {
    let known = ["id", "assistant_id"].into_iter().find_map(|name| assistants.get(&id(assistant, name)?));
    let whole = known.unwrap_or(&Value::Null);
    keys::ASSISTANT.report_lost(assistant, "", notes);
    keys::ASSISTANT.report_lost(whole, "", notes);
    let name = [assistant, whole].into_iter().find_map(|of| text(of, "name").or_else(|| text(of, "assistant_name")));
    if let Some(name) = name.filter(|name| !USUAL_ASSISTANTS.contains(name)) {
        notes.add_assistant(name);
    }
    let prompt = [assistant, whole].into_iter().find_map(|of| text(of, "instructions"));
    prompt.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
