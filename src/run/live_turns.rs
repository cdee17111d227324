//! Running turns as their followers see them: the folded turn, the events that are not stored yet, and the broadcast
//! channel for new ones. A slow follower loses its place in the channel; it never slows the run.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::journal::batch::{EventLine, JournalBatch};
use crate::mailbox::RunMailbox;
use turnleaf_domain::fold::{self, ApplyOutcome};
use turnleaf_domain::{Event, Failure, Turn, TurnId, UserId, limits};

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

/// A subscription to a running turn: the committed position, the unstored tail, and the live channel.
pub struct TurnSubscription {
    pub committed: u64,
    pub tail: Vec<EventLine>,
    pub lines: broadcast::Receiver<TurnNotification>,
}

/// A notification to followers.
#[derive(Debug, Clone)]
pub enum TurnNotification {
    Line(EventLine),
    /// The turn ended with less than was shown: followers must discard what they have.
    Replaced,
}

struct State {
    turn: Turn,
    committed: u64,
    tail: VecDeque<EventLine>,
}

/// A running turn, shared by its run and its followers.
pub struct LiveTurn {
    owner: UserId,
    state: Mutex<State>,
    lines: broadcast::Sender<TurnNotification>,
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
            state: Mutex::new(State { committed: turn.last_event_seq, turn, tail: VecDeque::new() }),
            lines: broadcast::Sender::new(limits::FOLLOWER_FRAMES),
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
        let mut state = self.state();
        for (event, line) in events {
            match fold::apply(&mut state.turn, line.seq, event) {
                ApplyOutcome::Changed | ApplyOutcome::AlreadyCovered => {}
                outcome => {
                    tracing::error!(turn = %state.turn.id, seq = line.seq, ?outcome, "an event does not fit its turn")
                }
            }
            if stored {
                state.committed = line.seq;
            } else {
                state.tail.push_back(line.clone());
            }
            // Sending fails only if there are no followers.
            let _ = self.lines.send(TurnNotification::Line(line.clone()));
        }
    }

    /// Replaces the turn by its stored state and notifies the followers.
    pub fn replace_turn(&self, turn: Turn) {
        let mut state = self.state();
        *state = State { committed: turn.last_event_seq, turn, tail: VecDeque::new() };
        let _ = self.lines.send(TurnNotification::Replaced);
    }

    /// Records that the journal has everything up to `seq`.
    pub fn mark_committed(&self, seq: u64) {
        let mut state = self.state();
        state.committed = state.committed.max(seq);
        while state.tail.front().is_some_and(|line| line.seq <= seq) {
            state.tail.pop_front();
        }
    }

    /// Subscribes under one lock, so that no event falls between the journal, the tail and the channel.
    pub fn subscribe(&self) -> TurnSubscription {
        let state = self.state();
        TurnSubscription {
            committed: state.committed,
            tail: state.tail.iter().cloned().collect(),
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

    fn state(&self) -> MutexGuard<'_, State> {
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
