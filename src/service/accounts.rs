//! Accounts: the setup, signing in, sessions, API tokens, invitations, and what administrators do. The service decides
//! who somebody is and what they may give to others; `http` decides by role and scope what a request may do.
//!
//! In reading order: [`account_error`], `account_names` and `passwords` (what is typed), `attempts` (how often),
//! [`credential_cache`] and [`credentials`] (sessions and tokens of requests), [`audit_log`], then one file per action.

pub mod account_error;
mod account_names;
mod account_state;
mod attempts;
pub mod audit_log;
pub mod credential_cache;
pub mod credentials;
pub mod identities;
pub mod identity_providers;
pub mod identity_sign_in;
pub mod invitations;
mod local_network;
pub mod management;
mod origin;
mod passwords;
pub mod proxy_users;
mod secrets;
pub mod sessions;
pub mod setup;
mod setup_state;
pub mod sign_in;
pub mod tokens;

pub(crate) use account_state::Accounts;
pub use origin::{Actor, ClientOrigin};
pub use secrets::NewSecret;
pub use setup_state::SETUP_CODE_FILE;
