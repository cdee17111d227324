//! The driver: runs one assistant turn from pending to its end, through as many provider calls and tool calls as it
//! takes. Errors do not leave it; a run always ends in a terminal event, and the journal is the error report.

mod attachments;
mod attempts;
mod client_tool_results;
mod conclusion;
mod context;
mod continuation;
mod found_tools;
mod generation;
mod images;
mod recorder;
mod repair;
mod resume_state;
mod run;
mod spending_estimate;
pub(crate) mod title;
mod tools;

use std::sync::Arc;

use self::recorder::Recorder;
use self::run::{GenerationFollowUp, HaltReason, TurnRun};
use self::tools::AnsweredBy;
use super::ending::{TurnEnding, TurnSpending, closing_events};
use super::journal::JournalBatch;
use super::live_turns::{Interrupt, LiveTurn};
use super::supervisor::{RunJob, Supervisor};
use turnleaf_domain::{Cost, Failure, FailureKind, Turn, limits};
use turnleaf_platform::ids;
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::missing_provider::MissingProvider;
use turnleaf_providers::registry::{ProviderScope, ScopedProvider};
use turnleaf_store::turns::generations::raw;

/// The state a run starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    /// A new turn without any events.
    Fresh,
    /// A turn that waits for a person, as an earlier process left it.
    Resumed,
}

/// Drives the turn to its end, unless it is left waiting for the next process.
pub async fn drive(supervisor: &Supervisor, live: &Arc<LiveTurn>, job: RunJob, begins: RunStart) {
    let provider = match (supervisor.usable_provider(job.owner, &job.lock), begins) {
        (Some(provider), _) => provider,
        // A resumed turn does not need its provider yet, and the provider may be back when it does.
        (None, RunStart::Resumed) => ScopedProvider {
            scope: ProviderScope::User(job.owner),
            provider: Arc::new(MissingProvider::new(&job.lock.provider)),
        },
        (None, RunStart::Fresh) => {
            let failure = supervisor.unusable_provider_failure(job.owner, &job.lock);
            return fail_turn(supervisor, live, failure).await;
        }
    };
    let mut run = TurnRun::new(supervisor, live, job, provider);
    let steps = match begins {
        RunStart::Fresh => run.run_steps(None).await,
        RunStart::Resumed => run.resume_steps().await,
    };
    let ending = match steps {
        Ok(()) => TurnEnding::Complete,
        Err(HaltReason::Failed(failure)) | Err(HaltReason::Interrupted(Interrupt::Failed(failure))) => {
            TurnEnding::Failed(failure)
        }
        Err(HaltReason::Interrupted(Interrupt::Stopped)) => TurnEnding::Stopped,
        Err(HaltReason::Interrupted(Interrupt::Shutdown)) => {
            TurnEnding::Failed(Failure::new(FailureKind::ServerRestarted, run.provider.name()))
        }
        Err(HaltReason::LeftWaiting) => return,
    };
    run.end(&ending).await;
}

/// Ends a turn whose run cannot continue (or never began).
pub async fn fail_turn(supervisor: &Supervisor, live: &Arc<LiveTurn>, failure: Failure) {
    let recorder = Recorder::new(live.clone(), supervisor.journal().clone());
    end(supervisor, recorder, &TurnEnding::Failed(failure), TurnSpending::default(), JournalBatch::default()).await;
}

impl TurnRun<'_> {
    /// Runs step after step until the reply is complete. `calls` are open calls of a resumed turn, which are answered
    /// first.
    async fn run_steps(&mut self, mut calls: Option<Vec<PendingCall>>) -> Result<(), HaltReason> {
        let mut pauses = 0;
        loop {
            if let Some(calls) = calls.take() {
                pauses = 0;
                if self.answer_calls(calls).await? == AnsweredBy::Client {
                    return Ok(());
                }
                self.extend_repair_over_results();
            }
            match self.run_generation().await? {
                GenerationFollowUp::Complete => return Ok(()),
                GenerationFollowUp::Tools(next) => calls = Some(next),
                GenerationFollowUp::Continue(_) if pauses == limits::TOOL_ROUNDS => {
                    return Err(self.failure(FailureKind::LimitRounds).into());
                }
                GenerationFollowUp::Continue(_) => pauses += 1,
            }
        }
    }

    async fn end(self, ending: &TurnEnding) {
        let spent = TurnSpending {
            usage: self.usages.sum(),
            cost: Cost::from_charges(self.charges.iter().map(Option::as_ref)),
        };
        let provider_state = if matches!(ending, TurnEnding::Complete) { self.provider_state_update() } else { None };
        let with = JournalBatch { generation_end: self.cut_off, provider_state, ..JournalBatch::default() };
        end(self.supervisor, self.recorder, ending, spent, with).await;
        // Packing comes after the ending is stored and published, so that no follower waits for it.
        for generation in self.generations {
            if let Err(error) = raw::pack(self.supervisor.db(), generation).await {
                tracing::warn!(%generation, %error, "the raw response stays unpacked until the next start");
            }
        }
    }
}

/// Ends the turn. `with` is stored in the same commit as the ending.
async fn end(
    supervisor: &Supervisor,
    mut recorder: Recorder,
    ending: &TurnEnding,
    spent: TurnSpending,
    with: JournalBatch,
) {
    recorder.apply_pending();
    let now = supervisor.clock().now();
    let first = recorder.turn().next_block_seq();
    let events = closing_events(recorder.turn(), ending, spent, (now, first), ids::mint);
    recorder.extend(events);
    let whole = |turn: &Turn| JournalBatch {
        ending: Some(turn.clone()),
        generation_end: with.generation_end.clone(),
        provider_state: with.provider_state.clone(),
        ..JournalBatch::default()
    };
    recorder.flush_ending(whole, supervisor).await;
}
