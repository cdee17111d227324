//! The tables of an export, and the rows of one chat in them.

use std::rc::Rc;

use serde_json::{Value, json};

use super::keys;
use crate::reading::fields::id;
use crate::reading::table_spool::{RowBudget, TableSpool};
use crate::sink::ImportError;

pub(super) const MESSAGES: &str = "messages";
pub(super) const TOPICS: &str = "topics";
pub(super) const THREADS: &str = "threads";
pub(super) const SESSIONS: &str = "sessions";
pub(super) const AGENTS: &str = "agents";
pub(super) const AGENTS_OF_SESSIONS: &str = "agentsToSessions";
pub(super) const PLUGINS: &str = "messagePlugins";
pub(super) const TRANSLATIONS: &str = "messageTranslates";

/// The beginning of the id of a chat that is the default topic of a session.
pub(super) const DEFAULT_TOPIC: &str = "session:";

/// Returns the id of a row.
pub(super) fn own_id(row: &Value) -> Option<String> {
    id(row, "id")
}

/// Everything that the tables have of one chat; rows that do not exist are null.
pub(super) struct LobehubChatRows {
    /// A list.
    pub(super) messages: Value,
    pub(super) topic: Value,
    /// The session of a topic, or what replaced it: an agent.
    pub(super) session: Rc<Value>,
    pub(super) agent: Rc<Value>,
    pub(super) threads: Vec<Value>,
    /// Number of rows that exceeded the bounds of a conversation.
    pub(super) left_out: u64,
}

/// The session and the agent of the last chat; most chats share them with the one before.
#[derive(Default)]
pub(super) struct LastRows {
    session: LastRow,
    agent: LastRow,
}

#[derive(Default)]
struct LastRow {
    key: Option<String>,
    row: Rc<Value>,
}

impl LastRow {
    /// Returns the first row of a table with this key; null without a key. A row always fits into the budget of a
    /// conversation alone.
    fn row(&mut self, tables: &mut TableSpool, table: &str, key: Option<&str>) -> Result<Rc<Value>, ImportError> {
        let Some(key) = key else { return Ok(Rc::default()) };
        if self.key.as_deref() != Some(key) {
            self.row = Rc::new(tables.row(table, key, &mut RowBudget::default())?.unwrap_or_default());
            self.key = Some(key.to_owned());
        }
        Ok(Rc::clone(&self.row))
    }
}

impl LobehubChatRows {
    pub(super) fn read(tables: &mut TableSpool, last: &mut LastRows, chat: &str) -> Result<Self, ImportError> {
        let mut budget = RowBudget::default();
        let mut row = |tables: &mut TableSpool, table: &str, key: Option<String>| match key {
            Some(key) => tables.row(table, &key, &mut budget).map(Option::unwrap_or_default),
            None => Ok(Value::Null),
        };
        let topic = row(tables, TOPICS, Some(chat.to_owned()))?;
        let first = row(tables, MESSAGES, Some(chat.to_owned()))?;
        let session_id = id(&topic, "sessionId").or_else(|| id(&first, "sessionId"));
        let session_id = session_id.or_else(|| chat.strip_prefix(DEFAULT_TOPIC).map(str::to_owned));
        let session = last.session.row(tables, SESSIONS, session_id.as_deref())?;
        let of_session = row(tables, AGENTS_OF_SESSIONS, session_id)?;
        let agent_id = id(&of_session, "agentId").or_else(|| id(&topic, "agentId")).or_else(|| id(&first, "agentId"));
        let agent = last.agent.row(tables, AGENTS, agent_id.as_deref())?;
        let threads = tables.rows(THREADS, chat, &mut budget)?;
        let mut messages = tables.rows(MESSAGES, chat, &mut budget)?;
        for message in &mut messages {
            let Some(key) = own_id(message) else { continue };
            if let Some(plugin) = tables.row(PLUGINS, &key, &mut budget)? {
                put(message, keys::PLUGIN_ROW, plugin);
            }
            if tables.has(TRANSLATIONS, &key) {
                put(message, "translate", json!({ "of": key }));
            }
        }
        Ok(Self { messages: messages.into(), topic, session, agent, threads, left_out: budget.left_out })
    }
}

fn put(message: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = message {
        members.insert(name.to_owned(), value);
    }
}
