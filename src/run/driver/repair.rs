//! Repair: a request that was refused for its reasoning or images is sent once more in a form that the provider
//! accepts, as a generation of its own, so that every request is kept as it was sent. A turn is repaired once; a
//! refusal of the second form is the turn's failure.

use super::generation::progress::GenerationProgress;
use super::run::{AppliedRepair, HaltReason, TurnRun};
use crate::journal::JournalBatch;
use turnleaf_domain::providers::repair::{ReasoningMembers, RequestRepair};
use turnleaf_domain::{BlockState, Event, Failure};
use turnleaf_providers::pictures;
use turnleaf_providers::provider::{ChatRequest, ProviderError};
use turnleaf_store::StoreError;
use turnleaf_store::branches;

impl TurnRun<'_> {
    /// Switches to another form of the request if the provider may accept that. All further requests of the turn have
    /// this form.
    pub(super) fn try_repair(&mut self, refused: &ProviderError, request: &ChatRequest) -> bool {
        if self.repair.is_some() {
            return false;
        }
        let is_about_request = refused.status.is_none_or(|status| matches!(status, 400 | 404 | 422));
        let repair = is_about_request.then(|| self.provider.repair(refused, request)).flatten();
        let Some(repair) = repair.or_else(|| pictures::repair(refused, request)) else { return false };
        if self.apply_changing_repair(repair, request) {
            return true;
        }
        // Reasoning that is required was all sent before: the next form does without it.
        let members = repair.reasoning_members();
        if members == ReasoningMembers::Unknown || members == request.reasoning_members {
            return false;
        }
        let next = self.provider.repair(refused, &ChatRequest { reasoning_members: members, ..request.clone() });
        next.is_some_and(|next| self.apply_changing_repair(next, request))
    }

    /// Applies a repair, unless the request would have the same bytes again, which would be refused again.
    fn apply_changing_repair(&mut self, repair: RequestRepair, request: &ChatRequest) -> bool {
        let (steps, blocks) = (self.steps_raw.len(), self.recorder.turn().blocks.len());
        self.repair = Some(AppliedRepair { repair, steps, blocks, is_announced: false, is_kept: false });
        let is_changed = self.provider.build(&self.assemble_request().0) != self.provider.build(request);
        if !is_changed {
            self.repair = None;
        }
        is_changed
    }

    /// Stores the end of the refused request before the repaired one is sent.
    pub(super) async fn record_refusal(
        &mut self,
        progress: GenerationProgress,
        failure: Failure,
    ) -> Result<(), HaltReason> {
        self.recorder.push_raw(&progress.raw);
        let charge = self.charge(self.billable_call(&progress)).await;
        let end = self.generation_end(&progress, Some(&HaltReason::Failed(failure)), charge);
        self.cut_off = Some(end.clone());
        self.recorder.flush(JournalBatch { generation_end: Some(end), ..JournalBatch::default() }).await?;
        self.cut_off = None;
        Ok(())
    }

    /// Adds the notice about the repair in front of the content of the repaired request.
    pub(super) fn announce_repair(&mut self) {
        let Some(repaired) = self.repair.as_mut().filter(|repaired| !repaired.is_announced) else { return };
        repaired.is_announced = true;
        // The notice belongs to no generation: the row of the next one may fail to be stored, and the notice must
        // still be.
        let content = repaired.repair.notice().content();
        let block = self.new_block(content, BlockState::Done);
        self.recorder.push(Event::BlockStart { block });
    }

    /// Returns what repairs in other chats have shown about reasoning in requests to this turn's model.
    pub(super) fn learned_reasoning_members(&self) -> ReasoningMembers {
        self.supervisor.learned_endpoints().reasoning_members(&self.job.lock, self.provider.base_url())
    }

    /// Records the accepted repair in the branch's provider state, so that its next request is not refused for the
    /// same reason, and what it shows about the endpoint for other chats.
    pub(super) async fn keep_repair(&mut self) {
        let (turn, branch) = (self.job.turn.id, self.job.turn.branch_id);
        let context = self.context.clone().unwrap_or_default();
        let Some(repaired) = self.repair.as_mut().filter(|repaired| !repaired.is_kept) else { return };
        repaired.is_kept = true;
        let members = repaired.repair.reasoning_members();
        self.supervisor.learned_endpoints().record(&self.job.lock, self.provider.base_url(), members);
        let mut state = context.state;
        state.record_repair(repaired.repair, context.previous_reply, turn);
        let stored: Result<(), StoreError> = async {
            let mut tx = self.supervisor.db().begin().await?;
            branches::set_provider_state(&mut tx, branch, &state).await?;
            tx.commit().await
        }
        .await;
        if let Err(error) = stored {
            tracing::warn!(%branch, %error, "a learned request repair could not be saved; the next request will be \
                repaired again");
        }
    }
}
