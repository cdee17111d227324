//! Execution of calls, with bounded concurrency. The start of a call is committed before its tool is touched.

use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::call::{CallStage, CallTarget, CallWork, ToolStep};
use super::result_texts;
use crate::driver::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use turnleaf_domain::blocks::block::{RUNS_SINCE, ToolStatus};
use turnleaf_domain::text::hidden_text;
use turnleaf_domain::tools::tool::ToolProgress;
use turnleaf_domain::{Event, limits};
use turnleaf_providers::provider::ToolOutcome;
use turnleaf_tools::question::{CallQuestions, run_within};
use turnleaf_tools::result::text_result;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, RunningCall};

impl TurnRun<'_> {
    /// Starts queued calls while slots are free. A call that waited for its slot passes the gate again.
    pub(super) async fn start_queued_calls(&mut self, step: &mut ToolStep) -> Result<(), HaltReason> {
        let mut places = limits::TOOLS_AT_ONCE.saturating_sub(step.running_count());
        let mut begin = Vec::new();
        for at in 0..step.calls.len() {
            let CallStage::Queued { is_fresh } = step.calls[at].stage else { continue };
            if places == 0 {
                step.calls[at].stage =
                    CallStage::Queued { is_fresh: matches!(step.calls[at].target, CallTarget::Provider) };
                continue;
            }
            places -= 1;
            if is_fresh {
                begin.push(at);
            } else {
                self.start_gate_check(step, at);
            }
        }
        if begin.is_empty() {
            return Ok(());
        }
        let now = self.supervisor.clock().now();
        for at in &begin {
            let call = &step.calls[*at];
            self.recorder.push(Event::BlockUpdate {
                block_id: call.pending.block_id,
                status: ToolStatus::Running,
                duration_ms: None,
                metadata: json!({ RUNS_SINCE: now }),
            });
        }
        self.recorder.flush(JournalBatch::default()).await?;
        for at in begin {
            self.start_call(step, at);
        }
        Ok(())
    }

    fn start_call(&self, step: &mut ToolStep, at: usize) {
        let call = &mut step.calls[at];
        (call.stage, call.began) = (CallStage::Running, Instant::now());
        let running = match &call.target {
            CallTarget::Toolbox(tool_call) => self.supervisor.toolbox().run(tool_call.clone()),
            CallTarget::Provider | CallTarget::Unknown => self.run_provider_tool(step, at),
        };
        let (questions, open) = match running.questions {
            Some(CallQuestions { events, open }) => (Some(events), open),
            None => (None, watch::Sender::new(0).subscribe()),
        };
        step.calls[at].progress = Some(running.progress);
        step.calls[at].view = running.view;
        // The toolbox enforces a limit of its own; this one covers tools that do not keep it.
        let most: Duration = running.limit + limits::TOOL_STOP + limits::APP_VIEW_TIME + limits::TOOL_PICTURES_TIME;
        let outcome = async move {
            let outcome = run_within(most, open, running.result).await;
            CallWork::Over { at, outcome: outcome.unwrap_or_else(timed_out) }
        };
        step.start_work(at, outcome.boxed());
        // Starting work drops what belonged to earlier work of the call.
        step.calls[at].questions = questions;
    }

    /// Runs a tool that is built into the provider adapter.
    fn run_provider_tool(&self, step: &ToolStep, at: usize) -> RunningCall {
        let pending = &step.calls[at].pending;
        let running = pending.arguments.as_ref().and_then(|given| self.provider.run_tool(&pending.name, given));
        let Some(running) = running else {
            return RunningCall::from_result(text_result(
                CallOutcome::Unavailable,
                &result_texts::tool_not_available(&pending.name),
            ));
        };
        let outcome = timeout(limits::TOOL_TIME, running).map(|ended| match ended {
            Ok(ToolOutcome { result, is_error }) => CallResult {
                outcome: if is_error { CallOutcome::Failed } else { CallOutcome::Done },
                result,
                metadata: Default::default(),
                blobs: Vec::new(),
                sources: Vec::new(),
            },
            Err(_) => timed_out(),
        });
        RunningCall::new(outcome.boxed(), watch::Sender::new(None).subscribe())
    }

    /// Records the progress of calls that reported some since the last tick.
    pub(super) async fn record_progress(&mut self, step: &mut ToolStep) -> Result<(), HaltReason> {
        for call in step.calls.iter_mut().filter(|call| matches!(call.stage, CallStage::Running)) {
            let Some(progress) = call.progress.as_mut().filter(|progress| progress.has_changed().unwrap_or(false))
            else {
                continue;
            };
            let latest = progress.borrow_and_update().clone();
            let latest = latest.map(|latest| ToolProgress {
                line: hidden_text::replace_nul(latest.line),
                tail: latest.tail.into_iter().map(hidden_text::replace_nul).collect(),
                ..latest
            });
            call.has_progress = latest.is_some();
            self.recorder.push(Event::BlockUpdate {
                block_id: call.pending.block_id,
                status: ToolStatus::Running,
                duration_ms: None,
                metadata: json!({ ToolProgress::KEY: latest }),
            });
        }
        self.recorder.flush(JournalBatch::default()).await?;
        Ok(())
    }
}

fn timed_out() -> CallResult {
    let mut outcome = text_result(CallOutcome::TimedOut, result_texts::TOO_LONG);
    outcome.metadata.insert("timed_out".to_owned(), Value::Bool(true));
    outcome
}
