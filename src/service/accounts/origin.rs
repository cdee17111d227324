//! The client that signs in, and the actor of an action, as far as they are recorded.

use std::net::IpAddr;

use secrecy::SecretString;

use turnleaf_domain::{ApiTokenId, SessionId, UserId};

/// The client of somebody who signs in.
#[derive(Debug, Clone)]
pub struct ClientOrigin {
    pub address: IpAddr,
    /// The network that counts as one client: the address, or its /64 network.
    pub network: IpAddr,
    /// The browser's name for itself.
    pub agent: Option<String>,
    /// The value of the session's cookie that it sent. That session ends when another one begins.
    pub former_session: Option<SecretString>,
}

/// The actor of an action, for the audit log. The default is the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Actor {
    pub user: Option<UserId>,
    pub session: Option<SessionId>,
    pub token: Option<ApiTokenId>,
    pub address: Option<IpAddr>,
}
