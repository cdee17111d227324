//! Accounts. A server without accounts has only the local owner, which becomes the owner when accounts are set up.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::like_pattern::contains_pattern;
use crate::database::readable::{Lossy, Readable, keep_readable, ok_or_log};
use crate::database::rows::parse_word;
use turnleaf_domain::{AccountRole, UserId};

const TABLE: &str = "users";

/// Accounts with what a sign-in needs.
macro_rules! accounts {
    ($fits:literal) => {
        concat!("SELECT id, name, role, password, password_expires_at, auth_rev, disabled_at FROM users WHERE ", $fits)
    };
}

/// Accounts as list entries, with what stands before their columns.
macro_rules! listed_accounts {
    ($first:literal, $fits_and_order:literal) => {
        concat!(
            "SELECT ",
            $first,
            "u.id, u.name, u.role, u.password IS NOT NULL AS has_password, u.disabled_at, u.created_at, \
             EXISTS (SELECT 1 FROM identities i WHERE i.owner_id = u.id) AS has_identity, \
             EXISTS (SELECT 1 FROM second_factors f WHERE f.owner_id = u.id AND f.confirmed_at IS NOT NULL) \
             OR EXISTS (SELECT 1 FROM passkeys p WHERE p.owner_id = u.id) AS has_second_factor, \
             (SELECT MAX(s.seen_at) FROM sessions s WHERE s.owner_id = u.id) AS seen_at \
             FROM users u WHERE u.deleted_at IS NULL",
            $fits_and_order
        )
    };
}

sql! {
    INSERT_LOCAL_OWNER = "INSERT INTO users (id, name, is_local_owner, role, created_at) \
        VALUES ($1, '', $2, 'owner', $3) ON CONFLICT DO NOTHING";
    LOCAL_OWNER = "SELECT id FROM users WHERE is_local_owner = $1";
    LIST = "SELECT id FROM users ORDER BY id";
    FIND = accounts!("id = $1");
    FIND_BY_NAME = accounts!("name_key = $1");
    SET_UP = "SELECT id FROM users WHERE role = 'owner' AND password IS NOT NULL LIMIT 1";
    /// One of several concurrent setups changes the row; for the others it is set up then.
    SET_UP_OWNER = "UPDATE users SET name = $2, name_key = $3, password = $4, role = 'owner', \
        auth_rev = auth_rev + 1 WHERE is_local_owner = $1 AND password IS NULL RETURNING id";
    INSERT = "INSERT INTO users (id, name, name_key, role, password, created_at) VALUES ($1, $2, $3, $4, $5, $6) \
        ON CONFLICT DO NOTHING";
    RENAME = "UPDATE users SET name = $2, name_key = $3 WHERE id = $1";
    /// Waits for other transactions that lock the account.
    LOCK = "UPDATE users SET role = role WHERE id = $1";
    SET_PASSWORD = "UPDATE users SET password = $2, password_expires_at = NULL, auth_rev = auth_rev + 1 WHERE id = $1";
    SET_PASSWORD_EXPIRY = "UPDATE users SET password_expires_at = $2 WHERE id = $1 AND password IS NOT NULL";
    SIGN_OUT = "UPDATE users SET auth_rev = auth_rev + 1 WHERE id = $1";
    /// The owner stays.
    DISABLE = "UPDATE users SET disabled_at = $2, auth_rev = auth_rev + 1 \
        WHERE id = $1 AND disabled_at IS NULL AND role <> 'owner'";
    ENABLE = "UPDATE users SET disabled_at = NULL WHERE id = $1 AND disabled_at IS NOT NULL AND deleted_at IS NULL";
    SET_ROLE = "UPDATE users SET role = $2, auth_rev = auth_rev + 1 WHERE id = $1 AND role <> 'owner' AND role <> $2";
    /// Holds the row, so that what ends the rights of the account waits for what they are used for.
    HOLD_ADMINISTRATOR = "UPDATE users SET auth_rev = auth_rev WHERE id = $1 AND disabled_at IS NULL AND role <> 'user'";
    LIST_ACCOUNTS = listed_accounts!("", " ORDER BY u.id LIMIT $1");
    /// Those behind a key ($1) whose key contains a text ($2), in the order of the index of keys. The owner of a server
    /// without accounts has no key, and begins the whole list.
    PAGE = concat!(listed_accounts!("'' AS name_key, ", " AND u.name_key IS NULL AND $1 = '' AND $2 = '%%'"),
        " UNION ALL ", listed_accounts!("u.name_key, ", " AND u.name_key > $1 AND u.name_key LIKE $2 ESCAPE '!'"),
        " ORDER BY name_key LIMIT $3");
    /// A list of ids follows.
    NAMES = "SELECT u.id, u.name FROM users u ";
    /// The owner stays.
    START_DELETION = "UPDATE users SET name = '', name_key = NULL, password = NULL, password_expires_at = NULL, \
        disabled_at = $2, deleted_at = $2, auth_rev = auth_rev + 1 WHERE id = $1 AND role <> 'owner' AND deleted_at IS NULL";
    LIST_DISABLED = "SELECT id FROM users WHERE disabled_at IS NOT NULL ORDER BY id";
    LIST_DELETED = "SELECT id FROM users WHERE deleted_at IS NOT NULL ORDER BY id";
    DELETE = "DELETE FROM users WHERE id = $1 AND deleted_at IS NOT NULL";
}

/// An account with what a sign-in needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccount {
    pub id: UserId,
    pub name: String,
    pub role: AccountRole,
    /// The hash of the password. Without one its person signs in at an identity provider, if at all.
    pub password: Option<String>,
    /// The end of a password that the command line has made; `None` for one that its person chose.
    pub password_expires_at: Option<DateTime<Utc>>,
    pub auth_rev: i64,
    pub disabled_at: Option<DateTime<Utc>>,
}

impl StoredAccount {
    /// Returns whether the password was made on the command line and has ended.
    pub fn has_expired_password(&self, now: DateTime<Utc>) -> bool {
        self.password_expires_at.is_some_and(|end| end <= now)
    }
}

struct AccountRow {
    id: Uuid,
    name: Lossy<String>,
    role: String,
    password: Option<String>,
    password_expires_at: Option<DateTime<Utc>>,
    auth_rev: i64,
    disabled_at: Option<DateTime<Utc>>,
}
from_row!(AccountRow { id, name, role, password, password_expires_at, auth_rev, disabled_at });

impl TryFrom<AccountRow> for StoredAccount {
    type Error = StoreError;

    /// A value that decides about access is never replaced by a guess.
    fn try_from(row: AccountRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", row.id),
            role: parse_word(row.role, TABLE, "role", row.id)?,
            password: row.password,
            password_expires_at: row.password_expires_at,
            auth_rev: row.auth_rev,
            disabled_at: row.disabled_at,
        })
    }
}

/// An account as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAccount {
    pub id: UserId,
    /// Empty for the owner of a server without accounts.
    pub name: String,
    pub role: AccountRole,
    pub has_password: bool,
    /// Its person can sign in at an identity provider, or is named by a proxy.
    pub has_identity: bool,
    /// The account has an authenticator app or a passkey.
    pub has_second_factor: bool,
    pub disabled_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// The last request of one of its sessions, to a few minutes.
    pub seen_at: Option<DateTime<Utc>>,
}

struct ListedAccountRow {
    id: Uuid,
    name: Lossy<String>,
    role: String,
    has_password: bool,
    has_identity: bool,
    has_second_factor: bool,
    disabled_at: Lossy<Option<DateTime<Utc>>>,
    created_at: Lossy<DateTime<Utc>>,
    seen_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(ListedAccountRow {
    id,
    name,
    role,
    has_password,
    has_identity,
    has_second_factor,
    disabled_at,
    created_at,
    seen_at
});

impl TryFrom<ListedAccountRow> for ListedAccount {
    type Error = StoreError;

    fn try_from(row: ListedAccountRow) -> Result<Self, StoreError> {
        let id = row.id;
        Ok(Self {
            id: id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", id),
            role: parse_word(row.role, TABLE, "role", id)?,
            has_password: row.has_password,
            has_identity: row.has_identity,
            has_second_factor: row.has_second_factor,
            disabled_at: row.disabled_at.unwrap_or_default(TABLE, "disabled_at", id),
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            seen_at: row.seen_at.unwrap_or_default("sessions", "seen_at", id),
        })
    }
}

/// A name as it is stored: as it is shown, and as it is compared.
#[derive(Debug, Clone, Copy)]
pub struct AccountNames<'a> {
    pub name: &'a str,
    pub key: &'a str,
}

/// Returns the owner of everything on a server without accounts; creates it with this id if there is none yet.
pub async fn ensure_local_owner(tx: &mut Tx, id: UserId, now: DateTime<Utc>) -> Result<UserId, StoreError> {
    let owner: Uuid = in_tx!(tx, |conn| {
        sqlx::query(INSERT_LOCAL_OWNER).bind(id.uuid()).bind(true).bind(now).execute(&mut *conn).await?;
        sqlx::query_scalar(LOCAL_OWNER).bind(true).fetch_one(&mut *conn).await?
    });
    Ok(owner.into())
}

/// Returns all users.
pub async fn list(db: &Db) -> Result<Vec<UserId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(LIST).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(id,)| id.into()).collect())
}

/// Returns an account.
pub async fn find(db: &Db, id: UserId) -> Result<Option<StoredAccount>, StoreError> {
    let row: Option<AccountRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(id.uuid()).fetch_optional(pool).await?);
    row.map(StoredAccount::try_from).transpose()
}

/// Returns the account whose name is compared as this key.
pub async fn find_by_name(db: &Db, key: &str) -> Result<Option<StoredAccount>, StoreError> {
    let row: Option<AccountRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND_BY_NAME).bind(key).fetch_optional(pool).await?);
    row.map(StoredAccount::try_from).transpose()
}

/// Returns whether an owner can sign in.
pub async fn is_set_up(db: &Db) -> Result<bool, StoreError> {
    let owner: Option<Uuid> = with_pool!(db, |pool| sqlx::query_scalar(SET_UP).fetch_optional(pool).await?);
    Ok(owner.is_some())
}

/// Gives the local owner a name and the hash of a password. Returns `None` if that has happened before.
///
/// # Errors
/// `NotUnique` if another account has the name.
pub async fn set_up_owner(tx: &mut Tx, names: AccountNames<'_>, password: &str) -> Result<Option<UserId>, StoreError> {
    let owner: Option<Uuid> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(SET_UP_OWNER).bind(true).bind(names.name).bind(names.key).bind(password);
        query.fetch_optional(conn).await?
    });
    Ok(owner.map(UserId::from))
}

/// Stores a new account, which may have no password. Returns false if its name is taken.
pub async fn insert(
    tx: &mut Tx,
    id: UserId,
    names: AccountNames<'_>,
    role: AccountRole,
    password: Option<&str>,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let made = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(id.uuid()).bind(names.name).bind(names.key);
        query.bind(role.as_str()).bind(password).bind(now).execute(conn).await?.rows_affected()
    });
    Ok(made > 0)
}

/// Changes the name of an account. Returns false if there is no such account.
///
/// # Errors
/// `NotUnique` if another account has the name.
pub async fn rename(tx: &mut Tx, id: UserId, names: AccountNames<'_>) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(RENAME).bind(id.uuid()).bind(names.name).bind(names.key);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Locks an account until the transaction ends. Returns false if there is no such account.
pub async fn lock(tx: &mut Tx, id: UserId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(LOCK).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Changes the password, which ends all sessions and tokens. It does not expire. Returns false if there is no such account.
pub async fn set_password(tx: &mut Tx, id: UserId, password: &str) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_PASSWORD).bind(id.uuid()).bind(password).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Sets the time at which the password of an account ends, which was made on the command line. Returns false if the account
/// has no password.
pub async fn set_password_expiry(tx: &mut Tx, id: UserId, at: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_PASSWORD_EXPIRY).bind(id.uuid()).bind(at).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Ends all sessions and tokens of an account. Returns false if there is no such account.
pub async fn sign_out(tx: &mut Tx, id: UserId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(SIGN_OUT).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Disables an account, which ends its sessions and tokens. Returns false for the owner and where nothing changed.
pub async fn disable(tx: &mut Tx, id: UserId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DISABLE).bind(id.uuid()).bind(now).execute(conn).await?.rows_affected()) > 0)
}

/// Enables an account. Returns false if it was not disabled.
pub async fn enable(tx: &mut Tx, id: UserId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(ENABLE).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Removes the name and the password of an account, which ends its sessions and tokens for good. Returns false for the
/// owner and where nothing changed.
pub async fn start_deletion(tx: &mut Tx, id: UserId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(START_DELETION).bind(id.uuid()).bind(now).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Returns the disabled accounts, also those whose deletion has started.
pub async fn list_disabled(db: &Db) -> Result<Vec<UserId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(LIST_DISABLED).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(id,)| id.into()).collect())
}

/// Returns the accounts whose deletion has started.
pub async fn list_deleted(db: &Db) -> Result<Vec<UserId>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(LIST_DELETED).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(id,)| id.into()).collect())
}

/// Deletes the row of an account whose deletion has started, with everything that belongs to it. Returns false if there
/// is no such account.
pub async fn delete(tx: &mut Tx, id: UserId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Changes the role, which ends all sessions and tokens. Returns false for the owner and where nothing changed.
pub async fn set_role(tx: &mut Tx, id: UserId, role: AccountRole) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_ROLE).bind(id.uuid()).bind(role.as_str()).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Returns whether an account is that of an administrator, which it stays until the transaction ends.
pub async fn hold_administrator(tx: &mut Tx, id: UserId) -> Result<bool, StoreError> {
    let held = in_tx!(tx, |conn| sqlx::query(HOLD_ADMINISTRATOR).bind(id.uuid()).execute(conn).await?.rows_affected());
    Ok(held > 0)
}

/// Returns the accounts in the order of their creation.
pub async fn list_accounts(db: &Db, limit: u32) -> Result<Vec<ListedAccount>, StoreError> {
    let rows: Vec<Readable<ListedAccountRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST_ACCOUNTS).bind(i64::from(limit)).fetch_all(pool).await?);
    read_listed(rows)
}

/// Returns the accounts behind a key of a name whose keys contain a text, by key. Both texts may be empty.
pub async fn page(db: &Db, (after, part): (&str, &str), limit: u32) -> Result<Vec<ListedAccount>, StoreError> {
    let pattern = contains_pattern(part, |_| false);
    let rows: Vec<Readable<ListedAccountRow>> = with_pool!(db, |pool| {
        sqlx::query_as(PAGE).bind(after).bind(pattern.as_str()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    read_listed(rows)
}

fn read_listed(rows: Vec<Readable<ListedAccountRow>>) -> Result<Vec<ListedAccount>, StoreError> {
    let rows = keep_readable(rows, TABLE).into_iter();
    rows.filter_map(|row| ok_or_log(ListedAccount::try_from(row), TABLE).transpose()).collect()
}

/// Returns the names of these accounts, without those whose deletion has started. At most a few thousand ids.
pub async fn names(db: &Db, accounts: &[UserId]) -> Result<HashMap<UserId, String>, StoreError> {
    if accounts.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Readable<(Uuid, Lossy<String>)>> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(NAMES);
        query.push("WHERE u.deleted_at IS NULL AND u.id IN (");
        let mut list = query.separated(", ");
        for account in accounts {
            list.push_bind(account.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    let rows = keep_readable(rows, TABLE).into_iter();
    Ok(rows.map(|(id, name)| (id.into(), name.unwrap_or_default(TABLE, "name", id))).collect())
}
