//! Reader for the exports of LobeHub (LobeChat): the configuration export of versions that kept their chats in the
//! browser's IndexedDB, and the export of the database tables that followed it.
//!
//! Confirmed by the product's source (repository `lobehub/lobe-chat`):
//! - the configuration export (`exportType`, `state`, `version`): `src/services/export/_deprecated.ts`, its rows
//!   `src/types/importer.ts` and `src/database/_deprecated/schemas/message.ts`, real files
//!   `src/migrations/FromV4ToV5/fixtures/function-output-v5.json` and
//!   `src/migrations/FromV6ToV7/fixtures/output-v7-from-v1.json`;
//! - the export of tables (`data`, `mode`, `schemaHash`): `src/services/config.ts`,
//!   `packages/database/src/repositories/dataExporter/index.ts`, its columns
//!   `packages/database/src/schemas/{message,topic,session,agent}.ts`;
//! - members of a message: `packages/types/src/message/common/{base,tools,metadata}.ts`,
//!   `packages/types/src/message/ui/chat.ts`; cited pages: `src/types/search.ts`;
//! - the order of messages: `query` in `src/database/_deprecated/models/message.ts`.
//!
//! Inferred: a message without a parent follows the one that was shown before it; replies to the same message are
//! versions; a thread begins at its source message; `...` is the placeholder of a reply that was never written; a
//! reply ended after its measured latency. Files are never included. The export of October 2023 (version 1), which has
//! its chats within the sessions, is not read.
//!
//! Hand-written samples for the tests follow these definitions: `samples/lobehub/`.

use serde_json::Value;

use crate::input::Input;
use crate::reading::dump_tables::{DumpTable, read_tables};
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::id;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, read_each_part};
use crate::report::IssueLocation;
use crate::sink::{ImportError, ImportSink};

mod chat;
mod keys;
mod links;
mod message;
mod rows;

use self::rows::{
    AGENTS, AGENTS_OF_SESSIONS, DEFAULT_TOPIC, LastRows, LobehubChatRows, MESSAGES, PLUGINS, SESSIONS, THREADS, TOPICS,
    TRANSLATIONS, own_id,
};

const TABLES: [DumpTable; 8] = [
    DumpTable { name: MESSAGES, key: chat_of_message },
    DumpTable { name: TOPICS, key: own_id },
    DumpTable { name: THREADS, key: |row| id(row, "topicId") },
    DumpTable { name: SESSIONS, key: own_id },
    DumpTable { name: AGENTS, key: own_id },
    DumpTable { name: AGENTS_OF_SESSIONS, key: |row| id(row, "sessionId") },
    DumpTable { name: PLUGINS, key: own_id },
    DumpTable { name: TRANSLATIONS, key: own_id },
];

/// Returns the chat of a message: its topic, else the default topic of its session.
fn chat_of_message(row: &Value) -> Option<String> {
    id(row, "topicId").or_else(|| {
        let session = id(row, "sessionId").unwrap_or_else(|| "inbox".to_owned());
        own_id(row).map(|_| format!("{DEFAULT_TOPIC}{session}"))
    })
}

/// Returns whether a part is an export of LobeHub.
pub(crate) fn is_export(input: &mut Input, part: usize) -> Result<bool, ImportError> {
    root(input, part).map(|root| root.is_some())
}

/// Returns the member that holds the tables.
fn root(input: &mut Input, part: usize) -> Result<Option<&'static str>, ImportError> {
    let known: [(&[&str], &[&str], &'static str); 2] =
        [(&["exportType"], &["state"], "state"), (&["data", MESSAGES], &["mode"], "data")];
    for (one, other, root) in known {
        if input.has_member(part, one)? && input.has_member(part, other)? {
            return Ok(Some(root));
        }
    }
    Ok(None)
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let may_hold_chats = candidate_filter(input);
    let mut seen = SeenConversations::default();
    read_each_part(input, taker, &may_hold_chats, &mut |input, part, taker| {
        let root = root(input, part)?.ok_or(ImportError::WrongFormat("an export of LobeHub"))?;
        let mut tables = read_tables(input, part, root, &TABLES, taker)?;
        let file = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let mut chats = tables.keys(TOPICS);
        chats.extend(tables.keys(MESSAGES).into_iter().filter(|chat| !tables.has(TOPICS, chat)));
        let mut last = LastRows::default();
        for chat in chats {
            let place = IssueLocation { file: file.clone(), conversation: chat.clone(), ..IssueLocation::default() };
            let rows = LobehubChatRows::read(&mut tables, &mut last, &chat)?;
            let mut notes = ConversationNotes::new(place);
            let conversation = chat::conversation(&chat, &rows, &mut notes);
            seen.deliver(conversation, &rows.messages, notes, taker)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
