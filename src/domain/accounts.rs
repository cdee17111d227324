//! Accounts: their roles and the words of the audit log, their access to shared resources, and their sign-ins.

pub mod access_rights;
pub mod account;
pub mod sign_in;
