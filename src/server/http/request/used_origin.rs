//! The address under which the person uses this server: the configured one, else the host of the request, which
//! `allowed_hosts` has checked.

use std::convert::Infallible;

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::routing::MethodRouter;
use http::header::HOST;
use http::request::Parts;

use crate::server::app::App;

/// The configured public address, if there is one.
#[derive(Debug, Clone)]
struct PublicOrigin(Option<String>);

/// Gives a route the configured public address.
pub fn with_public_origin(route: MethodRouter<App>, public_origin: Option<&str>) -> MethodRouter<App> {
    route.layer(Extension(PublicOrigin(public_origin.map(str::to_owned))))
}

/// Extracts the address, on routes with [`with_public_origin`].
#[derive(Debug, Clone)]
pub struct UsedOrigin {
    /// As browsers write it in `Origin`.
    pub origin: String,
    /// True if it is the configured one.
    pub is_public: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for UsedOrigin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let public = parts.extensions.get::<PublicOrigin>().and_then(|public| public.0.clone());
        let is_public = public.is_some();
        let host = || parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        // Without a public address nothing in front of this server encrypts.
        let origin = public.unwrap_or_else(|| format!("http://{}", host()));
        Ok(Self { origin, is_public })
    }
}
