//! Maps the tables and columns of a database to the schema. The first name of each list is that of the schema itself.

use super::{LegacyField, LegacyRowKind, LegacySchema};

/// A table of the schema, required or optional.
struct KnownTable {
    kind: LegacyRowKind,
    names: &'static [&'static str],
    is_needed: bool,
    fields: &'static [(LegacyField, ColumnNeed, &'static [&'static str])],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnNeed {
    Always,
    /// At least one of the columns with this mark is required.
    OneOf,
    Never,
}
use ColumnNeed::{Always, Never, OneOf};

const CREATED: (LegacyField, ColumnNeed, &[&str]) =
    (LegacyField::CreatedAt, Always, &["CreatedAt", "CreatedOn", "Timestamp", "Date"]);
const UPDATED: (LegacyField, ColumnNeed, &[&str]) =
    (LegacyField::UpdatedAt, Never, &["UpdatedAt", "LastMessageAt", "ModifiedAt"]);
const MODEL: (LegacyField, ColumnNeed, &[&str]) =
    (LegacyField::Model, Never, &["Model", "ModelName", "ModelId", "ModelUsed"]);
const ORDER: (LegacyField, ColumnNeed, &[&str]) =
    (LegacyField::Order, Never, &["SortOrder", "SequenceNumber", "Position"]);
const PROMPT: (LegacyField, ColumnNeed, &[&str]) = (LegacyField::Text, Never, &["SystemPrompt", "SystemMessage"]);
const TURN: &[&str] = &["TurnId", "ConversationTurnId"];
const MESSAGE: &[&str] = &["MessageId", "ChatMessageId"];

const MESSAGES: &[KnownTable] = &[
    KnownTable {
        kind: LegacyRowKind::Conversation,
        names: &["Conversations", "Conversation"],
        is_needed: true,
        fields: &[
            (LegacyField::Id, Always, &["Id"]),
            (LegacyField::Name, Never, &["Title", "Name"]),
            PROMPT,
            MODEL,
            CREATED,
            UPDATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Turn,
        names: &["ConversationTurn", "ConversationTurns"],
        is_needed: false,
        fields: &[
            (LegacyField::Id, Always, &["Id"]),
            (LegacyField::Conversation, Always, &["ConversationId"]),
            (LegacyField::Flag, Always, &["IsThinkingMode"]),
            CREATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Message,
        names: &["ChatMessage", "ChatMessages"],
        is_needed: true,
        fields: &[
            (LegacyField::Id, Always, &["Id"]),
            (LegacyField::Conversation, Always, &["ConversationId"]),
            (LegacyField::Turn, Never, TURN),
            (LegacyField::Role, Always, &["Role"]),
            (LegacyField::Text, Always, &["Content", "Text"]),
            (LegacyField::Flag, Never, &["IsError"]),
            MODEL,
            ORDER,
            CREATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Call,
        names: &["ToolCall", "ToolCalls"],
        is_needed: false,
        fields: &[
            (LegacyField::Id, Always, &["Id"]),
            (LegacyField::Conversation, OneOf, &["ConversationId"]),
            (LegacyField::Turn, OneOf, TURN),
            (LegacyField::Message, OneOf, MESSAGE),
            (LegacyField::Name, Always, &["ToolName", "Name", "FunctionName"]),
            (LegacyField::Arguments, Never, &["Arguments", "ArgumentsJson", "Args", "Input", "Parameters"]),
            (LegacyField::Result, Never, &["Result", "ResultJson", "Output", "Response"]),
            (LegacyField::Status, Never, &["Status"]),
            (LegacyField::Flag, Never, &["Success", "IsSuccess", "Succeeded"]),
            (LegacyField::Metadata, Never, &["Metadata"]),
            ORDER,
            CREATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Thought,
        names: &["ThinkBlock", "ThinkBlocks"],
        is_needed: false,
        fields: &[
            (LegacyField::Id, Always, &["Id"]),
            (LegacyField::Conversation, OneOf, &["ConversationId"]),
            (LegacyField::Turn, OneOf, TURN),
            (LegacyField::Message, OneOf, MESSAGE),
            (LegacyField::Text, Always, &["Content", "Text", "Thinking"]),
            ORDER,
            CREATED,
        ],
    },
];

const ACTIONS: &[KnownTable] = &[
    KnownTable {
        kind: LegacyRowKind::Conversation,
        names: &["chat_sessions", "chat_session"],
        is_needed: true,
        fields: &[
            (LegacyField::Id, Always, &["id"]),
            (LegacyField::Name, Never, &["name", "title"]),
            PROMPT,
            MODEL,
            CREATED,
            UPDATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Message,
        names: &["messages", "message"],
        is_needed: true,
        fields: &[
            (LegacyField::Id, Always, &["id"]),
            (LegacyField::Conversation, Always, &["chat_session_id", "session_id"]),
            (LegacyField::Role, Always, &["role", "author"]),
            (LegacyField::Text, Always, &["content", "text"]),
            (LegacyField::Flag, Never, &["is_error"]),
            MODEL,
            ORDER,
            CREATED,
        ],
    },
    KnownTable {
        kind: LegacyRowKind::Call,
        names: &["agent_actions", "agent_action"],
        is_needed: false,
        fields: &[
            (LegacyField::Id, Always, &["id"]),
            (LegacyField::Message, Always, &["message_id"]),
            (LegacyField::Name, Always, &["tool_name", "action_type", "tool", "name"]),
            (LegacyField::Arguments, Never, &["arguments", "action_input", "args", "input", "parameters"]),
            (LegacyField::Result, Never, &["result", "action_output", "output", "observation"]),
            (LegacyField::Status, Never, &["status"]),
            (LegacyField::Flag, Never, &["success"]),
            (LegacyField::Metadata, Never, &["metadata", "action_metadata"]),
            ORDER,
            CREATED,
        ],
    },
];

/// A table of the database that the schema knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegacyTable {
    pub kind: LegacyRowKind,
    /// The name in the database.
    pub name: String,
    pub columns: Vec<(LegacyField, String)>,
    /// Unknown columns, which are not read.
    pub unread: Vec<String>,
}

impl LegacyTable {
    /// Returns the column of a field.
    pub fn column(&self, field: LegacyField) -> Option<&str> {
        self.columns.iter().find(|(known, _)| *known == field).map(|(_, name)| name.as_str())
    }

    /// Returns whether the table has a column of this name, in any case.
    pub fn has_column(&self, name: &str) -> bool {
        let mut names = self.columns.iter().map(|(_, name)| name).chain(&self.unread);
        names.any(|column| column.eq_ignore_ascii_case(name))
    }
}

/// The reason why a database does not match the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaMismatch {
    #[error("table {name} is missing; the tables are: {}", list(available))]
    Table { name: &'static str, available: Vec<String> },
    #[error("the table {table} has no column {}; its columns are: {}", names.join(" or "), list(available))]
    Column { table: String, names: Vec<&'static str>, available: Vec<String> },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Finds the tables of a schema among those of a database, each with its columns. Also returns the optional tables
/// that are missing.
///
/// # Errors
/// A required table or column is missing.
pub fn find_tables(
    schema: LegacySchema,
    available: &[(String, Vec<String>)],
) -> Result<(Vec<LegacyTable>, Vec<&'static str>), SchemaMismatch> {
    let known = match schema {
        LegacySchema::Messages => MESSAGES,
        LegacySchema::Actions => ACTIONS,
    };
    let (mut tables, mut missing) = (Vec::new(), Vec::new());
    for table in known {
        let found = table.names.iter().find_map(|name| available.iter().find(|(other, _)| is_same(other, name)));
        match found {
            Some((name, columns)) => tables.push(table.read(name, columns)?),
            None if table.is_needed => {
                let available = available.iter().map(|(name, _)| name.clone()).collect();
                return Err(SchemaMismatch::Table { name: table.names[0], available });
            }
            // Turns were added to the schema last, so their absence is normal.
            None if table.kind == LegacyRowKind::Turn => {}
            None => missing.push(table.names[0]),
        }
    }
    Ok((tables, missing))
}

impl KnownTable {
    fn read(&self, table: &str, available: &[String]) -> Result<LegacyTable, SchemaMismatch> {
        let missing = |names: Vec<&'static str>| SchemaMismatch::Column {
            table: table.to_owned(),
            names,
            available: available.to_vec(),
        };
        let mut columns: Vec<(LegacyField, String)> = Vec::new();
        for (field, need, names) in self.fields {
            let found = names.iter().find_map(|name| available.iter().find(|column| is_same(column, name)));
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
        let unread = available.iter().filter(|name| !is_read(name)).cloned().collect();
        Ok(LegacyTable { kind: self.kind, name: table.to_owned(), columns, unread })
    }
}

/// Returns whether two names differ only in case and underscores.
fn is_same(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>();
    letters(one) == letters(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables_with_columns(tables: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        tables
            .iter()
            .map(|(name, columns)| ((*name).to_owned(), columns.split(' ').map(str::to_owned).collect()))
            .collect()
    }

    #[test]
    fn tables_and_columns_are_found_in_any_spelling() {
        let database = tables_with_columns(&[
            ("__EFMigrationsHistory", "MigrationId"),
            ("chat_messages", "id conversation_id role content created_at turn_id rating"),
            ("CONVERSATIONS", "ID TITLE CREATEDAT"),
            ("ToolCalls", "Id ConversationId ToolName Arguments Result SortOrder CreatedAt"),
        ]);
        let (tables, missing) = find_tables(LegacySchema::Messages, &database).unwrap();
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!((names, missing), (vec!["CONVERSATIONS", "chat_messages", "ToolCalls"], vec!["ThinkBlock"]));
        assert_eq!(tables[1].column(LegacyField::Conversation), Some("conversation_id"));
        assert_eq!(tables[1].unread, ["rating"]);
        assert_eq!(
            (tables[2].column(LegacyField::Order), tables[2].column(LegacyField::Turn)),
            (Some("SortOrder"), None)
        );
    }

    #[test]
    fn missing_tables_and_columns_are_named() {
        let error_text = |schema, tables: &[(&str, &str)]| {
            find_tables(schema, &tables_with_columns(tables)).unwrap_err().to_string()
        };
        assert_eq!(error_text(LegacySchema::Messages, &[]), "table Conversations is missing; the tables are: none");
        assert_eq!(
            error_text(LegacySchema::Actions, &[("chats", "id"), ("messages", "id")]),
            "table chat_sessions is missing; the tables are: chats, messages"
        );
        let sessions = ("chat_sessions", "id name created_at");
        assert_eq!(
            error_text(LegacySchema::Actions, &[sessions, ("messages", "id role content created_at")]),
            "the table messages has no column chat_session_id; its columns are: id, role, content, created_at"
        );
        assert_eq!(
            error_text(
                LegacySchema::Messages,
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
