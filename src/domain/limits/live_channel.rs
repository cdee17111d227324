//! The bounds of the live channel (docs/reference/events.md 14).

/// The last changes that are kept for each account, so that a client which reconnects continues. A change of what
/// changed before replaces the earlier one.
pub const CHANNEL_CHANGES: usize = 256;
/// The accounts whose changes are kept although nobody follows them.
pub const CHANNEL_ACCOUNTS: usize = 1_000;
