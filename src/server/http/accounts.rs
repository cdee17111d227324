//! Accounts: the pages for people who are not signed in, the step that is pending after a sign-in, sign-in services, passkeys,
//! the own account, all accounts, groups, access, budgets, the audit log, and the API of sessions, tokens, groups and grants.

pub mod access;
mod account_form;
mod account_request;
pub mod api;
pub mod audit_log;
pub mod budgets;
pub mod deletion;
mod form_refusal;
mod form_result;
pub mod groups;
pub mod identities;
pub mod operations;
pub mod passkeys;
pub mod password_prompt;
pub mod pending_step;
pub mod profile;
pub mod request_origin;
pub mod rights_api;
pub mod rights_operations;
pub mod second_factor;
pub mod sign_in;
pub mod users;
