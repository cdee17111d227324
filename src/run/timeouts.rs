//! The clocks of a run, as one value, so that a test can watch them run out.

use std::time::Duration;

use turnleaf_domain::capabilities::Capabilities;
use turnleaf_domain::limits;
use turnleaf_domain::provider::ReasoningSupport;
use turnleaf_platform::endpoint::RetryPolicy;

/// How long a run waits for what (reliability.md 1.3 rules 9 and 10). All by the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct RunTimeouts {
    /// From the request to the first byte of the body.
    pub first_byte: Duration,
    /// Between any two bytes.
    pub idle_bytes: Duration,
    /// In the place of both while a model thinks, where it is longer.
    pub thinking: Duration,
    /// Between two real events.
    pub idle_progress: Duration,
    /// The whole turn.
    pub turn: Duration,
    /// For a database that is busy or away, at the beginning of a reply as in the middle of it.
    pub database: Duration,
    /// Before the second attempt; doubled for each further one.
    pub backoff: Duration,
    /// Attempts at one request, all together.
    pub attempts: u32,
}

impl RunTimeouts {
    /// The clocks for a provider of which somebody said how long it is waited for.
    pub fn with_patience(self, patience: RetryPolicy) -> Self {
        let attempts = patience.retries.map_or(self.attempts, |retries| retries + 1);
        let Some(silence) = patience.silence else { return Self { attempts, ..self } };
        // Who says nothing for that long has no event either.
        let idle_progress = self.idle_progress.max(silence);
        Self { first_byte: silence, idle_bytes: silence, idle_progress, attempts, ..self }
    }

    /// The clocks for a model: one that thinks may be silent for minutes (providers.md 10).
    pub fn for_model(self, capabilities: &Capabilities, is_thinking_mode: bool) -> Self {
        let Capabilities { reasoning, thinking_levels, .. } = capabilities;
        // Of a model that nothing is known of, thinking is only a wish.
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
        let said = RetryPolicy { retries: Some(0), silence: Some(Duration::from_secs(10)) };
        let pace = RunTimeouts::default().with_patience(said);
        assert_eq!(
            (pace.attempts, pace.first_byte, pace.idle_bytes),
            (1, said.silence.unwrap(), said.silence.unwrap())
        );
        let thinks = Capabilities { reasoning: ReasoningSupport::Always, ..Capabilities::default() };
        assert_eq!(pace.for_model(&thinks, true).idle_bytes, limits::IDLE_THINKING);
        let patient =
            RunTimeouts::default().with_patience(RetryPolicy { silence: Some(Duration::from_secs(1_800)), ..said });
        assert_eq!(patient.for_model(&thinks, true).idle_bytes, Duration::from_secs(1_800));
        assert!(patient.idle_progress >= patient.idle_bytes);
        let usual = RunTimeouts::default().with_patience(RetryPolicy::default());
        assert_eq!((usual.attempts, usual.first_byte), (limits::ATTEMPTS, limits::FIRST_BYTE));
    }
}
