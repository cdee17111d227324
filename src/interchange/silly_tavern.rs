//! Reader for the chats of SillyTavern: one JSON Lines file per chat, a header and then the messages, or a folder or
//! archive of such files (`chats/CHARACTER/*.jsonl`, `group chats/*.jsonl`) with the images beside them.
//!
//! Confirmed by the product's source (repository `SillyTavern/SillyTavern`):
//! - the lines, swipes and members of `extra`: `public/global.d.ts`; how they are written: `saveChat`, `saveReply`,
//!   `getFirstMessage` and `getSystemMessages` in `public/script.js`;
//! - files of groups, which have no header in earlier versions: `public/scripts/group-chats.js`;
//! - tool calls: `saveFunctionToolInvocations` in `public/scripts/tool-calling.js`; reasoning:
//!   `public/scripts/reasoning.js`;
//! - forms of dates: `timestampToMoment` in `public/scripts/utils.js`, `getMessageTimeStamp` in
//!   `public/scripts/RossAscends-mods.js`; names of branches: `public/scripts/bookmarks.js`;
//! - where files are: `src/endpoints/{chats,groups}.js`.
//!
//! Inferred: messages have no ids, so that of a message is made of its date and its author; a conversation goes on
//! from the shown swipe; a date without a zone is in that of the computer, which the dates of replies tell. A file does
//! not contain the character's description.
//!
//! Hand-written samples for the tests follow these definitions: `samples/silly_tavern/`.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::export_entries::report_unread_entries;
use crate::fields::{list, text};
use crate::input::json_lines::JsonLine;
use crate::input::{Input, InputPart};
use crate::notes::ConversationNotes;
use crate::parts::{SeenConversations, read_each_part};
use crate::report::IssueLocation;
use crate::session_lines::SessionLines;
use crate::sink::{ImportError, ImportSink};
use media::StoredFiles;

mod chat;
mod dates;
mod keys;
mod media;
mod messages;

/// Files of a data folder that are not imported.
const NOT_READ: [(&str, &str); 1] = [("backups/", "automatic backups of chats are not imported")];

/// Returns whether the value is a line of a chat of SillyTavern.
pub(crate) fn is_line(value: &Value) -> bool {
    is_header(value) || is_message(value)
}

fn is_header(value: &Value) -> bool {
    let is_text = |name: &str| value.get(name).is_some_and(Value::is_string);
    let has_names = is_text("user_name") && is_text("character_name");
    value.get("mes").is_none() && (has_names || value.get("chat_metadata").is_some_and(Value::is_object))
}

fn is_message(value: &Value) -> bool {
    value.get("mes").is_some_and(Value::is_string) && value.get("is_user").is_some_and(Value::is_boolean)
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let is_archive = input.is_archive();
    if is_archive {
        report_unread_entries(input, taker, &NOT_READ)?;
    }
    let is_chat = |part: &InputPart| {
        !is_archive || (part.name.ends_with(".jsonl") && !part.name.split('/').any(|folder| folder == "backups"))
    };
    let groups = names_of_groups(input);
    let files = StoredFiles::new(&input.parts());
    let mut seen = SeenConversations::default();
    read_each_part(input, taker, &is_chat, &mut |input, part, taker| {
        let name = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let mut chat = ChatFile::default();
        input.for_each_line(part, taker, &mut |line, _| {
            chat.add(line);
            Ok(())
        })?;
        if !chat.is_recognized() {
            return Err(ImportError::WrongFormat("a chat of SillyTavern"));
        }
        let mut notes = ConversationNotes::new(IssueLocation { file: name.clone(), ..IssueLocation::default() });
        let conversation = chat::conversation(&name, &chat, &groups, &files, &mut notes);
        seen.deliver(conversation, &chat.messages.lines, notes, taker)
    })
}

/// The lines of one chat.
#[derive(Default)]
struct ChatFile {
    /// Null if the file has none.
    header: Value,
    messages: SessionLines,
}

impl ChatFile {
    fn add(&mut self, line: JsonLine) {
        if self.header.is_null() && self.messages.lines.is_empty() && is_header(&line.value) {
            self.header = line.value;
        } else {
            self.messages.add(line);
        }
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.messages.lines.iter().map(|line| &line.value)
    }

    fn is_recognized(&self) -> bool {
        !self.header.is_null() || self.rows().any(is_message)
    }
}

/// Returns the names of the groups by their chats, as far as their files are there.
fn names_of_groups(input: &mut Input) -> HashMap<String, String> {
    let parts = input.parts();
    let is_group = |part: &&InputPart| {
        let mut folders = part.name.rsplit('/').skip(1);
        part.name.ends_with(".json") && folders.next() == Some("groups")
    };
    let mut names = HashMap::new();
    for part in parts.all().iter().filter(is_group) {
        // A group that cannot be read has no name; its chats are read all the same.
        let Ok(bytes) = input.read_part(&part.name, bounds::SIDE_FILE_BYTES) else { continue };
        let group: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let Some(name) = text(&group, "name") else { continue };
        for chat in list(&group, "chats").iter().filter_map(Value::as_str) {
            names.insert(chat.to_owned(), name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests;
