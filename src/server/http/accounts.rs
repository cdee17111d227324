//! Accounts: the pages for people who are not signed in, sign-in services, the own account, all accounts, the audit log, and the API of
//! sessions and tokens.

pub mod api;
pub mod audit_log;
mod form_refusal;
pub mod identities;
pub mod operations;
pub mod profile;
mod request_origin;
pub mod sign_in;
pub mod users;
