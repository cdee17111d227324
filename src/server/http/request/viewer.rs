//! The caller of a request. Until accounts exist, everybody who reaches the server is its one owner, and the binding
//! policy keeps others from reaching it (docs/reference/security.md 2.5).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::server::access::Viewer;
use crate::server::app::App;

impl FromRequestParts<App> for Viewer {
    type Rejection = Infallible;

    async fn from_request_parts(_parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self(app.local_owner()))
    }
}
