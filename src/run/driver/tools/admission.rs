//! Admission of tool calls: a call is refused, handed over to the client, held for approval, or may run.

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::call::{CallEnding, CallStage, CallTarget, CallWork, ToolStep};
use super::result_texts;
use crate::driver::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use turnleaf_domain::blocks::block::{RUNS_SINCE, ToolStatus};
use turnleaf_domain::tools::approval::{ApprovalDecision, ApprovalRequest, KEY};
use turnleaf_domain::tools::tool::{OfferedTool, ToolOrigin, ToolProgress};
use turnleaf_domain::{Block, Event, limits};
use turnleaf_providers::builder::PendingCall;
use turnleaf_tools::toolbox::{GateDecision, ToolCall, ToolCaller};

/// The classification of a new call, before the gate.
enum CallAdmission {
    Refused(String),
    HandedOver,
    Allowed(CallTarget),
}

impl TurnRun<'_> {
    /// Classifies every new call of the step.
    pub(super) async fn admit_calls(&mut self, step: &mut ToolStep) -> Result<(), HaltReason> {
        let offered = self.offered_tools().await?;
        for at in 0..step.calls.len() {
            if !matches!(step.calls[at].stage, CallStage::New) {
                continue;
            }
            let look = match at < limits::TOOL_CALLS_A_STEP {
                true => self.classify_call(&step.calls[at].pending, &offered),
                false => CallAdmission::Refused(result_texts::too_many_calls()),
            };
            match look {
                CallAdmission::Refused(reason) => {
                    self.record_end(step, at, CallEnding::without_running(ToolStatus::Failed, &reason))
                }
                CallAdmission::HandedOver => {
                    let block = step.calls[at].pending.block_id;
                    self.recorder.push(Event::tool_update(block, ToolStatus::HandedOver, None));
                    step.calls[at].stage = CallStage::Over;
                }
                CallAdmission::Allowed(target) => {
                    step.calls[at].target = target;
                    self.restore_stage(step, at);
                }
            }
        }
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(())
    }

    fn classify_call(&self, call: &PendingCall, offered: &[OfferedTool]) -> CallAdmission {
        let Some(tool) = offered.iter().find(|tool| tool.spec.name == call.name) else {
            return CallAdmission::Refused(result_texts::tool_not_available(&call.name));
        };
        let Some(arguments) = &call.arguments else {
            return CallAdmission::Refused(result_texts::unusable_arguments(&call.raw));
        };
        match &tool.origin {
            None => CallAdmission::Allowed(CallTarget::Provider),
            Some(ToolOrigin::Client) => CallAdmission::HandedOver,
            // A provider tool runs within the provider's replies; this server cannot run it.
            Some(ToolOrigin::Provider { .. }) => CallAdmission::Refused(result_texts::tool_not_available(&call.name)),
            Some(origin) => CallAdmission::Allowed(CallTarget::Toolbox(ToolCall {
                caller: ToolCaller {
                    owner: self.job.owner,
                    chat: self.job.chat.id,
                    turn: self.job.turn.id,
                    block: call.block_id,
                },
                origin: origin.clone(),
                arguments: arguments.clone(),
                is_from_view: false,
            })),
        }
    }

    /// Restores the stage of a call that an earlier process left: awaiting approval, approved, or new.
    fn restore_stage(&mut self, step: &mut ToolStep, at: usize) {
        let call = &mut step.calls[at];
        let block = self.recorder.turn().blocks.iter().find(|block| block.id == call.pending.block_id);
        call.granted = block.and_then(granted_hash);
        if let Some(ask) = block.and_then(ApprovalRequest::from_block) {
            let waits_for_sign_in = ask.asks_for_sign_in();
            call.stage = CallStage::Asking(Box::new(ask));
            if waits_for_sign_in {
                // The person may have signed in while no process noticed.
                self.restart_gate_check(step, at);
            }
            return;
        }
        match call.target {
            CallTarget::Toolbox(_) => self.start_gate_check(step, at),
            CallTarget::Provider | CallTarget::Unknown => call.stage = CallStage::Queued { is_fresh: true },
        }
    }

    /// Starts the check whether a call may run now.
    pub(super) fn start_gate_check(&self, step: &mut ToolStep, at: usize) {
        let Some(work) = self.gate_check(step, at) else { return };
        step.calls[at].stage = CallStage::Gating;
        step.start_work(at, work);
    }

    /// Checks again whether a call that awaits approval may run without it by now.
    pub(super) fn restart_gate_check(&self, step: &mut ToolStep, at: usize) {
        if let Some(work) = self.gate_check(step, at) {
            step.start_work(at, work);
        }
    }

    fn gate_check(&self, step: &ToolStep, at: usize) -> Option<futures::future::BoxFuture<'static, CallWork>> {
        let call = &step.calls[at];
        let CallTarget::Toolbox(tool_call) = &call.target else { return None };
        let (toolbox, tool_call, granted) =
            (self.supervisor.toolbox().clone(), tool_call.clone(), call.granted.clone());
        // A starting tool server may take long to list its tools, so the gate has a timeout of its own.
        let most = limits::TOOL_START + limits::TOOL_STOP;
        let work = async move {
            let gate = timeout(most, toolbox.gate(&tool_call, granted.as_deref())).await;
            CallWork::Gated {
                at,
                gate: gate.unwrap_or_else(|_| GateDecision::Refuse(result_texts::GATE_TOO_LONG.to_owned())),
            }
        };
        Some(work.boxed())
    }

    /// Records that a call waits for an approval or a sign-in; the next flush stores it.
    fn record_question(&mut self, step: &mut ToolStep, at: usize, ask: ApprovalRequest) {
        let call = &mut step.calls[at];
        let has_progress = std::mem::take(&mut call.has_progress);
        self.recorder.push(Event::BlockUpdate {
            block_id: call.pending.block_id,
            status: ToolStatus::AwaitingApproval,
            duration_ms: None,
            metadata: question_metadata(&ask, has_progress),
        });
        if !ask.asks_for_sign_in() {
            call.granted = None;
        }
        call.stage = CallStage::Asking(Box::new(ask));
    }

    /// Applies the decision of the gate.
    pub(super) async fn apply_gate(
        &mut self,
        step: &mut ToolStep,
        at: usize,
        gate: GateDecision,
    ) -> Result<(), HaltReason> {
        let call = &step.calls[at];
        let pending = if let CallStage::Asking(ask) = &call.stage { Some(ask.as_ref().clone()) } else { None };
        match gate {
            GateDecision::Run => {
                if pending.is_some() {
                    let block = call.pending.block_id;
                    self.recorder.push(Event::tool_update(block, ToolStatus::Pending, None));
                    self.recorder.flush(JournalBatch::default()).await?;
                }
                step.calls[at].stage = CallStage::Queued { is_fresh: true };
                Ok(())
            }
            GateDecision::Ask(ask) if pending.as_ref() == Some(&ask) => Ok(()),
            GateDecision::Ask(ask) => {
                self.record_question(step, at, ask);
                self.recorder.flush(JournalBatch::default()).await?;
                Ok(())
            }
            GateDecision::Refuse(reason) => {
                self.end_call(step, at, CallEnding::without_running(ToolStatus::Failed, &reason)).await
            }
        }
    }
}

/// Returns the change of metadata with which a call asks. A decision that was made for another question does not count;
/// a sign-in is no question, so what was decided before it holds.
fn question_metadata(ask: &ApprovalRequest, has_progress: bool) -> Value {
    let mut metadata = json!({ KEY: ask });
    metadata[if ask.asks_for_sign_in() { RUNS_SINCE } else { "decision" }] = Value::Null;
    if has_progress {
        metadata[ToolProgress::KEY] = Value::Null;
    }
    metadata
}

/// Returns the hash of the question that a person approved, for a call that has not started since.
fn granted_hash(block: &Block) -> Option<String> {
    let decision = block.block_metadata.get("decision")?.get("decision")?;
    let decision: ApprovalDecision = serde_json::from_value(decision.clone()).ok()?;
    let ask: ApprovalRequest = serde_json::from_value(block.block_metadata.get(KEY)?.clone()).ok()?;
    decision.allows().then_some(ask.hash)
}
