//! The journal table: the numbered events of each turn, as text that is served exactly as it was written. A row holds
//! one event, or the joined deltas of one commit.

pub(crate) mod joined;

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Map;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::deferred_write::{ChangedRows, insert_of_rows};
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, RowReader};
use crate::database::rows::{to_bigint, to_unsigned};
use turnleaf_domain::{Event, TurnId, UserId};

pub use self::joined::{EventRow, JoinedEvents, join};

const TABLE: &str = "turn_events";
/// Rows of values and [`IGNORE_CONFLICTS`] follow.
const INSERT: &str = "INSERT INTO turn_events (turn_id, seq, event) ";
/// The number of columns of [`INSERT`].
const COLUMNS: usize = 3;
/// The caller compares rows that were not inserted: a repeated write finds its own, another writer's differ.
pub(crate) const IGNORE_CONFLICTS: &str = " ON CONFLICT DO NOTHING";

sql! {
    /// From the row on that begins at the number or before it, because joined deltas have the number of the first.
    AFTER = "SELECT e.seq, e.event FROM turn_events e JOIN turns t ON t.id = e.turn_id JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.deleted_at IS NULL AND c.deleted_at IS NULL AND e.turn_id = $2 \
        AND e.seq >= COALESCE((SELECT MAX(b.seq) FROM turn_events b WHERE b.turn_id = $2 AND b.seq <= $3), 0) \
        ORDER BY e.seq LIMIT $4";
    UP_TO = "SELECT seq, event FROM turn_events WHERE turn_id = $1 AND seq <= $2 ORDER BY seq";
    FROM_ROW = "SELECT seq, event FROM turn_events WHERE turn_id = $1 AND seq >= $2 ORDER BY seq";
    LAST_ROW = "SELECT seq, event FROM turn_events WHERE turn_id = $1 ORDER BY seq DESC LIMIT 1";
    /// The query starts with the events, of which few are kept, and not with the turns, of which all are.
    DELETE_OLD = "DELETE FROM turn_events WHERE turn_id IN (SELECT e.turn_id \
        FROM (SELECT DISTINCT turn_id FROM turn_events) e CROSS JOIN turns t \
        WHERE t.id = e.turn_id AND t.completed_at < $1 LIMIT $2)";
}

/// Events of a turn, in order, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPage {
    pub events: Vec<(u64, String)>,
    /// True if later rows may exist.
    pub has_more: bool,
}

/// The numbers of rows per insert. A few fixed sizes keep the number of prepared statements low; the largest stays
/// below the parameter limits of the databases.
const CHUNKS: [usize; 7] = [256, 64, 16, 8, 4, 2, 1];

/// Splits rows into slices of the fixed sizes, in order.
pub(crate) fn fixed_chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = CHUNKS.into_iter().find(|size| *size <= rows.len())?;
        let (chunk, rest) = rows.split_at(size);
        rows = rest;
        Some(chunk)
    })
}

/// Appends rows of any number of turns. Idempotent: an event that is stored already with the same bytes is left
/// unchanged, even if it was joined with others, because the acknowledgement of an earlier commit may have been lost.
///
/// # Errors
/// `NotUnique` when a turn has another event with this number: two writers believe that they own it.
pub async fn append(tx: &mut Tx, rows: &[EventRow<'_>]) -> Result<(), StoreError> {
    let inserted = defer_append(tx, rows).await?;
    complete_append(tx, rows, &inserted).await
}

/// Works like [`append`], as deferred writes, which [`complete_append`] must follow.
pub async fn defer_append(tx: &mut Tx, rows: &[EventRow<'_>]) -> Result<Vec<ChangedRows>, StoreError> {
    let mut inserted = Vec::new();
    for chunk in fixed_chunks(rows) {
        inserted.push(defer_insert(tx, chunk).await?);
    }
    Ok(inserted)
}

/// Stores those events of appended rows that were not inserted with them, because others have their numbers.
///
/// # Errors
/// As of [`append`].
pub async fn complete_append(tx: &mut Tx, rows: &[EventRow<'_>], inserted: &[ChangedRows]) -> Result<(), StoreError> {
    for (chunk, inserted) in fixed_chunks(rows).zip(inserted) {
        if tx.rows_affected(*inserted).await? < chunk.len() as u64 {
            for row in chunk {
                append_missing(tx, *row).await?;
            }
        }
    }
    Ok(())
}

/// Inserts one batch of a fixed size.
async fn defer_insert(tx: &mut Tx, rows: &[EventRow<'_>]) -> Result<ChangedRows, StoreError> {
    let mut insert = tx.defer(insert_of_rows(INSERT, rows.len(), COLUMNS, IGNORE_CONFLICTS));
    for row in rows {
        insert = insert.bind(row.turn_id.uuid()).bind(to_bigint(row.seq)).bind(row.event.to_owned());
    }
    insert.run().await
}

/// Stores those events of a row that are not stored yet.
async fn append_missing(tx: &mut Tx, row: EventRow<'_>) -> Result<(), StoreError> {
    let stored: Vec<(i64, String)> = in_tx!(&mut *tx, |conn| {
        sqlx::query_as(FROM_ROW).bind(row.turn_id.uuid()).bind(to_bigint(row.seq)).fetch_all(conn).await?
    });
    if stored.first().is_some_and(|(seq, event)| to_unsigned(*seq) == row.seq && event == row.event) {
        return Ok(());
    }
    let stored: HashMap<u64, String> =
        stored.into_iter().filter_map(|(seq, event)| joined::expand(to_unsigned(seq), event)).flatten().collect();
    let events = joined::expand(row.seq, row.event.to_owned()).ok_or(StoreError::NotUnique)?;
    let is_taken = |(seq, event): &(u64, String)| stored.get(seq).is_some_and(|stored| stored != event);
    // A row of this number that is not one of these events is damaged, or another writer's.
    if !stored.contains_key(&row.seq) || events.iter().any(is_taken) {
        return Err(StoreError::NotUnique);
    }
    let missing = events.iter().filter(|(seq, _)| !stored.contains_key(seq));
    let missing = join(missing.map(|(seq, event)| EventRow { turn_id: row.turn_id, seq: *seq, event }));
    for row in &missing {
        let inserted = defer_insert(tx, &[row.row()]).await?;
        if tx.rows_affected(inserted).await? == 0 {
            return Err(StoreError::NotUnique);
        }
    }
    Ok(())
}

/// Returns the events of this owner's turn after a number, from at most `limit` rows.
pub async fn list_after(db: &Db, owner: UserId, turn: TurnId, seq: u64, limit: u32) -> Result<EventPage, StoreError> {
    let rows: Vec<(i64, Lossy<String>)> = with_pool!(db, |pool| {
        sqlx::query_as(AFTER)
            .bind(owner.uuid())
            .bind(turn.uuid())
            .bind(to_bigint(seq))
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?
    });
    let has_more = rows.len() == limit as usize;
    let mut page = EventPage { events: Vec::with_capacity(rows.len()), has_more };
    for (first, event) in rows {
        let first = to_unsigned(first);
        // An empty string, which is no JSON, replaces unreadable text.
        let event = event.unwrap_or_log(TABLE, "event", turn.uuid(), String::new);
        let events = joined::expand(first, event).unwrap_or_else(|| vec![(first, String::new())]);
        // Events that were stored again, joined with others, are in two rows.
        let after = page.events.last().map_or(seq, |(last, _)| *last);
        page.events.extend(events.into_iter().filter(|(seq, _)| *seq > after));
    }
    Ok(page)
}

/// Returns whether this journal line parses as an event with the shape of its type.
pub fn is_readable(event: &str) -> bool {
    serde_json::from_str::<Event>(event).is_ok_and(|event| !event.is_malformed())
}

/// Returns the number of a turn's newest event; 0 if there is none, for example after [`delete_old`].
pub async fn last_seq(db: &Db, turn: TurnId) -> Result<u64, StoreError> {
    let last: Option<(i64, Lossy<String>)> =
        with_pool!(db, |pool| sqlx::query_as(LAST_ROW).bind(turn.uuid()).fetch_optional(pool).await?);
    let Some((first, event)) = last else { return Ok(0) };
    let first = to_unsigned(first);
    let events = event.into_result().ok().and_then(|event| joined::expand(first, event));
    Ok(events.and_then(|events| events.last().map(|(seq, _)| *seq)).unwrap_or(first))
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
pub(crate) async fn parse_up_to(
    db: &Db,
    turn: TurnId,
    seq: u64,
    damages: &mut Vec<Damage>,
) -> Result<Vec<(u64, Event)>, StoreError> {
    let rows: Vec<EventColumns> =
        with_pool!(db, |pool| sqlx::query_as(UP_TO).bind(turn.uuid()).bind(to_bigint(seq)).fetch_all(pool).await?);
    let mut events = parse_rows(turn.uuid(), rows, damages);
    events.retain(|(of, _)| *of <= seq);
    Ok(events)
}

/// The number and the text of a row, as far as they can be read.
pub(crate) type EventColumns = (Lossy<i64>, Lossy<String>);

/// Parses the events of a turn's rows. Unreadable values are recorded in `damages`.
pub(crate) fn parse_rows(turn: Uuid, rows: Vec<EventColumns>, damages: &mut Vec<Damage>) -> Vec<(u64, Event)> {
    let mut reader = RowReader { table: TABLE, id: turn, damages };
    let unreadable = || Event::Unknown(Map::new());
    let mut events = Vec::with_capacity(rows.len());
    for (seq, event) in rows {
        let Some(seq) = reader.value("seq", seq).map(to_unsigned) else { continue };
        let Some(text) = reader.value("event", event) else {
            events.push((seq, unreadable()));
            continue;
        };
        let Some(joined) = joined::expand(seq, text) else {
            reader.note("event", format_args!("the lengths of the events from {seq} are not those of their text"));
            events.push((seq, unreadable()));
            continue;
        };
        let after = events.last().map_or(0, |(last, _)| *last);
        for (seq, text) in joined.into_iter().filter(|(seq, _)| *seq > after) {
            let read: Option<Event> = reader.json("event", &text);
            if read.as_ref().is_some_and(Event::is_malformed) {
                reader.note("event", format_args!("event {seq} has not the shape of its type"));
            }
            events.push((seq, read.unwrap_or_else(unreadable)));
        }
    }
    events
}
