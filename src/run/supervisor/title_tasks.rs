//! Title tasks: each request for a title is a task of its own, which no HTTP request owns.

use std::sync::PoisonError;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{RunJob, Supervisor};
use crate::driver::title::{self, PreparedTitleRequest, TitleJob};
use turnleaf_domain::{ChatId, Failure, TitleRequestId, UserId};

/// Takes a request from the running ones when its task ends, also after a panic.
struct RunningTitle {
    supervisor: Supervisor,
    chat: ChatId,
}

impl Drop for RunningTitle {
    fn drop(&mut self) {
        let state = &self.supervisor.0;
        state.titles.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.chat);
        state.titles_ended.send_replace(());
    }
}

impl Supervisor {
    /// Builds a request for a title, as the request of a reply would be. The turn of the job is not stored.
    ///
    /// # Errors
    /// The provider is gone, or the context could not be read.
    pub async fn prepare_title(&self, job: RunJob) -> Result<PreparedTitleRequest, Failure> {
        title::prepare(self, job).await
    }

    /// Sends a request that is stored, in a task of its own.
    pub fn start_title(&self, owner: UserId, chat: ChatId, id: TitleRequestId, request: PreparedTitleRequest) {
        let stop = CancellationToken::new();
        self.0.titles.lock().unwrap_or_else(PoisonError::into_inner).insert(chat, (id, stop.clone()));
        let running = RunningTitle { supervisor: self.clone(), chat };
        self.0.tasks.spawn(async move {
            title::run(&running.supervisor, TitleJob { owner, id, request, stop }).await;
        });
    }

    /// Returns whether a request for a title runs in this process.
    pub fn is_title_running(&self, id: TitleRequestId) -> bool {
        self.0.titles.lock().unwrap_or_else(PoisonError::into_inner).values().any(|(running, _)| *running == id)
    }

    /// Stops the request for a title of this chat, if one runs. Its end is stored later.
    pub fn stop_title(&self, chat: ChatId) {
        if let Some((_, stop)) = self.0.titles.lock().unwrap_or_else(PoisonError::into_inner).get(&chat) {
            stop.cancel();
        }
    }

    /// Subscribes to the endings of requests for titles: the value changes after each, whose ending is stored by then.
    pub fn subscribe_title_endings(&self) -> watch::Receiver<()> {
        self.0.titles_ended.subscribe()
    }
}
