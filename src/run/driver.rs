//! The driver: one assistant turn from pending to its end, through as many provider calls and tools as it takes. No error
//! leaves it; a run always ends in a terminal event, and the journal is the error report.

mod attached;
mod attempts;
mod conclusion;
mod context;
mod generation;
mod handed_over;
mod pictures;
mod recorder;
mod repair;
mod run;
mod standing;
mod tools;

use std::sync::Arc;

use tokio::time::Instant;

use self::recorder::Recorder;
use self::run::{Halt, Next, Run, gone};
use self::tools::Answered;
use super::ending::{Ending, Spent, closing};
use super::journal::Batch;
use super::live::{Interrupt, Live};
use super::supervisor::{Job, Supervisor};
use turnleaf_domain::fold::Usages;
use turnleaf_domain::{Cost, Failure, FailureKind, Turn, limits};
use turnleaf_platform::ids;
use turnleaf_providers::absent::Absent;
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::provider::Attached;
use turnleaf_store::generations::raw;

/// Where a turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// Nothing has happened in it.
    Anew,
    /// It waits for a person, as an earlier process left it.
    WhereItWaits,
}

/// Drives the turn to its end, unless it is left waiting.
pub async fn drive(supervisor: &Supervisor, live: &Arc<Live>, job: Job, begins: Begins) {
    let provider = match (supervisor.registry().find(&job.lock.provider), begins) {
        (Some(provider), _) => provider,
        // It is not needed yet, and may be there again when it is.
        (None, Begins::WhereItWaits) => Arc::new(Absent::new(&job.lock.provider)),
        (None, Begins::Anew) => return fail(supervisor, live, gone(&job.lock.provider)).await,
    };
    let mut run = Run {
        recorder: Recorder::new(live.clone(), supervisor.journal().clone()),
        supervisor,
        live,
        job,
        provider,
        usages: Usages::default(),
        charges: Vec::new(),
        context: None,
        earlier: None,
        pictures: Attached::default(),
        paused_at: None,
        steps_raw: Vec::new(),
        response_id: None,
        generations: Vec::new(),
        step: 0,
        repair: None,
        deadline: Instant::now() + supervisor.pace().turn,
        cut_off: None,
    };
    let steps = match begins {
        Begins::Anew => run.steps(None).await,
        Begins::WhereItWaits => run.steps_from_where_it_stands().await,
    };
    let ending = match steps {
        Ok(()) => Ending::Complete,
        Err(Halt::Failed(failure)) | Err(Halt::Interrupted(Interrupt::Failed(failure))) => Ending::Failed(failure),
        Err(Halt::Interrupted(Interrupt::Stopped)) => Ending::Stopped,
        Err(Halt::Interrupted(Interrupt::Shutdown)) => {
            Ending::Failed(Failure::new(FailureKind::ServerRestarted, run.provider.name()))
        }
        Err(Halt::Left) => return,
    };
    run.end(&ending).await;
}

/// Ends a turn whose run cannot go on (or never began).
pub async fn fail(supervisor: &Supervisor, live: &Arc<Live>, failure: Failure) {
    let recorder = Recorder::new(live.clone(), supervisor.journal().clone());
    end(supervisor, recorder, &Ending::Failed(failure), Spent::default(), Batch::default()).await;
}

impl Run<'_> {
    /// Goes from step to step until the reply is complete. It may begin with calls that are still to be answered.
    async fn steps(&mut self, mut calls: Option<Vec<PendingCall>>) -> Result<(), Halt> {
        let mut pauses = 0;
        loop {
            if let Some(calls) = calls.take() {
                pauses = 0;
                if self.answer(calls).await? == Answered::ByTheClient {
                    return Ok(());
                }
                self.tell_results();
            }
            match self.generation().await? {
                Next::Over => return Ok(()),
                Next::Tools(next) => calls = Some(next),
                Next::GoesOn if pauses == limits::TOOL_ROUNDS => {
                    return Err(self.failure(FailureKind::LimitRounds).into());
                }
                Next::GoesOn => pauses += 1,
            }
        }
    }

    async fn end(self, ending: &Ending) {
        let spent = Spent { usage: self.usages.sum(), cost: Cost::of_turn(self.charges.iter().map(Option::as_ref)) };
        let provider_state = if matches!(ending, Ending::Complete) { self.kept_state() } else { None };
        let with = Batch { generation_end: self.cut_off, provider_state, ..Batch::default() };
        end(self.supervisor, self.recorder, ending, spent, with).await;
        // Out of the way of everybody who waits for the ending.
        for generation in self.generations {
            if let Err(error) = raw::pack(self.supervisor.db(), generation).await {
                tracing::warn!(%generation, %error, "raw bytes stay in pieces until the next start");
            }
        }
    }
}

/// `with` is what is stored together with the ending.
async fn end(supervisor: &Supervisor, mut recorder: Recorder, ending: &Ending, spent: Spent, with: Batch) {
    recorder.gather();
    let now = supervisor.clock().now();
    let first = recorder.turn().next_block_seq();
    let events = closing(recorder.turn(), ending, spent, (now, first), ids::mint);
    recorder.extend(events);
    let whole = |turn: &Turn| Batch {
        ending: Some(turn.clone()),
        generation_end: with.generation_end.clone(),
        provider_state: with.provider_state.clone(),
        ..Batch::default()
    };
    recorder.flush_ending(whole, supervisor).await;
}
