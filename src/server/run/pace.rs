//! The clocks of a run, as one value, so that a test can watch them run out.

use std::time::Duration;

use crate::domain::capabilities::Capabilities;
use crate::domain::limits;
use crate::domain::provider::Reasoning;

/// How long a run waits for what (reliability.md 1.3 rules 9 and 10). All by the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
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
    /// Before the second attempt; doubled for each further one.
    pub backoff: Duration,
}

impl Pace {
    /// The clocks for a model: one that thinks may be silent for minutes (providers.md 10).
    pub fn with(self, capabilities: &Capabilities, is_thinking_mode: bool) -> Self {
        let Capabilities { reasoning, thinking_levels, .. } = capabilities;
        // Of a model that nothing is known of, thinking is only a wish.
        let thinks = *reasoning == Reasoning::Always || (is_thinking_mode && !thinking_levels.is_empty());
        if !thinks {
            return self;
        }
        let longer = |time: Duration| time.max(self.thinking);
        Self { first_byte: longer(self.first_byte), idle_bytes: longer(self.idle_bytes), ..self }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first_byte: limits::FIRST_BYTE,
            idle_bytes: limits::IDLE_BYTES,
            thinking: limits::IDLE_THINKING,
            idle_progress: limits::IDLE_PROGRESS,
            turn: limits::TURN_TIME,
            backoff: limits::BACKOFF_FIRST,
        }
    }
}
