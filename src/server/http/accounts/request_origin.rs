//! The origin of a request of accounts, for the limits on attempts and the audit log.

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::header::USER_AGENT;
use http::request::Parts;

use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::client_network::client_network;
use turnleaf_service::accounts::{Actor, ClientOrigin};

/// Returns the client of somebody who signs in.
pub fn client_origin(app: &App, client: &ClientIdentity, headers: &HeaderMap) -> ClientOrigin {
    let former_session = SessionCookie::new(app.transport()).secret(headers);
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    ClientOrigin {
        address: client.address,
        network: client_network(client.address),
        agent: agent.filter(|agent| !agent.is_empty()).map(str::to_owned),
        former_session: former_session.map(Into::into),
    }
}

/// Returns who does something, for the audit log.
pub fn actor(principal: &Principal, client: &ClientIdentity) -> Actor {
    Actor {
        user: Some(principal.user),
        session: principal.session(),
        token: principal.token(),
        address: Some(client.address),
    }
}

impl FromRequestParts<App> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let principal = Principal::from_request_parts(parts, app).await?;
        Ok(actor(&principal, &ClientIdentity::from_request_parts(parts, app).await?))
    }
}
