//! Reader for the backups of Cherry Studio: an archive with `data.json` and the files of its chats, `data.json` alone,
//! or the compressed JSON of the first versions (`.bak`).
//!
//! Confirmed by the product's source (repository `CherryHQ/cherry-studio`):
//! - the archive (`data.json`, `Data/Files`): `src/main/services/BackupManager.ts`;
//! - `data.json` (`time`, `version`, `localStorage`, `indexedDB`) in all its versions: `handleData` in
//!   `src/renderer/src/services/BackupService.ts`; its tables: `src/renderer/src/databases/index.ts`;
//! - messages and their blocks: `src/renderer/src/types/newMessage.ts`; messages of earlier versions and how they
//!   become blocks: `src/renderer/src/types/legacyMessage.ts`, `upgradeToV7` in
//!   `src/renderer/src/databases/upgrades.ts`;
//! - names of chats, and assistants: the persisted store `src/renderer/src/store/assistants.ts`, the types in
//!   `src/renderer/src/types/index.ts`;
//! - files: `src/renderer/src/types/file.ts`; calls: `rawMcpToolResponse` in the types of messages;
//! - the reply with which a conversation continues: `filterUsefulMessages` in
//!   `src/renderer/src/utils/messageUtils/filters.ts`.
//!
//! Inferred: replies with the same `askId` are versions, and without a chosen one the first is shown; a reply ended
//! after its measured completion time. Backups since version 6 are copies of the browser's own database files, which
//! are not read.
//!
//! Hand-written samples for the tests follow these definitions: `samples/cherry_studio/`.

use serde_json::Value;

use crate::input::{Input, InputPart, InputParts};
use crate::reading::dump_tables::{DumpTable, read_tables};
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::{id, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, read_each_part};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};
use chat::ChatContext;
use store::PersistedStore;

mod blocks;
mod chat;
mod citations;
mod keys;
mod legacy;
mod store;

/// The member of a backup that holds its tables.
const DATABASE: &str = "indexedDB";

/// Tables with user data that are not imported.
const NOT_READ: [(&str, &str); 3] = [
    ("knowledge_notes", "knowledge bases are not imported"),
    ("translate_history", "the history of translations is not imported"),
    ("quick_phrases", "quick phrases are not imported"),
];

/// Returns whether a part has the name of a backup's tables.
pub(crate) fn is_table_file(part: &InputPart) -> bool {
    part.base_name() == "data.json" && part.name.matches('/').count() <= 1
}

/// Returns whether a part is a backup of Cherry Studio.
pub(crate) fn is_backup(input: &mut Input, part: usize) -> Result<bool, ImportError> {
    Ok(input.has_member(part, &["localStorage"])? && input.has_member(part, &[DATABASE])?)
}

/// Returns why an archive is a backup that cannot be read; `None` if it is something else.
pub(crate) fn unreadable_backup(parts: &InputParts) -> Option<String> {
    let has_folder = |folder: &str| parts.all().iter().any(|part| part.name.split('/').any(|name| name == folder));
    (has_folder("IndexedDB") && has_folder("Local Storage")).then(|| {
        "it looks like a backup of Cherry Studio that holds the database files of its browser instead of data.json, \
         which Turnleaf cannot import"
            .to_owned()
    })
}

/// Reads all backups.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let has_named = input.parts().all().iter().any(is_table_file);
    let may_hold_chats = candidate_filter(input);
    let is_tables = move |part: &InputPart| if has_named { is_table_file(part) } else { may_hold_chats(part) };
    let mut seen = SeenConversations::default();
    read_each_part(input, taker, &is_tables, &mut |input, part, taker| {
        if !is_backup(input, part)? {
            return Err(ImportError::WrongFormat("a backup of Cherry Studio"));
        }
        read_backup(input, part, &mut seen, taker)
    })
}

fn read_backup(
    input: &mut Input,
    part: usize,
    seen: &mut SeenConversations,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let parts = input.parts();
    let file = parts.all().get(part).map(|part| part.name.clone()).unwrap_or_default();
    let location = IssueLocation { file: file.clone(), ..IssueLocation::default() };
    let store = PersistedStore::read(input, part)?;
    if store.is_none() {
        let text = "the names of its chats and assistants could not be read".to_owned();
        report_issue(taker, ImportIssue { kind: IssueKind::Lost, location: location.clone(), text })?;
    }
    for (table, text) in NOT_READ {
        if has_rows(input, part, &[DATABASE, table], taker)? {
            let text = text.to_owned();
            report_issue(taker, ImportIssue { kind: IssueKind::Lost, location: location.clone(), text })?;
        }
    }
    let blocks = [DumpTable { name: blocks::TABLE, key: |block| id(block, "messageId") }];
    let mut blocks = read_tables(input, part, DATABASE, &blocks, taker)?;
    let store = store.unwrap_or_default();
    let folder = file.strip_suffix("data.json").unwrap_or_default().to_owned();
    let context = ChatContext { store: &store, parts: &parts, folder: &folder };
    let mut read_topic = |topic: &Value, place: IssueLocation, taker: &mut dyn ImportSink| {
        let mut notes = ConversationNotes::new(place);
        let conversation = chat::conversation(topic, &context, &mut blocks, &mut notes)?;
        seen.deliver(conversation, topic, notes, taker)
    };
    if input.has_member(part, &[DATABASE, "topics"])? {
        let read = input.for_each_listed(part, &[DATABASE, "topics"], taker, &mut |topic, place, taker| {
            read_topic(&topic, place, taker)
        });
        return read.map(drop);
    }
    // The first versions list the items of all tables under their names.
    let read = input.for_each_listed(part, &[DATABASE], taker, &mut |item, place, taker| {
        let is_topic = text(&item, "key").is_some_and(|key| key.starts_with("topic:"));
        item.get("value").filter(|_| is_topic).map_or(Ok(()), |topic| read_topic(topic, place, taker))
    });
    read.map(drop)
}

/// Returns whether a list has any elements; reads no further than the first.
fn has_rows(input: &mut Input, part: usize, path: &[&str], taker: &mut dyn ImportSink) -> Result<bool, ImportError> {
    let mut has_any = false;
    let read = input.for_each_listed(part, path, taker, &mut |_, _, _| {
        has_any = true;
        Err(ImportError::Cancelled)
    });
    match read {
        Err(ImportError::Cancelled) if has_any => Ok(true),
        // Damage is reported by the callers that need the table.
        Ok(_) | Err(ImportError::Damaged(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests;
