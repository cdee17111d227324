//! A running turn as its followers see it: the folded turn, the events that are not stored yet, and the channel that
//! carries new ones. Slow followers lose their place in the channel, never the run its pace.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::journal::batch::{EventLine, JournalBatch};
use crate::mailbox::RunMailbox;
use turnleaf_domain::fold::{self, ApplyOutcome};
use turnleaf_domain::{Event, Failure, Turn, TurnId, UserId, limits};

/// Why a run was told to end.
#[derive(Debug, Clone)]
pub enum Interrupt {
    /// A person pressed Stop.
    Stopped,
    /// The server goes down.
    Shutdown,
    /// What the run needs is gone (a full disk).
    Failed(Failure),
}

/// What a follower needs to begin: where the journal stands, what it does not have yet, and what comes.
pub struct TurnSubscription {
    pub committed: u64,
    pub tail: Vec<EventLine>,
    pub lines: broadcast::Receiver<TurnNotification>,
}

/// What followers are told.
#[derive(Debug, Clone)]
pub enum TurnNotification {
    Line(EventLine),
    /// The turn ended with less than was shown: what they have is no longer the turn.
    Replaced,
}

struct State {
    turn: Turn,
    committed: u64,
    tail: VecDeque<EventLine>,
}

/// One running turn.
pub struct LiveTurn {
    owner: UserId,
    state: Mutex<State>,
    lines: broadcast::Sender<TurnNotification>,
    cancel: CancellationToken,
    interrupt: Mutex<Option<Interrupt>>,
    /// Growth that the journal could not store.
    unstored: Mutex<Vec<JournalBatch>>,
    ended: watch::Sender<bool>,
    /// Nothing goes on in it until a person says something.
    is_waiting: AtomicBool,
    /// Where it hears that.
    mailbox: RunMailbox,
}

impl LiveTurn {
    /// A turn that is driven from now on, with everything that happened in its journal.
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

    /// Whose chat it is in.
    pub fn owner(&self) -> UserId {
        self.owner
    }

    /// Where a person is heard.
    pub fn mailbox(&self) -> &RunMailbox {
        &self.mailbox
    }

    /// Whether it waits for a person and has nothing else to do.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    pub fn set_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// The turn as of now.
    pub fn turn(&self) -> Turn {
        self.state().turn.clone()
    }

    /// Looks at the turn without copying it.
    pub fn with_turn<T>(&self, look: impl FnOnce(&Turn) -> T) -> T {
        look(&self.state().turn)
    }

    /// Applies numbered events and tells the followers. `stored` says whether the journal has them already.
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
            // An error only says that nobody follows.
            let _ = self.lines.send(TurnNotification::Line(line.clone()));
        }
    }

    /// Puts the turn as it is stored in the place of what was shown of it, and tells the followers.
    pub fn replace_turn(&self, turn: Turn) {
        let mut state = self.state();
        *state = State { committed: turn.last_event_seq, turn, tail: VecDeque::new() };
        let _ = self.lines.send(TurnNotification::Replaced);
    }

    /// The journal has everything up to `seq`.
    pub fn mark_committed(&self, seq: u64) {
        let mut state = self.state();
        state.committed = state.committed.max(seq);
        while state.tail.front().is_some_and(|line| line.seq <= seq) {
            state.tail.pop_front();
        }
    }

    /// Begins to follow. Taken under one lock, so that nothing falls between the journal, the tail and the channel.
    pub fn subscribe(&self) -> TurnSubscription {
        let state = self.state();
        TurnSubscription {
            committed: state.committed,
            tail: state.tail.iter().cloned().collect(),
            lines: self.lines.subscribe(),
        }
    }

    /// Tells the run to end. The first reason counts.
    pub fn interrupt(&self, why: Interrupt) {
        lock(&self.interrupt).get_or_insert(why);
        self.cancel.cancel();
    }

    /// Takes back growth that could not be stored, for the ending to store it.
    pub fn return_batch(&self, batch: JournalBatch) {
        lock(&self.unstored).push(batch);
    }

    /// What was given back since the last time.
    pub fn take_returned_batches(&self) -> Vec<JournalBatch> {
        std::mem::take(&mut lock(&self.unstored))
    }

    /// Why the run was told to end, once it was.
    pub async fn wait_for_interrupt(&self) -> Interrupt {
        self.cancel.cancelled().await;
        lock(&self.interrupt).clone().unwrap_or(Interrupt::Stopped)
    }

    /// The run is over and its ending is stored (or never can be).
    pub fn mark_ended(&self) {
        self.mailbox.close();
        self.ended.send_replace(true);
    }

    /// Waits for `end`.
    pub async fn wait_until_ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in self, so this cannot fail while we wait.
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

    /// How many have something to do.
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

    /// Adds a turn that waits for a person, unless it is there.
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

/// A panic in one turn must not lock out the others.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
