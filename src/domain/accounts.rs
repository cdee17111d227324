//! Accounts: their roles and the words of the audit log, their access to shared resources, their sign-ins, and the
//! changes of what belongs to them.

pub mod access_rights;
pub mod account;
pub mod account_change;
pub mod sign_in;
