//! CSRF protection: mutating requests must come from the server's own pages, or from no browser at all. The rule is
//! that of `tower_http::csrf`: `Sec-Fetch-Site` where the browser sends it, else `Origin` against `Host`.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::domain::MessageCode;
use crate::server::http::response::problem::Problem;

/// The handler that answers a refused request.
pub type CsrfRejectionHandler = fn(ProtectionError) -> Response<Body>;

/// Creates the layer. `public_origin` is the address that people use when a proxy in front changes `Host`.
///
/// `Origin: null` with `Sec-Fetch-Site: same-origin` is allowed: a browser sends this pair for a plain form of the
/// server's own page, whose referrer policy hides the origin. No other page can make a browser send it.
pub fn layer(public_origin: Option<&str>) -> CsrfLayer<CsrfRejectionHandler> {
    let mut layer = CsrfLayer::new();
    if let Some(origin) = public_origin {
        layer = match layer.clone().add_trusted_origin(origin) {
            Ok(trusting) => trusting,
            Err(error) => {
                tracing::warn!(%error, "the public address is not an origin; only Host is trusted");
                layer
            }
        };
    }
    layer.with_rejection_response(refuse as CsrfRejectionHandler)
}

fn refuse(_: ProtectionError) -> Response<Body> {
    Problem::new(StatusCode::FORBIDDEN, "cross_site", MessageCode::CrossSite).into_response()
}
