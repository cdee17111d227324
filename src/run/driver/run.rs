//! One run in progress: all that it knows, and why it stops.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::recorder::Recorder;
use crate::live_turns::{Interrupt, LiveTurn};
use crate::supervisor::{RunJob, Supervisor};
use turnleaf_domain::branch::{ContextPolicy, PromptPrefix};
use turnleaf_domain::context::ManifestEntry;
use turnleaf_domain::fold::GenerationUsages;
use turnleaf_domain::repair::{KeptResponse, ProviderState, RequestRepair};
use turnleaf_domain::{Charge, Event, Failure, FailureKind, GenerationId, TurnId, TurnStatus};
use turnleaf_providers::builder::PendingCall;
use turnleaf_providers::provider::{AttachmentsByBlock, HistoryTurn, Provider};
use turnleaf_providers::stored_response::StoredResponse;
use turnleaf_store::generations::GenerationEnd;
use turnleaf_store::generations::requests::RequestBase;

/// Why a run stopped before it was complete.
pub(super) enum HaltReason {
    Interrupted(Interrupt),
    Failed(Failure),
    /// The server goes down while the turn waits for a person: it stays as it is, for the next process.
    LeftWaiting,
}

impl From<Failure> for HaltReason {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What a generation that ended asks for.
pub(super) enum GenerationFollowUp {
    /// Nothing: the reply is complete.
    Complete,
    /// Its tool calls, answered.
    Tools(Vec<PendingCall>),
    /// The next request: the provider paused in the middle of a long reply and goes on when it is sent back.
    Continue,
}

/// One run in progress.
pub(super) struct TurnRun<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) live: &'a Arc<LiveTurn>,
    pub(super) job: RunJob,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) recorder: Recorder,
    pub(super) usages: GenerationUsages,
    /// What the generations that ended cost, in order.
    pub(super) charges: Vec<Option<Charge>>,
    pub(super) context: Option<RequestContext>,
    /// After which request that of a step may be stored, where that was asked already.
    pub(super) base_of_step: Option<(u32, Option<Arc<RequestBase>>)>,
    /// Images of this turn's own steps that are read again.
    pub(super) images: AttachmentsByBlock,
    /// The request after which the provider paused. The same again would pause again.
    pub(super) paused_at: Option<Bytes>,
    /// The bodies of this turn's generations that ended, in order.
    pub(super) steps_raw: Vec<StoredResponse>,
    /// Under which id the provider keeps the last of them.
    pub(super) response_id: Option<String>,
    /// The generations that were made, whose bytes are packed at the end.
    pub(super) generations: Vec<GenerationId>,
    /// The number of the next generation. A request that was refused and repaired took one of its own.
    pub(super) step: u32,
    /// What a refusal made of this turn's requests; one turn is repaired once.
    pub(super) repair: Option<AppliedRepair>,
    pub(super) deadline: Instant,
    /// The end of the generation that a failure or a Stop cut off, still to be stored.
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
    /// The newest reply before this one.
    pub(super) previous_reply: Option<TurnId>,
    /// The response of that reply, if this one may go on from it.
    pub(super) previous_response: Option<KeptResponse>,
    pub(super) is_masked: bool,
}

/// What a refusal made of this turn's requests.
#[derive(Debug, Clone)]
pub(super) struct AppliedRepair {
    pub(super) repair: RequestRepair,
    /// How many steps, and how many blocks, the turn had then.
    pub(super) steps: usize,
    pub(super) blocks: usize,
    pub(super) is_announced: bool,
    pub(super) is_kept: bool,
}

impl AppliedRepair {
    /// One that was said and learnt from already.
    pub(super) fn already_announced(repair: RequestRepair, steps: usize, blocks: usize) -> Self {
        Self { repair, steps, blocks, is_announced: true, is_kept: true }
    }
}

impl TurnRun<'_> {
    /// Looks for the provider anew: while a person was waited for, its settings may have changed.
    pub(super) fn refresh_provider(&mut self) -> Result<(), Failure> {
        let lock = &self.job.lock;
        let provider =
            self.supervisor.registry().find(&lock.provider).ok_or_else(|| missing_provider_failure(&lock.provider))?;
        if provider.api() != self.provider.api() {
            // What can be sent of earlier replies depends on what it speaks.
            self.context = None;
        }
        self.provider = provider;
        Ok(())
    }

    pub(super) fn set_status(&mut self, status: TurnStatus) {
        if self.recorder.status() != status {
            let at = Some(self.supervisor.clock().now());
            self.recorder.push(Event::TurnStatus { status, at });
        }
    }
}

pub(super) fn missing_provider_failure(provider: &str) -> Failure {
    Failure::new(FailureKind::ProviderUnreachable, provider)
        .with_detail("this provider is not configured on the server any more")
}
