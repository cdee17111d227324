//! Mappings of groups: whom a service names for a group of its own is a member of a group here. Administrators manage all
//! of them; who is a member follows from them in each query (`memberships!`).

use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::to_unsigned;
use turnleaf_domain::{GroupId, GroupMappingId};

const TABLE: &str = "group_mappings";

sql! {
    INSERT = "INSERT INTO group_mappings (id, group_id, issuer, external_name) SELECT $2, g.id, $3, $4 \
        FROM account_groups g WHERE g.id = $1 ON CONFLICT DO NOTHING";
    LIST = "SELECT id, issuer, external_name FROM group_mappings WHERE group_id = $1 ORDER BY id";
    COUNT = "SELECT COUNT(*) FROM group_mappings WHERE group_id = $1";
    DELETE = "DELETE FROM group_mappings WHERE group_id = $1 AND id = $2";
}

/// A mapping of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGroupMapping {
    pub id: GroupMappingId,
    /// The issuer of the configuration, or that of the names which a proxy sends.
    pub issuer: String,
    /// The name of the group there.
    pub external_name: String,
}

struct GroupMappingRow {
    id: Uuid,
    issuer: Lossy<String>,
    external_name: Lossy<String>,
}
from_row!(GroupMappingRow { id, issuer, external_name });

impl From<GroupMappingRow> for StoredGroupMapping {
    fn from(row: GroupMappingRow) -> Self {
        Self {
            id: row.id.into(),
            issuer: row.issuer.unwrap_or_default(TABLE, "issuer", row.id),
            external_name: row.external_name.unwrap_or_default(TABLE, "external_name", row.id),
        }
    }
}

/// Adds a mapping to a group. Returns false if it has it already, or if there is no such group.
pub async fn insert(
    tx: &mut Tx,
    group: GroupId,
    id: GroupMappingId,
    (issuer, external_name): (&str, &str),
) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(group.uuid()).bind(id.uuid()).bind(issuer).bind(external_name);
        query.execute(conn).await?.rows_affected()
    });
    Ok(made > 0)
}

/// Returns the mappings of a group in the order in which they were added.
pub async fn list(db: &Db, group: GroupId) -> Result<Vec<StoredGroupMapping>, StoreError> {
    let rows: Vec<Readable<GroupMappingRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(group.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(StoredGroupMapping::from).collect())
}

/// Counts the mappings of a group.
pub async fn count(tx: &mut Tx, group: GroupId) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(group.uuid()).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Removes a mapping of a group. Returns false if it has no such mapping.
pub async fn delete(tx: &mut Tx, group: GroupId, id: GroupMappingId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(group.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}
