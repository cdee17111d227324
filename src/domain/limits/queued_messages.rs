//! The bounds of queued messages.

use std::time::Duration;

/// The messages that wait behind one reply, the messages that are sent in one round, and the pause before those that
/// could not be sent for a passing reason are tried again.
pub const QUEUED_MESSAGES: usize = 20;
pub const QUEUED_AT_ONCE: u32 = 100;
pub const QUEUE_RETRY: Duration = Duration::from_secs(10);
