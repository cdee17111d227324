//! The built site: scripts, styles and images. They are embedded in the binary (debug builds read them from where the
//! build put them) and served under a path that contains a hash of all of them, so browsers may cache them
//! permanently and a new build is never mixed with an old one.

mod content_encoding;
mod site;

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::server::http::response::fallback::not_found;
use turnleaf_platform::tasks;

pub use site::{Site, register_embedded};

/// The file with the notices of the libraries, at the root of the site (`xtask/src/front/notices.rs`).
pub const NOTICES_FILE: &str = "third-party-notices.txt";

pub(super) const CACHE_FOREVER: &str = "public, max-age=31536000, immutable";
/// Files whose path does not depend on their content are revalidated, with 304 if they are unchanged.
const CACHE_REVALIDATE: &str = "no-cache";

/// The files of a build.
const PACKAGE_FILES: &str = "/pkg/{build}/{*file}";

/// Builds the routes `/pkg/<build>/…`, and one for each file at the root of the site, such as `/favicon.ico`.
pub fn routes<S>(site: &Arc<Site>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let router = Router::new().route(PACKAGE_FILES, get(package_file));
    let router = root_paths(site).fold(router, |router, path| router.route(&path, get(root_file)));
    router.with_state(site.clone())
}

/// Returns the paths of these routes.
pub fn paths(site: &Site) -> impl Iterator<Item = String> {
    std::iter::once(PACKAGE_FILES.to_owned()).chain(root_paths(site))
}

fn root_paths(site: &Site) -> impl Iterator<Item = String> {
    site.root_files().into_iter().map(|name| format!("/{name}"))
}

/// Returns a file of this build. Files of another build are 404: a page of an old build must not get a script of the
/// new one.
async fn package_file(
    State(site): State<Arc<Site>>,
    Path((build, file)): Path<(String, String)>,
    uri: Uri,
    request: HeaderMap,
) -> Response {
    if build != site.build() {
        return not_found(uri).await;
    }
    match file_response(&site, &format!("pkg/{file}"), CACHE_FOREVER, &request).await {
        Some(response) => response,
        None => not_found(uri).await,
    }
}

async fn root_file(State(site): State<Arc<Site>>, uri: Uri, request: HeaderMap) -> Response {
    match file_response(&site, uri.path().trim_start_matches('/'), CACHE_REVALIDATE, &request).await {
        Some(response) => response,
        None => not_found(uri).await,
    }
}

/// Returns the file at this path in the encoding that the client prefers.
pub(super) async fn file_response(
    site: &Arc<Site>,
    path: &str,
    cache: &'static str,
    request: &HeaderMap,
) -> Option<Response> {
    // The ETag is weak, because all encodings of the file share it.
    let etag = format!("W/\"{}\"", site.file_hash(path)?);
    let known = request.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_known = known.split(',').any(|tag| tag.trim() == etag);
    let accepted = request.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let prepared = content_encoding::accepted_encodings(accepted).find_map(|(encoding, suffix)| {
        let file = site.stored_file(&format!("{path}.{suffix}"))?;
        Some((encoding, file))
    });
    let (encoding, bytes) = match prepared {
        Some((encoding, file)) => (Some(encoding), file.bytes),
        None if is_known => (None, Bytes::new()),
        None => match site.stored_file(path) {
            Some(file) => (None, file.bytes),
            None => recompressed(site, path, accepted).await?,
        },
    };
    let mut response =
        if is_known { StatusCode::NOT_MODIFIED.into_response() } else { Response::new(Body::from(bytes)) };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type(path));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    // Immutable files are never revalidated.
    if cache != CACHE_FOREVER {
        headers.insert(ETAG, HeaderValue::from_str(&etag).ok()?);
    }
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

/// Recompresses a file that is stored in brotli only, for a client that does not accept brotli: browsers accept it
/// over TLS and on localhost only.
async fn recompressed(site: &Arc<Site>, path: &str, accepted: &str) -> Option<(Option<&'static str>, Bytes)> {
    let takes_gzip =
        content_encoding::accepted_encodings(accepted).any(|(encoding, _)| encoding == content_encoding::GZIP);
    let (site, path) = (site.clone(), path.to_owned());
    let work = move || {
        if takes_gzip {
            return Some((Some(content_encoding::GZIP), site.gzipped_file(&path)?));
        }
        Some((None, site.file(&path)?.bytes))
    };
    tasks::spawn_blocking(work).await.ok()?
}

fn content_type(path: &str) -> HeaderValue {
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    let is_text = kind.type_() == mime_guess::mime::TEXT || kind.subtype() == mime_guess::mime::JSON;
    let text = if is_text { format!("{kind}; charset=utf-8") } else { kind.to_string() };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}
