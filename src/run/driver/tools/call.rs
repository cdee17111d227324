//! The calls of a step: how far each is, and the work that is done for them.

use std::time::Duration;

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::words;
use turnleaf_domain::BlockId;
use turnleaf_domain::approval::Ask;
use turnleaf_domain::block::ToolStatus;
use turnleaf_domain::tool::ToolProgress;
use turnleaf_providers::builder::PendingCall;
use turnleaf_tools::result::said;
use turnleaf_tools::toolbox::{Fate, Gate, Outcome, ToolCall};

/// Who runs a call.
pub(super) enum Target {
    Unknown,
    Toolbox(ToolCall),
    /// The provider brought the tool along.
    Provider,
}

/// How far a call is.
pub(super) enum Stage {
    /// Nobody has looked at it.
    New,
    /// Whether it may run is being found out.
    Gating,
    /// It may run when there is a place. `is_fresh`: that was found out just now.
    Queued {
        is_fresh: bool,
    },
    Asking(Ask),
    Running,
    Over,
}

/// One call.
pub(super) struct Call {
    pub pending: PendingCall,
    pub target: Target,
    pub stage: Stage,
    /// The hash of what a person allowed.
    pub granted: Option<String>,
    pub began: Instant,
    pub progress: Option<watch::Receiver<Option<ToolProgress>>>,
    pub has_progress: bool,
    work: Option<AbortHandle>,
}

/// What came of some work for a call.
pub(super) enum Work {
    Gated {
        at: usize,
        gate: Gate,
    },
    Over {
        at: usize,
        outcome: Outcome,
    },
    /// It was given up.
    Stopped,
}

/// How a call ends.
pub(super) struct Ending {
    pub status: ToolStatus,
    pub outcome: Outcome,
    /// How long it ran.
    pub took: Option<Duration>,
    /// What changes in the metadata of its block.
    pub metadata: Map<String, Value>,
}

impl Ending {
    /// By itself.
    pub fn of(outcome: Outcome, took: Option<Duration>) -> Self {
        let status = match outcome.fate {
            Fate::Done => ToolStatus::Done,
            Fate::Cancelled => ToolStatus::Cancelled,
            Fate::Failed | Fate::TimedOut | Fate::Crashed | Fate::Unavailable => ToolStatus::Failed,
        };
        Self { status, outcome, took, metadata: Map::new() }
    }

    /// Without having run; the text is for the model.
    pub fn without_running(status: ToolStatus, text: &str) -> Self {
        let fate = if status == ToolStatus::Cancelled { Fate::Cancelled } else { Fate::Failed };
        Self { status, outcome: said(fate, text), took: None, metadata: Map::new() }
    }

    /// The server goes away while it runs.
    pub fn interrupted() -> Self {
        Self::without_running(ToolStatus::Interrupted, crate::ending::INTERRUPTED)
    }

    /// A person stopped it, after it had run so long.
    pub fn stopped(took: Option<Duration>) -> Self {
        Self { took, ..Self::without_running(ToolStatus::Cancelled, words::STOPPED) }
    }
}

/// The calls of a step that are not over when it begins.
pub(super) struct Step {
    pub calls: Vec<Call>,
    /// The block of the pause before it.
    pub pause: Option<BlockId>,
    work: FuturesUnordered<Abortable<BoxFuture<'static, Work>>>,
}

impl Step {
    pub fn new(calls: Vec<PendingCall>) -> Self {
        let call = |pending| Call {
            pending,
            target: Target::Unknown,
            stage: Stage::New,
            granted: None,
            began: Instant::now(),
            progress: None,
            has_progress: false,
            work: None,
        };
        Self { calls: calls.into_iter().map(call).collect(), pause: None, work: FuturesUnordered::new() }
    }

    /// Begins work for a call, in the place of what was done for it before.
    pub fn work_on(&mut self, at: usize, work: BoxFuture<'static, Work>) {
        let (handle, registration) = AbortHandle::new_pair();
        self.give_up_work(at);
        self.calls[at].work = Some(handle);
        self.work.push(Abortable::new(work, registration));
    }

    /// Gives up what is done for a call. A tool that runs is cancelled by that.
    pub fn give_up_work(&mut self, at: usize) {
        if let Some(work) = self.calls[at].work.take() {
            work.abort();
        }
    }

    pub async fn next_work(&mut self) -> Work {
        match self.work.next().await {
            Some(Ok(work)) => work,
            Some(Err(_)) | None => Work::Stopped,
        }
    }

    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The place of the call with this block.
    pub fn place(&self, block: BlockId) -> Option<usize> {
        self.calls.iter().position(|call| call.pending.block_id == block)
    }

    pub fn is_over(&self) -> bool {
        self.pause.is_none() && self.calls.iter().all(|call| matches!(call.stage, Stage::Over))
    }

    /// Whether a person has to say something.
    pub fn asks(&self) -> bool {
        self.pause.is_some() || self.calls.iter().any(|call| matches!(call.stage, Stage::Asking(_)))
    }

    /// Whether a person has to say something before anything goes on.
    pub fn waits_for_a_person(&self) -> bool {
        self.asks() && !self.has_work()
    }

    pub fn runs(&self) -> bool {
        self.running() > 0
    }

    pub fn running(&self) -> usize {
        self.calls.iter().filter(|call| matches!(call.stage, Stage::Running)).count()
    }
}
