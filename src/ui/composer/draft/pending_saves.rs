//! Saves of a draft that have no answer yet, and what waits for them: a message that overtook the save of its own words
//! would find them again as a draft.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a message waits for a save: a server that does not answer must not keep it.
pub const SAVE_PATIENCE: Duration = Duration::from_secs(1);

/// What goes ahead when no save is under way. It outlives the page, because a message goes out also where its page is
/// left at once.
type Next = Box<dyn FnOnce() + Send>;

/// Counts the saves of one composer that are under way.
#[derive(Clone, Default)]
pub struct PendingSaves(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    saves: u32,
    waiting: Vec<Next>,
    /// How often those that waited went ahead.
    round: u32,
}

impl PendingSaves {
    pub fn start_save(&self) {
        self.state().saves += 1;
    }

    /// A save was answered, or failed.
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

    /// Does this now, or as soon as no save is under way. Where it waits, gives the round that it waits for.
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

    /// What waits in this round has waited long enough.
    pub fn run_overdue(&self, round: u32) {
        if self.state().round == round {
            self.run_waiting();
        }
    }

    /// Does what waits.
    pub fn run_waiting(&self) {
        let waiting = {
            let mut state = self.state();
            state.round = state.round.wrapping_add(1);
            std::mem::take(&mut state.waiting)
        };
        // Whoever is called may come back here.
        waiting.into_iter().for_each(|next| next());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
