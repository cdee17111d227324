//! OAuth 2.1 for tool servers, as the MCP specification profiles it (versions 2025-06-18 and 2025-11-25): finding the
//! authorization server, identifying the client there, the authorization code flow with PKCE, and tokens. Nothing here
//! stores anything; `turnleaf_service` does.
//!
//! `challenge` parses `WWW-Authenticate`, `metadata` holds the documents with their rules, `discovery` fetches them,
//! `registration` identifies the client, `code_flow` builds the authorization request and checks its answer, `tokens`
//! exchanges, renews and revokes tokens, `http` is the bounded exchange with an authorization server. `identity` is the
//! sign-in to Turnleaf itself with an account of another service (OpenID Connect), by the same means.

pub mod challenge;
pub mod code_flow;
pub mod discovery;
mod http;
pub mod identity;
pub mod metadata;
pub mod registration;
pub mod tokens;

pub use self::http::SignInClient;
