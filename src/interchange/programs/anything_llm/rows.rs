//! Makes conversations of the rows of AnythingLLM: a question with its answer, by workspace and person.

use serde_json::Value;

use super::{dates, keys};
use crate::conversation::{Conversation, FileBytes, ImportedMessage, MessageFile, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{content_id, first_text, id, list, text};
use crate::reading::message_builder::{attachment_body, empty_message, report_missing_files, resolve_address};
use crate::reading::notes::ConversationNotes;
use crate::reading::thought_tags::split_leading_thought;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;

/// The name of a person whom the source does not know, as in installations for one person.
const NO_USER: &str = "unknown user";

/// Returns the chat of a row: its workspace and person. A row of a chat on a web page has neither person nor rating.
pub(super) fn chat_of_row(row: &Value) -> String {
    let workspace = text(row, "workspace").unwrap_or_default();
    match text(row, "username") {
        Some(user) => format!("{workspace}/{user}"),
        None if row.get("username").is_none() && row.get("rating").is_none() => format!("embed:{workspace}"),
        None => workspace.to_owned(),
    }
}

/// Builds the conversation of a workspace and a person. `first_user` is the person of the first chat of the file.
pub(super) fn conversation(
    chat: &str,
    rows: &[Value],
    first_user: &mut Option<String>,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    notes.set_conversation(chat);
    let mut nodes = Vec::with_capacity(rows.len() * 2);
    let mut names = UniqueIds::default();
    for row in rows {
        let (id, _) = names.assign_to_message(row_id(row), notes);
        keys::ROW.report_lost(row, &id, notes);
        if first_text(row, &["rating", "feedback"]).is_some_and(|rating| rating != "--") {
            notes.add(IssueKind::Lost, &id, "ratings are not imported");
        }
        let at = dates::sent_at(row, &id, notes);
        let mut question = empty_message(&format!("{id}/question"), Role::User);
        question.created_at = at;
        for attachment in list(row, "attachments") {
            add_attachment(&mut question, attachment);
        }
        question.add_text(text(row, "prompt").unwrap_or_default());
        let mut answer = empty_message(&format!("{id}/answer"), Role::Assistant);
        answer.created_at = at;
        add_reply(&mut answer, text(row, "response").unwrap_or_default());
        push(&mut nodes, question);
        push(&mut nodes, answer);
    }
    let first = rows.first().unwrap_or(&Value::Null);
    let workspace = text(first, "workspace").unwrap_or_default();
    let user = text(first, "username").unwrap_or(NO_USER);
    if first_user.get_or_insert_with(|| user.to_owned()) != user {
        let text = "it belongs to a different user than the first chat of the file; the owner is not imported";
        notes.add(IssueKind::Lost, "", text);
    }
    let text = "the threads of a workspace are not in the export: their messages follow each other in one chat";
    notes.add(IssueKind::Lost, "", text);
    let title = if user == NO_USER { workspace.to_owned() } else { format!("{workspace} ({user})") };
    finish(chat, title, String::new(), nodes, notes)
}

/// Returns whether the value is a row of the training form.
pub(super) fn is_training(value: &Value) -> bool {
    const KEYS: [&str; 3] = ["instruction", "input", "output"];
    value.as_object().is_some_and(|members| members.len() == KEYS.len())
        && KEYS.into_iter().all(|name| value.get(name).is_some_and(|value| value.is_string() || value.is_null()))
}

/// Returns the instructions of a row of the training form, without the passages that follow them; empty in the earlier
/// form, which has the question in their place.
pub(super) fn instructions(row: &Value) -> &str {
    let whole = text(row, "instruction").unwrap_or_default();
    let is_earlier = text(row, "input").is_none();
    if is_earlier { "" } else { whole.split_once(PASSAGES).map_or(whole, |(start, _)| start) }
}

/// The text that precedes the passages of documents in the instructions.
const PASSAGES: &str = "\nContext:\n[CONTEXT 0]:\n";

/// Builds the conversation of all rows of the training form with the same instructions.
pub(super) fn training_conversation(chat: &str, rows: &[Value], notes: &mut ConversationNotes) -> Option<Conversation> {
    notes.set_conversation(chat);
    let mut nodes = Vec::with_capacity(rows.len() * 2);
    let mut names = UniqueIds::default();
    for row in rows {
        // A row without an id may be there more than once.
        let (id, _) = names.assign(content_id(row));
        let whole = text(row, "instruction").unwrap_or_default();
        let mut question = empty_message(&format!("{id}/question"), Role::User);
        if let Some(passages) = whole.strip_prefix(instructions(row)).filter(|rest| rest.starts_with(PASSAGES)) {
            let (name, mime) = ("context.txt".to_owned(), "text/plain".to_owned());
            let bytes = passages.trim_start_matches("\nContext:\n").as_bytes().to_vec().into();
            let file = MessageFile { name, mime, bytes: FileBytes::Inline(bytes) };
            question.add_piece(PieceBody::Attachment { file });
        }
        question.add_text(text(row, "input").unwrap_or(whole));
        let mut answer = empty_message(&format!("{id}/answer"), Role::Assistant);
        add_reply(&mut answer, text(row, "output").unwrap_or_default());
        push(&mut nodes, question);
        push(&mut nodes, answer);
    }
    let prompt = rows.first().map(instructions).unwrap_or_default().to_owned();
    notes.add(IssueKind::Lost, "", "the names of workspaces and the dates of messages are not in the export");
    finish(chat, String::new(), prompt, nodes, notes)
}

/// Adds a message behind the last one.
pub(super) fn push(nodes: &mut Vec<SourceNode>, message: ImportedMessage) {
    let parent = nodes.last().map(|node| node.id.clone());
    nodes.push(SourceNode { id: message.source_id.clone(), parent, children: Vec::new(), message: Some(message) });
}

/// Adds the text of a reply, which may begin with reasoning.
pub(super) fn add_reply(message: &mut ImportedMessage, words: &str) {
    let (thought, rest) = split_leading_thought(words).unwrap_or(("", words));
    message.add_reasoning(thought);
    message.add_text(rest);
}

/// Adds an image that is attached to a question.
pub(super) fn add_attachment(message: &mut ImportedMessage, attachment: &Value) {
    let (mime, bytes) = resolve_address(text(attachment, "image").unwrap_or_default());
    message.add_piece(attachment_body(MessageFile { name: "picture".to_owned(), mime, bytes }, "", true));
}

/// Builds a conversation of messages that follow each other.
pub(super) fn finish(
    source_id: &str,
    title: String,
    system_prompt: String,
    nodes: Vec<SourceNode>,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let last = nodes.last().map(|node| node.id.clone());
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_missing_files(&messages, notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        source_id: source_id.to_owned(),
        title,
        system_prompt,
        created_at: times().min(),
        updated_at: times().max(),
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the id of a row, the same in JSON and in CSV.
fn row_id(row: &Value) -> String {
    id(row, "id").unwrap_or_else(|| content_id(row))
}
