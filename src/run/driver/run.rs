//! The state of a run in progress, and the reasons for which it halts.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::recorder::Recorder;
use crate::budgets::BudgetReservation;
use crate::live_turns::{Interrupt, LiveTurn};
use crate::supervisor::{RunJob, Supervisor};
use turnleaf_domain::branches::branch::{ContextPolicy, PromptPrefix};
use turnleaf_domain::providers::repair::{KeptResponse, ProviderState, ReasoningMembers, RequestRepair};
use turnleaf_domain::turns::context::ManifestEntry;
use turnleaf_domain::turns::fold::GenerationUsages;
use turnleaf_domain::{Charge, Event, Failure, GenerationId, TurnId, TurnStatus};
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::provider::{AttachmentsByBlock, HistoryTurn, Provider};
use turnleaf_providers::registry::{ProviderScope, ScopedProvider};
use turnleaf_providers::reply_ending::EndingNotice;
use turnleaf_providers::stored_response::StoredResponse;
use turnleaf_store::turns::generations::GenerationEnd;
use turnleaf_store::turns::generations::requests::RequestBase;

/// The reason why a run halted before it was complete.
pub(super) enum HaltReason {
    Interrupted(Interrupt),
    Failed(Failure),
    /// The server shuts down while the turn waits for a person: the turn is left as it is for the next process.
    LeftWaiting,
}

impl From<Failure> for HaltReason {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The step that a finished generation requires next.
pub(super) enum GenerationFollowUp {
    /// The reply is complete.
    Complete,
    /// The tool calls have to be answered.
    Tools(Vec<PendingCall>),
    /// The provider paused in the middle of a long reply and continues when the reply is sent back to it. If it cannot
    /// be sent back, the notice explains the end.
    Continue(EndingNotice),
}

/// The state of a run in progress.
pub(super) struct TurnRun<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) live: &'a Arc<LiveTurn>,
    pub(super) job: RunJob,
    pub(super) provider: Arc<dyn Provider>,
    /// The scope that the provider belongs to.
    pub(super) scope: ProviderScope,
    pub(super) recorder: Recorder,
    pub(super) usages: GenerationUsages,
    /// The costs of the finished generations, in order.
    pub(super) charges: Vec<Option<Charge>>,
    pub(super) context: Option<RequestContext>,
    /// The base for the stored request of a step, if it was already looked up.
    pub(super) base_of_step: Option<(u32, Option<Arc<RequestBase>>)>,
    /// Images of this turn's own steps that were read from the store.
    pub(super) images: AttachmentsByBlock,
    /// The request after which the provider paused, and the notice that explains the end if it is the next one, too:
    /// sending the same bytes again would only pause again.
    pub(super) paused_at: Option<(Bytes, EndingNotice)>,
    /// The response bodies of this turn's finished generations, in order.
    pub(super) steps_raw: Vec<StoredResponse>,
    /// The id under which the provider keeps the last of them.
    pub(super) response_id: Option<String>,
    /// The generations of this run with so many raw bytes that they are packed after the end.
    pub(super) generations: Vec<GenerationId>,
    /// The number of the next generation. A request that was refused and repaired has a number of its own.
    pub(super) step: u32,
    /// The repair of this turn's requests; a turn is repaired once.
    pub(super) repair: Option<AppliedRepair>,
    pub(super) deadline: Instant,
    /// The reservation of the present call in the budgets of the account, until its end is stored.
    pub(super) budget: Option<Arc<BudgetReservation>>,
    /// The end of a generation that a failure or a Stop cut off, not stored yet.
    pub(super) cut_off: Option<GenerationEnd>,
}

/// The path before this turn, as it is sent.
#[derive(Clone, Default)]
pub(super) struct RequestContext {
    pub(super) history: Vec<HistoryTurn>,
    pub(super) manifest: Vec<ManifestEntry>,
    pub(super) frozen: PromptPrefix,
    pub(super) policy: ContextPolicy,
    pub(super) state: ProviderState,
    /// The endpoint's rule for reasoning in requests, as the branch or other chats know it.
    pub(super) reasoning_members: ReasoningMembers,
    /// The newest reply before this one.
    pub(super) previous_reply: Option<TurnId>,
    /// The provider-kept response of that reply, if this turn may continue from it.
    pub(super) previous_response: Option<KeptResponse>,
    pub(super) is_masked: bool,
}

/// A repair that is applied to this turn's requests.
#[derive(Debug, Clone)]
pub(super) struct AppliedRepair {
    pub(super) repair: RequestRepair,
    /// The numbers of steps and blocks that the turn had when it was repaired.
    pub(super) steps: usize,
    pub(super) blocks: usize,
    pub(super) is_announced: bool,
    pub(super) is_kept: bool,
}

impl AppliedRepair {
    /// Returns a repair whose notice and provider state were stored before.
    pub(super) fn already_announced(repair: RequestRepair, steps: usize, blocks: usize) -> Self {
        Self { repair, steps, blocks, is_announced: true, is_kept: true }
    }
}

impl<'a> TurnRun<'a> {
    /// Returns the state before the first step.
    pub(super) fn new(
        supervisor: &'a Supervisor,
        live: &'a Arc<LiveTurn>,
        job: RunJob,
        ScopedProvider { scope, provider }: ScopedProvider,
    ) -> Self {
        let recorder = Recorder::new(live.clone(), supervisor.journal().clone());
        Self {
            recorder: recorder.decide_thinking(job.is_thinking_undecided),
            supervisor,
            live,
            job,
            provider,
            scope,
            usages: GenerationUsages::default(),
            charges: Vec::new(),
            context: None,
            base_of_step: None,
            images: AttachmentsByBlock::default(),
            paused_at: None,
            steps_raw: Vec::new(),
            response_id: None,
            generations: Vec::new(),
            step: 0,
            repair: None,
            deadline: Instant::now() + supervisor.timeouts().turn,
            budget: None,
            cut_off: None,
        }
    }

    /// Looks up the provider again, because its settings may have changed while the run waited for a person.
    pub(super) fn refresh_provider(&mut self) -> Result<(), Failure> {
        let (owner, lock) = (self.job.owner, &self.job.lock);
        let found = self.supervisor.usable_provider(owner, lock);
        let gone = || self.supervisor.unusable_provider_failure(owner, lock);
        let ScopedProvider { scope, provider } = found.ok_or_else(gone)?;
        if provider.api() != self.provider.api() {
            // The API of the provider determines which earlier replies can be sent raw, so the context is read again.
            self.context = None;
            // The opening is a cache of the stored branch, which may have changed since.
            self.job.opening = None;
        }
        (self.provider, self.scope) = (provider, scope);
        Ok(())
    }

    pub(super) fn set_status(&mut self, status: TurnStatus) {
        if self.recorder.status() != status {
            let at = Some(self.supervisor.clock().now());
            self.recorder.push(Event::TurnStatus { status, at });
        }
    }
}
