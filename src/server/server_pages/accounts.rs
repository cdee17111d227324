//! The pages of accounts: signing in, the own account, all accounts, groups, access, and the audit log.

pub mod access;
pub mod audit_log;
pub mod groups;
pub mod profile;
pub mod sign_in;
pub mod users;
