//! The routes of readers: a shared page and its images, which are public and only read, and the page and form with which
//! readers who are signed in continue the chat. A link that is unknown, revoked or expired, and an image that the page
//! does not show, have the same answer, so that nothing can be learnt by trying.

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use uuid::Uuid;

use crate::domain::SharedTurns;
use crate::domain::documents::image_type::detect_image_type;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::request::principal::HasAccounts;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::shares::snapshot::{SnapshotFrame, snapshot_response, with_continue_link, without_traces};
use crate::server::http::turns::forms::redirect_to_turn;
use crate::server::server_pages::shares::{ContinueSharePage, ContinuedPage, missing_link_page};
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::shares::OpenedShare;

const IMAGE_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET /share/{token}`.
pub async fn show(
    State(app): State<App>,
    principal: Option<Extension<Principal>>,
    accounts: HasAccounts,
    token: Result<PathId<String>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let Ok(PathId(token)) = token else { return Ok(missing(&app, context)) };
    let OpenedShare { html, can_continue } = match app.service().open_share(&token, principal.is_some()).await {
        Ok(opened) => opened,
        Err(ServiceError::NotFound) => return Ok(missing(&app, context)),
        Err(error) => return Err(error.into()),
    };
    // Strangers sign in on the way, where there are accounts.
    let may_continue = principal.is_some() || accounts.0;
    let html = if can_continue && may_continue { with_continue_link(&html, &token) } else { html };
    Ok(snapshot_response(&html, &format!("/share/{token}"), SnapshotFrame::Nobody))
}

/// `GET /share/{token}/continue`: asks before the copy is made, because the shared page itself has no form.
pub async fn continue_page(
    State(app): State<App>,
    token: Result<PathId<String>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let Ok(PathId(token)) = token else { return Ok(missing(&app, context)) };
    let SharedTurns { title, turns, .. } = match app.service().shared_turns(&token).await {
        Ok(shared) => shared,
        Err(ServiceError::NotFound) => return Ok(missing(&app, context)),
        Err(error) => return Err(error.into()),
    };
    let request_id = ids::mint::<Uuid>().to_string();
    let page = ContinueSharePage { title, messages: turns.len(), of: ContinuedPage::Link(token), request_id };
    Ok(without_traces(context.respond(&app, StatusCode::OK, page.draw())))
}

/// `POST /forms/shares/continue`: copies the path into a new chat of the reader and redirects to it.
pub async fn continue_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (token, request_id) = (fields.text("token").unwrap_or_default(), fields.text("client_request_id"));
    match app.service().continue_share(principal.user, &token, request_id.as_deref()).await {
        Ok(made) => Ok(redirect_to_turn(made.value.chat.id, made.value.leaf)),
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
    Ok(image_response(bytes).unwrap_or_else(|| missing(&app, context)))
}

/// Returns an image of a shared page; `None` for bytes that are no image.
pub(super) fn image_response(bytes: Bytes) -> Option<Response> {
    let kind = detect_image_type(&bytes)?;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(IMAGE_POLICY));
    Some(without_traces(response))
}

/// Returns the answer to every link that leads nowhere.
pub(super) fn missing(app: &App, context: PageContext) -> Response {
    without_traces(context.respond_without_script(app, StatusCode::NOT_FOUND, missing_link_page()))
}
