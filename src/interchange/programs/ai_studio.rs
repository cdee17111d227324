//! Reader for chats of Google AI Studio, which are files in the folder “Google AI Studio” of Google Drive: one file, or
//! an archive of the folder as Drive or Takeout make it.
//!
//! Google publishes no definition. Derived from schemas and readers that were written from such files:
//! - `Sinity/polylogue`, `polylogue/schemas/providers/gemini/versions/v2` (fields of 396 files) and
//!   `tests/data/gemini_chunked_prompt`: chunks, parts, code execution, files of Drive, grounding, branches
//! - Google's API reference of the Gemini API (`Part`, `FinishReason`): `executableCode`, `codeExecutionResult`,
//!   `functionCall`, `functionResponse`, `inlineData`
//!
//! Confirmed: `chunkedPrompt.chunks` with `role`, `text`, `isThought` and `parts`, `runSettings.model`,
//! `systemInstruction`, `driveDocument` and its like with only an id, `branchParent` and `branchChildren` with the id
//! and the title of another file. Inferred: `text` repeats the texts of `parts`; consecutive parts are pieces of one
//! streamed text; `tokenCount` of a model's chunk counts its output.
//!
//! A file names neither itself nor its chunks: the chat's id derives from its file name and its first words, so that a
//! chat that grew is found again, and its title is the file name. What AI Studio calls a branch is a copy in another
//! file, so chats are linear and the link is reported. Files of Drive are never included.
//!
//! Hand-written samples for the tests follow these definitions: `samples/ai_studio/`.

use serde_json::{Value, json};

use crate::conversation::{Conversation, ImportedMessage};
use crate::domain::turns::turn::Role;
use crate::input::{Input, InputPart};
use crate::reading::fields::{self, first_text, list, printable, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::{export_entries, message_builder};
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};
use chunks::ChunkReader;

mod chunks;
mod keys;

/// Returns whether the value is a chat of AI Studio.
pub(crate) fn is_conversation(value: &Value) -> bool {
    value.get("chunkedPrompt").is_some_and(|prompt| prompt.get("chunks").is_some_and(Value::is_array))
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let is_candidate = export_entries::candidate_filter(input);
    // The folder also holds the files that were attached to chats.
    let json = export_entries::entries_beginning_with_json(input);
    let is_chat = |part: &InputPart| is_candidate(part) && json.as_ref().is_none_or(|names| names.contains(&part.name));
    read_parts(input, taker, &[], &is_chat, &mut conversation)
}

/// Reads one chat.
fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    let prompt = value.get("chunkedPrompt").unwrap_or(&Value::Null);
    let chunks = list(prompt, "chunks");
    let base = notes.file().rsplit('/').next().unwrap_or_default().to_owned();
    let source_id = fields::id(value, "id").unwrap_or_else(|| made_id(&base, chunks));
    notes.set_conversation(&source_id);
    if !is_conversation(value) {
        notes.add(IssueKind::LeftOut, "", "it is not a chat of AI Studio");
        return None;
    }
    let (messages, current) = order_messages(nodes(chunks, notes), None, notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_lost(value, prompt, notes);
    message_builder::report_missing_files(&messages, notes);
    let settings = value.get("runSettings").unwrap_or(&Value::Null);
    let model = text(settings, "model").map(|model| model.strip_prefix("models/").unwrap_or(model).to_owned());
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        source_id,
        title: text(value, "displayName").map_or_else(|| title_of_file(&base), str::to_owned),
        system_prompt: system_prompt(value),
        created_at: notes.date(value, "createTime", "").or_else(|| times().min()),
        updated_at: notes.date(value, "updateTime", "").or_else(|| times().max()),
        model,
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the id of a chat without one, from what does not change when the chat is edited or continued.
fn made_id(base: &str, chunks: &[Value]) -> String {
    let first = chunks.iter().find(|chunk| chunks::has_words(chunk)).or(chunks.first()).unwrap_or(&Value::Null);
    let parts = || list(first, "parts").iter().filter_map(|part| text(part, "text"));
    let words = text(first, "text").map_or_else(|| parts().collect::<String>(), str::to_owned);
    fields::content_id(&json!([title_of_file(base), text(first, "role"), words, text(first, "createTime")]))
}

fn title_of_file(base: &str) -> String {
    let endings = [".gz", ".json", ".txt"];
    endings.into_iter().fold(base, |name, ending| name.strip_suffix(ending).unwrap_or(name)).to_owned()
}

fn system_prompt(value: &Value) -> String {
    match value.get("systemInstruction") {
        Some(Value::String(text)) => text.clone(),
        Some(instruction) => {
            let parts = || list(instruction, "parts").iter().filter_map(|part| text(part, "text"));
            text(instruction, "text").map_or_else(|| parts().collect::<Vec<_>>().join("\n"), str::to_owned)
        }
        None => String::new(),
    }
}

fn report_lost(value: &Value, prompt: &Value, notes: &mut ConversationNotes) {
    keys::CONVERSATION.report_lost(value, "", notes);
    keys::PROMPT.report_lost(prompt, "", notes);
    message_builder::report_parameters(value.get("runSettings").unwrap_or(&Value::Null), &["model"], notes);
    let drafts = list(prompt, "pendingInputs").iter();
    if drafts.filter_map(|draft| text(draft, "text")).any(|draft| !draft.trim().is_empty()) {
        notes.add(IssueKind::Lost, "", "a message that was not sent is not imported");
    }
}

/// Reads the chunks, each following the one before it unless it names another one of this file as its parent. The files
/// of a prompt are chunks before it and join its message.
fn nodes(chunks: &[Value], notes: &mut ConversationNotes) -> Vec<SourceNode> {
    let mut reader = ChunkReader::default();
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(chunks.len());
    let mut is_prompt_open = false;
    for (number, chunk) in (1..).zip(chunks) {
        let id = fields::id(chunk, "id").unwrap_or_else(|| number.to_string());
        if !chunk.is_object() {
            notes.add_not_an_object(&id);
            continue;
        }
        let before = nodes.last().map(|node| node.id.clone());
        let link = chunk.get("branchParent").and_then(|parent| fields::id(parent, "id"));
        let own = link.filter(|link| nodes.iter().rev().take(CLOSE_CHUNKS).any(|node| node.id == *link));
        let mut message = message(chunk, &id, &mut reader, notes);
        let is_prompt = message.as_ref().is_some_and(|message| message.role == Role::User);
        let continued = nodes.last_mut().and_then(|node| node.message.as_mut());
        let continued = continued.filter(|_| is_prompt && is_prompt_open && own.is_none());
        is_prompt_open = is_prompt && !chunks::has_words(chunk);
        if let Some(prompt) = continued
            && let Some(message) = message.take()
        {
            prompt.created_at = prompt.created_at.or(message.created_at);
            prompt.pieces.extend(message.pieces);
            continue;
        }
        nodes.push(SourceNode { id, parent: own.or(before), children: Vec::new(), message });
    }
    nodes
}

/// The number of chunks before one among which its parent is looked for.
const CLOSE_CHUNKS: usize = 64;

fn message(
    chunk: &Value,
    id: &str,
    reader: &mut ChunkReader,
    notes: &mut ConversationNotes,
) -> Option<ImportedMessage> {
    let role = match text(chunk, "role") {
        Some("user") => Role::User,
        Some("model") => Role::Assistant,
        _ => {
            notes.add(IssueKind::PutRight, id, "its author is unknown: imported as the user's");
            Role::User
        }
    };
    keys::CHUNK.report_lost(chunk, id, notes);
    let parent = chunk.get("branchParent").into_iter();
    for link in
        parent.chain(list(chunk, "branchChildren")).filter_map(|link| first_text(link, &["displayName", "promptId"]))
    {
        let title = printable(link, 80);
        notes.add(IssueKind::Lost, id, format!("the link to the branch “{title}” is not imported"));
    }
    reader.read(chunk, id, role, notes)
}

#[cfg(test)]
mod tests;
