//! Tool calls of one step: each call is gated, approved by a person if needed, run concurrently with the others, and
//! stored with its result as soon as it ends. The model continues when all calls have ended.
//!
//! `call` holds the state of a call, `admission` decides whether it runs, `running` runs it, `questions` asks the user
//! for its server, `recording` stores its changes, `commands` handles commands of people meanwhile, `result_texts` holds
//! the texts for the model.

mod admission;
mod call;
mod commands;
mod questions;
mod recording;
mod result_texts;
mod running;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until};

use self::call::{CallEnding, CallStage, CallWork, ToolStep};
use super::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use crate::live_turns::Interrupt;
use crate::mailbox::CommandEnvelope;
use turnleaf_domain::blocks::block;
use turnleaf_domain::turns::user_input_wait::{ReplyPauseReason, open_pause_text, pending_user_input, required_pause};
use turnleaf_domain::{BlockId, BlockState, Content, Event, FailureKind, TurnStatus, limits};
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::missing_provider::MissingProvider;
use turnleaf_tools::toolbox::CallOutcome;

/// The side that answered the calls of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnsweredBy {
    /// The server has all results, and the model continues.
    Server,
    /// The client runs at least one of the calls: the reply is complete, and the client's next turn continues it.
    Client,
}

/// The next event that a step handles.
enum StepEvent {
    Interrupted(Interrupt),
    Closing,
    Command(CommandEnvelope),
    Work(CallWork),
    Late,
    Tick,
}

impl TurnRun<'_> {
    /// Answers the calls of a step, some of which an earlier process may have admitted.
    pub(super) async fn answer_calls(&mut self, calls: Vec<PendingCall>) -> Result<AnsweredBy, HaltReason> {
        let live = self.live.clone();
        let mut commands = live.mailbox().listen();
        let mut step = self.begin_step(calls).await?;
        let mut tick = progress_interval();
        let (mut has_waited, mut is_wait_published) = (false, false);
        let ending = loop {
            if step.pause.is_none() {
                self.start_queued_calls(&mut step).await?;
            }
            let needs_person = live.with_turn(|turn| pending_user_input(turn).is_some());
            if std::mem::replace(&mut is_wait_published, needs_person) != needs_person {
                self.supervisor.publish_reply_wait(self.job.owner, self.job.chat.id);
            }
            if step.is_over() {
                break Ok(());
            }
            let waits = step.is_waiting_for_person();
            live.set_waiting(waits);
            has_waited |= waits;
            let since = Instant::now();
            let next = tokio::select! {
                biased;
                interrupt = live.wait_for_interrupt() => StepEvent::Interrupted(interrupt),
                () = self.supervisor.wait_for_closing(), if waits => StepEvent::Closing,
                word = commands.next() => StepEvent::Command(word),
                work = step.next_work(), if step.has_work() => StepEvent::Work(work),
                () = sleep_until(self.deadline), if !waits => StepEvent::Late,
                _ = tick.tick(), if step.is_running() => StepEvent::Tick,
            };
            if waits {
                // Time spent waiting for a person does not count against the run's time limit.
                self.deadline += since.elapsed();
            }
            let done = match next {
                StepEvent::Interrupted(Interrupt::Shutdown) if step.is_asking() => self.leave(&mut step).await,
                StepEvent::Interrupted(interrupt) => Err(HaltReason::Interrupted(interrupt)),
                StepEvent::Closing if step.is_asking() => self.leave(&mut step).await,
                // A question of a tool server ends with its call, so nothing is left to wait for.
                StepEvent::Closing => Err(HaltReason::Interrupted(Interrupt::Shutdown)),
                StepEvent::Command(word) => self.handle_command(&mut step, word).await,
                StepEvent::Work(work) => self.advance(&mut step, work).await,
                StepEvent::Late => Err(self.failure(FailureKind::LimitTime).into()),
                StepEvent::Tick => self.record_progress(&mut step).await,
            };
            if let Err(halt) = done {
                break Err(halt);
            }
        };
        live.set_waiting(false);
        ending?;
        let has_searched = step.has_searched();
        drop(step);
        if self.recorder.turn().blocks.iter().any(is_handed_over) {
            return Ok(AnsweredBy::Client);
        }
        if has_waited || self.provider.api() == MissingProvider::API {
            self.refresh_provider()?;
        }
        if has_searched {
            self.reload_tools().await?;
        }
        self.set_status(TurnStatus::Streaming);
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(AnsweredBy::Server)
    }

    /// Admits the calls, unless the step pauses before them.
    async fn begin_step(&mut self, calls: Vec<PendingCall>) -> Result<ToolStep, HaltReason> {
        let newest: Vec<BlockId> = calls.iter().map(|call| call.block_id).collect();
        let mut step = ToolStep::new(calls);
        step.pause =
            self.recorder.turn().blocks.iter().find(|block| open_pause_text(block).is_some()).map(|block| block.id);
        if step.pause.is_none()
            && let Some(reason) = required_pause(self.recorder.turn(), &newest)
        {
            step.pause = Some(self.pause(reason).await?);
        }
        if step.pause.is_none() {
            self.admit_calls(&mut step).await?;
        }
        Ok(step)
    }

    /// Pauses before the calls run. Returns the block that shows the pause.
    async fn pause(&mut self, reason: ReplyPauseReason) -> Result<BlockId, HaltReason> {
        let block = self.new_block(reason.content(), BlockState::Open);
        let id = block.id;
        self.recorder.push(Event::BlockStart { block });
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(id)
    }

    /// Handles the decision of a gate or the end of a call.
    async fn advance(&mut self, step: &mut ToolStep, work: CallWork) -> Result<(), HaltReason> {
        match work {
            CallWork::Gated { at, gate } => self.apply_gate(step, at, gate).await,
            // The server did not execute the call. The gate asks its owner to sign in, and it runs after that.
            CallWork::Over { at, outcome } if outcome.outcome == CallOutcome::SignInNeeded => {
                self.start_gate_check(step, at);
                Ok(())
            }
            CallWork::Over { at, outcome } => {
                // A message of a tool to the user at its very end arrives together with its result.
                while let Some(event) = step.take_event(at) {
                    self.handle_question(step, at, event).await?;
                }
                let ending = CallEnding::from_outcome(outcome, step.calls.get(at).map(|call| call.began.elapsed()));
                self.end_call(step, at, ending).await
            }
            CallWork::Question { at, event } => self.handle_question(step, at, event).await,
            CallWork::Stopped => Ok(()),
        }
    }

    /// Leaves the turn for the next process: running calls are interrupted, open questions stay open.
    async fn leave(&mut self, step: &mut ToolStep) -> Result<(), HaltReason> {
        for at in 0..step.calls.len() {
            if matches!(step.calls[at].stage, CallStage::Running) {
                self.record_end(step, at, CallEnding::interrupted());
            }
        }
        self.recorder.flush(JournalBatch::default()).await?;
        Err(HaltReason::LeftWaiting)
    }
}

fn is_handed_over(block: &block::Block) -> bool {
    matches!(block.content, Content::ToolUse { status: block::ToolStatus::HandedOver, .. })
}

/// Returns the interval at which progress is recorded.
fn progress_interval() -> Interval {
    let every = limits::TOOL_PROGRESS_EVERY;
    let mut tick = interval_at(Instant::now() + every, every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
