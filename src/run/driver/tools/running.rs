//! Running calls: as many at once as there are places. That one begins is on the disk before its tool is touched.

use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::call::{Stage, Step, Target, Work};
use super::words;
use crate::driver::run::{Halt, Run};
use crate::journal::Batch;
use turnleaf_domain::block::{RUNS_SINCE, ToolStatus};
use turnleaf_domain::tool::ToolProgress;
use turnleaf_domain::{Event, limits, plain};
use turnleaf_providers::provider::ToolOutcome;
use turnleaf_tools::result::said;
use turnleaf_tools::toolbox::{Fate, Outcome, Running};

impl Run<'_> {
    /// Begins the calls that may run, as far as there are places. One that waited for its place is looked at again.
    pub(super) async fn begin_queued(&mut self, step: &mut Step) -> Result<(), Halt> {
        let mut places = limits::TOOLS_AT_ONCE.saturating_sub(step.running());
        let mut begin = Vec::new();
        for at in 0..step.calls.len() {
            let Stage::Queued { is_fresh } = step.calls[at].stage else { continue };
            if places == 0 {
                step.calls[at].stage = Stage::Queued { is_fresh: matches!(step.calls[at].target, Target::Provider) };
                continue;
            }
            places -= 1;
            if is_fresh {
                begin.push(at);
            } else {
                self.ask_the_gate(step, at);
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
        self.recorder.flush(Batch::default()).await?;
        for at in begin {
            self.begin_call(step, at);
        }
        Ok(())
    }

    fn begin_call(&self, step: &mut Step, at: usize) {
        let call = &mut step.calls[at];
        (call.stage, call.began) = (Stage::Running, Instant::now());
        let running = match &call.target {
            Target::Toolbox(tool_call) => self.supervisor.toolbox().run(tool_call.clone()),
            Target::Provider | Target::Unknown => self.provider_runs(step, at),
        };
        step.calls[at].progress = Some(running.progress);
        // Whoever runs it has this limit of its own; the one here is for those that do not keep it.
        let most: Duration = limits::TOOL_TIME + limits::TOOL_STOP + limits::TOOL_PICTURES_TIME;
        let outcome = async move {
            let outcome = timeout(most, running.outcome).await;
            Work::Over { at, outcome: outcome.unwrap_or_else(|_| timed_out()) }
        };
        step.work_on(at, outcome.boxed());
    }

    /// A tool that the provider brought along.
    fn provider_runs(&self, step: &Step, at: usize) -> Running {
        let pending = &step.calls[at].pending;
        let running = pending.arguments.as_ref().and_then(|given| self.provider.run_tool(&pending.name, given));
        let Some(running) = running else {
            return Running::over(said(Fate::Unavailable, &words::not_available(&pending.name)));
        };
        let outcome = timeout(limits::TOOL_TIME, running).map(|ended| match ended {
            Ok(ToolOutcome { result, is_error }) => Outcome {
                fate: if is_error { Fate::Failed } else { Fate::Done },
                result,
                metadata: Default::default(),
                blobs: Vec::new(),
            },
            Err(_) => timed_out(),
        });
        Running { outcome: outcome.boxed(), progress: tokio::sync::watch::Sender::new(None).subscribe() }
    }

    /// Notes how far the calls are that said so since the last time.
    pub(super) async fn note_progress(&mut self, step: &mut Step) -> Result<(), Halt> {
        for call in step.calls.iter_mut().filter(|call| matches!(call.stage, Stage::Running)) {
            let Some(progress) = call.progress.as_mut().filter(|progress| progress.has_changed().unwrap_or(false))
            else {
                continue;
            };
            let told = progress.borrow_and_update().clone();
            let told = told.map(|told| ToolProgress {
                line: plain::without_nul(told.line),
                tail: told.tail.into_iter().map(plain::without_nul).collect(),
                ..told
            });
            call.has_progress = told.is_some();
            self.recorder.push(Event::BlockUpdate {
                block_id: call.pending.block_id,
                status: ToolStatus::Running,
                duration_ms: None,
                metadata: json!({ ToolProgress::KEY: told }),
            });
        }
        self.recorder.flush(Batch::default()).await?;
        Ok(())
    }
}

fn timed_out() -> Outcome {
    let mut outcome = said(Fate::TimedOut, words::TOO_LONG);
    outcome.metadata.insert("timed_out".to_owned(), Value::Bool(true));
    outcome
}
