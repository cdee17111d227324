//! What becomes of a call: it is refused, handed to the client, asked about, or may run.

use futures::FutureExt;
use serde_json::json;
use tokio::time::timeout;

use super::call::{Ending, Stage, Step, Target, Work};
use super::words;
use crate::driver::run::{Halt, Run};
use crate::journal::Batch;
use turnleaf_domain::approval::{Ask, Decision, KEY};
use turnleaf_domain::block::ToolStatus;
use turnleaf_domain::tool::{OfferedTool, ToolOrigin};
use turnleaf_domain::{Block, Event, limits};
use turnleaf_providers::builder::PendingCall;
use turnleaf_tools::toolbox::{Caller, Gate, ToolCall};

/// What a first look at a call says.
enum Look {
    Refused(String),
    HandedOver,
    May(Target),
}

impl Run<'_> {
    /// Looks at every call of the step for the first time.
    pub(super) async fn take_up(&mut self, step: &mut Step) -> Result<(), Halt> {
        let offered = self.offered().await?;
        for at in 0..step.calls.len() {
            if !matches!(step.calls[at].stage, Stage::New) {
                continue;
            }
            let look = match at < limits::TOOL_CALLS_A_STEP {
                true => self.look_at(&step.calls[at].pending, &offered),
                false => Look::Refused(words::too_many()),
            };
            match look {
                Look::Refused(why) => self.record_end(step, at, Ending::without_running(ToolStatus::Failed, &why)),
                Look::HandedOver => {
                    let block = step.calls[at].pending.block_id;
                    self.recorder.push(Event::tool_moved(block, ToolStatus::HandedOver, None));
                    step.calls[at].stage = Stage::Over;
                }
                Look::May(target) => {
                    step.calls[at].target = target;
                    self.stand_as_before(step, at);
                }
            }
        }
        self.recorder.flush(Batch::default()).await?;
        Ok(())
    }

    fn look_at(&self, call: &PendingCall, offered: &[OfferedTool]) -> Look {
        let Some(tool) = offered.iter().find(|tool| tool.spec.name == call.name) else {
            return Look::Refused(words::not_available(&call.name));
        };
        let Some(arguments) = &call.arguments else { return Look::Refused(words::unusable(&call.raw)) };
        match &tool.origin {
            None => Look::May(Target::Provider),
            Some(ToolOrigin::Client) => Look::HandedOver,
            // Its provider runs it within its replies; here is nobody who could.
            Some(ToolOrigin::Provider { .. }) => Look::Refused(words::not_available(&call.name)),
            Some(origin) => Look::May(Target::Toolbox(ToolCall {
                caller: Caller {
                    owner: self.job.owner,
                    chat: self.job.chat.id,
                    turn: self.job.turn.id,
                    block: call.block_id,
                },
                origin: origin.clone(),
                arguments: arguments.clone(),
            })),
        }
    }

    /// Takes a call up where an earlier process left it: it asks, was allowed, or was not looked at.
    fn stand_as_before(&mut self, step: &mut Step, at: usize) {
        let call = &mut step.calls[at];
        let block = self.recorder.turn().blocks.iter().find(|block| block.id == call.pending.block_id);
        if let Some(ask) = block.and_then(Ask::of) {
            call.stage = Stage::Asking(ask);
            return;
        }
        call.granted = block.and_then(granted);
        match call.target {
            Target::Toolbox(_) => self.ask_the_gate(step, at),
            Target::Provider | Target::Unknown => call.stage = Stage::Queued { is_fresh: true },
        }
    }

    /// Finds out whether a call may run now.
    pub(super) fn ask_the_gate(&self, step: &mut Step, at: usize) {
        let Some(work) = self.gate(step, at) else { return };
        step.calls[at].stage = Stage::Gating;
        step.work_on(at, work);
    }

    /// Finds out whether a call that is asked about may run without that by now.
    pub(super) fn ask_the_gate_again(&self, step: &mut Step, at: usize) {
        if let Some(work) = self.gate(step, at) {
            step.work_on(at, work);
        }
    }

    fn gate(&self, step: &Step, at: usize) -> Option<futures::future::BoxFuture<'static, Work>> {
        let call = &step.calls[at];
        let Target::Toolbox(tool_call) = &call.target else { return None };
        let (toolbox, tool_call, granted) =
            (self.supervisor.toolbox().clone(), tool_call.clone(), call.granted.clone());
        // A server that starts may take its time to say what it has.
        let most = limits::TOOL_START + limits::TOOL_STOP;
        let work = async move {
            let gate = timeout(most, toolbox.gate(&tool_call, granted.as_deref())).await;
            Work::Gated { at, gate: gate.unwrap_or_else(|_| Gate::Refuse(words::GATE_TOO_LONG.to_owned())) }
        };
        Some(work.boxed())
    }

    /// Does what the gate says.
    pub(super) async fn gated(&mut self, step: &mut Step, at: usize, gate: Gate) -> Result<(), Halt> {
        let call = &step.calls[at];
        let asked = if let Stage::Asking(ask) = &call.stage { Some(ask.clone()) } else { None };
        match gate {
            Gate::Run => {
                if asked.is_some() {
                    let block = call.pending.block_id;
                    self.recorder.push(Event::tool_moved(block, ToolStatus::Pending, None));
                    self.recorder.flush(Batch::default()).await?;
                }
                step.calls[at].stage = Stage::Queued { is_fresh: true };
                Ok(())
            }
            Gate::Ask(ask) if asked.as_ref() == Some(&ask) => Ok(()),
            Gate::Ask(ask) => {
                let update = Event::BlockUpdate {
                    block_id: call.pending.block_id,
                    status: ToolStatus::AwaitingApproval,
                    duration_ms: None,
                    // An answer to something else is none.
                    metadata: json!({ KEY: ask, "decision": null }),
                };
                self.recorder.push(update);
                let call = &mut step.calls[at];
                (call.stage, call.granted) = (Stage::Asking(ask), None);
                self.recorder.flush(Batch::default()).await?;
                Ok(())
            }
            Gate::Refuse(why) => self.end_call(step, at, Ending::without_running(ToolStatus::Failed, &why)).await,
        }
    }
}

/// The hash of what a person allowed of a call that did not begin since.
fn granted(block: &Block) -> Option<String> {
    let decision = block.block_metadata.get("decision")?.get("decision")?;
    let decision: Decision = serde_json::from_value(decision.clone()).ok()?;
    let ask: Ask = serde_json::from_value(block.block_metadata.get(KEY)?.clone()).ok()?;
    decision.allows().then_some(ask.hash)
}
