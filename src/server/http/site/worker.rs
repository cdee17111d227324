//! The service worker, and the offline page. The worker caches that page with its style sheets, and nothing of a
//! person. Browsers run a worker only if they reach the server over TLS or on localhost.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::server::app::App;
use crate::server::http::response::server_page::PageContext;
use crate::server::http::site::assets::Site;
use crate::server::server_pages::offline;

const SCRIPT: &str = include_str!("worker/worker.js");

/// The script of one build.
struct ServiceWorkerScript(axum::body::Bytes);

impl ServiceWorkerScript {
    fn for_build(build: &str) -> Self {
        Self(SCRIPT.replace("{build}", build).into())
    }

    /// Returns the response. Browsers revalidate the script, so that a new build is noticed.
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/javascript; charset=utf-8"),
            (CACHE_CONTROL, "no-cache"),
            // The worker runs under the policy of its own response.
            (CONTENT_SECURITY_POLICY, "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"),
        ];
        (headers, self.0).into_response()
    }
}

/// `GET /worker.js`.
pub async fn show(State(site): State<Arc<Site>>) -> Response {
    ServiceWorkerScript::for_build(site.build()).into_response()
}

/// `GET /offline`.
pub async fn page(State(app): State<App>, context: PageContext) -> Response {
    context.respond_without_script(&app, StatusCode::OK, offline::offline_page())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_names_its_build() {
        let ServiceWorkerScript(script) = ServiceWorkerScript::for_build("0123");
        let script = String::from_utf8(script.to_vec()).unwrap();
        assert!(script.contains("const BUILD = \"0123\";") && !script.contains("{build}"), "{script}");
    }
}
