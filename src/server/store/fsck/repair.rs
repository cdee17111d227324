//! Repairing values that cannot be read: each goes into quarantine byte for byte, and something readable takes its place.
//! What follows from a change is brought in line: the text of a turn, its journal, the index of the search, the quota.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::values::{self, Column, DamagedRow, Holds, Instead, Key, Table};
use crate::domain::{json_bounds, limits};
use crate::server::platform::ids;
use crate::server::store::db::{Db, Tx};
use crate::server::store::dialect;
use crate::server::store::error::StoreError;
use crate::server::store::readable::{Damage, Lossy, moment_of, placeholder, unless_damaged};
use crate::server::store::turns::read;
use crate::server::store::{search, storage};

sql! {
    INSERT = "INSERT INTO quarantine (id, table_name, column_name, row_key, bytes, reason, chat_id, document_id, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    IS_OVER = "SELECT completed_at IS NOT NULL FROM turns WHERE id = $1";
    FORGET_JOURNAL = "DELETE FROM turn_events WHERE turn_id = $1";
    SET_TEXT = "UPDATE turns SET content_text = $2 WHERE id = $1 AND content_text <> $2";
    SET_TYPE = "UPDATE turn_blocks SET block_type = $2 WHERE id = $1 AND block_type <> $2";
    LIST = "SELECT id, table_name, column_name, row_key, bytes, reason, created_at FROM quarantine ORDER BY id";
}

/// A value that could not be read, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    pub table: &'static str,
    pub column: &'static str,
    /// The key of its row.
    pub row: String,
    /// The entry of the quarantine that has it; or why nothing was changed.
    pub outcome: Result<Uuid, String>,
}

/// A value in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Quarantined {
    pub id: Uuid,
    pub table_name: String,
    /// Empty for a whole row.
    pub column_name: String,
    pub row_key: String,
    pub bytes: Vec<u8>,
    pub reason: String,
    pub created_at: DateTime<Utc>,
}

/// All that is in quarantine, the oldest first. For the operator: it belongs to all owners.
pub async fn quarantined(db: &Db) -> Result<Vec<Quarantined>, StoreError> {
    Ok(on!(db, |pool| sqlx::query_as(LIST).fetch_all(pool).await?))
}

/// Puts every value that cannot be read into quarantine. Nothing else may use the database meanwhile, and turns that
/// nothing drives must have been ended before. One transaction a row; what is
/// derived from the rows follows behind them all, so a crash in between leaves findings that no later repair mends.
///
/// # Errors
/// Those of the database itself; what cannot be repaired is a [`Repair`] that says so.
pub async fn repair(db: &Db, now: DateTime<Utc>) -> Result<Vec<Repair>, StoreError> {
    let damaged = values::damaged(db).await?;
    if damaged.is_empty() {
        return Ok(Vec::new());
    }
    // A row that goes must not take along what refers to it.
    dialect::set_foreign_keys(db, false).await?;
    let repaired = repair_all(db, &damaged, now).await;
    dialect::set_foreign_keys(db, true).await?;
    repaired
}

async fn repair_all(db: &Db, damaged: &[DamagedRow], now: DateTime<Utc>) -> Result<Vec<Repair>, StoreError> {
    let (mut repairs, mut turns) = (Vec::new(), BTreeSet::new());
    for row in damaged {
        let mut tx = db.begin().await?;
        let done = Row { db, row, now }.repair(&mut tx).await;
        let done = match done {
            Ok(done) => tx.commit().await.map(|()| done),
            Err(error) => tx.rollback().await.and(Err(error)),
        };
        let of =
            |column: &Column, outcome| Repair { table: row.table.name, column: column.name, row: row.name(), outcome };
        match done {
            Ok(Done { turn, outcomes }) => {
                turns.extend(turn);
                repairs.extend(outcomes.into_iter().map(|(column, outcome)| of(column, outcome)));
            }
            // What is put in its place breaks a rule of the table, because more of the row is wrong.
            Err(error) if error.is_of_a_value() => {
                repairs.extend(row.columns.iter().map(|(column, _)| of(column, Err(error.to_string()))));
            }
            Err(error) => return Err(error),
        }
    }
    for turn in turns {
        bring_in_line(db, turn).await?;
    }
    for row in damaged {
        let Some(Some(Ok(id))) = row.key.first().map(|key| key.as_deref().map(as_id)) else { continue };
        let mut tx = db.begin().await?;
        let indexed = match row.table.name {
            "chats" => search::index::chat_title(&mut tx, id.into()).await,
            "documents" | "document_versions" => search::index::document(&mut tx, id.into()).await,
            _ => Ok(()),
        };
        unless_damaged(indexed, row.table.name)?;
        tx.commit().await?;
    }
    Ok(repairs)
}

/// An id of a key, which PostgreSQL gives as text.
fn as_id(bytes: &[u8]) -> Result<Uuid, uuid::Error> {
    Uuid::from_slice(bytes).or_else(|_| Uuid::try_parse_ascii(bytes))
}

/// What was done with a row.
struct Done {
    turn: Option<Uuid>,
    outcomes: Vec<(&'static Column, Result<Uuid, String>)>,
}

/// The row as it is stored.
struct Stored {
    /// Of the damaged columns, in their order.
    values: Vec<Option<Vec<u8>>>,
    turn: Option<Uuid>,
    chat: Option<Uuid>,
    document: Option<Uuid>,
}

struct Row<'r> {
    db: &'r Db,
    row: &'r DamagedRow,
    now: DateTime<Utc>,
}

impl Row<'_> {
    async fn repair(&self, tx: &mut Tx) -> Result<Done, StoreError> {
        let stored = self.stored(tx).await?;
        let columns = &self.row.columns;
        if columns.iter().any(|(column, _)| matches!(column.instead, Instead::Row)) {
            let entry = self.quarantine_row(tx, &stored).await?;
            let outcomes = columns.iter().map(|(column, _)| (*column, Ok(entry))).collect();
            return Ok(Done { turn: stored.turn, outcomes });
        }
        let (mut outcomes, mut changes) = (Vec::new(), Vec::new());
        for ((column, reason), value) in columns.iter().zip(&stored.values) {
            let bytes = value.clone().unwrap_or_default();
            match self.instead(tx, column, reason, &bytes, &stored).await? {
                Ok(change) => {
                    let entry = self.keep(tx, column.name, &bytes, reason, &stored).await?;
                    changes.extend(change.map(|change| (*column, change)));
                    outcomes.push((*column, Ok(entry)));
                }
                Err(why) => outcomes.push((*column, Err(why.to_owned()))),
            }
        }
        self.update(tx, &changes).await?;
        Ok(Done { turn: stored.turn, outcomes })
    }

    async fn stored(&self, tx: &mut Tx) -> Result<Stored, StoreError> {
        let Table { name, chat, turn, document, .. } = self.row.table;
        let values = self.row.columns.iter().map(|(column, _)| dialect::bytes_of(self.db, column.name));
        let of = [turn, chat, document].map(|of| match *of {
            "NULL" => dialect::null_id(self.db).to_owned(),
            of => of.to_owned(),
        });
        let list = values.chain(of).collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {list} FROM {name} WHERE {}", self.condition(1));
        let count = self.row.columns.len();
        Ok(in_tx!(tx, |conn| {
            let row = bound(sqlx::query(AssertSqlSafe(text)), &self.row.key).fetch_one(conn).await?;
            let id = |at: usize| -> Result<Option<Uuid>, sqlx::Error> {
                let id: Lossy<Option<Uuid>> = sqlx::Row::try_get(&row, at)?;
                Ok(id.into_result().ok().flatten())
            };
            let values = (0..count).map(|at| sqlx::Row::try_get(&row, at)).collect::<Result<_, _>>()?;
            Stored { values, turn: id(count)?, chat: id(count + 1)?, document: id(count + 2)? }
        }))
    }

    /// The condition for this row, whose values are bound from this place on.
    fn condition(&self, first: usize) -> String {
        let of =
            |(name, at): (&&str, usize)| format!("{} IS NOT DISTINCT FROM ${at}", dialect::bytes_of(self.db, name));
        self.row.table.key.iter().zip(first..).map(of).collect::<Vec<_>>().join(" AND ")
    }

    /// What is written in the place of a value, if anything; or why nothing can be.
    async fn instead(
        &self,
        tx: &mut Tx,
        column: &'static Column,
        reason: &str,
        bytes: &[u8],
        stored: &Stored,
    ) -> Result<Result<Option<Change>, &'static str>, StoreError> {
        if let Some(bounded) = held_to_bounds(column, bytes) {
            return Ok(Ok(Some(Change::Text(bounded))));
        }
        let table = self.row.table.name;
        Ok(Ok(Some(match column.instead {
            Instead::Keep | Instead::Row => {
                return Ok(Err("other rows depend on it; restore a backup, or delete what it belongs to"));
            }
            Instead::Null => Change::Null,
            Instead::Moment => {
                let id = self.row.key.first().and_then(|key| key.as_deref()).and_then(|key| as_id(key).ok());
                Change::Text(moment_of(id.unwrap_or_default()).to_rfc3339())
            }
            Instead::Lossy => Change::Text(String::from_utf8_lossy(bytes).replace('\0', "")),
            Instead::Text(text) => Change::Text(text.to_owned()),
            Instead::Sql(text) => Change::Sql(text),
            Instead::Notice => {
                let damage = Damage { table, column: column.name, id: self.row.name(), reason: reason.to_owned() };
                let content = placeholder(&[damage], std::str::from_utf8(bytes).ok());
                Change::Text(serde_json::to_string(&content).unwrap_or_else(|_| "{}".to_owned()))
            }
            Instead::Journal => {
                let Some(turn) = stored.turn else { return Ok(Err("nothing says whose journal it is of")) };
                let is_over: Option<bool> =
                    in_tx!(tx, |conn| sqlx::query_scalar(IS_OVER).bind(turn).fetch_optional(conn).await?);
                match is_over {
                    Some(false) => return Ok(Err("its reply waits for a person; stop it, then repair again")),
                    // The rest of the journal goes with the turn's other changes.
                    _ => return Ok(Ok(None)),
                }
            }
        })))
    }

    async fn update(&self, tx: &mut Tx, changes: &[(&'static Column, Change)]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut texts = Vec::new();
        let sets: Vec<String> = changes
            .iter()
            .map(|(column, change)| match change {
                Change::Null => format!("{} = NULL", column.name),
                Change::Sql(expression) => format!("{} = {expression}", column.name),
                Change::Text(text) => {
                    texts.push(Some(text.clone()));
                    let place = format!("${}", texts.len());
                    let value =
                        if matches!(column.holds, Holds::Json(_)) { dialect::json_of(self.db, &place) } else { place };
                    format!("{} = {value}", column.name)
                }
            })
            .collect();
        let text =
            format!("UPDATE {} SET {} WHERE {}", self.row.table.name, sets.join(", "), self.condition(texts.len() + 1));
        in_tx!(tx, |conn| {
            let query = texts.into_iter().fold(sqlx::query(AssertSqlSafe(text)), |query, text| query.bind(text));
            bound(query, &self.row.key).execute(conn).await?;
        });
        Ok(())
    }

    /// Puts a value into quarantine.
    async fn keep(
        &self,
        tx: &mut Tx,
        column: &str,
        bytes: &[u8],
        reason: &str,
        stored: &Stored,
    ) -> Result<Uuid, StoreError> {
        let id: Uuid = ids::mint();
        in_tx!(tx, |conn| {
            let query = sqlx::query(INSERT).bind(id).bind(self.row.table.name).bind(column).bind(self.row.name());
            let query = query.bind(bytes).bind(reason).bind(stored.chat).bind(stored.document);
            query.bind(self.now).execute(conn).await?;
        });
        Ok(id)
    }

    /// Moves the whole row into quarantine.
    async fn quarantine_row(&self, tx: &mut Tx, stored: &Stored) -> Result<Uuid, StoreError> {
        let table = self.row.table.name;
        let columns = dialect::columns(self.db, table).await?;
        let list = columns.iter().map(|name| dialect::bytes_of(self.db, name)).collect::<Vec<_>>().join(", ");
        let text = format!("SELECT {list} FROM {table} WHERE {}", self.condition(1));
        let values: Vec<Option<Vec<u8>>> = in_tx!(&mut *tx, |conn| {
            let row = bound(sqlx::query(AssertSqlSafe(text)), &self.row.key).fetch_one(conn).await?;
            (0..columns.len()).map(|at| sqlx::Row::try_get(&row, at)).collect::<Result<_, _>>()?
        });
        let hex = |bytes: Vec<u8>| Value::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        let whole: Map<String, Value> =
            columns.into_iter().zip(values).map(|(name, value)| (name, value.map_or(Value::Null, hex))).collect();
        let reasons = self.row.columns.iter().map(|(column, reason)| format!("{}: {reason}", column.name));
        let reason = reasons.collect::<Vec<_>>().join("; ");
        let entry = self.keep(tx, "", Value::Object(whole).to_string().as_bytes(), &reason, stored).await?;
        let text = format!("DELETE FROM {table} WHERE {}", self.condition(1));
        in_tx!(tx, |conn| {
            bound(sqlx::query(AssertSqlSafe(text)), &self.row.key).execute(conn).await?;
        });
        Ok(entry)
    }
}

/// What is written in the place of a value.
enum Change {
    Null,
    Text(String),
    Sql(&'static str),
}

/// JSON that is only nested too deep, with its depths as strings.
fn held_to_bounds(column: &Column, bytes: &[u8]) -> Option<String> {
    let (Holds::JsonText(check) | Holds::Json(check)) = column.holds else { return None };
    let Cow::Owned(bounded) = json_bounds::bounded(std::str::from_utf8(bytes).ok()?, limits::JSON_TEXT_DEPTH) else {
        return None;
    };
    check(&bounded).is_ok().then_some(bounded)
}

/// Binds the values of a key behind what is bound already.
fn bound<'q, DB>(
    query: sqlx::query::Query<'q, DB, DB::Arguments>,
    key: &Key,
) -> sqlx::query::Query<'q, DB, DB::Arguments>
where
    DB: sqlx::Database,
    Option<Vec<u8>>: sqlx::Encode<'q, DB> + sqlx::Type<DB>,
{
    key.iter().fold(query, |query, value| query.bind(value.clone()))
}

/// Brings in line with the rows of a turn what is derived from them.
async fn bring_in_line(db: &Db, turn: Uuid) -> Result<(), StoreError> {
    let turn = read::any(db, turn.into(), &mut Vec::new()).await;
    let Some(Some(turn)) = unless_damaged(turn, "turns")? else { return Ok(()) };
    if !turn.status.is_terminal() {
        return Ok(());
    }
    let mut tx = db.begin().await?;
    in_tx!(&mut tx, |conn| {
        sqlx::query(FORGET_JOURNAL).bind(turn.id.uuid()).execute(&mut *conn).await?;
        sqlx::query(SET_TEXT).bind(turn.id.uuid()).bind(turn.content_text()).execute(&mut *conn).await?;
        for block in &turn.blocks {
            let query = sqlx::query(SET_TYPE).bind(block.id.uuid()).bind(block.content.block_type());
            query.execute(&mut *conn).await?;
        }
    });
    unless_damaged(search::index::turn(&mut tx, turn.id).await, "turns")?;
    storage::recount(&mut tx, turn.id).await?;
    tx.commit().await
}
