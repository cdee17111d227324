//! Groups of accounts and their members. A group has no owner: administrators manage all of them.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Lossy, Readable, keep_readable};
use crate::rows::to_unsigned;
use turnleaf_domain::{GroupId, UserId};

const TABLE: &str = "account_groups";

/// Groups with the numbers of their members.
macro_rules! groups {
    ($fits_and_order:literal) => {
        concat!(
            "SELECT g.id, g.name, g.created_at, (SELECT COUNT(*) FROM group_members m WHERE m.group_id = g.id) AS members \
                FROM account_groups g",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO account_groups (id, name, created_at) VALUES ($1, $2, $3)";
    LIST = groups!(" ORDER BY g.id LIMIT $1");
    FIND = groups!(" WHERE g.id = $1");
    RENAME = "UPDATE account_groups SET name = $2 WHERE id = $1";
    DELETE = "DELETE FROM account_groups WHERE id = $1";
    /// Does nothing if the group or the account does not exist.
    ADD_MEMBER = "INSERT INTO group_members (group_id, user_id) SELECT g.id, u.id FROM account_groups g, users u \
        WHERE g.id = $1 AND u.id = $2 ON CONFLICT DO NOTHING";
    REMOVE_MEMBER = "DELETE FROM group_members WHERE group_id = $1 AND user_id = $2";
    MEMBERS = "SELECT u.id, u.name FROM group_members m JOIN users u ON u.id = m.user_id WHERE m.group_id = $1 \
        ORDER BY u.id LIMIT $2";
    ALL_MEMBERS = "SELECT group_id, user_id FROM group_members";
}

/// A group of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountGroup {
    pub id: GroupId,
    pub name: String,
    /// The number of its members.
    pub members: u64,
    pub created_at: DateTime<Utc>,
}

/// An account that is in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    pub user: UserId,
    pub name: String,
}

struct GroupRow {
    id: Uuid,
    name: Lossy<String>,
    members: i64,
    created_at: Lossy<DateTime<Utc>>,
}
from_row!(GroupRow { id, name, members, created_at });

impl From<GroupRow> for AccountGroup {
    fn from(row: GroupRow) -> Self {
        Self {
            id: row.id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", row.id),
            members: to_unsigned(row.members),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", row.id),
        }
    }
}

struct MemberRow {
    id: Uuid,
    name: Lossy<String>,
}
from_row!(MemberRow { id, name });

/// Stores a new group.
pub async fn insert(tx: &mut Tx, id: GroupId, name: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(INSERT).bind(id.uuid()).bind(name).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Returns the groups in the order of their creation.
pub async fn list(db: &Db, limit: u32) -> Result<Vec<AccountGroup>, StoreError> {
    let rows: Vec<Readable<GroupRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(i64::from(limit)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(AccountGroup::from).collect())
}

/// Returns a group.
pub async fn find(db: &Db, id: GroupId) -> Result<Option<AccountGroup>, StoreError> {
    let row: Option<GroupRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(id.uuid()).fetch_optional(pool).await?);
    Ok(row.map(AccountGroup::from))
}

/// Changes the name of a group. Returns false if there is no such group.
pub async fn rename(tx: &mut Tx, id: GroupId, name: &str) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(RENAME).bind(id.uuid()).bind(name).execute(conn).await?.rows_affected()) > 0)
}

/// Deletes a group with its memberships and grants. Returns false if there is no such group.
pub async fn delete(tx: &mut Tx, id: GroupId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Adds an account to a group. Returns false if it is a member, or if the group or the account does not exist.
pub async fn add_member(tx: &mut Tx, group: GroupId, user: UserId) -> Result<bool, StoreError> {
    let added = in_tx!(tx, |conn| {
        sqlx::query(ADD_MEMBER).bind(group.uuid()).bind(user.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(added > 0)
}

/// Removes an account from a group. Returns false if it is no member.
pub async fn remove_member(tx: &mut Tx, group: GroupId, user: UserId) -> Result<bool, StoreError> {
    let removed = in_tx!(tx, |conn| {
        sqlx::query(REMOVE_MEMBER).bind(group.uuid()).bind(user.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(removed > 0)
}

/// Returns the members of a group in the order of their accounts.
pub async fn members(db: &Db, group: GroupId, limit: u32) -> Result<Vec<GroupMember>, StoreError> {
    let rows: Vec<Readable<MemberRow>> = with_pool!(db, |pool| {
        sqlx::query_as(MEMBERS).bind(group.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    let member = |MemberRow { id, name }: MemberRow| GroupMember {
        user: id.into(),
        name: name.unwrap_or_default("users", "name", id),
    };
    Ok(keep_readable(rows, "group_members").into_iter().map(member).collect())
}

/// Returns the members of all groups. An unreadable row makes nobody a member.
pub async fn all_members(db: &Db) -> Result<Vec<(GroupId, UserId)>, StoreError> {
    let rows: Vec<Readable<(Uuid, Uuid)>> = with_pool!(db, |pool| sqlx::query_as(ALL_MEMBERS).fetch_all(pool).await?);
    let rows = keep_readable(rows, "group_members").into_iter();
    Ok(rows.map(|(group, user)| (group.into(), user.into())).collect())
}
