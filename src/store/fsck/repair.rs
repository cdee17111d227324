//! Repair of unreadable values: each is moved byte for byte into quarantine (a dead letter table) and replaced by a
//! readable one. Derived state follows: the text of a turn, its journal, the search index, the quota.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::values::{self, CheckedColumn, CheckedTable, ColumnContent, DamagedRow, Replacement, RowKey};
use crate::database::db::{Db, Tx};
use crate::database::dialect;
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, placeholder, time_of_id};
use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::limits;
use turnleaf_platform::hex::hex;

mod derived_state;
mod journal;
mod outcome;
mod quarantine;

use journal::JournalRebuild;
use outcome::ColumnChange;
pub use outcome::{RepairedValue, ValueRepair};
use quarantine::{NewQuarantineEntry, ValueOwners};
pub use quarantine::{QuarantineEntry, delete_quarantined, list_quarantined};

pub(super) fn statements() -> [(&'static str, &'static [(&'static str, &'static str)]); 3] {
    [
        ("fsck/repair/derived_state", derived_state::STATEMENTS),
        ("fsck/repair/journal", journal::STATEMENTS),
        ("fsck/repair/quarantine", quarantine::STATEMENTS),
    ]
}

/// Moves every unreadable value into quarantine. Nothing else may use the database meanwhile, and orphaned turns must
/// have been ended before. Each row is one transaction with all its derived state, so that an interrupted repair is
/// completed by the next.
///
/// # Errors
/// Those of the database itself; a value that cannot be repaired is a [`ValueRepair`] with the reason.
pub async fn repair(db: &Db, now: DateTime<Utc>) -> Result<Vec<ValueRepair>, StoreError> {
    let damaged = values::find_damaged_rows(db).await?;
    // Deleting a row must not cascade to rows that reference it.
    dialect::set_foreign_keys(db, false).await?;
    let repaired = repair_all(db, &damaged, now).await;
    dialect::set_foreign_keys(db, true).await?;
    repaired
}

async fn repair_all(db: &Db, damaged: &[DamagedRow], now: DateTime<Utc>) -> Result<Vec<ValueRepair>, StoreError> {
    let mut repairs = Vec::new();
    for row in damaged {
        let mut tx = db.begin().await?;
        let done = RowRepair { db, row, now }.repair(&mut tx).await;
        let done = match done {
            Ok(done) => tx.commit().await.map(|()| done),
            Err(error) => tx.rollback().await.and(Err(error)),
        };
        match done {
            Ok(done) => repairs.extend(done),
            // The replacement violates a constraint of the table, because more of the row is wrong.
            Err(error) if error.is_value_error() => {
                let of = |(column, _): &(&'static CheckedColumn, String)| row.repair_of(column, Err(error.to_string()));
                repairs.extend(row.columns.iter().map(of));
            }
            Err(error) => return Err(error),
        }
    }
    // A turn with an unreadable id exists, although it is not found by its id.
    let is_id_of_turn =
        |row: &DamagedRow| row.table.name == "turns" && row.columns.iter().any(|(of, _)| of.name == "id");
    repairs.extend(journal::quarantine_stray_lines(db, !damaged.iter().any(is_id_of_turn), now).await?);
    Ok(repairs)
}

impl DamagedRow {
    fn repair_of(&self, column: &CheckedColumn, outcome: Result<RepairedValue, String>) -> ValueRepair {
        ValueRepair { table: self.table.name, column: column.name, row: self.name(), outcome }
    }
}

/// Parses an id of a key, which PostgreSQL returns as text.
fn as_id(bytes: &[u8]) -> Result<Uuid, uuid::Error> {
    Uuid::from_slice(bytes).or_else(|_| Uuid::try_parse_ascii(bytes))
}

/// The stored row.
struct StoredRow {
    /// The values of the damaged columns, in their order.
    values: Vec<Option<Vec<u8>>>,
    of: ValueOwners,
}

struct RowRepair<'r> {
    db: &'r Db,
    row: &'r DamagedRow,
    now: DateTime<Utc>,
}

impl RowRepair<'_> {
    /// Repairs the row. Returns nothing if an earlier repair has removed it.
    async fn repair(&self, tx: &mut Tx) -> Result<Vec<ValueRepair>, StoreError> {
        let Some(stored) = self.stored(tx).await? else { return Ok(Vec::new()) };
        let columns = &self.row.columns;
        let mut repairs = Vec::new();
        if columns.iter().any(|(column, _)| matches!(column.replacement, Replacement::Row)) {
            let entry = self.quarantine_row(tx, &stored).await?;
            let done = RepairedValue { quarantine_id: entry, change: "the whole row removed".to_owned() };
            repairs.extend(columns.iter().map(|(column, _)| self.row.repair_of(column, Ok(done.clone()))));
        } else {
            let rebuilt = match (self.row.table.name, stored.of.turn) {
                ("turns" | "turn_blocks", Some(turn)) => journal::rebuild(tx, turn).await?,
                _ => JournalRebuild::NoJournal,
            };
            let mut changes = Vec::new();
            for ((column, reason), value) in columns.iter().zip(&stored.values) {
                let bytes = value.clone().unwrap_or_default();
                let outcome = match self.replacement(tx, column, reason, &bytes, &stored, &rebuilt).await? {
                    Ok((change, description)) => {
                        let entry = self.quarantine_value(tx, column.name, &bytes, reason, &stored).await?;
                        changes.push((*column, change));
                        Ok(RepairedValue { quarantine_id: entry, change: description })
                    }
                    Err(message) => Err(message.to_owned()),
                };
                repairs.push(self.row.repair_of(column, outcome));
            }
            self.update(tx, &changes).await?;
        }
        if repairs.iter().all(|repair| repair.outcome.is_err()) {
            return Ok(repairs);
        }
        if let Some(turn) = stored.of.turn {
            let is_text = |(column, _): &(&'static CheckedColumn, String)| column.name == "content_text";
            let is_text_lost = columns.iter().any(is_text);
            repairs.extend(derived_state::update_turn(self.db, tx, turn, is_text_lost, self.now).await?);
        }
        if let Some(id) = self.id() {
            derived_state::reindex(tx, self.row.table.name, id).await?;
        }
        Ok(repairs)
    }

    /// Returns the first value of the key, if it is an id.
    fn id(&self) -> Option<Uuid> {
        self.row.key.first().and_then(|key| key.as_deref()).and_then(|key| as_id(key).ok())
    }

    async fn stored(&self, tx: &mut Tx) -> Result<Option<StoredRow>, StoreError> {
        let CheckedTable { name, chat, turn, document, .. } = self.row.table;
        let values = self.row.columns.iter().map(|(column, _)| dialect::column_bytes_expr(self.db, column.name));
        // Only existing owners count: a dangling reference has none.
        let exists_expr = |table: &str, of: &str| match of {
            "NULL" => dialect::null_id_expr(self.db).to_owned(),
            of => format!("(SELECT n.id FROM {table} n WHERE n.id = {of})"),
        };
        let owner_by = |table: &str, of: &str| match of {
            "NULL" => dialect::null_id_expr(self.db).to_owned(),
            of => format!("(SELECT n.owner_id FROM {table} n JOIN users u ON u.id = n.owner_id WHERE n.id = {of})"),
        };
        let owners =
            [exists_expr("users", self.row.table.owner()), owner_by("chats", chat), owner_by("documents", document)];
        let owner = format!("COALESCE({})", owners.join(", "));
        let of = [owner, exists_expr("chats", chat), exists_expr("turns", turn), exists_expr("documents", document)];
        let list = values.chain(of).collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {list} FROM {name} WHERE {}", self.condition(1));
        let count = self.row.columns.len();
        Ok(in_tx!(tx, |conn| {
            let Some(row) = bind_key(sqlx::query(AssertSqlSafe(text)), &self.row.key).fetch_optional(conn).await?
            else {
                return Ok(None);
            };
            let id = |at: usize| -> Result<Option<Uuid>, sqlx::Error> {
                let id: Lossy<Option<Uuid>> = sqlx::Row::try_get(&row, at)?;
                Ok(id.into_result().ok().flatten())
            };
            let values = (0..count).map(|at| sqlx::Row::try_get(&row, at)).collect::<Result<_, _>>()?;
            let (owner, chat, turn, document) = (id(count)?, id(count + 1)?, id(count + 2)?, id(count + 3)?);
            Some(StoredRow { values, of: ValueOwners { owner, chat, turn, document } })
        }))
    }

    /// Returns the condition for this row; its values are bound from this index on.
    fn condition(&self, first: usize) -> String {
        let of = |(name, at): (&&str, usize)| {
            format!("{} IS NOT DISTINCT FROM ${at}", dialect::column_bytes_expr(self.db, name))
        };
        self.row.table.key.iter().zip(first..).map(of).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the replacement for a value and its description; or why there is none.
    async fn replacement(
        &self,
        tx: &mut Tx,
        column: &'static CheckedColumn,
        reason: &str,
        bytes: &[u8],
        stored: &StoredRow,
        rebuilt: &JournalRebuild,
    ) -> Result<Result<(ColumnChange, String), &'static str>, StoreError> {
        let table = self.row.table.name;
        if let Some(id) = self.id()
            && let Some(change) = journal::rebuilt_value(rebuilt, table, id, column)
        {
            return Ok(Ok((change, "rebuilt from the journal of its reply".to_owned())));
        }
        // A changed journal line would no longer fold to the stored rows.
        let is_line = matches!(column.replacement, Replacement::Journal);
        if let Some(bounded) = bounded_json(column, bytes).filter(|_| !is_line) {
            return Ok(Ok((ColumnChange::Text(bounded), "reduced nesting; the rest is kept as text".to_owned())));
        }
        let (change, description) = match column.replacement {
            Replacement::Keep | Replacement::Row => {
                return Ok(Err(
                    "other rows depend on it; restore a backup, or delete the chat or document it belongs \
                    to",
                ));
            }
            Replacement::Null => (ColumnChange::Null, "emptied".to_owned()),
            Replacement::Moment => {
                let at = time_of_id(self.id().unwrap_or_default()).to_rfc3339();
                (ColumnChange::Text(at.clone()), format!("replaced by {at}"))
            }
            Replacement::Lossy => {
                let text = String::from_utf8_lossy(bytes).replace('\0', "");
                (ColumnChange::Text(text), "invalid bytes replaced with U+FFFD".to_owned())
            }
            Replacement::Text(text) => (ColumnChange::Text(text.to_owned()), format!("replaced by {text}")),
            Replacement::Sql(text) => {
                (ColumnChange::Sql(text.to_owned()), "derived from the rest of the row".to_owned())
            }
            Replacement::Notice => {
                let damage = Damage { table, column: column.name, id: self.row.name(), reason: reason.to_owned() };
                let content = placeholder(&[damage], std::str::from_utf8(bytes).ok());
                let text = serde_json::to_string(&content).unwrap_or_else(|_| "{}".to_owned());
                (ColumnChange::Text(text), "replaced with a note that it is damaged".to_owned())
            }
            Replacement::Journal => {
                if let Some(turn) = stored.of.turn
                    && derived_state::is_over(tx, turn).await? == Some(false)
                {
                    return Ok(Err("its reply is waiting for user input; stop it, then repair again"));
                }
                (ColumnChange::Delete, "removed".to_owned())
            }
        };
        Ok(Ok((change, description)))
    }

    async fn update(&self, tx: &mut Tx, changes: &[(&'static CheckedColumn, ColumnChange)]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        if changes.iter().any(|(_, change)| matches!(change, ColumnChange::Delete)) {
            return self.delete(tx).await;
        }
        let mut texts = Vec::new();
        let sets: Vec<String> = changes
            .iter()
            .map(|(column, change)| match change {
                ColumnChange::Delete => String::new(),
                ColumnChange::Null => format!("{} = NULL", column.name),
                ColumnChange::Sql(expression) => format!("{} = {expression}", column.name),
                ColumnChange::Text(text) => {
                    texts.push(Some(text.clone()));
                    let place = format!("${}", texts.len());
                    let value = if matches!(column.content, ColumnContent::Json(_)) {
                        dialect::json_expr(self.db, &place)
                    } else {
                        place
                    };
                    format!("{} = {value}", column.name)
                }
            })
            .collect();
        let text =
            format!("UPDATE {} SET {} WHERE {}", self.row.table.name, sets.join(", "), self.condition(texts.len() + 1));
        in_tx!(tx, |conn| {
            let query = texts.into_iter().fold(sqlx::query(AssertSqlSafe(text)), |query, text| query.bind(text));
            bind_key(query, &self.row.key).execute(conn).await?;
        });
        Ok(())
    }

    /// Moves a value into quarantine.
    async fn quarantine_value(
        &self,
        tx: &mut Tx,
        column: &str,
        bytes: &[u8],
        reason: &str,
        stored: &StoredRow,
    ) -> Result<Uuid, StoreError> {
        let row = self.row.name();
        let entry = NewQuarantineEntry { table: self.row.table.name, column, row: &row, bytes, reason };
        quarantine::put(tx, &entry, stored.of, self.now).await
    }

    /// Moves the whole row into quarantine.
    async fn quarantine_row(&self, tx: &mut Tx, stored: &StoredRow) -> Result<Uuid, StoreError> {
        let table = self.row.table.name;
        let columns = dialect::stored_columns(self.db, table).await?;
        let list = columns.iter().map(|name| dialect::column_bytes_expr(self.db, name)).collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {list} FROM {table} WHERE {}", self.condition(1));
        let values: Vec<Option<Vec<u8>>> = in_tx!(&mut *tx, |conn| {
            let row = bind_key(sqlx::query(AssertSqlSafe(text)), &self.row.key).fetch_one(conn).await?;
            (0..columns.len()).map(|at| sqlx::Row::try_get(&row, at)).collect::<Result<_, _>>()?
        });
        let value = |bytes: Option<Vec<u8>>| bytes.map_or(Value::Null, |bytes| Value::String(hex(&bytes)));
        let whole: Map<String, Value> =
            columns.into_iter().zip(values).map(|(name, bytes)| (name, value(bytes))).collect();
        let reasons = self.row.columns.iter().map(|(column, reason)| format!("{}: {reason}", column.name));
        let reason = reasons.collect::<Vec<_>>().join("; ");
        let entry = self.quarantine_value(tx, "", Value::Object(whole).to_string().as_bytes(), &reason, stored).await?;
        self.delete(tx).await?;
        Ok(entry)
    }

    async fn delete(&self, tx: &mut Tx) -> Result<(), StoreError> {
        let text = format!("DELETE FROM {} WHERE {}", self.row.table.name, self.condition(1));
        in_tx!(tx, |conn| bind_key(sqlx::query(AssertSqlSafe(text)), &self.row.key).execute(conn).await.map(drop))?;
        Ok(())
    }
}

/// Returns JSON that is only nested too deeply, with its deep parts as strings.
fn bounded_json(column: &CheckedColumn, bytes: &[u8]) -> Option<String> {
    let (ColumnContent::JsonText(check) | ColumnContent::Json(check)) = column.content else { return None };
    let Cow::Owned(bounded) = json_bounds::bounded_text(std::str::from_utf8(bytes).ok()?, limits::JSON_TEXT_DEPTH)
    else {
        return None;
    };
    check(&bounded).is_ok().then_some(bounded)
}

/// Binds the values of a key after those that are already bound.
fn bind_key<'q, DB>(
    query: sqlx::query::Query<'q, DB, DB::Arguments>,
    key: &RowKey,
) -> sqlx::query::Query<'q, DB, DB::Arguments>
where
    DB: sqlx::Database,
    Option<Vec<u8>>: sqlx::Encode<'q, DB> + sqlx::Type<DB>,
{
    key.iter().fold(query, |query, value| query.bind(value.clone()))
}
