//! Title tasks: each request for a title is a task of its own, which no HTTP request owns. A chat has one at a time.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{RunJob, Supervisor};
use crate::budgets::BudgetReservation;
use crate::driver::title::{self, PreparedTitleRequest, TitleJob};
use turnleaf_domain::{ChatId, Failure, TitleRequestId, UserId};
use turnleaf_store::StoreError;

/// The right to send the request for a title of a chat. It ends with the value, also after a panic.
pub struct TitleSlot {
    supervisor: Supervisor,
    chat: ChatId,
    id: TitleRequestId,
    stop: CancellationToken,
}

impl TitleSlot {
    /// Sends the request, which is stored under the id of the slot, in a task of its own.
    pub fn start(self, owner: UserId, request: PreparedTitleRequest, budget: Option<Arc<BudgetReservation>>) {
        let supervisor = self.supervisor.clone();
        supervisor.0.tasks.spawn(async move {
            let slot = self;
            let job = TitleJob { owner, id: slot.id, request, stop: slot.stop.clone(), budget };
            title::run(&slot.supervisor, job).await;
        });
    }
}

impl Drop for TitleSlot {
    fn drop(&mut self) {
        self.supervisor.titles().remove(&self.chat);
        self.supervisor.0.titles_ended.send_replace(());
    }
}

impl Supervisor {
    fn titles(&self) -> MutexGuard<'_, HashMap<ChatId, (TitleRequestId, CancellationToken)>> {
        self.0.titles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of chats whose request for a title has a slot.
    pub(super) fn title_count(&self) -> usize {
        self.titles().len()
    }

    /// Reserves the slot of a chat for a request with this id.
    ///
    /// # Errors
    /// The id of the request that has the slot.
    pub fn reserve_title(&self, chat: ChatId, id: TitleRequestId) -> Result<TitleSlot, TitleRequestId> {
        let mut titles = self.titles();
        if let Some((running, _)) = titles.get(&chat) {
            return Err(*running);
        }
        let stop = CancellationToken::new();
        titles.insert(chat, (id, stop.clone()));
        Ok(TitleSlot { supervisor: self.clone(), chat, id, stop })
    }

    /// Builds a request for a title, as the request of a reply would be. The turn of the job is not stored.
    ///
    /// # Errors
    /// The provider is gone, or the context could not be read.
    pub async fn prepare_title(&self, job: RunJob) -> Result<PreparedTitleRequest, Failure> {
        title::prepare(self, job).await
    }

    /// Waits until the request for a title has ended, and its end is stored.
    pub async fn wait_for_title(&self, id: TitleRequestId) {
        let mut endings = self.0.titles_ended.subscribe();
        while self.titles().values().any(|(running, _)| *running == id) {
            if endings.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the number of callers that wait for the end of a request for a title.
    pub fn title_waiter_count(&self) -> usize {
        self.0.titles_ended.receiver_count()
    }

    /// Returns the request for a title of this chat that runs.
    pub fn running_title(&self, chat: ChatId) -> Option<TitleRequestId> {
        self.titles().get(&chat).map(|(running, _)| *running)
    }

    /// Stops the request for a title of this chat, and returns it, if one runs. Its end is stored later
    /// ([`Self::wait_for_title`]).
    pub fn stop_title(&self, chat: ChatId) -> Option<TitleRequestId> {
        let titles = self.titles();
        let (running, stop) = titles.get(&chat)?;
        stop.cancel();
        Some(*running)
    }

    /// Stops a stored request for a title that no task drives.
    pub async fn end_orphaned_title(&self, owner: UserId, id: TitleRequestId) -> Result<(), StoreError> {
        title::stop_orphan(self, owner, id).await
    }
}
