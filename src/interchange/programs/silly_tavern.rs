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

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::bounds;
use crate::domain::limits;
use crate::input::{Input, InputPart};
use crate::reading::export_entries::report_unread_entries;
use crate::reading::fields::{list, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, read_each_part};
use crate::report::IssueLocation;
use crate::sink::{ImportError, ImportSink};
use media::StoredFiles;

mod chat;
mod chat_file;
mod dates;
mod keys;
mod media;
mod messages;

use self::chat_file::{ChatFile, is_header, is_message};

/// Files of a data folder that are not imported.
const NOT_READ: [(&str, &str); 1] = [("backups/", "automatic backups of chats are not imported")];

/// Returns whether the value is a line of a chat of SillyTavern.
pub(crate) fn is_line(value: &Value) -> bool {
    is_header(value) || is_message(value)
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

/// Returns the names of the groups by their chats, as far as their files are there.
fn names_of_groups(input: &mut Input) -> HashMap<String, Arc<str>> {
    let parts = input.parts();
    let base_name = |part: &InputPart| part.name.rsplit('/').next()?.strip_suffix(".jsonl").map(str::to_owned);
    let chats: HashSet<String> = parts.all().iter().filter_map(base_name).collect();
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
        // One more than a title has room for, so that a title is reported as too long.
        let name: Arc<str> = name.chars().take(limits::TITLE_CHARS + 1).collect::<String>().into();
        for chat in list(&group, "chats").iter().filter_map(Value::as_str).filter(|chat| chats.contains(*chat)) {
            names.insert(chat.to_owned(), Arc::clone(&name));
        }
    }
    names
}

#[cfg(test)]
mod tests;
