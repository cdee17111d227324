//! Running turns as their followers see them: the folded turn, the events that are not stored yet, and the broadcast
//! channel for new ones. A slow follower loses its place in the channel; it never slows the run.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::journal::batch::{EventLine, JournalBatch};
use crate::mailbox::RunMailbox;
use turnleaf_domain::turns::fold::{self, ApplyOutcome};
use turnleaf_domain::{Event, Failure, Turn, TurnId, UserId, limits};

/// The number of stored events that stay in memory, so that a follower who joins within a second of a reply's begin, or
/// reconnects, needs no database.
const RECENT_EVENTS: usize = 64;
const RECENT_BYTES: usize = 64 << 10;
/// The bytes of events that may be published and not stored before a run waits.
const UNSTORED_BYTES: usize = 512 << 10;

/// The reason why a run is interrupted.
#[derive(Debug, Clone)]
pub enum Interrupt {
    /// A person pressed Stop.
    Stopped,
    /// The server shuts down.
    Shutdown,
    /// The run cannot continue, because of a full disk for example.
    Failed(Failure),
}

/// A subscription to a running turn: what the journal has to be read for, the events after that, and the live channel.
pub struct TurnSubscription {
    /// The follower needs the journal up to this event; 0 if the newest events, which are in memory, are enough.
    pub journal_until: u64,
    pub recent: Vec<EventLine>,
    pub lines: broadcast::Receiver<TurnNotification>,
}

/// A notification to followers.
#[derive(Debug, Clone)]
pub enum TurnNotification {
    Line(EventLine),
    /// The turn ended with less than was shown: followers must discard what they have.
    Replaced,
}

struct LiveTurnState {
    turn: Turn,
    committed: u64,
    /// The newest events, among them all that are not stored yet.
    recent: VecDeque<EventLine>,
    recent_bytes: usize,
    /// Deltas that no entry of the journal has collected.
    unqueued: Vec<EventLine>,
    /// An entry that will collect them is queued.
    is_queued: bool,
}

impl LiveTurnState {
    fn new(turn: Turn) -> Self {
        Self {
            committed: turn.last_event_seq,
            turn,
            recent: VecDeque::new(),
            recent_bytes: 0,
            unqueued: Vec::new(),
            is_queued: false,
        }
    }

    fn keep(&mut self, line: EventLine) {
        self.recent_bytes += line.json.len();
        self.recent.push_back(line);
    }

    /// Forgets the oldest events that the journal has, beyond those that new followers usually need.
    fn forget_oldest(&mut self) {
        let is_stored = |line: &EventLine, committed: u64| line.seq <= committed;
        while (self.recent.len() > RECENT_EVENTS || self.recent_bytes > RECENT_BYTES)
            && let Some(oldest) = self.recent.pop_front_if(|line| is_stored(line, self.committed))
        {
            self.recent_bytes -= oldest.json.len();
        }
    }
}

/// A running turn, shared by its run and its followers.
pub struct LiveTurn {
    owner: UserId,
    state: Mutex<LiveTurnState>,
    lines: broadcast::Sender<TurnNotification>,
    /// Notified when the journal has stored deltas.
    stored: Notify,
    cancel: CancellationToken,
    interrupt: Mutex<Option<Interrupt>>,
    /// Deltas that the journal could not store.
    unstored: Mutex<Vec<JournalBatch>>,
    ended: watch::Sender<bool>,
    /// The run does nothing until a person answers.
    is_waiting: AtomicBool,
    /// The mailbox for commands of people.
    mailbox: RunMailbox,
}

impl LiveTurn {
    /// Returns a live turn whose events so far are all in the journal.
    pub fn new(owner: UserId, turn: Turn) -> Self {
        Self {
            owner,
            state: Mutex::new(LiveTurnState::new(turn)),
            lines: broadcast::Sender::new(limits::FOLLOWER_FRAMES),
            stored: Notify::new(),
            cancel: CancellationToken::new(),
            interrupt: Mutex::new(None),
            unstored: Mutex::new(Vec::new()),
            ended: watch::Sender::new(false),
            is_waiting: AtomicBool::new(false),
            mailbox: RunMailbox::default(),
        }
    }

    /// Returns the owner of the turn's chat.
    pub fn owner(&self) -> UserId {
        self.owner
    }

    /// Returns the mailbox for commands of people.
    pub fn mailbox(&self) -> &RunMailbox {
        &self.mailbox
    }

    /// Returns whether the run only waits for a person.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    pub fn set_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// Returns the turn as of now.
    pub fn turn(&self) -> Turn {
        self.state().turn.clone()
    }

    /// Reads the turn without copying it.
    pub fn with_turn<T>(&self, look: impl FnOnce(&Turn) -> T) -> T {
        look(&self.state().turn)
    }

    /// Applies numbered events and sends them to the followers. `stored` says whether the journal has them already.
    pub fn publish(&self, events: &[(Event, EventLine)], stored: bool) {
        self.publish_locked(&mut self.state(), events, stored);
    }

    /// Works like [`Self::publish`] for deltas that are not stored: an entry of the journal collects them.
    pub fn publish_deltas(&self, events: &[(Event, EventLine)]) {
        let mut state = self.state();
        self.publish_locked(&mut state, events, false);
        state.unqueued.extend(events.iter().map(|(_, line)| line.clone()));
    }

    fn publish_locked(&self, state: &mut LiveTurnState, events: &[(Event, EventLine)], stored: bool) {
        for (event, line) in events {
            match fold::apply(&mut state.turn, line.seq, event) {
                ApplyOutcome::Changed | ApplyOutcome::AlreadyCovered => {}
                outcome => {
                    tracing::error!(turn = %state.turn.id, seq = line.seq, ?outcome, "an event does not fit its turn")
                }
            }
            if stored {
                state.committed = line.seq;
            }
            state.keep(line.clone());
            // Sending fails only if there are no followers.
            let _ = self.lines.send(TurnNotification::Line(line.clone()));
        }
        state.forget_oldest();
    }

    /// Returns true if an entry must be queued that collects the published deltas; the caller queues it.
    pub fn begin_queueing(&self) -> bool {
        let mut state = self.state();
        !std::mem::replace(&mut state.is_queued, true)
    }

    /// Takes the published deltas for an entry of the journal; later ones need another entry.
    pub fn take_unqueued(&self) -> Vec<EventLine> {
        let mut state = self.state();
        state.is_queued = false;
        std::mem::take(&mut state.unqueued)
    }

    /// Returns whether so much more is published than stored that the run must wait.
    pub fn is_ahead_of_journal(&self) -> bool {
        self.state().recent_bytes > UNSTORED_BYTES
    }

    /// Waits while the run is ahead of the journal: backpressure of a database that hangs. Ends as well when the run is
    /// interrupted.
    pub async fn wait_for_journal(&self) {
        loop {
            let stored = self.stored.notified();
            if !self.is_ahead_of_journal() {
                return;
            }
            tokio::select! {
                () = stored => {}
                () = self.cancel.cancelled() => return,
            }
        }
    }

    /// Replaces the turn by its stored state and notifies the followers.
    pub fn replace_turn(&self, turn: Turn) {
        let mut state = self.state();
        *state = LiveTurnState::new(turn);
        let _ = self.lines.send(TurnNotification::Replaced);
    }

    /// Records that the journal has everything up to `seq`.
    pub fn mark_committed(&self, seq: u64) {
        let mut state = self.state();
        state.committed = state.committed.max(seq);
        state.forget_oldest();
        drop(state);
        self.stored.notify_waiters();
    }

    /// Subscribes from the event after `at`, under one lock, so that no event falls between the journal, the recent
    /// events and the channel.
    pub fn subscribe(&self, at: u64) -> TurnSubscription {
        let state = self.state();
        let is_enough = state.recent.front().is_some_and(|line| line.seq <= at + 1) || state.committed <= at;
        let after = if is_enough { at } else { state.committed };
        TurnSubscription {
            journal_until: if is_enough { 0 } else { state.committed },
            recent: state.recent.iter().filter(|line| line.seq > after).cloned().collect(),
            lines: self.lines.subscribe(),
        }
    }

    /// Interrupts the run. The first reason counts.
    pub fn interrupt(&self, kind: Interrupt) {
        lock(&self.interrupt).get_or_insert(kind);
        self.cancel.cancel();
    }

    /// Returns deltas that could not be stored, for the ending to store them.
    pub fn return_batch(&self, batch: JournalBatch) {
        lock(&self.unstored).push(batch);
    }

    /// Takes the batches that were returned since the last call.
    pub fn take_returned_batches(&self) -> Vec<JournalBatch> {
        std::mem::take(&mut lock(&self.unstored))
    }

    /// Waits until the run is interrupted; returns the reason.
    pub async fn wait_for_interrupt(&self) -> Interrupt {
        self.cancel.cancelled().await;
        lock(&self.interrupt).clone().unwrap_or(Interrupt::Stopped)
    }

    /// Marks the run as ended: its ending is stored (or never can be).
    pub fn mark_ended(&self) {
        self.mailbox.close();
        self.ended.send_replace(true);
    }

    /// Waits for [`Self::mark_ended`].
    pub async fn wait_until_ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in self, so this cannot fail during the wait.
        let _ = ended.wait_for(|over| *over).await;
    }

    fn state(&self) -> MutexGuard<'_, LiveTurnState> {
        lock(&self.state)
    }
}

/// The turns that run in this process.
#[derive(Default)]
pub struct LiveTurns(Mutex<HashMap<TurnId, Arc<LiveTurn>>>);

impl LiveTurns {
    pub fn get(&self, id: TurnId) -> Option<Arc<LiveTurn>> {
        lock(&self.0).get(&id).cloned()
    }

    pub fn all(&self) -> Vec<Arc<LiveTurn>> {
        lock(&self.0).values().cloned().collect()
    }

    /// Returns the number of turns that do not wait for a person.
    pub fn working_count(&self) -> usize {
        count_working(&lock(&self.0))
    }

    /// Adds a turn unless the bound on running turns is reached.
    pub fn insert(&self, id: TurnId, live: Arc<LiveTurn>) -> bool {
        let mut turns = lock(&self.0);
        let room = count_working(&turns) < limits::RUNNING_TURNS;
        if room {
            turns.insert(id, live);
        }
        room
    }

    /// Adds a turn that waits for a person, unless it is already present.
    pub fn insert_waiting(&self, id: TurnId, live: Arc<LiveTurn>) -> bool {
        live.set_waiting(true);
        live.mailbox.expect_receiver();
        let mut turns = lock(&self.0);
        let is_new = !turns.contains_key(&id);
        if is_new {
            turns.insert(id, live);
        }
        is_new
    }

    pub fn remove(&self, id: TurnId) {
        lock(&self.0).remove(&id);
    }
}

fn count_working(turns: &HashMap<TurnId, Arc<LiveTurn>>) -> usize {
    turns.values().filter(|live| !live.is_waiting()).count()
}

/// Locks a mutex even if it is poisoned: a panic in one turn must not lock out the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
