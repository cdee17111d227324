//! Facts about endpoints that accepted repairs have shown, for the chats that do not know them yet
//! (`docs/adr/0021-request-repair-and-kept-responses.md`). A branch remembers its own repairs in its provider state;
//! this memory is lost when the server stops.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnleaf_domain::ModelLock;
use turnleaf_domain::providers::repair::ReasoningMembers;

/// The most models that are remembered; beyond it, everything is learned anew.
const MODELS: usize = 1_000;

/// A model at an address: models behind one gateway differ, and the address of a provider may change.
type EndpointModel = (ModelLock, Option<String>);

/// The memory.
#[derive(Default)]
pub struct LearnedEndpoints(Mutex<HashMap<EndpointModel, ReasoningMembers>>);

impl LearnedEndpoints {
    /// Returns what is known about reasoning in requests to this model.
    pub fn reasoning_members(&self, lock: &ModelLock, base_url: Option<&str>) -> ReasoningMembers {
        self.known().get(&(lock.clone(), base_url.map(str::to_owned))).copied().unwrap_or_default()
    }

    /// Records what an accepted repair has shown; the newest knowledge counts.
    pub fn record(&self, lock: &ModelLock, base_url: Option<&str>, members: ReasoningMembers) {
        if members == ReasoningMembers::Unknown {
            return;
        }
        let mut known = self.known();
        if known.len() >= MODELS {
            known.clear();
        }
        known.insert((lock.clone(), base_url.map(str::to_owned)), members);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<EndpointModel, ReasoningMembers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_knowledge_counts_for_its_model_and_address() {
        let lock = |model: &str| ModelLock { provider: "p".into(), model: model.into() };
        let learned = LearnedEndpoints::default();
        let known = |model: &str, url| learned.reasoning_members(&lock(model), Some(url));
        learned.record(&lock("a"), Some("https://one"), ReasoningMembers::Required);
        learned.record(&lock("a"), Some("https://one"), ReasoningMembers::Unknown);
        assert_eq!(known("a", "https://one"), ReasoningMembers::Required);
        learned.record(&lock("a"), Some("https://one"), ReasoningMembers::Refused);
        assert_eq!(known("a", "https://one"), ReasoningMembers::Refused);
        assert_eq!(known("b", "https://one"), ReasoningMembers::Unknown);
        assert_eq!(known("a", "https://two"), ReasoningMembers::Unknown);
        for at in 0..MODELS {
            learned.record(&lock(&format!("m{at}")), None, ReasoningMembers::Required);
        }
        assert!(learned.known().len() <= MODELS, "bounded");
    }
}
