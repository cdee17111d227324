//! The calls of a step: how far each is, and the work that is done for them.

use std::time::Duration;

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::result_texts;
use turnleaf_domain::BlockId;
use turnleaf_domain::approval::ApprovalRequest;
use turnleaf_domain::block::ToolStatus;
use turnleaf_domain::tool::ToolProgress;
use turnleaf_providers::builder::PendingCall;
use turnleaf_tools::result::text_result;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, GateDecision, ToolCall};

/// Who runs a call.
pub(super) enum CallTarget {
    Unknown,
    Toolbox(ToolCall),
    /// The provider brought the tool along.
    Provider,
}

/// How far a call is.
pub(super) enum CallStage {
    /// Nobody has looked at it.
    New,
    /// Whether it may run is being found out.
    Gating,
    /// It may run when there is a place. `is_fresh`: that was found out just now.
    Queued {
        is_fresh: bool,
    },
    Asking(ApprovalRequest),
    Running,
    Over,
}

/// One call.
pub(super) struct StepCall {
    pub pending: PendingCall,
    pub target: CallTarget,
    pub stage: CallStage,
    /// The hash of what a person allowed.
    pub granted: Option<String>,
    pub began: Instant,
    pub progress: Option<watch::Receiver<Option<ToolProgress>>>,
    pub has_progress: bool,
    work: Option<AbortHandle>,
}

/// What came of some work for a call.
pub(super) enum CallWork {
    Gated {
        at: usize,
        gate: GateDecision,
    },
    Over {
        at: usize,
        outcome: CallResult,
    },
    /// It was given up.
    Stopped,
}

/// How a call ends.
pub(super) struct CallEnding {
    pub status: ToolStatus,
    pub outcome: CallResult,
    /// How long it ran.
    pub took: Option<Duration>,
    /// What changes in the metadata of its block.
    pub metadata: Map<String, Value>,
}

impl CallEnding {
    /// By itself.
    pub fn from_outcome(outcome: CallResult, took: Option<Duration>) -> Self {
        let status = match outcome.outcome {
            CallOutcome::Done => ToolStatus::Done,
            CallOutcome::Cancelled => ToolStatus::Cancelled,
            CallOutcome::Failed | CallOutcome::TimedOut | CallOutcome::Crashed | CallOutcome::Unavailable => {
                ToolStatus::Failed
            }
        };
        Self { status, outcome, took, metadata: Map::new() }
    }

    /// Without having run; the text is for the model.
    pub fn without_running(status: ToolStatus, text: &str) -> Self {
        let fate = if status == ToolStatus::Cancelled { CallOutcome::Cancelled } else { CallOutcome::Failed };
        Self { status, outcome: text_result(fate, text), took: None, metadata: Map::new() }
    }

    /// The server goes away while it runs.
    pub fn interrupted() -> Self {
        Self::without_running(ToolStatus::Interrupted, crate::ending::INTERRUPTED_RESULT)
    }

    /// A person stopped it, after it had run so long.
    pub fn stopped(took: Option<Duration>) -> Self {
        Self { took, ..Self::without_running(ToolStatus::Cancelled, result_texts::STOPPED) }
    }
}

/// The calls of a step that are not over when it begins.
pub(super) struct ToolStep {
    pub calls: Vec<StepCall>,
    /// The block of the pause before it.
    pub pause: Option<BlockId>,
    work: FuturesUnordered<Abortable<BoxFuture<'static, CallWork>>>,
}

impl ToolStep {
    pub fn new(calls: Vec<PendingCall>) -> Self {
        let call = |pending| StepCall {
            pending,
            target: CallTarget::Unknown,
            stage: CallStage::New,
            granted: None,
            began: Instant::now(),
            progress: None,
            has_progress: false,
            work: None,
        };
        Self { calls: calls.into_iter().map(call).collect(), pause: None, work: FuturesUnordered::new() }
    }

    /// Begins work for a call, in the place of what was done for it before.
    pub fn start_work(&mut self, at: usize, work: BoxFuture<'static, CallWork>) {
        let (handle, registration) = AbortHandle::new_pair();
        self.abort_work(at);
        self.calls[at].work = Some(handle);
        self.work.push(Abortable::new(work, registration));
    }

    /// Gives up what is done for a call. A tool that runs is cancelled by that.
    pub fn abort_work(&mut self, at: usize) {
        if let Some(work) = self.calls[at].work.take() {
            work.abort();
        }
    }

    pub async fn next_work(&mut self) -> CallWork {
        match self.work.next().await {
            Some(Ok(work)) => work,
            Some(Err(_)) | None => CallWork::Stopped,
        }
    }

    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The place of the call with this block.
    pub fn call_index(&self, block: BlockId) -> Option<usize> {
        self.calls.iter().position(|call| call.pending.block_id == block)
    }

    pub fn is_over(&self) -> bool {
        self.pause.is_none() && self.calls.iter().all(|call| matches!(call.stage, CallStage::Over))
    }

    /// Whether a person has to say something.
    pub fn is_asking(&self) -> bool {
        self.pause.is_some() || self.calls.iter().any(|call| matches!(call.stage, CallStage::Asking(_)))
    }

    /// Whether a person has to say something before anything goes on.
    pub fn is_waiting_for_person(&self) -> bool {
        self.is_asking() && !self.has_work()
    }

    pub fn is_running(&self) -> bool {
        self.running_count() > 0
    }

    pub fn running_count(&self) -> usize {
        self.calls.iter().filter(|call| matches!(call.stage, CallStage::Running)).count()
    }
}
