//! Commands of people about the calls of a step: decide an approval, stop a call, continue a paused reply. `questions`
//! answers questions of tool servers.

use serde_json::{Map, Value, json};

use super::call::{CallEnding, CallStage, CallTarget, StepCall, ToolStep};
use super::result_texts;
use crate::driver::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use crate::mailbox::{CallDecision, CommandEnvelope, CommandOutcome, RunCommand};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::text::hidden_text;
use turnleaf_domain::tools::approval::{ApprovalDecision, ApprovalRequest, KEY, ToolApprovalPolicy};
use turnleaf_domain::{BlockId, BlockState, Event, Failure, FailureKind};
use turnleaf_store::StoreError;
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_tools::toolbox::request_with_arguments;

impl TurnRun<'_> {
    /// Executes a command and answers its sender with the outcome.
    pub(super) async fn handle_command(
        &mut self,
        step: &mut ToolStep,
        word: CommandEnvelope,
    ) -> Result<(), HaltReason> {
        let done = match word.command {
            RunCommand::Decide { block, answer } => self.decide(step, block, answer).await,
            RunCommand::Answer { block, answer } => self.answer_question(step, block, answer).await,
            RunCommand::StopCall { block } => self.stop_call(step, block).await,
            RunCommand::Continue => self.unpause(step).await,
            RunCommand::SignedIn { server } => Ok(self.run_signed_in_calls(step, &server)),
        };
        let (outcome, done) = match done {
            Ok(outcome) => (outcome, Ok(())),
            Err(HaltReason::Failed(failure)) => {
                (CommandOutcome::Failed(failure.clone()), Err(HaltReason::Failed(failure)))
            }
            Err(halt) => (CommandOutcome::NotOpen, Err(halt)),
        };
        // The sender of the command may have disconnected.
        let _ = word.answer.send(outcome);
        done
    }

    async fn decide(
        &mut self,
        step: &mut ToolStep,
        block: BlockId,
        answer: CallDecision,
    ) -> Result<CommandOutcome, HaltReason> {
        let Some(at) = step.call_index(block).filter(|_| step.pause.is_none()) else {
            return Ok(CommandOutcome::NotOpen);
        };
        let CallStage::Asking(ask) = &step.calls[at].stage else { return Ok(CommandOutcome::NotOpen) };
        if ask.hash != answer.hash {
            return Ok(CommandOutcome::Changed);
        }
        let ask = ask.as_ref().clone();
        let CallDecision { decision, arguments, .. } = answer;
        let reason = answer.reason.map(hidden_text::replace_nul);
        let edited = arguments.filter(|_| decision.allows());
        let lasts = matches!(decision, ApprovalDecision::AllowInChat | ApprovalDecision::Always);
        let host = step.calls[at].host(edited.as_ref());
        if lasts && let Err(error) = self.keep_answer(&ask, host.clone(), decision).await {
            tracing::error!(turn = %self.job.turn.id, %error, "a saved permission could not be stored");
            return Ok(CommandOutcome::Failed(Failure::new(FailureKind::Internal, "")));
        }
        let mut noted = self.decision_metadata(decision, reason.as_deref());
        if !decision.allows() {
            let declined = if ask.asks_for_sign_in() { result_texts::NOT_SIGNED_IN } else { result_texts::DECLINED };
            let text = result_texts::declined_with_reason(declined, reason.as_deref());
            let ending = CallEnding::without_running(ToolStatus::Denied, &text);
            self.end_call(step, at, CallEnding { metadata: noted, ..ending }).await?;
            return Ok(CommandOutcome::Done);
        }
        let allowed = match edited {
            Some(arguments) => {
                let allowed = request_with_arguments(ask.clone(), &arguments, host.as_deref());
                // A restart finds the question that was answered, which is the one about the edited call.
                noted.insert(KEY.to_owned(), json!(allowed));
                self.edit_call(&mut step.calls[at], arguments);
                allowed.hash
            }
            None => ask.hash.clone(),
        };
        self.recorder.push(Event::BlockUpdate {
            block_id: block,
            status: ToolStatus::Pending,
            duration_ms: None,
            metadata: Value::Object(noted),
        });
        self.recorder.flush(JournalBatch::default()).await?;
        step.calls[at].granted = Some(allowed);
        if let CallTarget::Toolbox(call) = &step.calls[at].target
            && ask.asks_for_sign_in()
        {
            // The person says that the server accepts the call by now.
            self.supervisor.toolbox().end_sign_in_wait(call, true);
        }
        self.start_gate_check(step, at);
        // The permission of a server was stored before this command.
        let of_server = decision == ApprovalDecision::AllowServer;
        if lasts || of_server {
            let is_covered =
                |other: &ApprovalRequest| other.server == ask.server && (of_server || other.tool == ask.tool);
            let is_asked = |at: &usize| matches!(&step.calls[*at].stage, CallStage::Asking(other) if is_covered(other));
            let others: Vec<usize> = (0..step.calls.len()).filter(is_asked).collect();
            others.into_iter().for_each(|at| self.restart_gate_check(step, at));
        }
        Ok(CommandOutcome::Done)
    }

    /// Asks the gate again about the calls that waited for a sign-in to this server.
    fn run_signed_in_calls(&self, step: &mut ToolStep, server: &str) -> CommandOutcome {
        let waits = |call: &StepCall| matches!(&call.stage, CallStage::Asking(ask) if ask.server == server && ask.asks_for_sign_in());
        let waiting: Vec<usize> = (0..step.calls.len()).filter(|at| waits(&step.calls[*at])).collect();
        if waiting.is_empty() || step.pause.is_some() {
            return CommandOutcome::NotOpen;
        }
        waiting.into_iter().for_each(|at| self.restart_gate_check(step, at));
        CommandOutcome::Done
    }

    /// Records that a person edited a call, and edits it.
    fn edit_call(&mut self, call: &mut StepCall, arguments: Value) {
        let now = self.supervisor.clock().now();
        let block_id = call.pending.block_id;
        self.recorder.push(Event::CallEdited { block_id, arguments: arguments.clone(), at: now });
        call.replace_arguments(arguments);
    }

    fn decision_metadata(&self, decision: ApprovalDecision, reason: Option<&str>) -> Map<String, Value> {
        let mut noted = json!({ "decision": decision, "at": self.supervisor.clock().now() });
        if let (Some(reason), false) = (reason, decision.allows()) {
            noted["reason"] = reason.into();
        }
        Map::from_iter([("decision".to_owned(), noted)])
    }

    /// Stores an approval that holds for this version of the tool, in this chat or everywhere; if the call reaches a
    /// host, for that host only.
    async fn keep_answer(
        &self,
        ask: &ApprovalRequest,
        host: Option<String>,
        decision: ApprovalDecision,
    ) -> Result<(), StoreError> {
        let chat = Some(self.job.chat.id).filter(|_| decision == ApprovalDecision::AllowInChat);
        let (owner, now) = (self.job.owner, self.supervisor.clock().now());
        let policy = StoredPolicy {
            chat,
            server: ask.server.clone(),
            tool: ask.tool.clone(),
            host,
            policy: ToolApprovalPolicy::Allow,
            schema_hash: Some(ask.schema_hash.clone()),
        };
        let mut tx = self.supervisor.db().begin().await?;
        tool_policies::put(&mut tx, owner, &policy, now).await?;
        tx.commit().await
    }

    async fn stop_call(&mut self, step: &mut ToolStep, block: BlockId) -> Result<CommandOutcome, HaltReason> {
        let Some(at) = step.call_index(block) else { return Ok(CommandOutcome::NotOpen) };
        let call = &step.calls[at];
        if matches!(call.stage, CallStage::Over) {
            return Ok(CommandOutcome::NotOpen);
        }
        let took = matches!(call.stage, CallStage::Running).then(|| call.began.elapsed());
        let view = call.view.as_ref().and_then(|view| view.borrow().clone());
        self.end_call(step, at, CallEnding::stopped(took, view)).await?;
        Ok(CommandOutcome::Done)
    }

    async fn unpause(&mut self, step: &mut ToolStep) -> Result<CommandOutcome, HaltReason> {
        let Some(block_id) = step.pause else { return Ok(CommandOutcome::NotOpen) };
        self.recorder.push(Event::BlockEnd { block_id, state: BlockState::Done, content: None });
        self.recorder.flush(JournalBatch::default()).await?;
        step.pause = None;
        self.admit_calls(step).await?;
        Ok(CommandOutcome::Done)
    }
}
