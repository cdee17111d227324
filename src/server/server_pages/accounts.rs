//! The pages of accounts: signing in and the step that is pending then, sign-in services, the own account with its second
//! factor, its passkeys and its deletion, the question for the password, all accounts, groups, access, budgets, and the audit log.

pub mod access;
pub mod audit_log;
mod browser_name;
pub mod budgets;
pub mod deletion;
pub mod factor_setup;
pub mod group_mappings;
pub mod groups;
pub mod identities;
pub mod name_list;
pub mod passkeys;
pub mod password_prompt;
pub mod pending_step;
pub mod profile;
mod qr_code;
pub mod second_factor;
pub mod sign_in;
pub mod users;
