//! The sweep at start: every turn that an earlier process left running ends as `server_restarted`, with its partial
//! blocks and raw bytes kept (reliability.md 1.3 rule 7).

use std::sync::Arc;

use super::ending::{Ending, closing};
use crate::domain::{BlockId, Event, Failure, FailureKind, Turn, Usage, fold};
use crate::server::platform::clock::Clock;
use crate::server::platform::ids;
use crate::server::store::turn_events::EventRow;
use crate::server::store::turns::TurnEnding;
use crate::server::store::{Db, StoreError, generations, turn_blocks, turn_events, turns};

/// Ends all unfinished turns; gives their number. One transaction a turn, so that a crash in the middle only leaves
/// fewer to do.
pub async fn sweep(db: &Db, clock: &Arc<dyn Clock>) -> Result<usize, StoreError> {
    let unfinished = turns::unfinished(db).await?;
    for turn in &unfinished {
        end(db, clock, turn.clone(), &restarted()).await?;
    }
    Ok(unfinished.len())
}

/// How a turn ends whose process is gone.
fn restarted() -> Ending {
    Ending::Failed(Failure::new(FailureKind::ServerRestarted, ""))
}

/// Ends one turn that nothing drives.
pub(super) async fn end(db: &Db, clock: &Arc<dyn Clock>, mut turn: Turn, ending: &Ending) -> Result<(), StoreError> {
    let now = clock.now();
    let usage = generations::usages(db, turn.id).await?.into_iter().sum::<Usage>();
    let events = closing(&turn, ending, usage, now, ids::mint::<BlockId>);
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
    let blocks: Vec<_> = turn.blocks.iter().map(|block| (turn.chat_id, turn.id, block)).collect();
    turn_blocks::upsert(&mut tx, &blocks).await?;
    generations::interrupt(&mut tx, turn.id, now).await?;
    turns::finish(&mut tx, &TurnEnding::of(&turn, now)).await?;
    tx.commit().await
}
