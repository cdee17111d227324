//! The calls of a step: the stage of each, and the asynchronous work done for it.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::result_texts;
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::tools::approval::ApprovalRequest;
use turnleaf_domain::tools::elicitation::ElicitationAnswer;
use turnleaf_domain::tools::tool::ToolProgress;
use turnleaf_domain::{BlockId, ElicitationId};
use turnleaf_providers::builder::PendingCall;
use turnleaf_tools::question::QuestionEvent;
use turnleaf_tools::result::{ResultView, text_result};
use turnleaf_tools::tool_search;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, GateDecision, ToolCall};

/// The executor of a call.
pub(super) enum CallTarget {
    Unknown,
    Toolbox(ToolCall),
    /// The tool is built into the provider adapter.
    Provider,
}

/// The stage of a call.
pub(super) enum CallStage {
    /// The call has not been classified.
    New,
    /// The gate is checking whether the call may run.
    Gating,
    /// The call may run when a slot is free. `is_fresh` says that the gate decided this just now.
    Queued {
        is_fresh: bool,
    },
    Asking(Box<ApprovalRequest>),
    Running,
    Over,
}

/// An open question of a running tool.
pub(super) struct OpenQuestion {
    pub id: ElicitationId,
    /// Dropping it cancels the question.
    pub answer: oneshot::Sender<ElicitationAnswer>,
}

/// A tool call of the step.
pub(super) struct StepCall {
    pub pending: PendingCall,
    pub target: CallTarget,
    pub stage: CallStage,
    /// The hash of the question that a person approved.
    pub granted: Option<String>,
    pub began: Instant,
    pub progress: Option<watch::Receiver<Option<ToolProgress>>>,
    pub has_progress: bool,
    /// News of the running tool about its questions to the user.
    pub questions: Option<mpsc::UnboundedReceiver<QuestionEvent>>,
    /// The open questions, with the channels for their answers.
    pub open: Vec<OpenQuestion>,
    /// The page of the running tool, as soon as its server gave it.
    pub view: Option<watch::Receiver<Option<ResultView>>>,
    work: Option<AbortHandle>,
}

impl StepCall {
    /// Returns the host that the call reaches, with these arguments instead of its own where they are given.
    pub fn host(&self, edited: Option<&Value>) -> Option<String> {
        let CallTarget::Toolbox(call) = &self.target else { return None };
        match edited {
            Some(arguments) => ToolCall { arguments: arguments.clone(), ..call.clone() }.host().unwrap_or_default(),
            None => call.host().unwrap_or_default(),
        }
    }

    /// Replaces the arguments with which the call runs.
    pub fn replace_arguments(&mut self, arguments: Value) {
        self.pending.raw = arguments.to_string();
        if let CallTarget::Toolbox(call) = &mut self.target {
            call.arguments = arguments.clone();
        }
        self.pending.arguments = Some(arguments);
    }
}

/// The result of work done for a call.
pub(super) enum CallWork {
    Gated {
        at: usize,
        gate: GateDecision,
    },
    Over {
        at: usize,
        outcome: CallResult,
    },
    /// The running tool asks the user, or no longer.
    Question {
        at: usize,
        event: QuestionEvent,
    },
    /// The work was aborted.
    Stopped,
}

/// The end of a call.
pub(super) struct CallEnding {
    pub status: ToolStatus,
    pub outcome: CallResult,
    /// The time that the call ran.
    pub took: Option<Duration>,
    /// Changes to the metadata of its block.
    pub metadata: Map<String, Value>,
}

impl CallEnding {
    /// Returns the ending for the result of a call that ran.
    pub fn from_outcome(outcome: CallResult, took: Option<Duration>) -> Self {
        let status = match outcome.outcome {
            CallOutcome::Done => ToolStatus::Done,
            CallOutcome::Cancelled => ToolStatus::Cancelled,
            CallOutcome::Failed
            | CallOutcome::TimedOut
            | CallOutcome::Crashed
            | CallOutcome::Unavailable
            | CallOutcome::SignInNeeded => ToolStatus::Failed,
        };
        Self { status, outcome, took, metadata: Map::new() }
    }

    /// Returns the ending of a call that did not run; the text is for the model.
    pub fn without_running(status: ToolStatus, text: &str) -> Self {
        let outcome = if status == ToolStatus::Cancelled { CallOutcome::Cancelled } else { CallOutcome::Failed };
        Self { status, outcome: text_result(outcome, text), took: None, metadata: Map::new() }
    }

    /// Returns the ending of a call that a server shutdown interrupts.
    pub fn interrupted() -> Self {
        Self::without_running(ToolStatus::Interrupted, crate::ending::INTERRUPTED_RESULT)
    }

    /// Returns the ending of a call that a person stopped after it had run for `took`, with the page that its server gave
    /// until then.
    pub fn stopped(took: Option<Duration>, view: Option<ResultView>) -> Self {
        let mut ending = Self { took, ..Self::without_running(ToolStatus::Cancelled, result_texts::STOPPED) };
        if let Some(view) = view.filter(|view| view.page.is_some()) {
            view.attach_to(&mut ending.outcome);
        }
        ending
    }
}

/// The calls of a step that are unfinished when it starts.
pub(super) struct ToolStep {
    pub calls: Vec<StepCall>,
    /// The block of the pause before the step.
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
            questions: None,
            open: Vec::new(),
            view: None,
            work: None,
        };
        Self { calls: calls.into_iter().map(call).collect(), pause: None, work: FuturesUnordered::new() }
    }

    /// Starts work for a call and aborts its earlier work.
    pub fn start_work(&mut self, at: usize, work: BoxFuture<'static, CallWork>) {
        let (handle, registration) = AbortHandle::new_pair();
        self.abort_work(at);
        self.calls[at].work = Some(handle);
        self.work.push(Abortable::new(work, registration));
    }

    /// Aborts the work of a call. Dropping it cancels a running tool and its open questions.
    pub fn abort_work(&mut self, at: usize) {
        let call = &mut self.calls[at];
        call.questions = None;
        call.open.clear();
        if let Some(work) = call.work.take() {
            work.abort();
        }
    }

    /// Returns the next decision of a gate, end of a call, or news about a question. Questions come before the end of
    /// their call, so that none is lost.
    pub async fn next_work(&mut self) -> CallWork {
        poll_fn(|cx| {
            for (at, call) in self.calls.iter_mut().enumerate() {
                let Some(questions) = &mut call.questions else { continue };
                match questions.poll_recv(cx) {
                    Poll::Ready(Some(event)) => return Poll::Ready(CallWork::Question { at, event }),
                    Poll::Ready(None) => call.questions = None,
                    Poll::Pending => {}
                }
            }
            self.work.poll_next_unpin(cx).map(|work| match work {
                Some(Ok(work)) => work,
                Some(Err(_)) | None => CallWork::Stopped,
            })
        })
        .await
    }

    /// Takes news of a call about its questions that has arrived and was not handled yet.
    pub fn take_event(&mut self, at: usize) -> Option<QuestionEvent> {
        self.calls.get_mut(at)?.questions.as_mut()?.try_recv().ok()
    }

    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// Returns the index of the call with this block.
    pub fn call_index(&self, block: BlockId) -> Option<usize> {
        self.calls.iter().position(|call| call.pending.block_id == block)
    }

    /// Returns whether a call searched for tools.
    pub fn has_searched(&self) -> bool {
        let is_search =
            |call: &StepCall| matches!(&call.target, CallTarget::Toolbox(call) if tool_search::is_origin(&call.origin));
        self.calls.iter().any(is_search)
    }

    pub fn is_over(&self) -> bool {
        self.pause.is_none() && self.calls.iter().all(|call| matches!(call.stage, CallStage::Over))
    }

    /// Returns whether a person has to decide something that is still open after a restart.
    pub fn is_asking(&self) -> bool {
        self.pause.is_some() || self.calls.iter().any(|call| matches!(call.stage, CallStage::Asking(_)))
    }

    /// Returns whether nothing can continue until a person decides or answers something.
    pub fn is_waiting_for_person(&self) -> bool {
        let held = self.calls.iter().filter(|call| !call.open.is_empty()).count();
        (self.is_asking() || held > 0) && self.work.len() <= held
    }

    pub fn is_running(&self) -> bool {
        self.running_count() > 0
    }

    pub fn running_count(&self) -> usize {
        self.calls.iter().filter(|call| matches!(call.stage, CallStage::Running)).count()
    }
}
