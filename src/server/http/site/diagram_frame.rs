//! The frame that draws diagrams: Mermaid's library and a few lines in one sandboxed document, which the build makes
//! (`xtask/src/front/diagram.rs`). It is the same for every diagram, so browsers cache it; the source comes in the
//! fragment of its address, which never leaves the browser.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use http::header::VARY;
use http::{HeaderMap, HeaderValue};

use super::assets::{CACHE_FOREVER, Site, file_response};
use crate::domain::encoding::url_encoding;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::sandboxed_document::sandboxed;

/// The path in the site.
const FILE: &str = "frames/diagram.html";
/// The number of digits of its hash that are in its address.
const HASH_DIGITS: usize = 16;

/// Returns the address of the frame that draws this diagram. `None` in a build of the server alone.
pub fn address(site: &Site, source: &str) -> Option<String> {
    Some(format!("/frames/diagram/{}#{}", hash(site)?, url_encoding::encode(source)))
}

/// `GET /frames/diagram/{hash}`. It is no page to visit.
pub async fn show(
    State(site): State<Arc<Site>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let is_visit = headers.get("sec-fetch-dest").is_some_and(|of| of == "document");
    if is_visit || hash(&site).is_none_or(|hash| hash != name) {
        return Err(Problem::not_found());
    }
    let file = file_response(&site, FILE, CACHE_FOREVER, &headers).await.ok_or_else(Problem::not_found)?;
    let mut response = sandboxed(file);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding, sec-fetch-dest"));
    Ok(response)
}

fn hash(site: &Site) -> Option<String> {
    Some(site.file_hash(FILE)?.chars().take(HASH_DIGITS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[tokio::test]
    async fn frame_is_cached_under_its_hash_and_has_no_origin() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("frames")).unwrap();
        std::fs::write(dir.path().join(FILE), "<!doctype html>").unwrap();
        let site = Arc::new(Site::open(Some(dir.path())));
        let address = address(&site, "graph TD\n A-->\"#é\"").unwrap();
        let (path, source) = address.split_once('#').unwrap();
        assert_eq!(source, "graph%20TD%0A%20A--%3E%22%23%C3%A9%22");
        let name = path.rsplit('/').next().unwrap().to_owned();
        let response = show(State(site.clone()), Path(name.clone()), HeaderMap::new()).await.unwrap();
        let headers = response.headers();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(headers["cache-control"], CACHE_FOREVER);
        assert_eq!(headers["vary"], "accept-encoding, sec-fetch-dest");
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox allow-scripts; "));
        let visit = HeaderMap::from_iter([(
            http::HeaderName::from_static("sec-fetch-dest"),
            HeaderValue::from_static("document"),
        )]);
        assert!(show(State(site.clone()), Path(name), visit).await.is_err());
        assert!(show(State(site.clone()), Path("0".into()), HeaderMap::new()).await.is_err());
    }

    #[test]
    fn build_without_site_draws_no_diagrams() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(address(&Site::open(Some(dir.path())), "graph TD"), None);
    }
}
