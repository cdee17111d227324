//! The change feed: what has changed of each account, for the live channels of its pages and programs
//! (docs/reference/events.md 14). It is told of a change after the commit. It keeps the last changes of the accounts
//! that were followed lately, each subject once, so that a client which reconnects continues after the number that it
//! has seen. A slow follower misses nothing but repetitions, and keeps nobody waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use turnleaf_domain::{AccountChange, UserId, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks;
use turnleaf_providers::registry::ProviderRegistry;

/// A change with its number.
pub type NumberedChange = (u64, AccountChange);

/// The next changes for a follower.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedUpdate {
    /// The changes since, in order; at least one.
    Changes(Vec<NumberedChange>),
    /// Changes since are not known any more. The ones after this number follow.
    Reset(u64),
}

/// The last changes of one account.
struct AccountHistory {
    /// The numbers rise, also from one process to the next: the first is the time in microseconds at which an account
    /// is followed.
    changes: VecDeque<NumberedChange>,
    /// The number of the newest change.
    newest: u64,
    /// The number up to which changes may be forgotten. Followers that have seen this one continue.
    forgotten: u64,
    /// A fingerprint of the models that the account can choose from.
    models: u64,
    changed: watch::Sender<()>,
}

impl AccountHistory {
    fn new(first: u64, models: u64) -> Self {
        let changed = watch::Sender::new(());
        Self { changes: VecDeque::new(), newest: first, forgotten: first, models, changed }
    }

    fn push(&mut self, change: AccountChange) {
        self.changes.retain(|(_, earlier)| !change.replaces(earlier));
        self.newest += 1;
        self.changes.push_back((self.newest, change));
        if self.changes.len() > limits::CHANNEL_CHANGES
            && let Some((oldest, _)) = self.changes.pop_front()
        {
            self.forgotten = oldest;
        }
        self.changed.send_replace(());
    }

    fn knows_changes_since(&self, seen: u64) -> bool {
        (self.forgotten..=self.newest).contains(&seen)
    }

    fn update_since(&self, seen: u64) -> Option<FeedUpdate> {
        if !self.knows_changes_since(seen) {
            return Some(FeedUpdate::Reset(self.newest));
        }
        let after = self.changes.partition_point(|(number, _)| *number <= seen);
        let changes: Vec<NumberedChange> = self.changes.range(after..).copied().collect();
        (!changes.is_empty()).then_some(FeedUpdate::Changes(changes))
    }

    fn is_followed(&self) -> bool {
        self.changed.receiver_count() > 0
    }
}

/// The changes of all accounts. Cheap to clone.
#[derive(Clone)]
pub struct ChangeFeed {
    histories: Arc<Mutex<HashMap<UserId, AccountHistory>>>,
    clock: Arc<dyn Clock>,
}

impl ChangeFeed {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { histories: Arc::default(), clock }
    }

    /// Tells those who follow this account of a change, which is committed.
    pub fn publish(&self, owner: UserId, change: AccountChange) {
        self.publish_all(owner, [change]);
    }

    /// Works like [`Self::publish`], for changes that were one.
    pub fn publish_all(&self, owner: UserId, changes: impl IntoIterator<Item = AccountChange>) {
        self.with_histories(|histories| {
            // Nobody continues with an account that nobody has followed lately.
            if let Some(history) = histories.get_mut(&owner) {
                changes.into_iter().for_each(|change| history.push(change));
            }
        });
    }

    /// Returns the accounts whose changes are kept: those that are followed, and those that may continue.
    fn accounts(&self) -> Vec<UserId> {
        self.with_histories(|histories| histories.keys().copied().collect())
    }

    /// Publishes changes of the models that accounts can choose from, until `closing` is cancelled.
    pub fn publish_model_changes_of(&self, registry: Arc<ProviderRegistry>, closing: CancellationToken) {
        let (feed, mut changed) = (self.clone(), registry.subscribe_changes());
        // The task is detached and ends with the token.
        drop(tasks::spawn(closing.run_until_cancelled_owned(async move {
            while changed.changed().await.is_ok() {
                for account in feed.accounts() {
                    feed.publish_models(account, registry.models_fingerprint(account));
                }
            }
        })));
    }

    /// Tells those who follow this account that its models have changed, if this fingerprint of them is another one
    /// than before.
    fn publish_models(&self, owner: UserId, fingerprint: u64) {
        self.with_histories(|histories| {
            if let Some(history) = histories.get_mut(&owner)
                && std::mem::replace(&mut history.models, fingerprint) != fingerprint
            {
                history.push(AccountChange::SettingsChanged);
            }
        });
    }

    /// Follows an account after a number, if the changes since are known, else from now on. `models` is the present
    /// fingerprint of its models.
    pub fn follow(&self, owner: UserId, after: Option<u64>, models: u64) -> ChangeFollower {
        let now = u64::try_from(self.clock.now().timestamp_micros()).unwrap_or_default();
        self.with_histories(|histories| {
            if histories.len() >= limits::CHANNEL_ACCOUNTS && !histories.contains_key(&owner) {
                histories.retain(|_, history| history.is_followed());
            }
            let history = histories.entry(owner).or_insert_with(|| AccountHistory::new(now, models));
            let after = after.filter(|seen| history.knows_changes_since(*seen));
            ChangeFollower {
                feed: self.clone(),
                owner,
                seen: after.unwrap_or(history.newest),
                continues: after.is_some(),
                changed: history.changed.subscribe(),
            }
        })
    }

    fn with_histories<T>(&self, act: impl FnOnce(&mut HashMap<UserId, AccountHistory>) -> T) -> T {
        act(&mut self.histories.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One follower of an account. Dropping it ends the following.
pub struct ChangeFollower {
    feed: ChangeFeed,
    owner: UserId,
    /// The number of the last change that it was given.
    seen: u64,
    continues: bool,
    changed: watch::Receiver<()>,
}

impl ChangeFollower {
    /// Returns the number of the last change that the follower has seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns true if the follower misses nothing since the number after which it wanted to follow.
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// Waits until there is something that the follower has not seen.
    pub async fn next(&mut self) -> FeedUpdate {
        loop {
            let update = self.feed.with_histories(|histories| histories.get(&self.owner)?.update_since(self.seen));
            if let Some(update) = update {
                self.seen = match &update {
                    FeedUpdate::Changes(changes) => changes.last().map_or(self.seen, |(number, _)| *number),
                    FeedUpdate::Reset(newest) => *newest,
                };
                return update;
            }
            if self.changed.changed().await.is_err() {
                // The history of an account stays while it is followed.
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests;
