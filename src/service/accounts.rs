//! Accounts: the setup, signing in, sessions, API tokens, invitations, groups, and what administrators do. The service
//! decides who somebody is, what they may give to others, and which models and tools they may use; `http` decides by role
//! and scope what a request may do.
//!
//! In reading order: [`account_error`], `account_names` and `passwords` (what is typed), `attempts` (how often),
//! [`credential_cache`] and [`credentials`] (sessions and tokens of requests), [`audit_log`], then one file per action.

pub mod access_rules;
pub mod account_error;
mod account_names;
mod account_state;
mod attempts;
pub mod audit_log;
mod begun_ceremonies;
mod begun_sign_ins;
pub mod credential_cache;
pub mod credentials;
pub mod deletion;
mod disabled_accounts;
mod former_identities;
pub mod groups;
pub mod identities;
pub mod identity_providers;
pub mod identity_sign_in;
mod identity_use;
pub mod invitations;
pub mod list_pages;
mod local_network;
pub mod management;
pub mod mapped_groups;
mod origin;
pub mod passkeys;
mod passwords;
mod pending_steps;
pub mod proxy_users;
mod recent_password;
pub mod second_factor;
mod secrets;
pub mod sessions;
pub mod setup;
mod setup_state;
pub mod sign_in;
pub mod tokens;
pub mod totp;
mod withheld_secrets;

pub(crate) use account_state::Accounts;
pub use origin::{Actor, ClientOrigin};
pub use secrets::NewSecret;
pub use setup_state::SETUP_CODE_FILE;
