//! Retries of one request: it is sent again while no content has arrived and the failure is transient, and never
//! twice in a form that the provider refuses.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use super::generation::progress::GenerationProgress;
use super::run::{HaltReason, TurnRun};
use crate::journal::JournalBatch;
use turnleaf_domain::turns::turn::RetryAttempt;
use turnleaf_domain::{Event, Failure, Usage, limits};
use turnleaf_platform::ids;
use turnleaf_providers::error_classification;
use turnleaf_providers::provider::{ChatRequest, DecodeOutcome, ProviderError};

/// The result of the attempts at one request.
pub(super) enum AttemptResult {
    Ended(DecodeOutcome),
    /// The provider refused the request before any content, for a reason that another form of the request avoids.
    Repairable(Failure),
}

impl TurnRun<'_> {
    /// Sends a request until a response has content or the failure is final.
    pub(super) async fn send_with_retries(
        &mut self,
        request: &ChatRequest,
        body: &Bytes,
        progress: &mut GenerationProgress,
    ) -> Result<AttemptResult, HaltReason> {
        let most = self.timeouts().attempts;
        let mut number = 1;
        loop {
            let refused = match self.send_once(body.clone(), progress).await? {
                Ok(DecodeOutcome { failure: Some(failure), stop_reason, .. }) if !progress.has_content => {
                    progress.stop_reason = stop_reason.or(progress.stop_reason.take());
                    ProviderError {
                        retries_by_itself: failure.kind.is_auto_retryable(),
                        body: error_classification::extract_stream_error(&progress.raw).into(),
                        ..ProviderError::without_response(failure)
                    }
                }
                Ok(outcome) => return Ok(AttemptResult::Ended(outcome)),
                Err(refused) => {
                    progress.is_refused = refused.is_free();
                    progress.raw.extend_from_slice(&refused.body);
                    refused
                }
            };
            progress.is_refused = refused.is_free();
            if self.try_repair(&refused, request) {
                // A refusal inside a response that began normally is not charged either.
                progress.is_refused = true;
                return Ok(AttemptResult::Repairable(refused.failure));
            }
            let wait = self.pause_before(number + 1, &refused.failure);
            let Some(wait) = wait.filter(|_| refused.retries_by_itself && number < most) else {
                return Err(refused.failure.into());
            };
            number += 1;
            progress.is_refused = false;
            self.recorder.push(Event::Attempt(RetryAttempt {
                number,
                of: most,
                wait_ms: wait.as_millis() as u64,
                reason: refused.failure,
            }));
            self.recorder.flush(JournalBatch::default()).await?;
            tokio::select! {
                interrupt = self.live.wait_for_interrupt() => return Err(HaltReason::Interrupted(interrupt)),
                () = sleep(wait) => {}
            }
            self.discard_attempt(progress);
        }
    }

    /// Discards the state of a failed attempt, so that nothing of it leaks into the next one.
    fn discard_attempt(&mut self, progress: &mut GenerationProgress) {
        progress.raw.clear();
        (progress.usage, progress.reported_micros) = (Usage::default(), None);
        (progress.model, progress.stop_reason, progress.is_refused) = (None, None, false);
        self.usages.set(progress.id, Usage::default());
    }

    /// Returns the wait before this attempt; `None` when the provider's `Retry-After` is longer than is reasonable to
    /// wait.
    fn pause_before(&self, number: u32, failure: &Failure) -> Option<Duration> {
        match failure.retry_after_ms.map(Duration::from_millis) {
            Some(requested) if requested > limits::RETRY_AFTER_MAX => None,
            Some(requested) => Some(requested),
            None => {
                let most =
                    (self.supervisor.timeouts().backoff * 2_u32.pow(number.saturating_sub(2))).min(limits::BACKOFF_MAX);
                // Jitter comes from the random bits of a fresh id, so that many runs do not retry at the same moment.
                let jitter = ids::mint::<uuid::Uuid>().as_u128() as u32;
                Some(most.mul_f64(0.5 + 0.5 * f64::from(jitter) / f64::from(u32::MAX)))
            }
        }
    }
}
