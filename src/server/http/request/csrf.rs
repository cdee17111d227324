//! CSRF protection: mutating requests must come from the server's own pages, or from no browser at all. The rule is
//! that of `tower_http::csrf`: `Sec-Fetch-Site` where the browser sends it, else `Origin` against `Host`.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, StatusCode};
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

/// Refuses also requests that only read if a browser sends them from another site, for a route whose `GET` opens more
/// than an answer: a WebSocket handshake. The layer checks only methods that change something, so it is shown a `POST`.
pub fn require_same_origin<S>(route: MethodRouter<S>, public_origin: Option<&str>) -> MethodRouter<S>
where
    S: Clone + Send + Sync + 'static,
{
    route
        .layer::<_, Infallible>(from_fn(with_method(Method::GET)))
        .layer::<_, Infallible>(layer(public_origin))
        .layer(from_fn(with_method(Method::POST)))
}

/// Returns whether a browser says that another site, or another host of the same one, led it here.
pub fn is_led_by_other_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

fn with_method(method: Method) -> impl Fn(Request, Next) -> BoxFuture<'static, Response> + Clone {
    move |mut request, next| {
        *request.method_mut() = method.clone();
        Box::pin(next.run(request))
    }
}
