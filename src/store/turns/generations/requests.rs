//! Stored requests, separate from the rows of their calls. Each message of a long chat sends the whole chat again, so
//! a request is stored as a byte delta against an earlier request of its path: its own bytes where it differs, and
//! around them those of its base. A base is stored whole, so at most two rows are read; and it belongs to the same
//! turn or one above, which is never deleted before those below it.

use bytes::Bytes;
use serde_json::Value;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::rows::inconsistent;
use turnleaf_domain::encoding::byte_delta::{ByteDelta, is_delta_worthwhile, is_too_short_for_delta};
use turnleaf_domain::{GenerationId, TurnId, UserId};

const TABLE: &str = "generation_requests";

/// The columns from which a request is reassembled, of `q` and its base `p` ([`base_request_joins`]).
macro_rules! request_columns {
    () => {
        "q.body, q.body_head, q.body_tail, p.body AS base_body"
    };
}
/// The columns of the manifest; null if the request is not stored.
macro_rules! manifest_columns {
    () => {
        "q.manifest, q.manifest_head, q.manifest_tail, p.manifest AS base_manifest"
    };
}
/// The joins of generations `g` to their requests `q` and bases `p`.
macro_rules! base_request_joins {
    () => {
        "LEFT JOIN generation_requests q ON q.generation_id = g.id LEFT JOIN generation_requests p ON p.generation_id = q.base_id "
    };
}
pub(crate) use {base_request_joins, manifest_columns, request_columns};

sql! {
    INSERT = "INSERT INTO generation_requests (generation_id, base_id, body, body_head, body_tail, manifest, manifest_head, \
        manifest_tail) SELECT $1, $2, $3, $4, $5, $6, $7, $8 \
        WHERE EXISTS (SELECT 1 FROM generations g WHERE g.id = $1) ON CONFLICT DO NOTHING";
    FIND = concat!("SELECT ", request_columns!(), " FROM generations g ", base_request_joins!(), "JOIN turns t ON t.id = g.turn_id \
        JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND g.id = $2 AND q.body IS NOT NULL AND t.deleted_at IS NULL AND c.deleted_at IS NULL");
    /// The newest request with the same model ($3, $4), of earlier steps of this turn and of the nearest turns above:
    /// requests of another model differ from the first bytes on. The query starts with these few turns.
    BEFORE = "WITH RECURSIVE up (id, prev_turn_id, depth, n) AS ( \
            SELECT t.id, t.prev_turn_id, t.depth, CAST(0 AS BIGINT) FROM turns t WHERE t.id = $1 \
            UNION ALL \
            SELECT t.id, t.prev_turn_id, t.depth, up.n + 1 FROM up JOIN turns t ON t.id = up.prev_turn_id WHERE up.n < 16) \
        SELECT COALESCE(q.base_id, q.generation_id), c.epoch \
        FROM up CROSS JOIN generations g JOIN generation_requests q ON q.generation_id = g.id \
        JOIN turns t ON t.id = up.id JOIN chats c ON c.id = t.chat_id \
        WHERE g.turn_id = up.id AND g.provider = $3 AND g.model_requested = $4 AND (up.n > 0 OR g.step < $2) \
        ORDER BY up.depth DESC, g.step DESC LIMIT 1";
    WHOLE = "SELECT body, manifest FROM generation_requests WHERE generation_id = $1 AND base_id IS NULL";
}

/// The base request for the next one of a path, and the purge epoch of its chat: a chat that was purged and imported
/// again has the same ids, but maybe other bytes.
pub type RequestBaseId = (GenerationId, Option<Uuid>);

/// The call of a request: its turn, step, provider and model.
pub type RequestKey<'a> = (TurnId, u32, &'a str, &'a str);

/// A request that is stored whole.
#[derive(Debug, Clone)]
pub struct RequestBase {
    pub id: GenerationId,
    pub body: Bytes,
    pub manifest: Bytes,
}

/// The bytes between the first `head` and the last `tail` bytes of a base.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BodyDelta {
    head: usize,
    bytes: Bytes,
    tail: usize,
}

/// A request as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    base: Option<GenerationId>,
    body: BodyDelta,
    manifest: BodyDelta,
}

impl BodyDelta {
    fn from_whole(bytes: Bytes) -> Self {
        Self { head: 0, bytes, tail: 0 }
    }

    fn against_base(base: &[u8], whole: &Bytes) -> Self {
        let alike = ByteDelta::new(base, whole);
        Self { head: alike.head, bytes: whole.slice(alike.own_range(whole.len())), tail: alike.tail }
    }
}

impl StoredRequest {
    /// Returns a whole request: the body exactly as it is sent, without headers and so without an API key, and its
    /// manifest as JSON.
    pub fn from_whole(body: Bytes, manifest: Bytes) -> Self {
        Self { base: None, body: BodyDelta::from_whole(body), manifest: BodyDelta::from_whole(manifest) }
    }

    /// Returns the request as a delta against `base`, or whole if the delta is too large ([`is_delta_worthwhile`]).
    pub fn against_base(base: &RequestBase, body: Bytes, manifest: Bytes) -> Self {
        let (its_body, its_manifest) =
            (BodyDelta::against_base(&base.body, &body), BodyDelta::against_base(&base.manifest, &manifest));
        match is_delta_worthwhile(its_body.bytes.len() + its_manifest.bytes.len(), body.len() + manifest.len()) {
            true => Self { base: Some(base.id), body: its_body, manifest: its_manifest },
            false => Self::from_whole(body, manifest),
        }
    }

    /// Returns whether it may be the base of later requests.
    pub fn is_whole(&self) -> bool {
        self.base.is_none()
    }
}

/// The [`request_columns`] of a row.
pub(crate) struct RequestBodyRow {
    body: Option<Vec<u8>>,
    body_head: Option<i64>,
    body_tail: Option<i64>,
    base_body: Option<Vec<u8>>,
}
from_row!(RequestBodyRow { body, body_head, body_tail, base_body });

impl RequestBodyRow {
    /// Returns the body as it was sent.
    ///
    /// # Errors
    /// `Inconsistent` if it is missing, or its base is too short for it.
    pub fn reassemble(self, id: Uuid) -> Result<Vec<u8>, StoreError> {
        let own = self.body.ok_or_else(|| inconsistent(TABLE, "body", id, "it is missing"))?;
        let around = (self.body_head.unwrap_or_default(), self.body_tail.unwrap_or_default());
        join_delta(own, around, self.base_body, "body", id)
    }
}

/// The [`manifest_columns`] of a row, of a call that may have no request.
pub(crate) struct RequestManifestRow {
    manifest: Option<Vec<u8>>,
    manifest_head: Option<i64>,
    manifest_tail: Option<i64>,
    base_manifest: Option<Vec<u8>>,
}
from_row!(RequestManifestRow { manifest, manifest_head, manifest_tail, base_manifest });

impl RequestManifestRow {
    /// Returns the manifest; null if there is none.
    ///
    /// # Errors
    /// `Inconsistent` if its base is too short for it, or it is not JSON.
    pub fn reassemble(self, id: Uuid) -> Result<Value, StoreError> {
        const COLUMN: &str = "manifest";
        let Some(own) = self.manifest else { return Ok(Value::Null) };
        let around = (self.manifest_head.unwrap_or_default(), self.manifest_tail.unwrap_or_default());
        let whole = join_delta(own, around, self.base_manifest, COLUMN, id)?;
        serde_json::from_slice(&whole).map_err(|error| inconsistent(TABLE, COLUMN, id, error))
    }
}

/// Joins its own bytes with the head and the tail of its base.
fn join_delta(
    own: Vec<u8>,
    (head, tail): (i64, i64),
    base: Option<Vec<u8>>,
    column: &'static str,
    id: Uuid,
) -> Result<Vec<u8>, StoreError> {
    let Some(base) = base else { return Ok(own) };
    let whole = match (usize::try_from(head), usize::try_from(tail)) {
        (Ok(head), Ok(tail)) => ByteDelta { head, tail }.apply(&own, &base),
        _ => None,
    };
    whole.ok_or_else(|| inconsistent(TABLE, column, id, "its base is too short"))
}

/// Stores a request after the row of its call, as a deferred write. Without that row, and if the request is stored
/// already, nothing changes.
pub(crate) async fn defer_insert(tx: &mut Tx, id: GenerationId, request: &StoredRequest) -> Result<(), StoreError> {
    let StoredRequest { base, body, manifest } = request;
    let insert = tx.defer(INSERT).bind(id.uuid()).bind(base.map(GenerationId::uuid));
    let insert = insert.bind(body.bytes.to_vec()).bind(body.head as i64).bind(body.tail as i64);
    let insert = insert.bind(manifest.bytes.to_vec()).bind(manifest.head as i64).bind(manifest.tail as i64);
    insert.run().await.map(drop)
}

/// Returns the request exactly as it was sent.
pub async fn find(db: &Db, owner: UserId, generation: GenerationId) -> Result<Option<Vec<u8>>, StoreError> {
    let row: Option<RequestBodyRow> = with_pool!(db, |pool| sqlx::query_as(FIND)
        .bind(owner.uuid())
        .bind(generation.uuid())
        .fetch_optional(pool)
        .await?);
    row.map(|row| row.reassemble(generation.uuid())).transpose()
}

/// Returns the base against which the request of this call may be stored.
pub async fn find_base_id(
    db: &Db,
    (turn, step, provider, model): RequestKey<'_>,
) -> Result<Option<RequestBaseId>, StoreError> {
    let row: Option<(Uuid, Option<Uuid>)> = with_pool!(db, |pool| {
        let query = sqlx::query_as(BEFORE).bind(turn.uuid()).bind(i64::from(step)).bind(provider).bind(model);
        query.fetch_optional(pool).await?
    });
    Ok(row.map(|(id, epoch)| (id.into(), epoch)))
}

/// Returns a request that is stored whole; none if it is not.
pub async fn find_base(db: &Db, id: GenerationId) -> Result<Option<RequestBase>, StoreError> {
    let row: Option<(Vec<u8>, Vec<u8>)> =
        with_pool!(db, |pool| sqlx::query_as(WHOLE).bind(id.uuid()).fetch_optional(pool).await?);
    Ok(row.map(|(body, manifest)| RequestBase { id, body: body.into(), manifest: manifest.into() }))
}

/// Stores the request of an imported call, after those of earlier calls.
pub(crate) async fn insert_imported(
    tx: &mut Tx,
    id: GenerationId,
    of: RequestKey<'_>,
    (body, manifest): (&[u8], String),
) -> Result<(), StoreError> {
    let (body, manifest) = (Bytes::copy_from_slice(body), Bytes::from(manifest));
    let base = match is_too_short_for_delta(body.len() + manifest.len()) {
        true => None,
        false => find_base_in_tx(tx, of).await?,
    };
    let request = match base {
        Some(base) => StoredRequest::against_base(&base, body, manifest),
        None => StoredRequest::from_whole(body, manifest),
    };
    defer_insert(tx, id, &request).await?;
    tx.flush().await
}

/// Combines [`find_base_id`] and [`find_base`] inside a transaction.
async fn find_base_in_tx(
    tx: &mut Tx,
    (turn, step, provider, model): RequestKey<'_>,
) -> Result<Option<RequestBase>, StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query_as(BEFORE).bind(turn.uuid()).bind(i64::from(step)).bind(provider).bind(model);
        let before: Option<(Uuid, Option<Uuid>)> = query.fetch_optional(&mut *conn).await?;
        let Some((id, _)) = before else { return Ok(None) };
        let row: Option<(Vec<u8>, Vec<u8>)> = sqlx::query_as(WHOLE).bind(id).fetch_optional(&mut *conn).await?;
        Ok(row.map(|(body, manifest)| RequestBase { id: id.into(), body: body.into(), manifest: manifest.into() }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::limits;

    fn base(body: &str, manifest: &str) -> RequestBase {
        RequestBase {
            id: turnleaf_platform::ids::mint(),
            body: body.to_owned().into(),
            manifest: manifest.to_owned().into(),
        }
    }

    #[test]
    fn request_mostly_different_from_base_is_stored_whole() {
        let earlier = base(&"a".repeat(400_000), "[1]");
        let stored = |own: usize| {
            StoredRequest::against_base(
                &earlier,
                format!("{}{}", "a".repeat(400_000), "b".repeat(own)).into(),
                "[1,2]".into(),
            )
        };
        assert!(!stored(1_000).is_whole());
        assert_eq!(stored(1_000).base, Some(earlier.id));
        assert!(!stored(limits::REQUEST_STORED_BYTES - 10).is_whole());
        assert!(stored(limits::REQUEST_STORED_BYTES).is_whole());
        let short = base("aa", "[]");
        assert!(
            StoredRequest::against_base(&short, "aabbbbbb".into(), "[]".into()).is_whole(),
            "more than half of it is its own"
        );
    }

    #[test]
    fn too_short_base_is_reported_as_inconsistent() {
        for (head, tail) in [(3, 3), (6, 0), (0, 6), (-1, 0), (0, -1)] {
            let read = join_delta(b"x".to_vec(), (head, tail), Some(b"12345".to_vec()), "body", Uuid::nil());
            let error = read.unwrap_err();
            assert!(matches!(error, StoreError::Inconsistent { column: "body", .. }), "{error}");
        }
    }
}
