//! One provider call: stores the request, sends it, retries while no content has arrived, keeps the response bytes
//! and turns them into events until it ends.

mod ingest;
pub(super) mod progress;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::{Instant, sleep_until, timeout_at};

use self::progress::GenerationProgress;
use super::attempts::AttemptResult;
use super::run::{GenerationFollowUp, HaltReason, TurnRun};
use super::spending_estimate::tokens_of_bytes;
use crate::journal::JournalBatch;
use crate::provider_access::{may_use, refused_call_failure};
use crate::supervisor::RunJob;
use crate::timeouts::RunTimeouts;
use turnleaf_domain::encoding::byte_delta::is_too_short_for_delta;
use turnleaf_domain::turns::context::RequestManifest;
use turnleaf_domain::{BlockState, Event, Failure, FailureKind, GenerationId, Usage, limits};
use turnleaf_platform::ids;
use turnleaf_providers::builder::{BlockBuilder, BlockPosition};
use turnleaf_providers::pictures;
use turnleaf_providers::provider::{DecodeOutcome, Decoder, ProviderError, ProviderReply};
use turnleaf_store::turns::generations::requests::{RequestBase, StoredRequest};
use turnleaf_store::turns::generations::{NewGeneration, RawKind};

impl TurnRun<'_> {
    /// Makes one provider call, or two if the first is refused and can be repaired. Returns what the response
    /// requires next.
    pub(super) async fn run_generation(&mut self) -> Result<GenerationFollowUp, HaltReason> {
        loop {
            let (request, manifest) = self.next_request().await?;
            let body = self.provider.build(&request);
            if let Some((_, notice)) = self.paused_at.take_if(|(paused, _)| *paused == body) {
                let block = self.new_block(notice.content(), BlockState::Done);
                self.recorder.push(Event::BlockStart { block });
                return Ok(GenerationFollowUp::Complete);
            }
            self.reserve_budget(&body).await?;
            let mut progress = self.start_generation(&body, &manifest).await?;
            let wire = pictures::insert_image_bytes(&body, &request);
            let tried = self.send_with_retries(&request, &wire, &mut progress).await;
            if progress.has_content {
                self.keep_repair().await;
            }
            let outcome = match tried {
                Ok(AttemptResult::Repairable(failure)) => {
                    self.record_refusal(progress, failure).await?;
                    continue;
                }
                Ok(AttemptResult::Ended(outcome)) => Ok(outcome),
                Err(halt) => Err(halt),
            };
            let next = self.conclude_generation(progress, outcome).await?;
            self.paused_at = match &next {
                GenerationFollowUp::Continue(notice) => Some((body, notice.clone())),
                GenerationFollowUp::Complete | GenerationFollowUp::Tools(_) => None,
            };
            return Ok(next);
        }
    }

    /// Stores the request before it is sent, so that a crash leaves a record of it.
    async fn start_generation(
        &mut self,
        body: &Bytes,
        manifest: &RequestManifest,
    ) -> Result<GenerationProgress, HaltReason> {
        let id: GenerationId = ids::mint();
        let step = self.step;
        self.step += 1;
        let now = self.supervisor.clock().now();
        // Decided once, because the setting may change while the response arrives.
        let keeps_raw = self.supervisor.stores_raw();
        let request = self.stored_request(step, body, manifest).await;
        self.recorder.push(Event::GenerationStart {
            generation_id: id,
            step,
            provider: self.job.lock.provider.clone(),
            model: self.job.lock.model.clone(),
        });
        self.announce_repair();
        self.announce_tools().await;
        let generation = NewGeneration {
            id,
            turn_id: self.job.turn.id,
            step,
            provider: self.job.lock.provider.clone(),
            api: self.provider.api().to_owned(),
            model_requested: self.job.lock.model.clone(),
            request,
            raw_kind: if keeps_raw { RawKind::SseEvents } else { RawKind::None },
            started_at: now,
        };
        self.recorder.flush(JournalBatch { generation: Some(generation), ..JournalBatch::default() }).await?;
        self.recorder.start_raw(keeps_raw.then_some(id));
        Ok(GenerationProgress { request_tokens: tokens_of_bytes(body.len() as u64), ..self.progress(id, keeps_raw) })
    }

    /// Returns the request as it is stored: as a byte delta against an earlier request of its path, if that one can
    /// be read.
    async fn stored_request(&mut self, step: u32, body: &Bytes, manifest: &RequestManifest) -> StoredRequest {
        let manifest: Bytes = serde_json::to_vec(manifest).unwrap_or_default().into();
        let earlier = match self.base_of_step.take().filter(|(of, _)| *of == step) {
            _ if is_too_short_for_delta(body.len() + manifest.len()) => None,
            Some((_, earlier)) => earlier,
            None => self.earlier_request(step).await,
        };
        match earlier {
            Some(base) => StoredRequest::against_base(&base, body.clone(), manifest),
            None => StoredRequest::from_whole(body.clone(), manifest),
        }
    }

    /// Returns the base request against which the request of this step may be stored.
    pub(super) async fn earlier_request(&self, step: u32) -> Option<Arc<RequestBase>> {
        let (turn, lock) = (self.job.turn.id, &self.job.lock);
        let earlier = self
            .supervisor
            .request_base_cache()
            .load_base(self.supervisor.db(), (turn, step, &lock.provider, &lock.model));
        earlier.await.unwrap_or_else(|error| {
            tracing::warn!(%turn, %error, "an earlier request could not be read: this one is stored whole");
            None
        })
    }

    fn progress(&self, id: GenerationId, keeps_raw: bool) -> GenerationProgress {
        let turn = self.recorder.turn();
        let place = BlockPosition { turn_ord: turn.ord, next_seq: turn.next_block_seq(), generation_id: id };
        let clock = self.supervisor.clock().clone();
        GenerationProgress {
            id,
            began: Instant::now(),
            builder: BlockBuilder::new(place, move || (ids::mint(), clock.now()))
                .with_pending_calls(&turn.blocks)
                .with_open_text(&turn.blocks),
            raw: Vec::new(),
            keeps_raw,
            usage: Usage::default(),
            reported_micros: None,
            is_refused: false,
            model: None,
            stop_reason: None,
            response_id: None,
            first_token_at: None,
            has_content: false,
            request_tokens: 0,
        }
    }

    /// Makes one attempt: the outcome of its response, or the error that kept it from starting.
    pub(super) async fn send_once(
        &mut self,
        body: Bytes,
        progress: &mut GenerationProgress,
    ) -> Result<Result<DecodeOutcome, ProviderError>, HaltReason> {
        let RunJob { owner, lock, .. } = &self.job;
        if !may_use(self.supervisor.registry(), *owner, self.scope, lock) {
            let refused = ProviderError::not_sent(refused_call_failure(Some(self.scope), lock));
            return Ok(Err(ProviderError { retries_by_itself: false, ..refused }));
        }
        let sent_at = Instant::now();
        let first_byte = (sent_at + self.timeouts().first_byte).min(self.deadline);
        let sent = tokio::select! {
            biased;
            interrupt = self.live.wait_for_interrupt() => return Err(HaltReason::Interrupted(interrupt)),
            sent = timeout_at(first_byte, self.provider.send(&self.job.lock.model, body)) => sent,
        };
        match sent {
            Err(_) => Err(self.silence(sent_at).into()),
            Ok(Err(refused)) => Ok(Err(refused)),
            Ok(Ok(reply)) => self.stream(reply, progress, first_byte).await.map(Ok),
        }
    }

    /// Returns the timeouts for this provider and model.
    pub(super) fn timeouts(&self) -> RunTimeouts {
        let of_provider = self.supervisor.registry().retry_policy(self.job.owner, &self.job.lock.provider);
        self.supervisor
            .timeouts()
            .with_patience(of_provider)
            .for_model(&self.job.capabilities, self.job.resolved_params.is_thinking_mode)
    }

    async fn stream(
        &mut self,
        reply: ProviderReply,
        progress: &mut GenerationProgress,
        first_byte: Instant,
    ) -> Result<DecodeOutcome, HaltReason> {
        let mut decoder = self.provider.decoder();
        decoder.note_requested_model(&self.job.lock.model);
        progress.builder.set_headings(decoder.has_headings());
        let end = self.read(reply, decoder.as_mut(), progress, first_byte).await;
        // The decoder is finished also after an aborted body, so that buffered items and usage are not lost.
        let mut items = Vec::new();
        let outcome = decoder.finish(&mut items);
        self.apply_items(&mut items, progress)?;
        match end {
            // A response that is complete stays complete if the server then goes silent or keeps the connection open.
            Err(HaltReason::Failed(failure)) if outcome.complete && failure.kind == FailureKind::ProviderStalled => {
                Ok(outcome)
            }
            Err(halt) => Err(halt),
            // A connection that breaks after the final item does not fail the response.
            Ok(Some(failure)) if !outcome.complete => {
                Ok(DecodeOutcome { complete: false, stop_reason: outcome.stop_reason, failure: Some(failure) })
            }
            Ok(_) => Ok(outcome),
        }
    }

    /// Reads the body to its end. Returns the failure that broke it, if any.
    async fn read(
        &mut self,
        reply: ProviderReply,
        decoder: &mut dyn Decoder,
        progress: &mut GenerationProgress,
        first_byte: Instant,
    ) -> Result<Option<Failure>, HaltReason> {
        let pace = self.timeouts();
        let mut body = reply.body;
        let mut items = Vec::new();
        // Failures report the measured silence, not the timeout.
        let (mut bytes_at, mut progress_at) = (Instant::now(), Instant::now());
        let mut bytes_by = first_byte;
        let mut progress_by = Instant::now() + pace.idle_progress.max(pace.first_byte);
        let live = self.live.clone();
        let interrupted = live.wait_for_interrupt();
        // One timer for all deadlines. They mostly move into the future, for which it need not be set again: it then
        // only wakes too soon.
        let timer = sleep_until(first_byte);
        tokio::pin!(interrupted, timer);
        loop {
            let flush = self.recorder.flush_deadline();
            let given_up = bytes_by.min(progress_by).min(self.deadline);
            let next = flush.map_or(given_up, |flush| flush.min(given_up));
            if next < timer.deadline() || timer.is_elapsed() {
                timer.as_mut().reset(next);
            }
            let chunk = tokio::select! {
                biased;
                interrupt = &mut interrupted => return Err(HaltReason::Interrupted(interrupt)),
                chunk = body.next() => chunk,
                () = &mut timer => {
                    let now = Instant::now();
                    if flush.is_some_and(|flush| flush <= now) {
                        let stored = self.store().await?;
                        (bytes_by, progress_by) = (bytes_by + stored, progress_by + stored);
                        continue;
                    }
                    if now < given_up {
                        continue;
                    }
                    if decoder.is_over() {
                        return Ok(None);
                    }
                    return Err(match given_up {
                        _ if given_up == self.deadline => self.failure(FailureKind::LimitTime),
                        _ if given_up == bytes_by => self.silence(bytes_at),
                        _ => self.silence(progress_at),
                    }
                    .into());
                }
            };
            let bytes = match chunk {
                None => return Ok(None),
                Some(Err(failure)) => return Ok(Some(failure)),
                Some(Ok(bytes)) => bytes,
            };
            bytes_at = Instant::now();
            self.keep_raw(&bytes, progress)?;
            let was_over = decoder.is_over();
            decoder.feed(&bytes, &mut items);
            // After the final item the read only waits for late usage; other bytes that arrive then do not extend the
            // wait.
            bytes_by = match decoder.is_over() {
                false => Instant::now() + pace.idle_bytes,
                true if was_over && items.is_empty() => bytes_by,
                true => Instant::now() + limits::LATE_USAGE,
            };
            if !items.is_empty() {
                progress_at = Instant::now();
                progress_by = progress_at + pace.idle_progress;
                self.apply_items(&mut items, progress)?;
                let stored = self.store().await?;
                (bytes_by, progress_by) = (bytes_by + stored, progress_by + stored);
            }
        }
    }

    /// Returns the failure for a provider that has been silent since then.
    fn silence(&self, since: Instant) -> Failure {
        Failure::stalled(since.elapsed().as_secs(), self.provider.name())
    }

    /// Stores pending events. Returns the time that took, by which deadlines are extended: the provider was not
    /// silent while the run did not read.
    async fn store(&mut self) -> Result<Duration, HaltReason> {
        let began = Instant::now();
        self.recorder.flush_if_due().await?;
        Ok(began.elapsed())
    }

    pub(super) fn failure(&self, kind: FailureKind) -> Failure {
        Failure::new(kind, self.provider.name())
    }
}
