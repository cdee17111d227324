//! What a person says about the calls of a step: whether one may run, that one is to stop, that a paused reply may go on.

use serde_json::{Map, Value, json};

use super::call::{Ending, Stage, Step, Target};
use super::words;
use crate::driver::run::{Halt, Run};
use crate::hearing::{Heard, Said, Word};
use crate::journal::Batch;
use turnleaf_domain::approval::{Ask, Decision, Policy};
use turnleaf_domain::block::ToolStatus;
use turnleaf_domain::{BlockId, BlockState, Event, Failure, FailureKind, plain};
use turnleaf_store::StoreError;
use turnleaf_store::tool_policies::{self, StoredPolicy};

impl Run<'_> {
    /// Does what is said, and says what became of it.
    pub(super) async fn hear(&mut self, step: &mut Step, word: Word) -> Result<(), Halt> {
        let done = match word.said {
            Said::Decide { block, hash, decision, reason } => {
                let reason = reason.map(plain::without_nul);
                self.decide(step, block, &hash, decision, reason).await
            }
            Said::StopCall { block } => self.stop_call(step, block).await,
            Said::GoOn => self.unpause(step).await,
        };
        let (heard, done) = match done {
            Ok(heard) => (heard, Ok(())),
            Err(Halt::Failed(failure)) => (Heard::Failed(failure.clone()), Err(Halt::Failed(failure))),
            Err(halt) => (Heard::NotAsked, Err(halt)),
        };
        // Whoever asked may be gone.
        let _ = word.answer.send(heard);
        done
    }

    async fn decide(
        &mut self,
        step: &mut Step,
        block: BlockId,
        hash: &str,
        decision: Decision,
        reason: Option<String>,
    ) -> Result<Heard, Halt> {
        let Some(at) = step.place(block).filter(|_| step.pause.is_none()) else { return Ok(Heard::NotAsked) };
        let Stage::Asking(ask) = &step.calls[at].stage else { return Ok(Heard::NotAsked) };
        if ask.hash != hash {
            return Ok(Heard::Changed);
        }
        let ask = ask.clone();
        let lasts = matches!(decision, Decision::AllowInChat | Decision::Always);
        let host = match &step.calls[at].target {
            Target::Toolbox(call) => call.host().unwrap_or_default(),
            Target::Provider | Target::Unknown => None,
        };
        if lasts && let Err(error) = self.keep_answer(&ask, host, decision).await {
            tracing::error!(turn = %self.job.turn.id, %error, "a lasting answer could not be stored");
            return Ok(Heard::Failed(Failure::new(FailureKind::Internal, "")));
        }
        let noted = self.noted(decision, reason.as_deref());
        if !decision.allows() {
            let ending = Ending::without_running(ToolStatus::Denied, &words::declined(reason.as_deref()));
            self.end_call(step, at, Ending { metadata: noted, ..ending }).await?;
            return Ok(Heard::Done);
        }
        self.recorder.push(Event::BlockUpdate {
            block_id: block,
            status: ToolStatus::Pending,
            duration_ms: None,
            metadata: Value::Object(noted),
        });
        self.recorder.flush(Batch::default()).await?;
        step.calls[at].granted = Some(ask.hash.clone());
        self.ask_the_gate(step, at);
        if lasts {
            let same = |call: &Stage| matches!(call, Stage::Asking(other) if other.server == ask.server && other.tool == ask.tool);
            let others: Vec<usize> = (0..step.calls.len()).filter(|at| same(&step.calls[*at].stage)).collect();
            others.into_iter().for_each(|at| self.ask_the_gate_again(step, at));
        }
        Ok(Heard::Done)
    }

    fn noted(&self, decision: Decision, reason: Option<&str>) -> Map<String, Value> {
        let mut noted = json!({ "decision": decision, "at": self.supervisor.clock().now() });
        if let (Some(reason), false) = (reason, decision.allows()) {
            noted["reason"] = reason.into();
        }
        Map::from_iter([("decision".to_owned(), noted)])
    }

    /// Stores an answer that holds for this tool as it is now, here or everywhere; of a call that reaches a host, for that
    /// host.
    async fn keep_answer(&self, ask: &Ask, host: Option<String>, decision: Decision) -> Result<(), StoreError> {
        let chat = Some(self.job.chat.id).filter(|_| decision == Decision::AllowInChat);
        let (owner, now) = (self.job.owner, self.supervisor.clock().now());
        let said = StoredPolicy {
            chat,
            server: ask.server.clone(),
            tool: ask.tool.clone(),
            host,
            policy: Policy::Allow,
            schema_hash: Some(ask.schema_hash.clone()),
        };
        let mut tx = self.supervisor.db().begin().await?;
        tool_policies::put(&mut tx, owner, &said, now).await?;
        tx.commit().await
    }

    async fn stop_call(&mut self, step: &mut Step, block: BlockId) -> Result<Heard, Halt> {
        let Some(at) = step.place(block) else { return Ok(Heard::NotAsked) };
        let call = &step.calls[at];
        if matches!(call.stage, Stage::Over) {
            return Ok(Heard::NotAsked);
        }
        let took = matches!(call.stage, Stage::Running).then(|| call.began.elapsed());
        self.end_call(step, at, Ending::stopped(took)).await?;
        Ok(Heard::Done)
    }

    async fn unpause(&mut self, step: &mut Step) -> Result<Heard, Halt> {
        let Some(block_id) = step.pause else { return Ok(Heard::NotAsked) };
        self.recorder.push(Event::BlockEnd { block_id, state: BlockState::Done, content: None });
        self.recorder.flush(Batch::default()).await?;
        step.pause = None;
        self.take_up(step).await?;
        Ok(Heard::Done)
    }
}
