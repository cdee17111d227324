//! Timeouts of a run, as one value, so that a test can shorten them.

use std::time::Duration;

use turnleaf_domain::limits;
use turnleaf_domain::providers::capabilities::Capabilities;
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_platform::endpoint::RetryPolicy;

/// Timeouts of a run, all by the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct RunTimeouts {
    /// From the request to the first byte of the body.
    pub first_byte: Duration,
    /// Between two bytes.
    pub idle_bytes: Duration,
    /// Replaces both of the above for a thinking model, if it is longer.
    pub thinking: Duration,
    /// Between two decoded items.
    pub idle_progress: Duration,
    /// The whole turn.
    pub turn: Duration,
    /// For a busy or unavailable database, both at the start of a reply and in the middle of it.
    pub database: Duration,
    /// The wait before the second attempt; it doubles for each further one.
    pub backoff: Duration,
    /// The total number of attempts at one request.
    pub attempts: u32,
}

impl RunTimeouts {
    /// Returns the timeouts with the retry policy that is configured for a provider.
    pub fn with_patience(self, patience: RetryPolicy) -> Self {
        let attempts = patience.retries.map_or(self.attempts, |retries| retries + 1);
        let Some(silence) = patience.silence else { return Self { attempts, ..self } };
        // A provider that may be silent that long may also be without items that long.
        let idle_progress = self.idle_progress.max(silence);
        Self { first_byte: silence, idle_bytes: silence, idle_progress, attempts, ..self }
    }

    /// Returns the timeouts for a model: one that thinks may be silent for minutes (`docs/reference/providers.md
    /// 10`).
    pub fn for_model(self, capabilities: &Capabilities, is_thinking_mode: bool) -> Self {
        let Capabilities { reasoning, thinking_levels, .. } = capabilities;
        // For a model of unknown capabilities, thinking mode is only requested and not certain.
        let thinks = *reasoning == ReasoningSupport::Always || (is_thinking_mode && !thinking_levels.is_empty());
        if !thinks {
            return self;
        }
        let longer = |time: Duration| time.max(self.thinking);
        Self { first_byte: longer(self.first_byte), idle_bytes: longer(self.idle_bytes), ..self }
    }
}

impl Default for RunTimeouts {
    fn default() -> Self {
        Self {
            first_byte: limits::FIRST_BYTE,
            idle_bytes: limits::IDLE_BYTES,
            thinking: limits::IDLE_THINKING,
            idle_progress: limits::IDLE_PROGRESS,
            turn: limits::TURN_TIME,
            database: limits::JOURNAL_PATIENCE,
            backoff: limits::BACKOFF_FIRST,
            attempts: limits::ATTEMPTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_patience_applies_and_thinking_model_may_stay_silent() {
        let policy = RetryPolicy { retries: Some(0), silence: Some(Duration::from_secs(10)) };
        let pace = RunTimeouts::default().with_patience(policy);
        assert_eq!(
            (pace.attempts, pace.first_byte, pace.idle_bytes),
            (1, policy.silence.unwrap(), policy.silence.unwrap())
        );
        let thinks = Capabilities { reasoning: ReasoningSupport::Always, ..Capabilities::default() };
        assert_eq!(pace.for_model(&thinks, true).idle_bytes, limits::IDLE_THINKING);
        let patient =
            RunTimeouts::default().with_patience(RetryPolicy { silence: Some(Duration::from_secs(1_800)), ..policy });
        assert_eq!(patient.for_model(&thinks, true).idle_bytes, Duration::from_secs(1_800));
        assert!(patient.idle_progress >= patient.idle_bytes);
        let usual = RunTimeouts::default().with_patience(RetryPolicy::default());
        assert_eq!((usual.attempts, usual.first_byte), (limits::ATTEMPTS, limits::FIRST_BYTE));
    }
}
