//! How often a provider is asked again, and how patient a person may make this server with one.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Attempts before the first content, all together.
pub const ATTEMPTS: u32 = 3;
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
pub const BACKOFF_MAX: Duration = Duration::from_secs(8);
/// A provider that asks to wait longer than this is not waited for.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// How often a request that nothing came of is sent again.
pub const PROVIDER_RETRIES: RangeInclusive<u32> = 0..=5;
/// How many seconds of silence are waited for: before the first byte, and between any two.
pub const PROVIDER_SILENCE_SECONDS: RangeInclusive<u32> = 5..=1_800;
