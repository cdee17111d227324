//! The routes of readers: a shared page and its images. They are public and only read. A link that is unknown, revoked or
//! expired, and an image that the page does not show, have the same answer, so that nothing can be learnt by trying.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use crate::domain::image_type::detect_image_type;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::http::shares::snapshot::{SnapshotFrame, snapshot_response, without_traces};
use crate::server::server_pages::shares::missing_link_page;
use turnleaf_service::ServiceError;

const IMAGE_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET /share/{token}`.
pub async fn show(
    State(app): State<App>,
    principal: Option<Extension<Principal>>,
    token: Result<PathId<String>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let Ok(PathId(token)) = token else { return Ok(missing(&app, context)) };
    match app.service().open_share(&token, principal.is_some()).await {
        Ok(html) => Ok(snapshot_response(&html, &format!("/share/{token}"), SnapshotFrame::Nobody)),
        Err(ServiceError::NotFound) => Ok(missing(&app, context)),
        Err(error) => Err(error.into()),
    }
}

/// `GET /share/{token}/blobs/{sha256}`.
pub async fn image(
    State(app): State<App>,
    principal: Option<Extension<Principal>>,
    ids: Result<PathIds<String, String>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let Ok(PathIds(token, sha256)) = ids else { return Ok(missing(&app, context)) };
    let bytes = match app.service().open_share_image(&token, &sha256, principal.is_some()).await {
        Ok(bytes) => bytes,
        Err(ServiceError::NotFound) => return Ok(missing(&app, context)),
        Err(error) => return Err(error.into()),
    };
    let Some(kind) = detect_image_type(&bytes) else { return Ok(missing(&app, context)) };
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(IMAGE_POLICY));
    Ok(without_traces(response))
}

/// Returns the answer to every link that leads nowhere.
fn missing(app: &App, context: PageContext) -> Response {
    without_traces(context.respond_without_script(app, StatusCode::NOT_FOUND, missing_link_page()))
}
