//! How often one request is sent: again while nothing has come of it and the failure may pass, and never twice the same
//! way where the provider says what it does not take.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use super::generation::progress::Progress;
use super::run::{Halt, Run};
use crate::journal::Batch;
use turnleaf_domain::turn::Attempt;
use turnleaf_domain::{Event, Failure, Usage, limits};
use turnleaf_platform::ids;
use turnleaf_providers::classify;
use turnleaf_providers::provider::{ChatRequest, Outcome, Refused};

/// How the attempts at one request ended.
pub(super) enum Tried {
    Ended(Outcome),
    /// Refused before any content, for something that another form of the request does not have.
    Repairable(Failure),
}

impl Run<'_> {
    /// Sends a request until something comes of it, or nothing will.
    pub(super) async fn attempts(
        &mut self,
        request: &ChatRequest,
        body: &Bytes,
        progress: &mut Progress,
    ) -> Result<Tried, Halt> {
        let most = self.patience().attempts;
        let mut number = 1;
        loop {
            let refused = match self.attempt(body.clone(), progress).await? {
                Ok(Outcome { failure: Some(failure), .. }) if !progress.has_content => Refused {
                    retries_by_itself: failure.kind.retries_by_itself(),
                    body: classify::failing(&progress.raw).into(),
                    ..Refused::unanswered(failure)
                },
                Ok(outcome) => return Ok(Tried::Ended(outcome)),
                Err(refused) => {
                    progress.is_refused = refused.is_free();
                    progress.raw.extend_from_slice(&refused.body);
                    refused
                }
            };
            progress.is_refused = refused.is_free();
            if self.repairs(&refused, request) {
                // Also inside of a response that began well, what is refused is not charged.
                progress.is_refused = true;
                return Ok(Tried::Repairable(refused.failure));
            }
            let wait = self.pause_before(number + 1, &refused.failure);
            let Some(wait) = wait.filter(|_| refused.retries_by_itself && number < most) else {
                return Err(refused.failure.into());
            };
            number += 1;
            progress.is_refused = false;
            self.recorder.push(Event::Attempt(Attempt {
                number,
                of: most,
                wait_ms: wait.as_millis() as u64,
                reason: refused.failure,
            }));
            self.recorder.flush(Batch::default()).await?;
            tokio::select! {
                why = self.live.interrupted() => return Err(Halt::Interrupted(why)),
                () = sleep(wait) => {}
            }
            self.forget(progress);
        }
    }

    /// Nothing of an attempt that failed is the next one's.
    fn forget(&mut self, progress: &mut Progress) {
        progress.raw.clear();
        (progress.usage, progress.reported_micros) = (Usage::default(), None);
        (progress.model, progress.stop_reason, progress.is_refused) = (None, None, false);
        self.usages.put(progress.id, Usage::default());
    }

    /// How long to wait before this attempt; `None` when the provider asks for longer than anybody should wait.
    fn pause_before(&self, number: u32, failure: &Failure) -> Option<Duration> {
        match failure.retry_after_ms.map(Duration::from_millis) {
            Some(asked) if asked > limits::RETRY_AFTER_MAX => None,
            Some(asked) => Some(asked),
            None => {
                let most =
                    (self.supervisor.pace().backoff * 2_u32.pow(number.saturating_sub(2))).min(limits::BACKOFF_MAX);
                // Full jitter, from the randomness of a fresh id: many runs must not come back at the same moment.
                let jitter = ids::mint::<uuid::Uuid>().as_u128() as u32;
                Some(most.mul_f64(0.5 + 0.5 * f64::from(jitter) / f64::from(u32::MAX)))
            }
        }
    }
}
