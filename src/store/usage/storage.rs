//! Stored bytes of a person, for the quota: chats with everything that belongs to them, files, and documents.
//!
//! A turn is counted once, after its end, into `turns.stored_bytes`; the sum of a person is an index scan. Every
//! change to the rows of an ended turn invalidates its count (`invalidate_turn_size`). The journal and arriving
//! pieces of bodies are temporary and are summed directly. Indexes and row overhead are not counted; deleted items
//! are, until they are purged.

use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_readable};
use crate::database::rows::to_unsigned;
use turnleaf_domain::{TurnId, UserId};

/// The bytes of turn `t` without temporary data.
macro_rules! bytes_of_turn {
    () => {
        "CAST(octet_length(t.content_text) + COALESCE(octet_length(CAST(t.error AS TEXT)), 0) \
        + COALESCE((SELECT SUM(octet_length(b.content) + octet_length(b.metadata)) \
            FROM turn_blocks b WHERE b.turn_id = t.id), 0) \
        + COALESCE((SELECT SUM(COALESCE(octet_length(g.raw_response), 0) + COALESCE(octet_length(CAST(g.error AS TEXT)), 0) \
                + COALESCE(octet_length(q.body), 0) + COALESCE(octet_length(q.manifest), 0)) \
            FROM generations g LEFT JOIN generation_requests q ON q.generation_id = g.id \
            WHERE g.turn_id = t.id), 0) AS BIGINT)"
    };
}
pub(crate) use bytes_of_turn;

/// Locks turns for counting: a concurrent change is either included in the count or invalidates it afterwards.
/// `$locking` ends the selection of the rows.
macro_rules! reserve_turns {
    ($locking:literal) => {
        concat!(
            "UPDATE turns SET stored_bytes = 0 WHERE id IN (SELECT u.id FROM turns u \
                WHERE u.stored_bytes IS NULL AND u.completed_at IS NOT NULL LIMIT $1",
            $locking,
            ") RETURNING id"
        )
    };
}

/// On PostgreSQL a count never waits for a row while it holds others, so that it cannot deadlock with a transaction
/// that locks them in another order. Locked rows are counted the next time. SQLite has one writer and no row locks.
const RESERVE_UNLOCKED: &str = reserve_turns!(" FOR UPDATE SKIP LOCKED");

sql! {
    RESERVE = reserve_turns!("");
    COUNT = concat!("UPDATE turns AS t SET stored_bytes = ", bytes_of_turn!(), " WHERE t.id = $1");
    RECOUNT = "UPDATE turns SET stored_bytes = NULL WHERE id = $1";
    RECOUNT_OF_CALL = "UPDATE turns SET stored_bytes = NULL WHERE id = (SELECT turn_id FROM generations WHERE id = $1)";
    COUNTED = concat!("SELECT CAST(COALESCE(", bounded_sum!("t.stored_bytes"), ", 0) AS BIGINT) FROM chats c \
        JOIN turns t ON t.chat_id = c.id WHERE c.owner_id = $1");
    UNCOUNTED = concat!("SELECT CAST(COALESCE(SUM(", bytes_of_turn!(), "), 0) AS BIGINT) FROM (SELECT u.id FROM turns u \
            WHERE u.stored_bytes IS NULL AND u.completed_at IS NOT NULL LIMIT $2) n \
        JOIN turns t ON t.id = n.id JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1");
    JOURNAL = "SELECT CAST(COALESCE(SUM(octet_length(e.event)), 0) AS BIGINT) FROM turn_events e \
        JOIN turns t ON t.id = e.turn_id JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1";
    PIECES = "SELECT CAST(COALESCE(SUM(octet_length(k.bytes)), 0) AS BIGINT) FROM generation_chunks k \
        JOIN generations g ON g.id = k.generation_id JOIN turns t ON t.id = g.turn_id \
        JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1";
    QUEUED = "SELECT CAST(COALESCE(SUM(octet_length(q.request)), 0) AS BIGINT) FROM queued_messages q \
        WHERE q.owner_id = $1 AND q.turn_id IS NULL";
    PROJECTS = "SELECT CAST(COALESCE(SUM(octet_length(p.instructions)), 0) AS BIGINT) FROM projects p \
        WHERE p.owner_id = $1";
    TITLES = "SELECT CAST(COALESCE(SUM(octet_length(r.body) + octet_length(r.manifest) \
        + COALESCE(octet_length(r.raw_response), 0) + COALESCE(octet_length(CAST(r.error AS TEXT)), 0)), 0) AS BIGINT) \
        FROM title_requests r WHERE r.owner_id = $1";
    SHARES = "SELECT CAST(COALESCE(SUM(octet_length(s.snapshot) + COALESCE(octet_length(s.turns), 0)), 0) AS BIGINT) \
        FROM shares s WHERE s.owner_id = $1";
    /// A blob counts once per owner, whatever its names and forms.
    FILES = concat!("SELECT CAST(COALESCE(", bounded_sum!("b.byte_count"), ", 0) AS BIGINT) FROM blobs b WHERE b.sha256 IN ( \
        SELECT u.sha256 FROM uploads u WHERE u.owner_id = $1 \
        UNION SELECT f.is_in FROM uploads u JOIN blob_forms f ON f.sha256 = u.sha256 WHERE u.owner_id = $1 \
        UNION SELECT v.origin FROM document_versions v JOIN documents d ON d.id = v.document_id WHERE d.owner_id = $1 \
        UNION SELECT r.sha256 FROM block_blobs r JOIN turn_blocks k ON k.id = r.block_id \
            JOIN chats c ON c.id = k.chat_id WHERE c.owner_id = $1 \
        UNION SELECT n.sha256 FROM share_blobs n JOIN shares s ON s.id = n.share_id WHERE s.owner_id = $1)");
    DOCUMENTS = concat!("SELECT CAST(COALESCE(", bounded_sum!("v.byte_count"), ", 0) AS BIGINT) FROM document_versions v \
        JOIN documents d ON d.id = v.document_id WHERE d.owner_id = $1");
}

/// The number of turns that are counted per transaction, during which other writes wait.
const TURNS_AT_A_TIME: i64 = 200;
/// The number of uncounted turns that a measurement adds up.
const UNCOUNTED_TURNS: i64 = 2_000;

/// The bytes that a person stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredBytes {
    /// Chats: messages, also queued ones, replies, requests, raw bodies and journals; the instructions of projects; the
    /// snapshots of shares.
    pub chats: u64,
    /// Uploads and files of tools, with their other forms.
    pub files: u64,
    /// The texts of documents, all versions.
    pub documents: u64,
}

impl StoredBytes {
    pub fn total(self) -> u64 {
        self.chats.saturating_add(self.files).saturating_add(self.documents)
    }
}

/// Counts a batch of ended turns; returns false when none are left.
pub async fn count_pending_turns(db: &Db) -> Result<bool, StoreError> {
    let mut tx = db.begin().await?;
    let reserve = if matches!(tx, Tx::Postgres(_)) { RESERVE_UNLOCKED } else { RESERVE };
    let is_more = in_tx!(&mut tx, |conn| {
        let turns: Vec<Readable<(Uuid,)>> = sqlx::query_as(reserve).bind(TURNS_AT_A_TIME).fetch_all(&mut *conn).await?;
        let is_more = !turns.is_empty();
        // A turn with an unreadable id is locked, and so counts as 0 bytes.
        for (turn,) in keep_readable(turns, "turns") {
            sqlx::query(COUNT).bind(turn).execute(&mut *conn).await?;
        }
        is_more
    });
    tx.commit().await?;
    Ok(is_more)
}

/// Invalidates the size of an ended turn whose rows change.
pub async fn invalidate_turn_size(tx: &mut Tx, turn: TurnId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(RECOUNT).bind(turn.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Invalidates the size of the turn that a call belongs to.
pub(crate) async fn invalidate_turn_size_of_call(tx: &mut Tx, generation: Uuid) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(RECOUNT_OF_CALL).bind(generation).execute(conn).await?;
    });
    Ok(())
}

/// Measures the bytes that a person stores. Right after an upgrade, while older turns are still being counted, the
/// result is too low.
pub async fn measure(db: &Db, owner: UserId) -> Result<StoredBytes, StoreError> {
    let owner = owner.uuid();
    let sum = |text: &'static str| async move {
        let sum: i64 = with_pool!(db, |pool| sqlx::query_scalar(text).bind(owner).fetch_one(pool).await?);
        Ok::<_, StoreError>(to_unsigned(sum))
    };
    let uncounted: i64 = with_pool!(db, |pool| {
        sqlx::query_scalar(UNCOUNTED).bind(owner).bind(UNCOUNTED_TURNS).fetch_one(pool).await?
    });
    let turns = sum(COUNTED).await? + to_unsigned(uncounted);
    let chats = turns + sum(JOURNAL).await? + sum(PIECES).await? + sum(QUEUED).await? + sum(PROJECTS).await?;
    let chats = chats + sum(TITLES).await? + sum(SHARES).await?;
    Ok(StoredBytes { chats, files: sum(FILES).await?, documents: sum(DOCUMENTS).await? })
}
