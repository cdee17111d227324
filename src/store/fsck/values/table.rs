//! Descriptions of the tables whose values are checked.

use super::columns::CheckedColumn;

const NONE: &str = "NULL";
/// The primary key of most tables.
pub(super) const ID: &[&str] = &["id"];

/// A stored table with its checkable columns.
pub struct CheckedTable {
    pub name: &'static str,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
    /// Expressions for the chat, the turn and the document that a row belongs to.
    pub chat: &'static str,
    pub turn: &'static str,
    pub document: &'static str,
    pub columns: &'static [CheckedColumn],
    /// Columns that it has in common with another table.
    pub common: &'static [CheckedColumn],
}

impl CheckedTable {
    pub(super) const fn with_common(self, common: &'static [CheckedColumn]) -> Self {
        Self { common, ..self }
    }

    pub(super) const fn with_chat(self, chat: &'static str) -> Self {
        Self { chat, ..self }
    }

    pub(super) const fn with_turn(self, turn: &'static str) -> Self {
        Self { turn, ..self }
    }

    pub(super) const fn with_document(self, document: &'static str) -> Self {
        Self { document, ..self }
    }

    /// Returns all of its checkable columns.
    pub fn all_columns(&self) -> impl Iterator<Item = &'static CheckedColumn> + use<> {
        self.columns.iter().chain(self.common)
    }

    /// Returns an expression for the owner of its rows.
    pub fn owner(&self) -> &'static str {
        let names_owner = self.all_columns().any(|column| column.name == "owner_id");
        match (self.name, names_owner) {
            ("users", _) => "users.id",
            (_, true) => "owner_id",
            _ => "NULL",
        }
    }
}

/// Describes a table whose rows belong to an owner alone.
pub(super) const fn table(
    name: &'static str,
    key: &'static [&'static str],
    columns: &'static [CheckedColumn],
) -> CheckedTable {
    CheckedTable { name, key, chat: NONE, turn: NONE, document: NONE, columns, common: &[] }
}
