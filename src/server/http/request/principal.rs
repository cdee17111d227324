//! The principal of a request: the ways in, of which one tells who sends it, and the extractor for handlers. The layer
//! that asks them runs once for each request (`access_control`).

use axum::extract::{FromRequestParts, Request};
use http::request::Parts;

use crate::domain::UserId;
use crate::server::access::Principal;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;

/// The ways into a server. Without any, every request is a stranger's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Authentication {
    /// Set on a server without accounts.
    local_owner: Option<UserId>,
}

impl Authentication {
    /// Returns the way into a server without accounts: whoever is admitted ([`admission`](super::admission)) is its
    /// owner and is asked nothing, because the binding policy keeps others from reaching it
    /// (docs/reference/security.md 2.5).
    pub fn without_accounts(owner: UserId) -> Self {
        Self { local_owner: Some(owner) }
    }

    /// Returns who sends a request; `None` for a stranger.
    pub fn principal(self, request: &Request) -> Option<Principal> {
        let is_admitted = request.extensions().get::<ClientIdentity>().is_some_and(ClientIdentity::is_admitted);
        self.local_owner.filter(|_| is_admitted).map(Principal::owner)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().copied().ok_or_else(Problem::unauthenticated)
    }
}
