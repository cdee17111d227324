//! The bounds of shares.

use std::ops::RangeInclusive;

use chrono::TimeDelta;

/// The shares of one person that are valid, without those in Trash; live shares are counted by themselves.
pub const SHARES: usize = 200;
/// The accounts and groups that one live share names.
pub const BRANCH_READERS: usize = 100;
/// The seconds after which the page of a live share is read again while a reply runs.
pub const BRANCH_REFRESH_SECONDS: u64 = 5;
/// The days for which a link may be valid, and the default.
pub const SHARE_DAYS: RangeInclusive<u32> = 1..=365;
pub const SHARE_DAYS_DEFAULT: u32 = 30;
/// The size of a snapshot without its images.
pub const SHARE_BYTES: usize = 16 << 20;
/// The retention of a share that was revoked or has expired. Until then the list says so.
pub const SHARE_KEPT: TimeDelta = TimeDelta::days(30);
/// The precision of the time of the last access.
pub const SHARE_ACCESS_EVERY: TimeDelta = TimeDelta::minutes(1);
