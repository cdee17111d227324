//! Unreadable stored values, of every table and row. The checker reports them, [`super::repair`] moves them into
//! quarantine. [`tables`] declares the content of each column.

mod columns;
mod table;
mod tables;

use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, ColumnIndex, Database, Decode, Row, Type};
use uuid::Uuid;

use super::finding::{FsckFinding, UNREADABLE, finding};
use crate::database::db::Db;
use crate::database::dialect;
use crate::database::error::StoreError;
use crate::database::readable::Lossy;

pub(super) use columns::{CheckedColumn, ColumnContent, Replacement};
pub(super) use table::CheckedTable;
use tables::TABLES;

/// The values of a key column, as bytes.
pub(super) type RowKey = Vec<Option<Vec<u8>>>;

/// A row with unreadable values.
pub(super) struct DamagedRow {
    pub table: &'static CheckedTable,
    pub key: RowKey,
    /// The columns, with the reasons.
    pub columns: Vec<(&'static CheckedColumn, String)>,
}

impl DamagedRow {
    /// Returns the row's key for people.
    pub(super) fn name(&self) -> String {
        let one = |value: &Option<Vec<u8>>| match value {
            None => "none".to_owned(),
            Some(bytes) => match Uuid::from_slice(bytes) {
                Ok(id) => id.to_string(),
                Err(_) => String::from_utf8_lossy(bytes).replace('\0', ""),
            },
        };
        self.key.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

/// Reports every unreadable value as a finding.
pub(super) async fn check(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    for row in find_damaged_rows(db).await? {
        let name = row.name();
        for (column, reason) in &row.columns {
            let problem = format!("its {} {UNREADABLE}: {reason}", column.name);
            findings.push(finding("storage", row.table.name, &name, problem));
        }
    }
    Ok(())
}

/// Returns all rows with unreadable values.
pub(super) async fn find_damaged_rows(db: &Db) -> Result<Vec<DamagedRow>, StoreError> {
    let mut damaged = Vec::new();
    for table in TABLES.iter().copied().flatten() {
        damaged.extend(damaged_rows_of_table(db, table).await?);
    }
    Ok(damaged)
}

async fn damaged_rows_of_table(db: &Db, table: &'static CheckedTable) -> Result<Vec<DamagedRow>, StoreError> {
    let columns: Vec<&'static CheckedColumn> =
        table.all_columns().filter(|column| may_be_damaged(db, column)).collect();
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let key = table.key.iter().map(|name| dialect::column_bytes_expr(db, name));
    let values = columns.iter().map(|column| match column.content {
        ColumnContent::Id | ColumnContent::Time => column.name.to_owned(),
        _ => format!("CAST({} AS TEXT)", column.name),
    });
    let list = key.chain(values).collect::<Vec<_>>().join(", ");
    // The comment marks statements that may scan a whole table, for the tests.
    let text = format!("SELECT /* all values */ {list} FROM {}", table.name);
    with_pool!(db, |pool| {
        let mut rows = sqlx::query(AssertSqlSafe(text)).fetch(pool);
        let mut damaged = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let found = unreadable_columns(&row, table.key.len(), &columns);
            if !found.is_empty() {
                let key = (0..table.key.len()).map(|at| row.try_get(at)).collect::<Result<_, _>>()?;
                damaged.push(DamagedRow { table, key, columns: found });
            }
        }
        Ok(damaged)
    })
}

/// Returns whether the column can hold unreadable values; PostgreSQL enforces its own types.
fn may_be_damaged(db: &Db, column: &CheckedColumn) -> bool {
    let is_file = db.path().is_some();
    is_file || matches!(column.content, ColumnContent::Word(_) | ColumnContent::JsonText(_) | ColumnContent::Json(_))
}

/// Returns the unreadable columns of a row, after its key.
fn unreadable_columns<'r, R>(
    row: &'r R,
    key: usize,
    columns: &[&'static CheckedColumn],
) -> Vec<(&'static CheckedColumn, String)>
where
    R: Row,
    usize: ColumnIndex<R>,
    Option<Uuid>: Decode<'r, R::Database> + Type<R::Database>,
    Option<DateTime<Utc>>: Decode<'r, R::Database> + Type<R::Database>,
    Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
    let mut found = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let read = match column.content {
            ColumnContent::Id => decode_value::<R, Option<Uuid>>(row, key + at).map(drop),
            ColumnContent::Time => decode_value::<R, Option<DateTime<Utc>>>(row, key + at).map(drop),
            ColumnContent::Text => decode_value::<R, Option<String>>(row, key + at).map(drop),
            ColumnContent::Word(check) | ColumnContent::JsonText(check) | ColumnContent::Json(check) => {
                decode_value::<R, Option<String>>(row, key + at)
                    .and_then(|text| text.map_or(Ok(()), |text| check(&text)))
            }
        };
        if let Err(reason) = read {
            found.push((*column, reason));
        }
    }
    found
}

fn decode_value<'r, R, T>(row: &'r R, at: usize) -> Result<T, String>
where
    R: Row,
    usize: ColumnIndex<R>,
    T: Decode<'r, R::Database> + Type<R::Database>,
    R::Database: Database,
{
    row.try_get::<Lossy<T>, _>(at).map_err(|error| error.to_string()).and_then(Lossy::into_result)
}
