//! The audit log: who did what, when, from where, and what came of it, without content. Rows are only inserted, and
//! deleted by age.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{parse_word, to_word};
use turnleaf_domain::{ApiTokenId, AuditEntryId, AuditOutcome, AuditVerb, UserId};

const TABLE: &str = "audit";

sql! {
    INSERT = "INSERT INTO audit (id, at, actor_id, token_id, ip, verb, target, outcome) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    /// Those before an entry ($1) that fit, the newest first. PostgreSQL takes the type of a parameter from where it is
    /// compared, so that comes before the test for null.
    LIST = "SELECT a.id, a.at, a.actor_id, u.name AS actor_name, a.token_id, a.ip, a.verb, a.target, a.outcome \
        FROM audit a LEFT JOIN users u ON u.id = a.actor_id WHERE a.id < $1 \
        AND (a.verb = $3 OR $3 IS NULL) AND (a.actor_id = $4 OR $4 IS NULL) \
        AND (a.at >= $5 OR $5 IS NULL) AND (a.at < $6 OR $6 IS NULL) ORDER BY a.id DESC LIMIT $2";
    DELETE_OLD = "DELETE FROM audit WHERE at <= $1";
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: AuditEntryId,
    pub at: DateTime<Utc>,
    /// `None` for a stranger, and for the command line, which has no address.
    pub actor: Option<UserId>,
    /// The present name of the actor, unless the account was deleted. It is not stored with the entry.
    pub actor_name: Option<String>,
    pub token: Option<ApiTokenId>,
    pub ip: Option<String>,
    /// The word of the action (`AuditVerb`), which may be one of a newer version.
    pub verb: String,
    /// The name of the account, of the token or of the invitation that it was done to.
    pub target: String,
    pub outcome: AuditOutcome,
}

/// The entries to list; all of them by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditSelection {
    pub verb: Option<AuditVerb>,
    /// The account that did it.
    pub actor: Option<UserId>,
    pub from: Option<DateTime<Utc>>,
    /// The first moment that is not included.
    pub until: Option<DateTime<Utc>>,
    /// The entry before which the list begins; without one, it begins at the newest.
    pub before: Option<AuditEntryId>,
}

struct AuditRow {
    id: Uuid,
    at: Lossy<DateTime<Utc>>,
    actor_id: Lossy<Option<Uuid>>,
    actor_name: Lossy<Option<String>>,
    token_id: Lossy<Option<Uuid>>,
    ip: Lossy<Option<String>>,
    verb: Lossy<String>,
    target: Lossy<String>,
    outcome: Lossy<String>,
}
from_row!(AuditRow { id, at, actor_id, actor_name, token_id, ip, verb, target, outcome });

impl From<AuditRow> for AuditEntry {
    /// An unreadable outcome counts as that of an action that was refused, which asks for attention.
    fn from(row: AuditRow) -> Self {
        let id = row.id;
        let outcome = row.outcome.unwrap_or_default(TABLE, "outcome", id);
        Self {
            id: id.into(),
            at: row.at.unwrap_or_default(TABLE, "at", id),
            actor: row.actor_id.unwrap_or_default(TABLE, "actor_id", id).map(UserId::from),
            actor_name: row.actor_name.unwrap_or_default("users", "name", id),
            token: row.token_id.unwrap_or_default(TABLE, "token_id", id).map(ApiTokenId::from),
            ip: row.ip.unwrap_or_default(TABLE, "ip", id),
            verb: row.verb.unwrap_or_default(TABLE, "verb", id),
            target: row.target.unwrap_or_default(TABLE, "target", id),
            outcome: parse_word(outcome, TABLE, "outcome", id).unwrap_or(AuditOutcome::Refused),
        }
    }
}

/// Adds an entry. `actor_name` is not stored.
pub async fn insert(tx: &mut Tx, entry: &AuditEntry) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(entry.id.uuid())
            .bind(entry.at)
            .bind(entry.actor.map(UserId::uuid))
            .bind(entry.token.map(ApiTokenId::uuid))
            .bind(entry.ip.as_deref())
            .bind(entry.verb.as_str())
            .bind(entry.target.as_str())
            .bind(to_word(entry.outcome))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns the first entries of a selection, the newest first.
pub async fn list(db: &Db, selection: &AuditSelection, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
    let AuditSelection { verb, actor, from, until, before } = *selection;
    let before = before.map_or(Uuid::max(), AuditEntryId::uuid);
    let rows: Vec<Readable<AuditRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST)
            .bind(before)
            .bind(i64::from(limit))
            .bind(verb.map(AuditVerb::as_str))
            .bind(actor.map(UserId::uuid))
            .bind(from)
            .bind(until)
            .fetch_all(pool)
            .await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(AuditEntry::from).collect())
}

/// Deletes the entries up to this time.
pub async fn delete_old(tx: &mut Tx, up_to: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_OLD).bind(up_to).execute(conn).await?;
    });
    Ok(())
}
