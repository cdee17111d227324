//! The journal writer: group-commits batches of all turns. If a group cannot be stored, each turn is stored by
//! itself, so that entries of one turn that the database refuses hold up no other turn; those are deferred and retried
//! separately until their patience ends.

use std::collections::{BTreeMap, HashSet};
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

/// Retry pauses for a busy database.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The longest retry pause for deferred entries, while others are stored.
const PAUSE_DEFERRED_MAX: Duration = Duration::from_secs(30);
/// The time limit for trying turns one after the other while none of them is stored.
const ROUND: Duration = Duration::from_secs(10);
/// The limit of deferred entries per turn. It is needed because the full channel, which holds runs back during an
/// outage, does not slow the run of a deferred turn.
const ENTRIES_DEFERRED: usize = WAITING_BATCHES;
/// Attempts at the whole group before each turn is tried by itself.
const ATTEMPTS_TOGETHER: u32 = 3;
/// Row lock timeouts of the first group attempt and of each later attempt. The entries of all other turns wait
/// meanwhile.
const LOCK_WAIT: Duration = Duration::from_secs(1);
const LOCK_WAIT_AGAIN: Duration = Duration::from_millis(200);

/// The writer, with the entries of the group and the deferred entries of single turns.
pub(super) struct JournalWriter {
    db: Db,
    clock: Arc<dyn Clock>,
    entries: mpsc::Receiver<JournalEntry>,
    /// The time for which a busy database is retried before the affected turns fail.
    patience: Duration,
    waiting: Vec<JournalEntry>,
    /// Deltas that the present commit leaves out.
    later: Vec<JournalEntry>,
    bytes: usize,
    deferred: BTreeMap<TurnId, DeferredTurn>,
    /// The time that the last commit of all turns took.
    spent: Duration,
}

/// Entries of one turn that could not be stored while others were.
struct DeferredTurn {
    entries: Vec<JournalEntry>,
    again_at: Instant,
    pause: Duration,
    /// The error of the last attempt.
    error: StoreError,
}

/// The outcome of storing entries.
#[derive(Clone, Copy)]
enum StoreOutcome<'e> {
    Stored,
    Failed(&'e StoreError),
    /// The database works but refuses these entries.
    Refused(&'e StoreError),
}

impl<'e> StoreOutcome<'e> {
    fn from_result(result: &'e Result<(), StoreError>) -> Self {
        match result {
            Ok(()) => Self::Stored,
            Err(error) => Self::from_error(error, !error.is_busy()),
        }
    }

    /// Returns the outcome for an error; `stores` says whether the database stores other entries.
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
        Self {
            db,
            clock,
            entries,
            patience,
            waiting: Vec::new(),
            later: Vec::new(),
            bytes: 0,
            deferred: BTreeMap::new(),
            spent: Duration::ZERO,
        }
    }

    /// Runs until the last handle is dropped and everything is stored or answered.
    pub(super) async fn run(mut self) {
        let mut deadline: Option<Instant> = None;
        loop {
            let again_at = self.deferred.values().map(|apart| apart.again_at).min();
            let entry = tokio::select! {
                biased;
                entry = self.entries.recv() => entry,
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    self.flush_all().await;
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
            // Everything else that has arrived joins the same commit.
            urgent |= self.take_arrived();
            // The deadline is checked here too, because the waits above never complete while batches keep arriving.
            let is_due = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if is_due || self.bytes >= limits::COMMIT_BYTES {
                self.flush_all().await;
                deadline = None;
            } else if urgent {
                self.flush_urgent().await;
            }
            if self.waiting.is_empty() {
                deadline = None;
            } else if deadline.is_none() {
                deadline = Some(Instant::now() + self.commit_pause());
            }
            // Checked again, because the flush may have answered the deferred turn that was due.
            if self.deferred.values().any(|apart| apart.again_at <= Instant::now()) {
                self.store_one_deferred().await;
            }
        }
    }

    /// Returns how long deltas wait for their commit: longer while commits are slow, because a crowd is not helped by
    /// more of them.
    fn commit_pause(&self) -> Duration {
        (self.spent * limits::COMMIT_TIMES).clamp(limits::COMMIT_EVERY, limits::COMMIT_LATEST)
    }

    /// Takes an entry; returns whether its run waits for it.
    fn take(&mut self, mut entry: JournalEntry) -> bool {
        if let Some(apart) = self.deferred.get_mut(&entry.turn_id) {
            // The entry queues behind earlier ones of its turn, whose numbers are lower.
            drop(entry.waiting.take());
            entry.collect_deltas();
            apart.entries.push(entry);
            if apart.entries.len() >= ENTRIES_DEFERRED {
                apart.again_at = Instant::now();
            }
            return false;
        }
        self.bytes += entry.batch.byte_count();
        let urgent = entry.is_urgent();
        self.waiting.push(entry);
        urgent
    }

    /// Takes everything that has arrived, up to the bound; beyond it, the full channel holds the runs back.
    fn take_arrived(&mut self) -> bool {
        let mut urgent = false;
        while self.waiting.len() < WAITING_BATCHES
            && let Ok(entry) = self.entries.try_recv()
        {
            urgent |= self.take(entry);
        }
        urgent
    }

    /// Stores the entries of all turns, and measures that for the pace of the next ones.
    async fn flush_all(&mut self) {
        let began = Instant::now();
        self.flush().await;
        self.spent = began.elapsed();
    }

    /// Stores the entries of those turns whose runs wait. The deltas of others keep their own pace: a commit costs a few
    /// pages for each turn in it.
    async fn flush_urgent(&mut self) {
        let urgent: HashSet<TurnId> =
            self.waiting.iter().filter(|entry| entry.is_urgent()).map(|entry| entry.turn_id).collect();
        let (now, later) = self.waiting.drain(..).partition(|entry| urgent.contains(&entry.turn_id));
        (self.waiting, self.later) = (now, later);
        self.flush().await;
        self.waiting = std::mem::take(&mut self.later);
        self.bytes = self.waiting.iter().map(|entry| entry.batch.byte_count()).sum();
    }

    /// Stores the waiting entries, with retries while the database is busy. A failed attempt may have been committed
    /// nevertheless, because the acknowledgement can be lost; therefore all writes in it are idempotent.
    async fn flush(&mut self) {
        let (mut pause, mut attempts) = (PAUSE_FIRST, 0);
        while !self.waiting.is_empty() {
            self.waiting.iter_mut().for_each(JournalEntry::collect_deltas);
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
                // Only the first attempt leaves entries out: whatever arrives now must not overtake them.
                let retried = std::mem::replace(&mut self.waiting, std::mem::take(&mut self.later));
                self.waiting.extend(retried);
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

    /// Stores the entries of each turn by themselves. Turns for which the database is busy are deferred if others
    /// were stored, otherwise they keep waiting with the rest.
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
                // The database is unavailable, or slow for all turns. Untried turns come first in the next round.
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
                // The journal itself works, so this turn no longer counts for its health.
                entries.iter_mut().for_each(|entry| drop(entry.waiting.take()));
                tracing::warn!(%turn, "the output of one reply cannot be stored while others can");
                let again_at = Instant::now() + PAUSE_FIRST;
                self.deferred.insert(turn, DeferredTurn { entries, again_at, pause: PAUSE_FIRST, error });
            } else {
                self.waiting.extend(entries);
            }
        }
    }

    /// Tries the deferred turn that is due.
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
            // The turn has waited too long, or its run writes more than can be kept waiting.
            Err(error) if error.is_busy() => {
                let stores = self.attempt(&[], LOCK_WAIT).await.is_ok();
                answer(apart.entries, StoreOutcome::from_error(&error, stores));
            }
            result => answer(apart.entries, StoreOutcome::from_result(&result)),
        }
    }

    /// Fails the turns that have waited too long.
    async fn give_up(&mut self, error: &StoreError) {
        let is_late = |entry: &JournalEntry| entry.since.elapsed() >= self.patience;
        let late: Vec<TurnId> = self.waiting.iter().filter(|entry| is_late(entry)).map(|entry| entry.turn_id).collect();
        let late_apart = self.deferred.extract_if(.., |_, apart| is_older(&apart.entries, self.patience));
        let late_apart: Vec<DeferredTurn> = late_apart.map(|(_, apart)| apart).collect();
        if late.is_empty() && late_apart.is_empty() {
            return;
        }
        // An empty transaction tells an unavailable database from one that refuses these entries.
        let stores = self.attempt(&[], LOCK_WAIT).await.is_ok();
        // In a group of several turns, the failure cannot be attributed to one of them.
        let outcome = StoreOutcome::from_error(error, stores && self.is_of_one_turn());
        let (late, waiting) = self.waiting.drain(..).partition(|entry| late.contains(&entry.turn_id));
        self.waiting = waiting;
        answer::<Vec<JournalEntry>>(late, outcome);
        for DeferredTurn { entries, error, .. } in late_apart {
            answer(entries, StoreOutcome::from_error(&error, stores));
        }
    }

    /// Stores entries within the database's attempt limit, because a dead connection never reports an error.
    async fn attempt(&self, entries: &[JournalEntry], lock_wait: Duration) -> Result<(), StoreError> {
        let now: DateTime<Utc> = self.clock.now();
        let Some(limit) = self.db.attempt_limit() else {
            return store_entries(&self.db, entries, lock_wait, now).await;
        };
        let stored = tokio::time::timeout(limit, store_entries(&self.db, entries, lock_wait, now)).await;
        stored.unwrap_or_else(|_| Err(StoreError::Busy("it did not respond in time".into())))
    }
}

fn is_older(entries: &[JournalEntry], age: Duration) -> bool {
    entries.iter().any(|entry| entry.since.elapsed() >= age)
}

/// Answers runs with the outcome of their entries.
fn answer<E: IntoIterator<Item = JournalEntry>>(entries: E, outcome: StoreOutcome<'_>) {
    if let StoreOutcome::Failed(error) | StoreOutcome::Refused(error) = outcome {
        tracing::error!(%error, "the journal could not be written");
    }
    for mut entry in entries {
        if !matches!(outcome, StoreOutcome::Stored) {
            entry.give_back();
        }
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
            // The run may no longer wait for the answer.
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
            Failure::new(FailureKind::Internal, "").with_detail("the database rejected part of this reply")
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
        // The group attempts, one turn by itself, and the probe for the database; each may take a whole attempt
        // limit.
        let last = limits::JOURNAL_PATIENCE + PAUSE_MAX + ROUND + 4 * TimeLimits::SERVING.attempt;
        assert!(last < limits::JOURNAL_STUCK, "{last:?}");
    }
}
