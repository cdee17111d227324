//! Accounts: their credentials, sessions and identities, their groups, and what they may use.

pub mod access_rules;
pub mod api_tokens;
pub mod audit;
pub mod group_mappings;
pub mod groups;
pub mod identities;
pub mod identity_groups;
pub mod identity_sign_ins;
pub mod invites;
pub mod passkeys;
pub mod second_factors;
pub mod sessions;
pub mod settings;
pub mod users;
