//! The driver: one assistant turn from pending to its end, through as many provider calls and tools as it takes. No error
//! leaves it; a run always ends in a terminal event, and the journal is the error report.

mod attempts;
mod conclusion;
mod context;
mod generation;
mod recorder;
mod repair;
mod tools;

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use self::recorder::Recorder;
use super::ending::{Ending, Spent, closing};
use super::journal::Batch;
use super::live::{Interrupt, Live};
use super::supervisor::{Job, Supervisor};
use crate::domain::fold::Usages;
use crate::domain::{Charge, Cost, Event, Failure, FailureKind, GenerationId, TurnStatus, limits};
use crate::server::outbound::builder::PendingCall;
use crate::server::outbound::provider::Provider;
use crate::server::platform::ids;
use crate::server::store::generations::{GenerationEnd, raw};

/// Why a run stopped before it was complete.
enum Halt {
    Interrupted(Interrupt),
    Failed(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What a generation that ended asks for.
enum Next {
    /// Nothing: the reply is complete.
    Over,
    /// Its tool calls, answered.
    Tools(Vec<PendingCall>),
    /// The next request: the provider paused in the middle of a long reply and goes on when it is sent back.
    GoesOn,
}

/// One run in progress.
struct Run<'a> {
    supervisor: &'a Supervisor,
    live: &'a Arc<Live>,
    job: Job,
    provider: Arc<dyn Provider>,
    recorder: Recorder,
    usages: Usages,
    /// What the generations that ended cost, in order.
    charges: Vec<Option<Charge>>,
    context: Option<context::Context>,
    /// The request after which the provider paused. The same again would pause again.
    paused_at: Option<Bytes>,
    /// The bodies of this turn's generations that ended, in order.
    steps_raw: Vec<Bytes>,
    /// Under which id the provider keeps the last of them.
    response_id: Option<String>,
    /// The generations that were made, whose bytes are packed at the end.
    generations: Vec<GenerationId>,
    /// The number of the next generation. A request that was refused and repaired took one of its own.
    step: u32,
    /// What a refusal made of this turn's requests; one turn is repaired once.
    repair: Option<repair::Repaired>,
    deadline: Instant,
    /// The end of the generation that a failure or a Stop cut off, still to be stored.
    cut_off: Option<GenerationEnd>,
}

/// Drives the turn to its end.
pub async fn drive(supervisor: &Supervisor, live: &Arc<Live>, job: Job) {
    let Some(provider) = supervisor.registry().find(&job.lock.provider) else {
        let failure = Failure::new(FailureKind::ProviderUnreachable, &job.lock.provider)
            .with_detail("this provider is not configured on the server any more");
        return fail(supervisor, live, failure).await;
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
        paused_at: None,
        steps_raw: Vec::new(),
        response_id: None,
        generations: Vec::new(),
        step: 0,
        repair: None,
        deadline: Instant::now() + supervisor.pace().turn,
        cut_off: None,
    };
    let ending = match run.steps().await {
        Ok(()) => Ending::Complete,
        Err(Halt::Failed(failure)) | Err(Halt::Interrupted(Interrupt::Failed(failure))) => Ending::Failed(failure),
        Err(Halt::Interrupted(Interrupt::Stopped)) => Ending::Stopped,
        Err(Halt::Interrupted(Interrupt::Shutdown)) => {
            Ending::Failed(Failure::new(FailureKind::ServerRestarted, run.provider.name()))
        }
    };
    run.end(&ending).await;
}

/// Ends a turn whose run cannot go on (or never began).
pub async fn fail(supervisor: &Supervisor, live: &Arc<Live>, failure: Failure) {
    let recorder = Recorder::new(live.clone(), supervisor.journal().clone());
    end(supervisor, recorder, &Ending::Failed(failure), Spent::default(), Batch::default()).await;
}

impl Run<'_> {
    async fn steps(&mut self) -> Result<(), Halt> {
        for _ in 0..limits::TOOL_ROUNDS {
            match self.generation().await? {
                Next::Over => return Ok(()),
                Next::Tools(calls) => self.run_tools(calls).await?,
                Next::GoesOn => {}
            }
        }
        Err(Failure::new(FailureKind::LimitRounds, self.provider.name()).into())
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

    fn status(&mut self, status: TurnStatus) {
        if self.recorder.status() != status {
            let at = Some(self.supervisor.clock().now());
            self.recorder.push(Event::TurnStatus { status, at });
        }
    }
}

/// `with` is what is stored together with the ending.
async fn end(supervisor: &Supervisor, mut recorder: Recorder, ending: &Ending, spent: Spent, with: Batch) {
    recorder.gather();
    let now = supervisor.clock().now();
    let events = closing(recorder.turn(), ending, spent, now, ids::mint);
    recorder.extend(events);
    recorder
        .flush_ending(|turn| Batch {
            ending: Some(turn.clone()),
            generation_end: with.generation_end.clone(),
            provider_state: with.provider_state.clone(),
            ..Batch::default()
        })
        .await;
}
