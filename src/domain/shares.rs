//! Shares: snapshots of paths, and branches that others read while they grow.

pub mod branch_share;
pub mod share;
pub mod shared_turns;
