//! Serves the bytes of files, images and tool results. All of them are untrusted: browsers show none as a document,
//! and draw only images of formats that cannot contain script.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::domain::documents::file_name::content_disposition;
use crate::domain::documents::image_type::detect_image_type;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;

/// The bytes are immutable, because their name is their hash.
const CACHE: &str = "private, max-age=31536000, immutable";
const SANDBOX: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET /api/blobs/{sha256}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(sha256): PathId<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let blob = app.service().blob(principal.user, &sha256).await?;
    let tag = format!("\"{sha256}\"");
    let mut response = match headers.get(header::IF_NONE_MATCH) {
        Some(known) if known.as_bytes() == tag.as_bytes() => StatusCode::NOT_MODIFIED.into_response(),
        _ => {
            let (kind, name) = served_content_type(&blob.mime, &blob.bytes);
            let name = name.map(|end| blob.name.unwrap_or_else(|| format!("{}.{end}", &sha256[..12])));
            let mut response = Response::new(Body::from(blob.bytes));
            let fields = response.headers_mut();
            fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
            if let Some(name) = name {
                let kept = content_disposition(&name);
                fields.insert(header::CONTENT_DISPOSITION, HeaderValue::try_from(kept).map_err(Problem::internal)?);
            }
            response
        }
    };
    let fields = response.headers_mut();
    fields.insert(header::ETAG, HeaderValue::try_from(tag).map_err(Problem::internal)?);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    Ok(response)
}

/// Returns the content type that a browser gets and, for a download, the ending of the file name. An image that could
/// not be re-encoded is stored as a file (`tools::result`, `service::transfer::imports`) and is served as one,
/// whatever its bytes begin with.
fn served_content_type(mime: &str, bytes: &[u8]) -> (&'static str, Option<&'static str>) {
    match (detect_image_type(bytes).filter(|_| mime.starts_with("image/")), is_text(mime)) {
        (Some(kind), _) => (kind, None),
        (None, true) => ("text/plain; charset=utf-8", Some("txt")),
        (None, false) => ("application/octet-stream", Some("bin")),
    }
}

/// Returns whether a browser may show the file as text. HTML is excluded, because it must not be rendered.
fn is_text(mime: &str) -> bool {
    (mime.starts_with("text/") && mime != "text/html") || mime == "application/json"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stored_images_are_served_as_images() {
        let png = b"\x89PNG\r\n\x1a\n....";
        assert_eq!(served_content_type("image/png", png), ("image/png", None));
        // The bytes decide on the image type.
        assert_eq!(served_content_type("image/jpeg", png), ("image/png", None));
        assert_eq!(served_content_type("application/octet-stream", png), ("application/octet-stream", Some("bin")));
        assert_eq!(served_content_type("image/png", b"<svg>"), ("application/octet-stream", Some("bin")));
        assert_eq!(served_content_type("text/plain", png), ("text/plain; charset=utf-8", Some("txt")));
    }

    #[test]
    fn html_is_not_served_as_text() {
        assert!(!is_text("text/html") && is_text("text/csv") && is_text("application/json"));
    }
}
