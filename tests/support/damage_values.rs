//! What a row may be damaged with: the values, the columns of a SQLite file, and the statement. For the tests of the
//! store, which try them all, and for `cargo xtask chaos`, which tries a part on the running program.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

/// Tables without rows of their own: those of the search's index, which is built anew, and the list of migrations,
/// which says whether the database may be touched at all.
const NOT_DAMAGED: &[&str] = &["_sqlx_migrations", "search_words", "sqlite_sequence"];

/// Tables whose rows have no number of their own.
const WITHOUT_ROWID: &[&str] = &["settings", "turn_events"];

/// Nested so deep that no reader follows, as an earlier version could write it.
pub fn nested_json(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

/// What is written over a column of this type, as SQL.
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

/// The columns of every table of a SQLite file, with their types.
pub async fn sqlite_columns(pool: &SqlitePool) -> BTreeMap<String, Vec<(String, String)>> {
    const COLUMNS: &str = "SELECT m.name, c.name, c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'";
    let rows: Vec<(String, String, String)> = sqlx::query_as(COLUMNS).fetch_all(pool).await.unwrap();
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (table, column, kind) in rows {
        let is_left_out = NOT_DAMAGED.iter().any(|name| table.starts_with(name));
        // The row of the account says whose everything is.
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

/// Damages the first row that has a value; a table without row numbers has no two rows alike in its first column.
pub fn damage_statement(table: &str, column: &str, damage: &str) -> String {
    let row = if WITHOUT_ROWID.contains(&table) { column } else { "rowid" };
    format!(
        "UPDATE \"{table}\" SET \"{column}\" = {damage} WHERE \"{row}\" IN \
         (SELECT \"{row}\" FROM \"{table}\" WHERE \"{column}\" IS NOT NULL LIMIT 1)"
    )
}
