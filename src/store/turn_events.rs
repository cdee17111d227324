//! The journal table: the numbered events of each turn, as text that is served exactly as it was written.

use chrono::{DateTime, Utc};
use serde_json::Map;
use sqlx::QueryBuilder;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::readable::{Damage, Lossy, RowReader};
use crate::rows::{to_bigint, to_unsigned};
use turnleaf_domain::{Event, TurnId, UserId};

const TABLE: &str = "turn_events";
/// Rows of values and [`IGNORE_CONFLICTS`] follow.
const INSERT: &str = "INSERT INTO turn_events (turn_id, seq, event) ";
/// The caller compares rows that were not inserted: a repeated write finds its own, another writer's differ.
pub(super) const IGNORE_CONFLICTS: &str = " ON CONFLICT DO NOTHING";

sql! {
    AFTER = "SELECT e.seq, e.event FROM turn_events e JOIN turns t ON t.id = e.turn_id JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND e.turn_id = $2 AND e.seq > $3 ORDER BY e.seq LIMIT $4";
    UP_TO = "SELECT seq, event FROM turn_events WHERE turn_id = $1 AND seq <= $2 ORDER BY seq";
    STORED = "SELECT event FROM turn_events WHERE turn_id = $1 AND seq = $2";
    LAST_SEQ = "SELECT MAX(seq) FROM turn_events WHERE turn_id = $1";
    /// The query starts with the events, of which few are kept, and not with the turns, of which all are.
    DELETE_OLD = "DELETE FROM turn_events WHERE turn_id IN (SELECT e.turn_id \
        FROM (SELECT DISTINCT turn_id FROM turn_events) e CROSS JOIN turns t \
        WHERE t.id = e.turn_id AND t.completed_at < $1 LIMIT $2)";
}

/// An event to append; its JSON is stored byte for byte.
#[derive(Debug, Clone, Copy)]
pub struct EventRow<'a> {
    pub turn_id: TurnId,
    pub seq: u64,
    pub event: &'a str,
}

/// The numbers of rows per insert. A few fixed sizes keep the number of prepared statements low; the largest stays
/// below the parameter limits of the databases.
const CHUNKS: [usize; 5] = [256, 64, 16, 4, 1];

/// Splits rows into slices of the fixed sizes, in order.
pub(super) fn fixed_chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = CHUNKS.into_iter().find(|size| *size <= rows.len())?;
        let (chunk, rest) = rows.split_at(size);
        rows = rest;
        Some(chunk)
    })
}

/// Appends events of any number of turns. Idempotent: an event that is stored already with the same bytes is left
/// unchanged, because the acknowledgement of an earlier commit may have been lost.
///
/// # Errors
/// `NotUnique` when a turn has another event with this number: two writers believe that they own it.
pub async fn append(tx: &mut Tx, events: &[EventRow<'_>]) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        for chunk in fixed_chunks(events) {
            let mut query = QueryBuilder::new(INSERT);
            query.push_values(chunk, |mut row, event| {
                row.push_bind(event.turn_id.uuid()).push_bind(to_bigint(event.seq)).push_bind(event.event);
            });
            let stored = query.push(IGNORE_CONFLICTS).build().execute(&mut *conn).await?.rows_affected();
            if stored == chunk.len() as u64 {
                continue;
            }
            for event in chunk {
                let query = sqlx::query_scalar(STORED).bind(event.turn_id.uuid()).bind(to_bigint(event.seq));
                let stored: Option<String> = query.fetch_optional(&mut *conn).await?;
                if stored.as_deref() != Some(event.event) {
                    return Err(StoreError::NotUnique);
                }
            }
        }
    });
    Ok(())
}

/// Returns the events of this owner's turn after a number, at most `limit`.
pub async fn list_after(
    db: &Db,
    owner: UserId,
    turn: TurnId,
    seq: u64,
    limit: u32,
) -> Result<Vec<(u64, String)>, StoreError> {
    let rows: Vec<(i64, Lossy<String>)> = with_pool!(db, |pool| {
        sqlx::query_as(AFTER)
            .bind(owner.uuid())
            .bind(turn.uuid())
            .bind(to_bigint(seq))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
    });
    // An empty string, which is no JSON, replaces unreadable text.
    let text = |event: Lossy<String>| event.unwrap_or_log(TABLE, "event", turn.uuid(), String::new);
    Ok(rows.into_iter().map(|(seq, event)| (to_unsigned(seq), text(event))).collect())
}

/// Returns whether this journal line parses as an event with the shape of its type.
pub fn is_readable(event: &str) -> bool {
    serde_json::from_str::<Event>(event).is_ok_and(|event| !event.is_malformed())
}

/// Returns the number of a turn's newest event; 0 if there is none, for example after [`delete_old`].
pub async fn last_seq(db: &Db, turn: TurnId) -> Result<u64, StoreError> {
    let last: Option<i64> =
        with_pool!(db, |pool| sqlx::query_scalar(LAST_SEQ).bind(turn.uuid()).fetch_one(pool).await?);
    Ok(last.map_or(0, to_unsigned))
}

/// Deletes the journals of turns that ended before `before`, at most `limit` turns at a time, and returns the number
/// of deleted events: 0 means that none are left. The blocks remain; a follower with an old cursor gets a snapshot.
pub async fn delete_old(tx: &mut Tx, before: DateTime<Utc>, limit: u32) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query(DELETE_OLD).bind(before).bind(i64::from(limit)).execute(conn).await?.rows_affected()
    }))
}

/// Returns the parsed events of a turn up to a number, for folding. An unreadable event is replaced by one without
/// effect, so that later ones keep their numbers; one with an unreadable number is missing.
pub(super) async fn parse_up_to(
    db: &Db,
    turn: TurnId,
    seq: u64,
    damages: &mut Vec<Damage>,
) -> Result<Vec<(u64, Event)>, StoreError> {
    let rows: Vec<(Lossy<i64>, Lossy<String>)> =
        with_pool!(db, |pool| sqlx::query_as(UP_TO).bind(turn.uuid()).bind(to_bigint(seq)).fetch_all(pool).await?);
    let mut reader = RowReader { table: TABLE, id: turn.uuid(), damages };
    let read = |(seq, event): (Lossy<i64>, Lossy<String>)| {
        let seq = reader.value("seq", seq)?;
        let read: Option<Event> = reader.value("event", event).and_then(|text| reader.json("event", &text));
        if read.as_ref().is_some_and(Event::is_malformed) {
            reader.note("event", format_args!("event {seq} has not the shape of its type"));
        }
        Some((to_unsigned(seq), read.unwrap_or_else(|| Event::Unknown(Map::new()))))
    };
    Ok(rows.into_iter().filter_map(read).collect())
}
