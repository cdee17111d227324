//! Damages for database rows: the values, the columns of a SQLite file, and the SQL statement. The tests of the store
//! try all of them; `cargo xtask chaos` tries some on the running program.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

/// Tables that are not damaged: the search index is derived data and can be rebuilt, and the migrations table decides
/// whether the database may be opened at all.
const NOT_DAMAGED: &[&str] = &["_sqlx_migrations", "search_words", "sqlite_sequence"];

/// Tables without a `rowid`.
const WITHOUT_ROWID: &[&str] = &["search_queue", "settings", "turn_events", "unread_replies"];

/// A damage of one row.
#[derive(Debug, Clone)]
pub struct RowDamage {
    pub table: String,
    pub column: String,
    /// An SQL expression on SQLite, a text on PostgreSQL.
    pub value: String,
}

impl RowDamage {
    /// Describes the damage in a failure.
    pub fn describe(&self) -> String {
        let value: String = self.value.chars().take(40).collect();
        format!("{}.{} = {value}", self.table, self.column)
    }
}

/// Builds JSON nested more deeply than any reader follows, as an earlier version could write it.
pub fn nested_json(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

/// Returns SQL expressions that damage a column of this type.
pub fn damage_values(kind: &str) -> Vec<String> {
    match kind {
        "TEXT" => vec![
            "'no value of this column'".into(),
            "''".into(),
            "CAST(X'ff00fe' AS TEXT)".into(),
            "'[]'".into(),
            "'{\"type\":\"tool_use\"}'".into(),
            format!("'{}'", nested_json(127)),
            format!("'{}'", nested_json(900)),
            "'{\"$serde_json::private::RawValue\":1}'".into(),
        ],
        "INTEGER" => vec!["-1".into(), "0".into(), "9223372036854775807".into()],
        "BLOB" => vec!["X''".into(), "X'00'".into(), "X'000102030405060708090a0b0c0d0e0f'".into()],
        other => panic!("a column of type {other}"),
    }
}

/// Returns the columns of every table of a SQLite file, with their types.
pub async fn sqlite_columns(pool: &SqlitePool) -> BTreeMap<String, Vec<(String, String)>> {
    const COLUMNS: &str = "SELECT m.name, c.name, c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'";
    let rows: Vec<(String, String, String)> = sqlx::query_as(COLUMNS).fetch_all(pool).await.unwrap();
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (table, column, kind) in rows {
        let is_left_out = NOT_DAMAGED.iter().any(|name| table.starts_with(name));
        // The users table is left out: its row determines the owner of everything.
        if !is_left_out && table != "users" {
            tables.entry(table).or_default().push((column, kind));
        }
    }
    tables
}

pub async fn open_unchecked(file: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::from_str(&format!("sqlite://{}", file.display()))
        .unwrap()
        .foreign_keys(false)
        .pragma("ignore_check_constraints", "ON");
    SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap()
}

/// Builds a statement that damages the first row that has a value. Tables without a `rowid` are addressed by their
/// first column, which is unique in them.
pub fn damage_statement(table: &str, column: &str, damage: &str) -> String {
    let row = if WITHOUT_ROWID.contains(&table) { column } else { "rowid" };
    format!(
        "UPDATE \"{table}\" SET \"{column}\" = {damage} WHERE \"{row}\" IN \
         (SELECT \"{row}\" FROM \"{table}\" WHERE \"{column}\" IS NOT NULL LIMIT 1)"
    )
}
