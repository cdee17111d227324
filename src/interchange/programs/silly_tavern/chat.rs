//! Makes a conversation of one chat file of SillyTavern.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::chat_file::{ChatFile, is_message};
use super::keys;
use super::media::StoredFiles;
use super::messages::{MessageLinker, is_notice};
use crate::conversation::Conversation;
use crate::reading::fields::{is_set, text};
use crate::reading::message_builder;
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::order_messages;

/// Builds the conversation of a file; `None` if it has no messages.
pub(super) fn conversation(
    file: &str,
    chat: &ChatFile,
    groups: &HashMap<String, Arc<str>>,
    files: &StoredFiles,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let base = file.rsplit('/').next().unwrap_or_default();
    let base = base.strip_suffix(".jsonl").unwrap_or(base);
    let character = character(chat).unwrap_or_default();
    let source_id = format!("{character}/{base}");
    notes.set_conversation(&source_id);
    keys::HEADER.report_lost(&chat.header, "", notes);
    let metadata = chat.header.get("chat_metadata").unwrap_or(&Value::Null);
    keys::METADATA.report_lost(metadata, "", notes);
    chat.messages.report_left_out(notes);
    let (nodes, current) = MessageLinker::new(chat, files, notes).link(chat);
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    message_builder::report_missing_files(&messages, notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    let group = groups.get(base).map(|name| &**name);
    Some(Conversation {
        title: title(group.unwrap_or(&character), base),
        source_id,
        system_prompt: text(metadata, "scenario").unwrap_or_default().to_owned(),
        created_at: times().min(),
        updated_at: times().max(),
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the character: that of the header, else the author of the first reply.
fn character(chat: &ChatFile) -> Option<String> {
    let named = text(&chat.header, "character_name").filter(|name| *name != "unused");
    let is_reply = |row: &&Value| is_message(row) && !is_set(row, "is_user") && !is_notice(row);
    named.or_else(|| chat.rows().find(is_reply).and_then(|row| text(row, "name"))).map(str::to_owned)
}

/// Returns a title: the name of the file without the date that the program gave it, and the character if that does not
/// name it.
fn title(character: &str, file: &str) -> String {
    let name = without_date(file);
    match name.is_empty() || name == character {
        true => character.to_owned(),
        false if name.contains(character) => name,
        false => format!("{character}: {name}"),
    }
}

/// Removes a date such as `2024-06-06@10h12m03s` from the name of a file.
fn without_date(file: &str) -> String {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '-' | '_');
    let Some(at) = file.find('@') else { return file.trim_matches(is_separator).to_owned() };
    let day = file[..at].trim_end();
    let start = day.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').len();
    let rest = &file[at + 1..];
    let end = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'h' | 'm' | 's' | ' '));
    let (before, after) = (day[..start].trim_matches(is_separator), end.trim_matches(is_separator));
    if before.is_empty() || after.is_empty() { format!("{before}{after}") } else { format!("{before} {after}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_character_or_name_of_file() {
        let table = [
            ("Alice", "Alice - 2024-06-06@10h12m03s", "Alice"),
            ("Alice", "2024-6-6 @10h 12m 03s 123ms", "Alice"),
            ("Alice", "Branch #1 - 2024-06-06@10h12m03s", "Alice: Branch #1"),
            ("Alice", "Alice - 2024-06-06@10h12m03s imported", "Alice imported"),
            ("Alice", "The long voyage", "Alice: The long voyage"),
            ("", "The long voyage", "The long voyage"),
            ("Alice", "", "Alice"),
            ("Alice", "a@b", "Alice: a b"),
        ];
        for (character, file, expected) in table {
            assert_eq!(title(character, file), expected, "{file}");
        }
    }
}
