//! Starting runs: each is driven in a task of its own, which ends its turn whatever happens in it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;

use super::{Job, Supervisor};
use crate::driver::{self, Begins};
use crate::live::Live;
use turnleaf_domain::{Failure, FailureKind, TurnId};

impl Supervisor {
    /// Drives the turn in a task of its own. It is in the list of running turns when this returns, so a Stop that comes
    /// at once finds it.
    pub fn start(&self, job: Job) {
        let live = Arc::new(Live::new(job.owner, job.turn.clone()));
        let id = job.turn.id;
        let room = self.0.live.insert(id, live.clone());
        // An error only says that nobody listens.
        let _ = self.0.begun.send(job.chat.id);
        let supervisor = self.clone();
        self.0.tasks.spawn(async move {
            if room {
                supervisor.drive(live, job, Begins::Anew).await;
            } else {
                let failure = Failure::new(FailureKind::Internal, "").with_detail("too many replies run at once");
                driver::fail(&supervisor, &live, failure).await;
                supervisor.gone(&live, id);
            }
        });
    }

    /// Drives a turn that waits for a person, as an earlier process left it. Does nothing where it is driven already.
    pub(crate) fn go_on(&self, job: Job) {
        let live = Arc::new(Live::new(job.owner, job.turn.clone()));
        if !self.0.live.insert_waiting(job.turn.id, live.clone()) {
            return;
        }
        let _ = self.0.begun.send(job.chat.id);
        let supervisor = self.clone();
        self.0.tasks.spawn(async move { supervisor.drive(live, job, Begins::WhereItWaits).await });
    }

    async fn drive(&self, live: Arc<Live>, job: Job, begins: Begins) {
        let id = job.turn.id;
        if AssertUnwindSafe(driver::drive(self, &live, job, begins)).catch_unwind().await.is_err() {
            tracing::error!(turn = %id, "a run panicked; its turn ends as an error");
            driver::fail(self, &live, Failure::new(FailureKind::Internal, "")).await;
        }
        self.gone(&live, id);
    }

    fn gone(&self, live: &Live, id: TurnId) {
        self.0.live.remove(id);
        live.end();
    }
}
