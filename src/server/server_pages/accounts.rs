//! The pages of accounts: signing in, the own account, all accounts, and the audit log.

pub mod audit_log;
pub mod identities;
pub mod profile;
pub mod sign_in;
pub mod users;
