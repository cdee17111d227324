//! Groups of accounts and their members. A group has no owner: administrators manage all of them. An account is a member
//! because an administrator added it, or because a service names a group for one of its identities that is mapped
//! ([`group_mappings`](crate::accounts::group_mappings)), or for both reasons.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::to_unsigned;
use turnleaf_domain::{GroupId, UserId};

const TABLE: &str = "account_groups";

/// Groups with the numbers of their members.
macro_rules! groups {
    ($memberships:expr, $fits_and_order:literal) => {
        concat!(
            "SELECT g.id, g.name, g.created_at, COALESCE(c.members, 0) AS members FROM account_groups g \
             LEFT JOIN (SELECT m.group_id, COUNT(*) AS members FROM ",
            $memberships,
            " m GROUP BY m.group_id) c ON c.group_id = g.id",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO account_groups (id, name, created_at) VALUES ($1, $2, $3)";
    LIST = groups!(memberships!(), " ORDER BY g.id LIMIT $1");
    NAMES = "SELECT id, name FROM account_groups ORDER BY id LIMIT $1";
    /// A list of ids follows.
    SOME = concat!("SELECT g.id, g.name, g.created_at, (SELECT COUNT(*) FROM ",
        memberships!(" WHERE group_id = g.id", " WHERE p.group_id = g.id"), " m) AS members FROM account_groups g ");
    FIND = groups!(memberships!(of_group), " WHERE g.id = $1");
    RENAME = "UPDATE account_groups SET name = $2 WHERE id = $1";
    DELETE = "DELETE FROM account_groups WHERE id = $1";
    /// Does nothing if the group or the account does not exist.
    ADD_MEMBER = "INSERT INTO group_members (group_id, user_id) SELECT g.id, u.id FROM account_groups g, users u \
        WHERE g.id = $1 AND u.id = $2 ON CONFLICT DO NOTHING";
    REMOVE_MEMBER = "DELETE FROM group_members WHERE group_id = $1 AND user_id = $2";
    /// A row for each reason: without an issuer for those whom an administrator added, with it for a mapping.
    MEMBERS = concat!("SELECT u.id, u.name, r.issuer FROM ( \
            SELECT user_id, CAST(NULL AS TEXT) AS issuer FROM group_members WHERE group_id = $1 \
            UNION SELECT i.owner_id, p.issuer FROM ", mapped_identities!(), " WHERE p.group_id = $1) r \
        JOIN users u ON u.id = r.user_id \
        WHERE u.id IN (SELECT m.user_id FROM ", memberships!(of_group), " m ORDER BY m.user_id LIMIT $2) ORDER BY u.id");
    ALL_MEMBERS = concat!("SELECT m.group_id, m.user_id FROM ", memberships!(), " m");
    OF_MEMBER = concat!("SELECT g.id, g.name, u.name FROM ", memberships!(of_account), " m \
        JOIN account_groups g ON g.id = m.group_id JOIN users u ON u.id = m.user_id ORDER BY g.id");
}

/// A list of accounts follows each part.
const ADDED_TO: &str = "SELECT group_id, user_id FROM group_members WHERE user_id IN (";
const MAPPED_TO: &str =
    concat!(") UNION SELECT p.group_id, i.owner_id FROM ", mapped_identities!(), " WHERE i.owner_id IN (");

/// A group of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountGroup {
    pub id: GroupId,
    pub name: String,
    /// The number of its members.
    pub members: u64,
    pub created_at: DateTime<Utc>,
}

/// A group by its name, without what its members tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName {
    pub id: GroupId,
    pub name: String,
}

/// An account that is in a group, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGroupMember {
    pub user: UserId,
    pub name: String,
    /// True if an administrator added it.
    pub is_added: bool,
    /// The issuers that name a mapped group for it, in order.
    pub issuers: Vec<String>,
}

/// A membership of an account, with the names of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMembership {
    pub group: GroupId,
    pub group_name: String,
    pub member_name: String,
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
    issuer: Lossy<Option<String>>,
}
from_row!(MemberRow { id, name, issuer });

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

/// Returns the names of the groups in the order of their creation.
pub async fn names(db: &Db, limit: u32) -> Result<Vec<GroupName>, StoreError> {
    let rows: Vec<Readable<(Uuid, Lossy<String>)>> =
        with_pool!(db, |pool| sqlx::query_as(NAMES).bind(i64::from(limit)).fetch_all(pool).await?);
    let rows = keep_readable(rows, TABLE).into_iter();
    Ok(rows.map(|(id, name)| GroupName { id: id.into(), name: name.unwrap_or_default(TABLE, "name", id) }).collect())
}

/// Returns these groups in their order here, without those that do not exist. At most a few hundred ids.
pub async fn list_some(db: &Db, groups: &[GroupId]) -> Result<Vec<AccountGroup>, StoreError> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Readable<GroupRow>> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(SOME);
        query.push("WHERE g.id IN (");
        let mut list = query.separated(", ");
        for group in groups {
            list.push_bind(group.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    let rows = keep_readable(rows, TABLE).into_iter().map(AccountGroup::from);
    let mut found: HashMap<GroupId, AccountGroup> = rows.map(|group| (group.id, group)).collect();
    Ok(groups.iter().filter_map(|id| found.remove(id)).collect())
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

/// Adds an account to a group. Returns false if it was added already, or if the group or the account does not exist.
pub async fn add_member(tx: &mut Tx, group: GroupId, user: UserId) -> Result<bool, StoreError> {
    let added = in_tx!(tx, |conn| {
        sqlx::query(ADD_MEMBER).bind(group.uuid()).bind(user.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(added > 0)
}

/// Takes back that an account was added to a group. Returns false if it was not. A mapping may still make it a member.
pub async fn remove_member(tx: &mut Tx, group: GroupId, user: UserId) -> Result<bool, StoreError> {
    let removed = in_tx!(tx, |conn| {
        sqlx::query(REMOVE_MEMBER).bind(group.uuid()).bind(user.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(removed > 0)
}

/// Returns the members of a group in the order of their accounts.
pub async fn members(db: &Db, group: GroupId, limit: u32) -> Result<Vec<StoredGroupMember>, StoreError> {
    let rows: Vec<Readable<MemberRow>> = with_pool!(db, |pool| {
        sqlx::query_as(MEMBERS).bind(group.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    let mut members: Vec<StoredGroupMember> = Vec::new();
    for MemberRow { id, name, issuer } in keep_readable(rows, "group_members") {
        let user: UserId = id.into();
        if members.last().is_none_or(|member| member.user != user) {
            let name = name.unwrap_or_default("users", "name", id);
            members.push(StoredGroupMember { user, name, is_added: false, issuers: Vec::new() });
        }
        let Some(member) = members.last_mut() else { continue };
        // An issuer that cannot be read is still one, so that nobody counts as added who was not.
        match issuer.unwrap_or_log("group_mappings", "issuer", id, || Some(String::new())) {
            Some(issuer) => member.issuers.push(issuer),
            None => member.is_added = true,
        }
    }
    // Databases order texts differently.
    members.iter_mut().for_each(|member| member.issuers.sort_unstable());
    Ok(members)
}

/// Returns the memberships of an account in the order of the groups.
pub async fn list_of_member(tx: &mut Tx, user: UserId) -> Result<Vec<GroupMembership>, StoreError> {
    type MembershipRow = (Uuid, Lossy<String>, Lossy<String>);
    let rows: Vec<Readable<MembershipRow>> =
        in_tx!(tx, |conn| sqlx::query_as(OF_MEMBER).bind(user.uuid()).fetch_all(conn).await?);
    let membership = |(id, group_name, member_name): MembershipRow| GroupMembership {
        group: id.into(),
        group_name: group_name.unwrap_or_default(TABLE, "name", id),
        member_name: member_name.unwrap_or_default("users", "name", user.uuid()),
    };
    Ok(keep_readable(rows, TABLE).into_iter().map(membership).collect())
}

/// Returns the members of all groups. An unreadable row makes nobody a member.
pub async fn all_members(db: &Db) -> Result<Vec<(GroupId, UserId)>, StoreError> {
    let rows: Vec<Readable<(Uuid, Uuid)>> = with_pool!(db, |pool| sqlx::query_as(ALL_MEMBERS).fetch_all(pool).await?);
    let rows = keep_readable(rows, "group_members").into_iter();
    Ok(rows.map(|(group, user)| (group.into(), user.into())).collect())
}

/// Returns the groups of these accounts, as pairs with the accounts.
pub async fn memberships_of(db: &Db, accounts: &[UserId]) -> Result<Vec<(GroupId, UserId)>, StoreError> {
    if accounts.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Readable<(Uuid, Uuid)>> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new("");
        for part in [ADDED_TO, MAPPED_TO] {
            let mut list = query.push(part).separated(", ");
            for account in accounts {
                list.push_bind(account.uuid());
            }
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    let rows = keep_readable(rows, "group_members").into_iter();
    Ok(rows.map(|(group, user)| (group.into(), user.into())).collect())
}
