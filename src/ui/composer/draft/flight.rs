//! Saves of a draft that have no answer yet, and what waits for them: a message that overtook the save of its own words
//! would find them again as a draft.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a message waits for a save: a server that does not answer must not keep it.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// What goes ahead when no save is under way. It outlives the page, because a message goes out also where its page is
/// left at once.
type Next = Box<dyn FnOnce() + Send>;

/// Counts the saves under way.
#[derive(Clone, Default)]
pub struct Flight(Arc<Mutex<(u32, Vec<Next>)>>);

impl Flight {
    pub fn begin(&self) {
        self.state().0 += 1;
    }

    /// A save was answered, or failed.
    pub fn end(&self) {
        let mut state = self.state();
        state.0 = state.0.saturating_sub(1);
        let is_over = state.0 == 0;
        drop(state);
        if is_over {
            self.go_ahead();
        }
    }

    /// Does this now, or as soon as no save is under way. Gives whether it waits.
    pub fn then(&self, next: impl FnOnce() + Send + 'static) -> bool {
        let mut state = self.state();
        if state.0 > 0 {
            state.1.push(Box::new(next));
            return true;
        }
        drop(state);
        next();
        false
    }

    /// What waits has waited long enough.
    pub fn go_ahead(&self) {
        // Whoever is called may come back here.
        let waiting = std::mem::take(&mut self.state().1);
        waiting.into_iter().for_each(|next| next());
    }

    fn state(&self) -> MutexGuard<'_, (u32, Vec<Next>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
