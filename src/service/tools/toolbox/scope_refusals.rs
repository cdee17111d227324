//! The calls that a tool server refused because it wants a wider scope.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnleaf_domain::BlockId;

/// The calls that were refused for a scope, until they run or end. A restart forgets them; then the server refuses them again.
#[derive(Default)]
pub(super) struct ScopeRefusals(Mutex<HashSet<BlockId>>);

impl ScopeRefusals {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashSet<BlockId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
