//! The journal of a turn under repair: unreadable rows are rebuilt from a readable journal, and a journal that no
//! longer folds to the rows is moved into quarantine, line by line.

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::outcome::{ColumnChange, RepairedValue, ValueRepair};
use super::quarantine::{NewQuarantineEntry, ValueOwners, put};
use crate::database::db::{Db, Tx};
use crate::database::dialect;
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, Readable, keep_readable, time_of_id};
use crate::database::rows::{to_json, to_unsigned, to_word};
use crate::fsck::values::CheckedColumn;
use crate::turns::events::{self, EventColumns};
use crate::turns::replay::JournalReplay;
use turnleaf_domain::{Block, Failure, Role, Turn, TurnLocation};

const TABLE: &str = "turn_events";

sql! {
    LINES = "SELECT seq, event FROM turn_events WHERE turn_id = $1 ORDER BY seq";
    ROW = "SELECT chat_id, ord, last_event_seq, created_at, completed_at IS NOT NULL FROM turns WHERE id = $1";
    BELONGS = "SELECT c.owner_id, c.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1";
    /// Lines without a turn, and lines after the end of one.
    STRAY = "SELECT DISTINCT e.turn_id FROM turn_events e LEFT JOIN turns t ON t.id = e.turn_id \
        WHERE t.id IS NULL OR (t.completed_at IS NOT NULL AND e.seq > t.last_event_seq)";
    LAST_SEQ = "SELECT last_event_seq FROM turns WHERE id = $1";
    DELETE_FROM = "DELETE FROM turn_events WHERE turn_id = $1 AND seq >= $2";
}

/// The result of replaying a journal.
pub(super) enum JournalRebuild {
    /// The turn has no journal: it is deleted some time after the turn's end.
    NoJournal,
    /// The turn as folded from all lines.
    Turn(Box<Turn>),
    /// A line is unreadable and is repaired by itself. These blocks are complete in other lines.
    AroundUnreadableLine(Vec<Block>),
    /// Lines are missing or contradict each other. The blocks are as above.
    AroundGaps(Vec<Block>),
}

type JournaledTurnRow = (Lossy<Uuid>, i64, i64, Lossy<DateTime<Utc>>, bool);

/// Replays the journal of a finished turn.
pub(super) async fn rebuild(tx: &mut Tx, turn: Uuid) -> Result<JournalRebuild, StoreError> {
    let (row, lines): (Option<JournaledTurnRow>, Vec<EventColumns>) = in_tx!(tx, |conn| {
        let row = sqlx::query_as(ROW).bind(turn).fetch_optional(&mut *conn).await?;
        (row, sqlx::query_as(LINES).bind(turn).fetch_all(&mut *conn).await?)
    });
    let Some((chat, ord, last, created_at, true)) = row else { return Ok(JournalRebuild::NoJournal) };
    let mut damages: Vec<Damage> = Vec::new();
    let mut events = events::parse_rows(turn, lines, &mut damages);
    events.retain(|(seq, _)| *seq <= to_unsigned(last));
    if events.is_empty() {
        return Ok(JournalRebuild::NoJournal);
    }
    let chat = chat.into_result().unwrap_or_default();
    let created_at = created_at.into_result().unwrap_or_else(|_| time_of_id(turn));
    let row = Turn { last_event_seq: to_unsigned(last), ..turn_before_events(turn, chat, ord, created_at) };
    let replay = JournalReplay::new(&row, &events);
    let intact = |replay: JournalReplay<'_>| replay.intact_blocks().cloned().collect();
    if !damages.is_empty() {
        return Ok(JournalRebuild::AroundUnreadableLine(intact(replay)));
    }
    if !replay.is_whole() {
        return Ok(JournalRebuild::AroundGaps(intact(replay)));
    }
    let turn = replay.into_turn();
    let is_over = turn.status.is_terminal();
    Ok(if is_over { JournalRebuild::Turn(Box::new(turn)) } else { JournalRebuild::AroundGaps(turn.blocks) })
}

/// Returns a turn before its first event. Values that no event changes are placeholders.
fn turn_before_events(id: Uuid, chat: Uuid, ord: i64, created_at: DateTime<Utc>) -> Turn {
    let location = TurnLocation {
        chat_id: chat.into(),
        ord,
        depth: 0,
        branch_id: Uuid::nil().into(),
        exchange_id: Uuid::nil().into(),
        prev_turn_id: None,
    };
    Turn::new(id.into(), location, Role::Assistant, created_at)
}

/// Returns the value of a damaged column from the journal; none if the journal does not have it.
pub(super) fn rebuilt_value(
    rebuilt: &JournalRebuild,
    table: &str,
    row: Uuid,
    column: &CheckedColumn,
) -> Option<ColumnChange> {
    let blocks = match rebuilt {
        JournalRebuild::NoJournal => return None,
        JournalRebuild::Turn(turn) if table == "turns" => return turn_value(turn, column.name),
        JournalRebuild::Turn(turn) => &turn.blocks,
        JournalRebuild::AroundUnreadableLine(blocks) | JournalRebuild::AroundGaps(blocks) => blocks,
    };
    let is_row = |block: &&Block| table == "turn_blocks" && block.id.uuid() == row;
    blocks.iter().find(is_row).and_then(|block| block_value(block, column.name))
}

fn turn_value(turn: &Turn, column: &str) -> Option<ColumnChange> {
    let text = |value: Option<String>| value.map_or(ColumnChange::Null, ColumnChange::Text);
    Some(match column {
        "status" => ColumnChange::Text(to_word(turn.status)),
        "provider_used" => text(turn.provider_used.clone()),
        "model_used" => text(turn.model_used.clone()),
        "error" => text(turn.error.as_ref().and_then(|error: &Failure| json(error))),
        "started_at" => text(turn.started_at.map(|at| at.to_rfc3339())),
        "completed_at" => text(Some(turn.completed_at?.to_rfc3339())),
        _ => return None,
    })
}

fn block_value(block: &Block, column: &str) -> Option<ColumnChange> {
    // Only SQLite has unreadable ids. The subquery yields null if the referenced row is gone.
    let id = |table: &str, id: Option<Uuid>| match id {
        Some(id) => ColumnChange::Sql(format!("(SELECT n.id FROM {table} n WHERE n.id = X'{}')", id.simple())),
        None => ColumnChange::Null,
    };
    Some(match column {
        "block_type" => ColumnChange::Text(block.content.block_type().to_owned()),
        "author" => ColumnChange::Text(to_word(block.author)),
        "state" => ColumnChange::Text(to_word(block.state)),
        "content" => ColumnChange::Text(json(&block.content)?),
        "metadata" => ColumnChange::Text(json(&block.block_metadata)?),
        "parent_block_id" => id("turn_blocks", block.parent_block_id.map(|id| id.uuid())),
        "generation_id" => id("generations", block.generation_id.map(|id| id.uuid())),
        "created_at" => ColumnChange::Text(block.created_at.to_rfc3339()),
        _ => return None,
    })
}

fn json(value: &impl Serialize) -> Option<String> {
    to_json(value, TABLE, "event").ok()
}

/// Moves the lines of a turn's journal from a number on into quarantine.
pub(super) async fn quarantine_lines(
    db: &Db,
    tx: &mut Tx,
    turn: Uuid,
    first: i64,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<Option<ValueRepair>, StoreError> {
    let text = format!(
        "SELECT seq, {} FROM turn_events WHERE turn_id = $1 AND seq >= $2 ORDER BY seq",
        dialect::column_bytes_expr(db, "event")
    );
    let lines: Vec<(i64, Vec<u8>)> =
        in_tx!(&mut *tx, |conn| sqlx::query_as(AssertSqlSafe(text)).bind(turn).bind(first).fetch_all(conn).await?);
    let belongs: Option<(Lossy<Uuid>, Uuid)> =
        in_tx!(&mut *tx, |conn| sqlx::query_as(BELONGS).bind(turn).fetch_optional(conn).await?);
    let of = belongs.map_or_else(ValueOwners::default, |(owner, chat)| ValueOwners {
        owner: owner.into_result().ok(),
        chat: Some(chat),
        turn: Some(turn),
        document: None,
    });
    let mut entry = None;
    for (seq, bytes) in &lines {
        let row = format!("{turn} {seq}");
        let of_line = NewQuarantineEntry { table: TABLE, column: "event", row: &row, bytes, reason };
        let put = put(tx, &of_line, of, now).await?;
        entry.get_or_insert(put);
    }
    in_tx!(tx, |conn| sqlx::query(DELETE_FROM).bind(turn).bind(first).execute(conn).await.map(drop))?;
    let (Some(entry), Some((from, _)), Some((to, _))) = (entry, lines.first(), lines.last()) else { return Ok(None) };
    Ok(Some(ValueRepair {
        table: TABLE,
        column: "event",
        row: if from == to { format!("{turn} {from}") } else { format!("{turn} {from} to {to}") },
        outcome: Ok(RepairedValue { quarantine_id: entry, change: format!("removed: {reason}") }),
    }))
}

/// Moves orphaned lines into quarantine: their turn is missing, or ended before them. `is_certain` says whether a
/// turn that is not found does not exist.
pub(super) async fn quarantine_stray_lines(
    db: &Db,
    is_certain: bool,
    now: DateTime<Utc>,
) -> Result<Vec<ValueRepair>, StoreError> {
    let turns: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(STRAY).fetch_all(pool).await?);
    let mut repairs = Vec::new();
    for (turn,) in keep_readable(turns, TABLE) {
        let mut tx = db.begin().await?;
        let last: Option<i64> =
            in_tx!(&mut tx, |conn| sqlx::query_scalar(LAST_SEQ).bind(turn).fetch_optional(conn).await?);
        let (first, reason) = match last {
            Some(last) => (last.saturating_add(1), "the turn had ended before"),
            None if is_certain => (i64::MIN, "the turn is missing"),
            None => continue,
        };
        repairs.extend(quarantine_lines(db, &mut tx, turn, first, reason, now).await?);
        tx.commit().await?;
    }
    Ok(repairs)
}
