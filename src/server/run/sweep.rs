//! The sweep at start: every turn that an earlier process left running ends as `server_restarted`, with its partial
//! blocks and raw bytes kept (reliability.md 1.3 rule 7).

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::ending::{Ending, Spent, closing};
use crate::domain::{BlockId, Event, Failure, FailureKind, Turn, Usage, fold, limits};
use crate::server::platform::clock::Clock;
use crate::server::platform::ids;
use crate::server::store::generations::{GenerationEnd, GenerationStatus, raw};
use crate::server::store::turn_blocks::BlockOf;
use crate::server::store::turn_events::EventRow;
use crate::server::store::{Db, StoreError, generations, spending, turn_blocks, turn_events, turns};

/// Ends all unfinished turns; gives their number. One transaction a turn, so that a crash in the middle only leaves
/// fewer to do.
pub async fn sweep(db: &Db, clock: &Arc<dyn Clock>) -> Result<usize, StoreError> {
    let unfinished = turns::unfinished(db).await?;
    let mut ended = 0;
    for turn in &unfinished {
        match end(db, clock, turn.clone(), &restarted()).await {
            Ok(()) => ended += 1,
            // A damaged or full disk is a reason not to start; one turn that cannot be ended is not.
            Err(error) if error.is_damaged() || error.is_busy() || matches!(error, StoreError::Full) => {
                return Err(error);
            }
            Err(error) => tracing::error!(turn = %turn.id, %error, "a turn of an earlier process could not be ended"),
        }
    }
    Ok(ended)
}

/// How a turn ends whose process is gone.
fn restarted() -> Ending {
    Ending::Failed(Failure::new(FailureKind::ServerRestarted, ""))
}

/// Ends one turn that nothing drives.
pub(super) async fn end(db: &Db, clock: &Arc<dyn Clock>, mut turn: Turn, ending: &Ending) -> Result<(), StoreError> {
    let now = clock.now();
    let (usage, cost) = spending::of_turn(db, turn.id).await?;
    let cut_off = generations::running(db, turn.id).await?;
    let events = closing(&turn, ending, Spent { usage, cost }, now, ids::mint::<BlockId>);
    let first = turn.last_event_seq + 1;
    let lines: Vec<(u64, String)> = (first..)
        .zip(&events)
        .map(|(seq, event)| (seq, serde_json::to_string(event).unwrap_or_else(|_| "{}".into())))
        .collect();
    let impossible = fold::fold(&mut turn, (first..).zip(&events).map(|(seq, event): (u64, &Event)| (seq, event)));
    for (seq, why) in impossible {
        tracing::error!(turn = %turn.id, seq, why, "the sweep wrote an event that cannot be");
    }
    let mut tx = db.begin().await?;
    let rows: Vec<EventRow<'_>> =
        lines.iter().map(|(seq, event)| EventRow { turn_id: turn.id, seq: *seq, event }).collect();
    turn_events::append(&mut tx, &rows).await?;
    let blocks: Vec<_> =
        turn.blocks.iter().map(|block| BlockOf { chat_id: turn.chat_id, turn_id: turn.id, block }).collect();
    turn_blocks::upsert(&mut tx, &blocks, now).await?;
    for generation in &cut_off {
        let end = GenerationEnd {
            id: generation.id,
            status: if turn.error.is_some() { GenerationStatus::Error } else { GenerationStatus::Cancelled },
            raw_complete: false,
            model_returned: generation.model_returned.clone(),
            stop_reason: None,
            usage: Usage::default(),
            charge: None,
            error: turn.error.clone(),
            first_token_at: generation.first_token_at,
            ended_at: now,
        };
        generations::finish(&mut tx, &end).await?;
    }
    turns::finish(&mut tx, &turn).await?;
    tx.commit().await
}

/// Turns that are tidied at a time.
const TURNS_AT_A_TIME: u32 = 100;

/// Packs the bodies that an earlier process left in pieces.
pub async fn pack(db: &Db) -> Result<(), StoreError> {
    loop {
        let unpacked = raw::unpacked(db, TURNS_AT_A_TIME).await?;
        if unpacked.is_empty() {
            return Ok(());
        }
        for generation in unpacked {
            raw::pack(db, generation).await?;
        }
    }
}

/// Deletes the journals of turns whose followers are all gone; their blocks remain.
pub async fn forget_journals(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let before = now - limits::JOURNAL_KEPT;
    loop {
        let mut tx = db.begin().await?;
        let deleted = turn_events::delete_old(&mut tx, before, TURNS_AT_A_TIME).await?;
        tx.commit().await?;
        if deleted == 0 {
            return Ok(());
        }
    }
}
