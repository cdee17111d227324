//! The task that writes the journal. Batches of all turns are committed together. What cannot be stored together is stored
//! turn by turn, so that the entries of one turn that the database cannot take hold up nobody else; those are tried again
//! by themselves until the patience for them ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::entry::{CommitError, JournalEntry, WAITING_BATCHES, store_entries};
use crate::live_turns::Interrupt;
use turnleaf_domain::{Failure, FailureKind, TurnId, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_store::{Db, StoreError};

/// The pauses before a busy database is asked again.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The same for entries that are tried by themselves, while others are stored.
const PAUSE_DEFERRED_MAX: Duration = Duration::from_secs(30);
/// How long turns are tried by themselves one after the other, where none of them is stored.
const ROUND: Duration = Duration::from_secs(10);
/// Entries of one turn that may wait apart: its run is not slowed by a full channel, as with a database that is away.
const ENTRIES_DEFERRED: usize = WAITING_BATCHES;
/// Attempts at all turns together before each is tried by itself.
const ATTEMPTS_TOGETHER: u32 = 3;
/// How long an attempt waits for rows that somebody else holds: the first at turns together, and each later one. The
/// entries of all other turns wait meanwhile.
const LOCK_WAIT: Duration = Duration::from_secs(1);
const LOCK_WAIT_AGAIN: Duration = Duration::from_millis(200);

/// The writer: entries that are stored together, and those of turns that are tried by themselves.
pub(super) struct JournalWriter {
    db: Db,
    clock: Arc<dyn Clock>,
    entries: mpsc::Receiver<JournalEntry>,
    /// How long a busy database is tried again before the turns involved fail.
    patience: Duration,
    waiting: Vec<JournalEntry>,
    bytes: usize,
    deferred: BTreeMap<TurnId, DeferredTurn>,
}

/// The entries of one turn that could not be stored while others were.
struct DeferredTurn {
    entries: Vec<JournalEntry>,
    again_at: Instant,
    pause: Duration,
    /// Of the last attempt at them.
    error: StoreError,
}

/// What became of entries.
#[derive(Clone, Copy)]
enum StoreOutcome<'e> {
    Stored,
    Failed(&'e StoreError),
    /// The database stores, but not this.
    Refused(&'e StoreError),
}

impl<'e> StoreOutcome<'e> {
    fn from_result(result: &'e Result<(), StoreError>) -> Self {
        match result {
            Ok(()) => Self::Stored,
            Err(error) => Self::from_error(error, !error.is_busy()),
        }
    }

    /// Of an error; `stores` says whether the database stores other things.
    fn from_error(error: &'e StoreError, stores: bool) -> Self {
        if stores && error.may_be_refusal() { Self::Refused(error) } else { Self::Failed(error) }
    }
}

impl JournalWriter {
    pub(super) fn new(
        db: Db,
        clock: Arc<dyn Clock>,
        entries: mpsc::Receiver<JournalEntry>,
        patience: Duration,
    ) -> Self {
        Self { db, clock, entries, patience, waiting: Vec::new(), bytes: 0, deferred: BTreeMap::new() }
    }

    /// Writes until the last handle is dropped and everything is stored or answered.
    pub(super) async fn run(mut self) {
        let mut deadline: Option<Instant> = None;
        loop {
            let again_at = self.deferred.values().map(|apart| apart.again_at).min();
            let entry = tokio::select! {
                biased;
                entry = self.entries.recv() => entry,
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    self.flush().await;
                    deadline = None;
                    continue;
                }
                () = sleep_until(again_at.unwrap_or_else(Instant::now)), if again_at.is_some() => {
                    self.store_one_deferred().await;
                    continue;
                }
            };
            let Some(entry) = entry else {
                self.flush().await;
                while let Some(again_at) = self.deferred.values().map(|apart| apart.again_at).min() {
                    sleep_until(again_at).await;
                    self.store_one_deferred().await;
                }
                return;
            };
            let mut urgent = self.take(entry);
            // Whatever else has arrived joins the same commit.
            urgent |= self.take_arrived();
            // The clock is asked here too: as long as batches keep coming, the waits above never get their turn.
            let is_due = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if urgent || is_due || self.bytes >= limits::COMMIT_BYTES {
                self.flush().await;
                deadline = None;
            } else if deadline.is_none() && !self.waiting.is_empty() {
                deadline = Some(Instant::now() + limits::COMMIT_EVERY);
            }
            // Looked at again: the flush may have answered the one that was due.
            if self.deferred.values().any(|apart| apart.again_at <= Instant::now()) {
                self.store_one_deferred().await;
            }
        }
    }

    /// Takes an entry; gives whether its run waits for it.
    fn take(&mut self, mut entry: JournalEntry) -> bool {
        if let Some(apart) = self.deferred.get_mut(&entry.turn_id) {
            // Behind those of its turn, whose numbers are lower.
            drop(entry.waiting.take());
            apart.entries.push(entry);
            if apart.entries.len() >= ENTRIES_DEFERRED {
                apart.again_at = Instant::now();
            }
            return false;
        }
        self.bytes += entry.batch.byte_count();
        let urgent = entry.done.is_some();
        self.waiting.push(entry);
        urgent
    }

    /// Takes what has arrived, as far as there is room: behind a full channel the runs wait.
    fn take_arrived(&mut self) -> bool {
        let mut urgent = false;
        while self.waiting.len() < WAITING_BATCHES
            && let Ok(entry) = self.entries.try_recv()
        {
            urgent |= self.take(entry);
        }
        urgent
    }

    /// Stores what waits, and tries a busy database again for a while. An attempt that failed may have been stored all the
    /// same, because its acknowledgement can be lost: everything in it is idempotent.
    async fn flush(&mut self) {
        let (mut pause, mut attempts) = (PAUSE_FIRST, 0);
        while !self.waiting.is_empty() {
            let lock_wait = if attempts == 0 { LOCK_WAIT } else { LOCK_WAIT_AGAIN };
            let result = self.attempt(&self.waiting, lock_wait).await;
            attempts += 1;
            let is_busy = result.as_ref().is_err_and(StoreError::is_busy);
            let is_of_all = matches!(result, Ok(()) | Err(StoreError::Full | StoreError::InUse));
            let is_of_one_turn = self.is_of_one_turn();
            if is_of_all || (is_of_one_turn && !is_busy) {
                answer(self.waiting.drain(..), StoreOutcome::from_result(&result));
                break;
            }
            if !is_of_one_turn && (!is_busy || attempts >= ATTEMPTS_TOGETHER) {
                self.store_each().await;
            }
            if !self.waiting.is_empty() {
                if let Err(error) = &result {
                    tracing::warn!(%error, "the journal waits for the database");
                    self.give_up(error).await;
                }
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
                self.take_arrived();
            }
        }
        self.bytes = 0;
    }

    fn is_of_one_turn(&self) -> bool {
        self.waiting.iter().all(|entry| entry.turn_id == self.waiting[0].turn_id)
    }

    /// Stores the entries of each turn by themselves. Those that the database has no time for wait: apart where others
    /// were stored, with all others where none was.
    async fn store_each(&mut self) {
        let mut turns: Vec<(TurnId, Vec<JournalEntry>)> = Vec::new();
        for entry in self.waiting.drain(..) {
            match turns.iter_mut().find(|(turn, _)| *turn == entry.turn_id) {
                Some((_, entries)) => entries.push(entry),
                None => turns.push((entry.turn_id, vec![entry])),
            }
        }
        let (mut busy, mut has_stored, began) = (Vec::new(), false, Instant::now());
        for (turn, entries) in turns {
            if !has_stored
                && !busy.is_empty()
                && (began.elapsed() > ROUND || self.attempt(&[], LOCK_WAIT).await.is_err())
            {
                // The database is away, or slow with all of them. Those that were not tried come first the next time.
                self.waiting.extend(entries);
                continue;
            }
            let result = self.attempt(&entries, LOCK_WAIT_AGAIN).await;
            has_stored |= result.is_ok();
            match result {
                Err(error) if error.is_busy() => busy.push((turn, entries, error)),
                result => answer(entries, StoreOutcome::from_result(&result)),
            }
        }
        for (turn, mut entries, error) in busy {
            if has_stored {
                // The journal writes; it is this turn that waits.
                entries.iter_mut().for_each(|entry| drop(entry.waiting.take()));
                tracing::warn!(%turn, "what a reply wrote cannot be stored while others are");
                let again_at = Instant::now() + PAUSE_FIRST;
                self.deferred.insert(turn, DeferredTurn { entries, again_at, pause: PAUSE_FIRST, error });
            } else {
                self.waiting.extend(entries);
            }
        }
    }

    /// Tries the turn whose time has come.
    async fn store_one_deferred(&mut self) {
        let Some(turn) = self.deferred.iter().min_by_key(|(_, apart)| apart.again_at).map(|(turn, _)| *turn) else {
            return;
        };
        let Some(mut apart) = self.deferred.remove(&turn) else { return };
        match self.attempt(&apart.entries, LOCK_WAIT_AGAIN).await {
            Err(error)
                if error.is_busy()
                    && apart.entries.len() < ENTRIES_DEFERRED
                    && !is_older(&apart.entries, self.patience) =>
            {
                apart.pause = (apart.pause * 2).min(PAUSE_DEFERRED_MAX);
                apart.error = error;
                apart.again_at = Instant::now() + apart.pause;
                self.deferred.insert(turn, apart);
            }
            // It has waited for too long, or its run writes so much that it cannot be kept any longer.
            Err(error) if error.is_busy() => {
                let stores = self.attempt(&[], LOCK_WAIT).await.is_ok();
                answer(apart.entries, StoreOutcome::from_error(&error, stores));
            }
            result => answer(apart.entries, StoreOutcome::from_result(&result)),
        }
    }

    /// Answers the turns that have waited for too long.
    async fn give_up(&mut self, error: &StoreError) {
        let is_late = |entry: &JournalEntry| entry.since.elapsed() >= self.patience;
        let late: Vec<TurnId> = self.waiting.iter().filter(|entry| is_late(entry)).map(|entry| entry.turn_id).collect();
        let late_apart = self.deferred.extract_if(.., |_, apart| is_older(&apart.entries, self.patience));
        let late_apart: Vec<DeferredTurn> = late_apart.map(|(_, apart)| apart).collect();
        if late.is_empty() && late_apart.is_empty() {
            return;
        }
        // A database that stores nothing at all is away; one that stores nothing of these may refuse them.
        let stores = self.attempt(&[], LOCK_WAIT).await.is_ok();
        // Of turns that were tried together, nobody knows whose the failure is.
        let outcome = StoreOutcome::from_error(error, stores && self.is_of_one_turn());
        let (late, waiting) = self.waiting.drain(..).partition(|entry| late.contains(&entry.turn_id));
        self.waiting = waiting;
        answer::<Vec<JournalEntry>>(late, outcome);
        for DeferredTurn { entries, error, .. } in late_apart {
            answer(entries, StoreOutcome::from_error(&error, stores));
        }
    }

    /// Stores within the time that the database has for it. A dead connection would never say that it is dead.
    async fn attempt(&self, entries: &[JournalEntry], lock_wait: Duration) -> Result<(), StoreError> {
        let now: DateTime<Utc> = self.clock.now();
        let Some(limit) = self.db.attempt_limit() else {
            return store_entries(&self.db, entries, lock_wait, now).await;
        };
        let stored = tokio::time::timeout(limit, store_entries(&self.db, entries, lock_wait, now)).await;
        stored.unwrap_or_else(|_| Err(StoreError::Busy("it did not answer in time".into())))
    }
}

fn is_older(entries: &[JournalEntry], age: Duration) -> bool {
    entries.iter().any(|entry| entry.since.elapsed() >= age)
}

/// Tells runs what became of their entries.
fn answer<E: IntoIterator<Item = JournalEntry>>(entries: E, outcome: StoreOutcome<'_>) {
    if let StoreOutcome::Failed(error) | StoreOutcome::Refused(error) = outcome {
        tracing::error!(%error, "the journal could not be written");
    }
    for entry in entries {
        if matches!(outcome, StoreOutcome::Stored)
            && let Some(last) = entry.batch.lines.last()
            && entry.done.is_none()
        {
            entry.live.mark_committed(last.seq);
        }
        let outcome = match outcome {
            StoreOutcome::Stored => Ok(()),
            StoreOutcome::Failed(error) => Err(unstored(error, false)),
            StoreOutcome::Refused(error) => Err(unstored(error, true)),
        };
        match (entry.done, outcome) {
            // A run that stopped waiting needs no answer.
            (Some(done), outcome) => drop(done.send(outcome)),
            (None, Ok(())) => {}
            (None, Err(unstored)) => {
                entry.live.return_batch(entry.batch);
                entry.live.interrupt(Interrupt::Failed(unstored.failure));
            }
        }
    }
}

fn unstored(error: &StoreError, is_refused: bool) -> CommitError {
    let failure = match error {
        StoreError::Full => Failure::new(FailureKind::StorageFull, ""),
        _ if is_refused => {
            Failure::new(FailureKind::Internal, "").with_detail("the database refused a part of this reply")
        }
        _ => Failure::new(FailureKind::Internal, ""),
    };
    CommitError { failure, is_taken: matches!(error, StoreError::NotUnique | StoreError::InUse), is_refused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_store::TimeLimits;

    #[test]
    fn journal_is_called_stuck_after_last_attempt_at_oldest_batch() {
        // All together, one turn by itself, and whether the database is there; each may take as long as an attempt may.
        let last = limits::JOURNAL_PATIENCE + PAUSE_MAX + ROUND + 4 * TimeLimits::SERVING.attempt;
        assert!(last < limits::JOURNAL_STUCK, "{last:?}");
    }
}
