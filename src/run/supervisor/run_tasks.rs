//! Run tasks: each run is a task of its own, which ends its turn even after a panic.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;

use super::{RunJob, Supervisor};
use crate::driver::{self, RunStart};
use crate::live_turns::LiveTurn;
use turnleaf_domain::{Failure, FailureKind, TurnId};

impl Supervisor {
    /// Drives the turn in a task of its own. The turn is registered before this returns, so an immediate Stop finds
    /// it.
    pub fn start_run(&self, job: RunJob) {
        let live = Arc::new(LiveTurn::new(job.owner, job.turn.clone()));
        let id = job.turn.id;
        let room = self.0.live.insert(id, live.clone());
        // Sending fails only if there are no subscribers.
        let _ = self.0.started.send(job.chat.id);
        self.publish_reply_started(job.owner, job.chat.id);
        let supervisor = self.clone();
        self.0.tasks.spawn(async move {
            if room {
                supervisor.drive_run(live, job, RunStart::Fresh).await;
            } else {
                let failure =
                    Failure::new(FailureKind::Internal, "").with_detail("too many replies are being generated");
                driver::fail_turn(&supervisor, &live, failure).await;
                supervisor.remove_live_turn(&live, id);
            }
        });
    }

    /// Drives a turn that waits for a person, as an earlier process left it. Does nothing if it is driven already.
    pub(crate) fn resume_run(&self, job: RunJob) {
        let live = Arc::new(LiveTurn::new(job.owner, job.turn.clone()));
        if !self.0.live.insert_waiting(job.turn.id, live.clone()) {
            return;
        }
        let _ = self.0.started.send(job.chat.id);
        self.publish_reply_started(job.owner, job.chat.id);
        let supervisor = self.clone();
        self.0.tasks.spawn(async move { supervisor.drive_run(live, job, RunStart::Resumed).await });
    }

    async fn drive_run(&self, live: Arc<LiveTurn>, job: RunJob, begins: RunStart) {
        let id = job.turn.id;
        if AssertUnwindSafe(driver::drive(self, &live, job, begins)).catch_unwind().await.is_err() {
            tracing::error!(turn = %id, "a run panicked; its turn ends as an error");
            driver::fail_turn(self, &live, Failure::new(FailureKind::Internal, "")).await;
        }
        self.remove_live_turn(&live, id);
    }

    fn remove_live_turn(&self, live: &LiveTurn, id: TurnId) {
        self.0.live.remove(id);
        live.mark_ended();
        self.0.ended.send_replace(());
        self.publish_reply_ended(live.owner(), live.with_turn(|turn| turn.chat_id));
        // The message and its reply.
        self.index_soon();
    }
}
