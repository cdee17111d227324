//! Which table of a database is which, and which column says what. The first name of each list is the schema's own.

use super::{Field, Kind, Schema};

/// A table of the schema, as it must be or may be.
struct Known {
    kind: Kind,
    names: &'static [&'static str],
    is_needed: bool,
    fields: &'static [(Field, Need, &'static [&'static str])],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Always,
    /// One of those of the table that are marked so.
    OneOf,
    Never,
}
use Need::{Always, Never, OneOf};

const CREATED: (Field, Need, &[&str]) = (Field::CreatedAt, Always, &["CreatedAt", "CreatedOn", "Timestamp", "Date"]);
const UPDATED: (Field, Need, &[&str]) = (Field::UpdatedAt, Never, &["UpdatedAt", "LastMessageAt", "ModifiedAt"]);
const MODEL: (Field, Need, &[&str]) = (Field::Model, Never, &["Model", "ModelName", "ModelId", "ModelUsed"]);
const ORDER: (Field, Need, &[&str]) = (Field::Order, Never, &["SortOrder", "SequenceNumber", "Position"]);
const PROMPT: (Field, Need, &[&str]) = (Field::Text, Never, &["SystemPrompt", "SystemMessage"]);
const TURN: &[&str] = &["TurnId", "ConversationTurnId"];
const MESSAGE: &[&str] = &["MessageId", "ChatMessageId"];

const MESSAGES: &[Known] = &[
    Known {
        kind: Kind::Conversation,
        names: &["Conversations", "Conversation"],
        is_needed: true,
        fields: &[
            (Field::Id, Always, &["Id"]),
            (Field::Name, Never, &["Title", "Name"]),
            PROMPT,
            MODEL,
            CREATED,
            UPDATED,
        ],
    },
    Known {
        kind: Kind::Turn,
        names: &["ConversationTurn", "ConversationTurns"],
        is_needed: false,
        fields: &[
            (Field::Id, Always, &["Id"]),
            (Field::Conversation, Always, &["ConversationId"]),
            (Field::Flag, Always, &["IsThinkingMode"]),
            CREATED,
        ],
    },
    Known {
        kind: Kind::Message,
        names: &["ChatMessage", "ChatMessages"],
        is_needed: true,
        fields: &[
            (Field::Id, Always, &["Id"]),
            (Field::Conversation, Always, &["ConversationId"]),
            (Field::Turn, Never, TURN),
            (Field::Role, Always, &["Role"]),
            (Field::Text, Always, &["Content", "Text"]),
            (Field::Flag, Never, &["IsError"]),
            MODEL,
            ORDER,
            CREATED,
        ],
    },
    Known {
        kind: Kind::Call,
        names: &["ToolCall", "ToolCalls"],
        is_needed: false,
        fields: &[
            (Field::Id, Always, &["Id"]),
            (Field::Conversation, OneOf, &["ConversationId"]),
            (Field::Turn, OneOf, TURN),
            (Field::Message, OneOf, MESSAGE),
            (Field::Name, Always, &["ToolName", "Name", "FunctionName"]),
            (Field::Arguments, Never, &["Arguments", "ArgumentsJson", "Args", "Input", "Parameters"]),
            (Field::Result, Never, &["Result", "ResultJson", "Output", "Response"]),
            (Field::Status, Never, &["Status"]),
            (Field::Flag, Never, &["Success", "IsSuccess", "Succeeded"]),
            (Field::Metadata, Never, &["Metadata"]),
            ORDER,
            CREATED,
        ],
    },
    Known {
        kind: Kind::Thought,
        names: &["ThinkBlock", "ThinkBlocks"],
        is_needed: false,
        fields: &[
            (Field::Id, Always, &["Id"]),
            (Field::Conversation, OneOf, &["ConversationId"]),
            (Field::Turn, OneOf, TURN),
            (Field::Message, OneOf, MESSAGE),
            (Field::Text, Always, &["Content", "Text", "Thinking"]),
            ORDER,
            CREATED,
        ],
    },
];

const ACTIONS: &[Known] = &[
    Known {
        kind: Kind::Conversation,
        names: &["chat_sessions", "chat_session"],
        is_needed: true,
        fields: &[
            (Field::Id, Always, &["id"]),
            (Field::Name, Never, &["name", "title"]),
            PROMPT,
            MODEL,
            CREATED,
            UPDATED,
        ],
    },
    Known {
        kind: Kind::Message,
        names: &["messages", "message"],
        is_needed: true,
        fields: &[
            (Field::Id, Always, &["id"]),
            (Field::Conversation, Always, &["chat_session_id", "session_id"]),
            (Field::Role, Always, &["role", "author"]),
            (Field::Text, Always, &["content", "text"]),
            (Field::Flag, Never, &["is_error"]),
            MODEL,
            ORDER,
            CREATED,
        ],
    },
    Known {
        kind: Kind::Call,
        names: &["agent_actions", "agent_action"],
        is_needed: false,
        fields: &[
            (Field::Id, Always, &["id"]),
            (Field::Message, Always, &["message_id"]),
            (Field::Name, Always, &["tool_name", "action_type", "tool", "name"]),
            (Field::Arguments, Never, &["arguments", "action_input", "args", "input", "parameters"]),
            (Field::Result, Never, &["result", "action_output", "output", "observation"]),
            (Field::Status, Never, &["status"]),
            (Field::Flag, Never, &["success"]),
            (Field::Metadata, Never, &["metadata", "action_metadata"]),
            ORDER,
            CREATED,
        ],
    },
];

/// A table of a database that is one of the schema's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub kind: Kind,
    /// Its name, as the database has it.
    pub name: String,
    pub columns: Vec<(Field, String)>,
    /// Columns that nothing is known of: they are not read.
    pub unread: Vec<String>,
}

impl Table {
    /// The column that says this.
    pub fn column(&self, field: Field) -> Option<&str> {
        self.columns.iter().find(|(known, _)| *known == field).map(|(_, name)| name.as_str())
    }
}

/// Why a database is not of the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("there is no table {name}; the tables are: {}", list(there))]
    Table { name: &'static str, there: Vec<String> },
    #[error("the table {table} has no column {}; its columns are: {}", names.join(" or "), list(there))]
    Column { table: String, names: Vec<&'static str>, there: Vec<String> },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Finds the tables of a schema among those of a database, each with its columns. Also names the tables that are not
/// there and may be missing.
///
/// # Errors
/// When a table or a column is missing without which nothing can be read.
pub fn find(schema: Schema, there: &[(String, Vec<String>)]) -> Result<(Vec<Table>, Vec<&'static str>), Missing> {
    let known = match schema {
        Schema::Messages => MESSAGES,
        Schema::Actions => ACTIONS,
    };
    let (mut tables, mut missing) = (Vec::new(), Vec::new());
    for table in known {
        let found = table.names.iter().find_map(|name| there.iter().find(|(other, _)| is_same(other, name)));
        match found {
            Some((name, columns)) => tables.push(table.read(name, columns)?),
            None if table.is_needed => {
                let there = there.iter().map(|(name, _)| name.clone()).collect();
                return Err(Missing::Table { name: table.names[0], there });
            }
            // Turns came last to the schema; a database without them is not lacking.
            None if table.kind == Kind::Turn => {}
            None => missing.push(table.names[0]),
        }
    }
    Ok((tables, missing))
}

impl Known {
    fn read(&self, table: &str, there: &[String]) -> Result<Table, Missing> {
        let missing =
            |names: Vec<&'static str>| Missing::Column { table: table.to_owned(), names, there: there.to_vec() };
        let mut columns: Vec<(Field, String)> = Vec::new();
        for (field, need, names) in self.fields {
            let found = names.iter().find_map(|name| there.iter().find(|column| is_same(column, name)));
            match found {
                Some(column) => columns.push((*field, column.clone())),
                None if *need == Always => return Err(missing(vec![names[0]])),
                None => {}
            }
        }
        let one_of = || self.fields.iter().filter(|(_, need, _)| *need == OneOf);
        let has_one = one_of().any(|(field, ..)| columns.iter().any(|(found, _)| found == field));
        if one_of().next().is_some() && !has_one {
            return Err(missing(one_of().map(|(.., names)| names[0]).collect()));
        }
        let is_read = |name: &String| columns.iter().any(|(_, read)| read == name);
        let unread = there.iter().filter(|name| !is_read(name)).cloned().collect();
        Ok(Table { kind: self.kind, name: table.to_owned(), columns, unread })
    }
}

/// Whether two names differ in case and underscores only.
fn is_same(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(tables: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        tables
            .iter()
            .map(|(name, columns)| ((*name).to_owned(), columns.split(' ').map(str::to_owned).collect()))
            .collect()
    }

    #[test]
    fn tables_and_columns_are_found_however_they_are_written() {
        let database = there(&[
            ("__EFMigrationsHistory", "MigrationId"),
            ("chat_messages", "id conversation_id role content created_at turn_id rating"),
            ("CONVERSATIONS", "ID TITLE CREATEDAT"),
            ("ToolCalls", "Id ConversationId ToolName Arguments Result SortOrder CreatedAt"),
        ]);
        let (tables, missing) = find(Schema::Messages, &database).unwrap();
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!((names, missing), (vec!["CONVERSATIONS", "chat_messages", "ToolCalls"], vec!["ThinkBlock"]));
        assert_eq!(tables[1].column(Field::Conversation), Some("conversation_id"));
        assert_eq!(tables[1].unread, ["rating"]);
        assert_eq!((tables[2].column(Field::Order), tables[2].column(Field::Turn)), (Some("SortOrder"), None));
    }

    #[test]
    fn what_is_missing_is_named() {
        let said = |schema, tables: &[(&str, &str)]| find(schema, &there(tables)).unwrap_err().to_string();
        assert_eq!(said(Schema::Messages, &[]), "there is no table Conversations; the tables are: none");
        assert_eq!(
            said(Schema::Actions, &[("chats", "id"), ("messages", "id")]),
            "there is no table chat_sessions; the tables are: chats, messages"
        );
        let sessions = ("chat_sessions", "id name created_at");
        assert_eq!(
            said(Schema::Actions, &[sessions, ("messages", "id role content created_at")]),
            "the table messages has no column chat_session_id; its columns are: id, role, content, created_at"
        );
        assert_eq!(
            said(
                Schema::Messages,
                &[
                    ("Conversations", "Id CreatedAt"),
                    ("ChatMessage", "Id ConversationId Role Content CreatedAt"),
                    ("ToolCall", "Id ToolName CreatedAt"),
                ]
            ),
            "the table ToolCall has no column ConversationId or TurnId or MessageId; its columns are: Id, ToolName, CreatedAt"
        );
    }
}
