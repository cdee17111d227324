//! The pages of accounts: signing in, the own account with its second factor and its deletion, the question for the
//! password, all accounts, and the audit log.

pub mod audit_log;
pub mod budgets;
pub mod deletion;
pub mod password_prompt;
pub mod profile;
pub mod second_factor;
pub mod sign_in;
pub mod users;
