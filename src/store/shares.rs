//! Shares: snapshots of paths, and branches that accounts and groups read while they grow.

pub mod branch_shares;
pub mod snapshots;
