//! Pending saves of a draft, and the messages that wait for them: a message that overtook the save of its own text
//! would find it again as a draft.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum time that a message waits for a save: a server that does not answer must not delay it further.
pub const SAVE_PATIENCE: Duration = Duration::from_secs(1);

/// An action that runs when no save is pending. It outlives the page, because a message is sent even when its page is
/// left at once.
type Next = Box<dyn FnOnce() + Send>;

/// Counts the pending saves of one composer.
#[derive(Clone, Default)]
pub struct PendingSaves(Arc<Mutex<PendingSaveState>>);

#[derive(Default)]
struct PendingSaveState {
    saves: u32,
    waiting: Vec<Next>,
    /// Counts how often the waiting actions ran.
    round: u32,
}

impl PendingSaves {
    pub fn start_save(&self) {
        self.state().saves += 1;
    }

    /// Records that a save was answered or failed.
    pub fn finish_save(&self) {
        let is_over = {
            let mut state = self.state();
            state.saves = state.saves.saturating_sub(1);
            state.saves == 0
        };
        if is_over {
            self.run_waiting();
        }
    }

    /// Runs the action now, or when no save is pending. Where it waits, returns the round that it waits for.
    pub fn run_when_idle(&self, next: impl FnOnce() + Send + 'static) -> Option<u32> {
        let mut state = self.state();
        if state.saves > 0 {
            state.waiting.push(Box::new(next));
            return Some(state.round);
        }
        drop(state);
        next();
        None
    }

    /// Runs the actions of this round, which have waited long enough.
    pub fn run_overdue(&self, round: u32) {
        if self.state().round == round {
            self.run_waiting();
        }
    }

    /// Runs the waiting actions.
    pub fn run_waiting(&self) {
        let waiting = {
            let mut state = self.state();
            state.round = state.round.wrapping_add(1);
            std::mem::take(&mut state.waiting)
        };
        // The callees may call back into this state, so the lock is released first.
        waiting.into_iter().for_each(|next| next());
    }

    fn state(&self) -> MutexGuard<'_, PendingSaveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
