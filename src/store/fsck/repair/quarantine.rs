//! The quarantine: unreadable stored values, byte for byte, with their owners.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use turnleaf_domain::UserId;
use turnleaf_platform::ids;

sql! {
    INSERT = "INSERT INTO quarantine (id, table_name, column_name, row_key, bytes, reason, owner_id, chat_id, turn_id, \
        document_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    LIST = "SELECT id, table_name, column_name, row_key, bytes, reason, created_at FROM quarantine ORDER BY id";
    /// Entries without a known owner belong to the only user, if there is one.
    FORGET = "DELETE FROM quarantine WHERE owner_id = $1 \
        OR (owner_id IS NULL AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id <> $1))";
}

/// A value in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantineEntry {
    pub id: Uuid,
    pub table_name: String,
    /// Empty for a whole row.
    pub column_name: String,
    pub row_key: String,
    pub bytes: Vec<u8>,
    pub reason: String,
    pub created_at: DateTime<Utc>,
}
from_row!(QuarantineEntry { id, table_name, column_name, row_key, bytes, reason, created_at });

/// The owners of a value, as far as they exist: it is permanently deleted with each of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValueOwners {
    pub owner: Option<Uuid>,
    pub chat: Option<Uuid>,
    pub turn: Option<Uuid>,
    pub document: Option<Uuid>,
}

/// A value to quarantine.
pub(super) struct NewQuarantineEntry<'e> {
    pub table: &'e str,
    /// Empty for a whole row.
    pub column: &'e str,
    pub row: &'e str,
    pub bytes: &'e [u8],
    pub reason: &'e str,
}

/// Returns all quarantine entries, the oldest first. For the operator, because they belong to all owners.
pub async fn list_quarantined(db: &Db) -> Result<Vec<QuarantineEntry>, StoreError> {
    let rows: Vec<Readable<QuarantineEntry>> = with_pool!(db, |pool| sqlx::query_as(LIST).fetch_all(pool).await?);
    Ok(keep_readable(rows, "quarantine"))
}

/// Deletes the quarantine entries of an owner.
pub async fn delete_quarantined(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(FORGET).bind(owner.uuid()).execute(conn).await?.rows_affected()))
}

/// Adds a value to the quarantine.
pub(super) async fn put(
    tx: &mut Tx,
    entry: &NewQuarantineEntry<'_>,
    of: ValueOwners,
    now: DateTime<Utc>,
) -> Result<Uuid, StoreError> {
    let id: Uuid = ids::mint();
    in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(id).bind(entry.table).bind(entry.column).bind(entry.row);
        let query = query.bind(entry.bytes).bind(entry.reason).bind(of.owner).bind(of.chat).bind(of.turn);
        query.bind(of.document).bind(now).execute(conn).await?;
    });
    Ok(id)
}
