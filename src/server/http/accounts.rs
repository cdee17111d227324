//! Accounts: the pages for people who are not signed in, the own account, all accounts, the audit log, and the API of
//! sessions and tokens.

pub mod api;
pub mod audit_log;
pub mod budgets;
pub mod deletion;
mod form_refusal;
pub mod operations;
pub mod password_prompt;
pub mod profile;
pub mod request_origin;
pub mod second_factor;
pub mod sign_in;
pub mod users;
