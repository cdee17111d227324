//! The search engines of this server: the configured one, which everybody uses, and those that people chose. They are
//! in memory with their keys, as tool servers are, and the result of the last test of each person.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chrono::{DateTime, Utc};

use turnleaf_domain::{CodedMessage, UserId};
use turnleaf_platform::search_engine::SearchEngine;

/// The result of a test: the number of results, or the reason why there are none.
#[derive(Debug, Clone)]
pub(crate) struct SearchCheck {
    pub at: DateTime<Utc>,
    pub outcome: Result<usize, CodedMessage>,
}

#[derive(Default)]
pub(crate) struct SearchEngines(RwLock<EngineTable>);

#[derive(Default)]
struct EngineTable {
    configured: Option<SearchEngine>,
    own: HashMap<UserId, SearchEngine>,
    checks: HashMap<UserId, SearchCheck>,
    /// Counts the changes of engines, so that a test that ends after one is not recorded for the new engine.
    revision: u64,
}

impl SearchEngines {
    /// Returns the engine of a person: the configured one, else their own.
    pub fn find(&self, owner: UserId) -> Option<SearchEngine> {
        let table = self.read();
        table.configured.as_ref().or_else(|| table.own.get(&owner)).cloned()
    }

    /// Works like [`Self::find`] for a test, whose result belongs to this revision of the engines.
    pub fn find_to_test(&self, owner: UserId) -> Option<(SearchEngine, u64)> {
        let revision = self.read().revision;
        self.find(owner).map(|engine| (engine, revision))
    }

    pub fn configured(&self) -> Option<SearchEngine> {
        self.read().configured.clone()
    }

    /// Sets the configured engine, and forgets the tests of another one.
    pub fn set_configured(&self, engine: Option<SearchEngine>) {
        let mut table = self.write();
        table.configured = engine;
        table.revision += 1;
        table.checks.clear();
    }

    /// Sets the engine that a person chose, and forgets its test.
    pub fn set_own(&self, owner: UserId, engine: Option<SearchEngine>) {
        let mut table = self.write();
        table.checks.remove(&owner);
        table.revision += 1;
        match engine {
            Some(engine) => table.own.insert(owner, engine),
            None => table.own.remove(&owner),
        };
    }

    pub fn last_check(&self, owner: UserId) -> Option<SearchCheck> {
        self.read().checks.get(&owner).cloned()
    }

    /// Records a test, unless engines have changed since this revision.
    pub fn record_check(&self, owner: UserId, revision: u64, check: SearchCheck) {
        let mut table = self.write();
        if table.revision == revision {
            table.checks.insert(owner, check);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, EngineTable> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, EngineTable> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
