//! Followers: replay from the journal, then live events, then a clean end. A waiting follower holds no lock and no
//! database connection, and one that falls behind is served from the journal again.

use std::collections::VecDeque;

use async_stream::try_stream;
use futures::Stream;
use tokio::sync::broadcast::error::RecvError;

use super::journal::EventLine;
use super::live_turns::{TurnNotification, TurnSubscription};
use super::supervisor::Supervisor;
use turnleaf_domain::{FailureKind, Turn, TurnId, UserId};
use turnleaf_store::StoreError;
use turnleaf_store::turns::{self, events};

/// The number of journal rows per read.
const PAGE: u32 = 500;
/// The interval at which a turn that another process drives is polled.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(250);

/// The position from which a follower is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventCursor {
    /// After the event with this number; 0 is the beginning.
    After(u64),
    /// The client's cursor is not valid for this turn: it gets a snapshot.
    Unknown,
}

/// One item of a follower's stream.
#[derive(Debug, Clone)]
pub enum FollowerItem {
    Line(EventLine),
    Snapshot(Box<Turn>),
}

impl Supervisor {
    /// Follows a turn of this owner. Returns `None` if the owner has no such turn.
    pub async fn follow(
        &self,
        owner: UserId,
        id: TurnId,
        cursor: EventCursor,
    ) -> Result<Option<impl Stream<Item = Result<FollowerItem, StoreError>> + Send + use<>>, StoreError> {
        let Some(turn) = self.present_turn(owner, id).await? else { return Ok(None) };
        let supervisor = self.clone();
        let followed = FollowedTurn { supervisor: self.clone(), owner, id };
        Ok(Some(try_stream! {
            let mut at = match cursor {
                EventCursor::After(at) if !needs_snapshot(&turn, at) => at,
                _ => {
                    let (at, over) = (turn.last_event_seq, turn.status.is_terminal());
                    yield FollowerItem::Snapshot(Box::new(turn));
                    if over {
                        return;
                    }
                    at
                }
            };
            let mut was_live = false;
            'following: loop {
                let joined = supervisor.live_turn(id).map(|live| live.subscribe(at));
                let is_over = || supervisor.live_turn(id).is_none_or(|live| live.with_turn(|turn| turn.status.is_terminal()));
                if was_live && is_over() {
                    // The turn ended, perhaps with less than this follower was shown.
                    let Some(turn) = followed.find().await? else { return };
                    if turn.status.is_terminal() && needs_snapshot(&turn, at) {
                        yield FollowerItem::Snapshot(Box::new(turn));
                        return;
                    }
                }
                was_live |= joined.is_some();
                let stored = joined.as_ref().map_or(u64::MAX, |joined| joined.journal_until);
                while at < stored {
                    let page = events::list_after(supervisor.db(), owner, id, at, PAGE).await?;
                    let has_more = page.has_more;
                    for (seq, json) in page.events.into_iter().take_while(|(seq, _)| *seq <= stored) {
                        if seq > at + 1 || !events::is_readable(&json) {
                            // Lines are missing or damaged: a snapshot replaces the lines up to here.
                            let Some(stored) = followed.find().await? else { return };
                            let turn = supervisor.live_turn(id).map_or(stored, |live| live.turn());
                            let over = turn.status.is_terminal();
                            at = turn.last_event_seq.max(seq);
                            yield FollowerItem::Snapshot(Box::new(turn));
                            if over {
                                return;
                            }
                            continue 'following;
                        }
                        let line = EventLine { seq, json: json.into() };
                        let over = line.name() == "turn_end";
                        at = seq;
                        yield FollowerItem::Line(line);
                        if over {
                            return;
                        }
                    }
                    if !has_more {
                        break;
                    }
                }
                let Some(TurnSubscription { recent, mut lines, .. }) = joined else {
                    match followed.poll_stored_turn(at).await? {
                        StoredTurnPoll::Continues => continue,
                        StoredTurnPoll::TidiedAway(turn) => yield FollowerItem::Snapshot(turn),
                        StoredTurnPoll::IsOver => {}
                    }
                    return;
                };
                let mut waiting: VecDeque<TurnNotification> = recent.into_iter().map(TurnNotification::Line).collect();
                loop {
                    let next = match waiting.pop_front() {
                        Some(next) => next,
                        None => match lines.recv().await {
                            Ok(next) => next,
                            // The follower lagged, or the run ended: the journal has the rest.
                            Err(RecvError::Lagged(_) | RecvError::Closed) => break,
                        },
                    };
                    let TurnNotification::Line(line) = next else {
                        let Some(turn) = followed.find().await? else { return };
                        yield FollowerItem::Snapshot(Box::new(turn));
                        return;
                    };
                    if line.seq <= at {
                        continue;
                    }
                    if line.seq > at + 1 {
                        // The events between are not stored yet. The pause keeps the loop from spinning.
                        tokio::time::sleep(POLL_INTERVAL).await;
                        break;
                    }
                    at = line.seq;
                    let over = line.name() == "turn_end";
                    yield FollowerItem::Line(line);
                    if over {
                        return;
                    }
                }
            }
        }))
    }
}

/// The turn that a follower follows.
struct FollowedTurn {
    supervisor: Supervisor,
    owner: UserId,
    id: TurnId,
}

/// The result of polling a turn that is not running in this process.
enum StoredTurnPoll {
    /// The turn is deleted, or it ended and was delivered completely.
    IsOver,
    /// Its journal was purged; the blocks remain.
    TidiedAway(Box<Turn>),
    /// The journal has more, or will have.
    Continues,
}

impl FollowedTurn {
    /// Returns the stored turn; none if it was deleted.
    async fn find(&self) -> Result<Option<Turn>, StoreError> {
        turns::find(self.supervisor.db(), self.owner, self.id).await
    }

    /// Polls a turn that another process drives, or that ended since the last poll, after the event `at`. Sleeps for
    /// the poll interval if the turn still runs.
    async fn poll_stored_turn(&self, at: u64) -> Result<StoredTurnPoll, StoreError> {
        let Some(turn) = self.find().await? else { return Ok(StoredTurnPoll::IsOver) };
        if !turn.status.is_terminal() {
            tokio::time::sleep(POLL_INTERVAL).await;
            return Ok(StoredTurnPoll::Continues);
        }
        if at >= turn.last_event_seq {
            return Ok(StoredTurnPoll::IsOver);
        }
        // The row that the position is in, and the next one.
        let rest = events::list_after(self.supervisor.db(), self.owner, self.id, at, 2).await?;
        Ok(if rest.events.is_empty() { StoredTurnPoll::TidiedAway(Box::new(turn)) } else { StoredTurnPoll::Continues })
    }
}

/// Returns whether a turn may have ended with less than its followers were shown: a crash, or a database that refused
/// it, lost deltas before they were stored.
pub fn can_be_shortened(turn: &Turn) -> bool {
    let kind = turn.error.as_ref().map(|failure| failure.kind);
    matches!(kind, Some(FailureKind::ServerRestarted | FailureKind::Internal))
}

/// Returns whether replaying from `at` could mislead: the follower saw deltas that were never stored, so its numbers
/// mean something else now; or its cursor is beyond the last event.
fn needs_snapshot(turn: &Turn, at: u64) -> bool {
    at > 0 && (can_be_shortened(turn) || at > turn.last_event_seq)
}
