//! The end of one provider call: closes its blocks, records its end, and hands over its tool calls.

use bytes::Bytes;

use super::generation::progress::GenerationProgress;
use super::run::{GenerationFollowUp, HaltReason, TurnRun};
use crate::journal::JournalBatch;
use crate::supervisor::Supervisor;
use turnleaf_domain::{BlockState, Charge, Event, TurnStatus, Usage};
use turnleaf_platform::tasks;
use turnleaf_providers::prices::BillableCall;
use turnleaf_providers::provider::DecodeOutcome;
use turnleaf_providers::reply_ending::{ReplyEnding, reply_ending};
use turnleaf_store::turns::generations::{GenerationEnd, GenerationStatus, raw};

impl TurnRun<'_> {
    /// Stores the end of the generation. After a failure it is stored together with the end of the turn.
    pub(super) async fn conclude_generation(
        &mut self,
        mut progress: GenerationProgress,
        outcome: Result<DecodeOutcome, HaltReason>,
    ) -> Result<GenerationFollowUp, HaltReason> {
        let ending = outcome.map(|mut outcome| {
            outcome.stop_reason = outcome.stop_reason.or(progress.stop_reason.take());
            progress.stop_reason.clone_from(&outcome.stop_reason);
            reply_ending(&outcome, progress.builder.contents(), self.provider.name())
        });
        let (halt, ending) = match ending {
            Err(halt) => (Some(halt), None),
            Ok(ReplyEnding::Failed(failure)) => (Some(HaltReason::Failed(failure)), None),
            Ok(ending) => (None, Some(ending)),
        };
        if !progress.has_content {
            self.recorder.push_raw(&progress.raw);
        }
        let mut events = Vec::new();
        progress.builder.close(if halt.is_some() { BlockState::Aborted } else { BlockState::Done }, &mut events);
        self.recorder.extend(events);
        let is_cut_off = halt.is_some() && progress.has_content;
        let charge = self.charge(BillableCall { is_cut_off, ..self.billable_call(&progress) }).await;
        let estimate = match self.unreported_call(&progress, is_cut_off) {
            Some(call) => Some(call.spending(self.supervisor).await),
            None => None,
        };
        let body = Bytes::from(std::mem::take(&mut progress.raw));
        let kept = progress.keeps_raw.then(|| body.clone());
        let end = GenerationEnd { estimate, body: kept, ..self.generation_end(&progress, halt.as_ref(), charge) };
        if body.len() > raw::PACKED_AT_ONCE && progress.keeps_raw {
            self.generations.push(progress.id);
        }
        if let Some(halt) = halt {
            self.cut_off = Some(end);
            return Err(halt);
        }
        let calls = progress.builder.tool_calls().to_vec();
        self.steps_raw.push(body.into());
        self.response_id = progress.response_id;
        let next = match ending {
            Some(ReplyEnding::Calls) => GenerationFollowUp::Tools(calls),
            Some(ReplyEnding::Paused(notice)) => GenerationFollowUp::Continue(notice),
            Some(ReplyEnding::Finished(Some(notice))) => {
                let block = self.new_block(notice.content(), BlockState::Done);
                self.recorder.push(Event::BlockStart { block });
                GenerationFollowUp::Complete
            }
            Some(ReplyEnding::Finished(None) | ReplyEnding::Failed(_)) | None => GenerationFollowUp::Complete,
        };
        if matches!(next, GenerationFollowUp::Tools(_)) {
            self.set_status(TurnStatus::WaitingSubagents);
        }
        self.cut_off = Some(end.clone());
        // The end of the last generation is in one commit with the end of the turn; so is that of an earlier one if
        // this flush fails.
        if !matches!(next, GenerationFollowUp::Complete) {
            self.recorder.flush(JournalBatch { generation_end: Some(end), ..JournalBatch::default() }).await?;
            self.cut_off = None;
            // The wait for a person may be long.
            self.budget = None;
        }
        Ok(next)
    }

    pub(super) fn billable_call(&self, progress: &GenerationProgress) -> BillableCall {
        BillableCall {
            model_returned: progress.model.clone(),
            usage: progress.usage,
            reported_micros: progress.reported_micros,
            is_refused: progress.is_refused,
            ..self.unsent_call()
        }
    }

    /// Returns a call of which nothing has arrived.
    pub(super) fn unsent_call(&self) -> BillableCall {
        BillableCall {
            provider: self.job.lock.provider.clone(),
            base_url: self.provider.base_url().map(str::to_owned),
            model_requested: self.job.lock.model.clone(),
            model_returned: None,
            usage: Usage::default(),
            reported_micros: None,
            is_refused: false,
            is_cut_off: false,
            at: self.supervisor.clock().now(),
        }
    }

    /// Records the cost of a call as far as it is known; the sum of the turn includes it.
    pub(super) async fn charge(&mut self, sale: BillableCall) -> Option<Charge> {
        let charge = price(self.supervisor, sale).await;
        self.charges.push(charge.clone());
        charge
    }

    pub(super) fn generation_end(
        &self,
        progress: &GenerationProgress,
        halt: Option<&HaltReason>,
        charge: Option<Charge>,
    ) -> GenerationEnd {
        let error = match halt {
            Some(HaltReason::Failed(failure)) => Some(failure.clone()),
            _ => None,
        };
        GenerationEnd {
            id: progress.id,
            status: match (halt, &error) {
                (None, _) => GenerationStatus::Complete,
                (Some(_), Some(_)) => GenerationStatus::Error,
                (Some(_), None) => GenerationStatus::Cancelled,
            },
            model_returned: progress.model.clone(),
            stop_reason: progress.stop_reason.clone(),
            usage: progress.usage,
            charge,
            raw_complete: halt.is_none(),
            error,
            first_token_at: progress.first_token_at,
            ended_at: self.supervisor.clock().now(),
            estimate: None,
            body: None,
        }
    }
}

/// Returns the cost of a call as far as it is known.
pub(super) async fn price(supervisor: &Supervisor, sale: BillableCall) -> Option<Charge> {
    let prices = supervisor.registry().prices();
    if !sale.needs_price_list() {
        return prices.charge(&sale);
    }
    // The price list is parsed at its first use, on a blocking thread, so that other replies do not wait for it.
    let pricing = tasks::spawn_blocking(move || prices.charge(&sale));
    pricing.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the price of a call could not be computed");
        None
    })
}
