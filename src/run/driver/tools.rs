//! Tools of one step: every call is looked at, asked about where a person has to be asked, run beside the others, and
//! stored with its result as soon as it is over. The model goes on when all are.
//!
//! `call` is what is known of a call, `taking_up` decides what becomes of it, `running` runs it, `recording` stores how
//! it moves, `hearing` does what a person says meanwhile, `words` are the texts for the model.

mod call;
mod hearing;
mod recording;
mod running;
mod taking_up;
mod words;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until};

use self::call::{Ending, Stage, Step, Work};
use super::run::{Halt, Run};
use crate::hearing::Word;
use crate::journal::Batch;
use crate::live::Interrupt;
use turnleaf_domain::waiting::{PauseReason, open_pause, pause_before};
use turnleaf_domain::{BlockId, BlockState, Content, Event, FailureKind, TurnStatus, block, limits};
use turnleaf_providers::absent::Absent;
use turnleaf_providers::builder::PendingCall;

/// Who answered the calls of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answered {
    /// All of them have their results: the model goes on.
    Here,
    /// The client has at least one of them: the reply is complete, and goes on with the client's next turn.
    ByTheClient,
}

/// What happens next in a step.
enum Next {
    Interrupted(Interrupt),
    Closing,
    Word(Word),
    Work(Work),
    Late,
    Tick,
}

impl Run<'_> {
    /// Answers the calls of a step, of which some may have been taken up by an earlier process.
    pub(super) async fn answer(&mut self, calls: Vec<PendingCall>) -> Result<Answered, Halt> {
        let live = self.live.clone();
        let mut heard = live.ear().listen();
        let mut step = self.begin_step(calls).await?;
        let mut tick = ticking();
        let mut has_waited = false;
        let ending = loop {
            if step.pause.is_none() {
                self.begin_queued(&mut step).await?;
            }
            if step.is_over() {
                break Ok(());
            }
            let waits = step.waits_for_a_person();
            live.set_waiting(waits);
            has_waited |= waits;
            let since = Instant::now();
            let next = tokio::select! {
                biased;
                why = live.interrupted() => Next::Interrupted(why),
                () = self.supervisor.closing(), if waits => Next::Closing,
                word = heard.next() => Next::Word(word),
                work = step.next_work(), if step.has_work() => Next::Work(work),
                () = sleep_until(self.deadline), if !waits => Next::Late,
                _ = tick.tick(), if step.runs() => Next::Tick,
            };
            if waits {
                // A person takes whatever time a person takes.
                self.deadline += since.elapsed();
            }
            let done = match next {
                Next::Interrupted(Interrupt::Shutdown) if step.asks() => self.leave(&mut step).await,
                Next::Interrupted(why) => Err(Halt::Interrupted(why)),
                Next::Closing => self.leave(&mut step).await,
                Next::Word(word) => self.hear(&mut step, word).await,
                Next::Work(work) => self.advance(&mut step, work).await,
                Next::Late => Err(self.failure(FailureKind::LimitTime).into()),
                Next::Tick => self.note_progress(&mut step).await,
            };
            if let Err(halt) = done {
                break Err(halt);
            }
        };
        live.set_waiting(false);
        ending?;
        drop(step);
        let is_handed_over = |block: &block::Block| {
            matches!(block.content, Content::ToolUse { status: block::ToolStatus::HandedOver, .. })
        };
        if self.recorder.turn().blocks.iter().any(is_handed_over) {
            return Ok(Answered::ByTheClient);
        }
        if has_waited || self.provider.api() == Absent::API {
            self.meet_provider()?;
        }
        self.status(TurnStatus::Streaming);
        self.recorder.flush(Batch::default()).await?;
        Ok(Answered::Here)
    }

    /// Takes the calls up, unless the step pauses before them.
    async fn begin_step(&mut self, calls: Vec<PendingCall>) -> Result<Step, Halt> {
        let newest: Vec<BlockId> = calls.iter().map(|call| call.block_id).collect();
        let mut step = Step::new(calls);
        step.pause = self.recorder.turn().blocks.iter().find(|block| open_pause(block).is_some()).map(|block| block.id);
        if step.pause.is_none()
            && let Some(reason) = pause_before(self.recorder.turn(), &newest)
        {
            step.pause = Some(self.pause(reason).await?);
        }
        if step.pause.is_none() {
            self.take_up(&mut step).await?;
        }
        Ok(step)
    }

    /// Stops before the calls run; gives the block that says so.
    async fn pause(&mut self, reason: PauseReason) -> Result<BlockId, Halt> {
        let block = self.block_of_ours(reason.content(&reason.sentence()), BlockState::Open);
        let id = block.id;
        self.recorder.push(Event::BlockStart { block });
        self.recorder.flush(Batch::default()).await?;
        Ok(id)
    }

    /// Takes in what a gate said, or how a call ended.
    async fn advance(&mut self, step: &mut Step, work: Work) -> Result<(), Halt> {
        match work {
            Work::Gated { at, gate } => self.gated(step, at, gate).await,
            Work::Over { at, outcome } => {
                let ending = Ending::of(outcome, step.calls.get(at).map(|call| call.began.elapsed()));
                self.end_call(step, at, ending).await
            }
            Work::Stopped => Ok(()),
        }
    }

    /// Leaves the turn for the next process: what runs is interrupted, what is asked stays asked.
    async fn leave(&mut self, step: &mut Step) -> Result<(), Halt> {
        for at in 0..step.calls.len() {
            if matches!(step.calls[at].stage, Stage::Running) {
                self.record_end(step, at, Ending::interrupted());
            }
        }
        self.recorder.flush(Batch::default()).await?;
        Err(Halt::Left)
    }
}

/// How often progress is looked at.
fn ticking() -> Interval {
    let every = limits::TOOL_PROGRESS_EVERY;
    let mut tick = interval_at(Instant::now() + every, every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
