//! The routes of readers of a live share, for people who are signed in: its page, the images on it, and the page and form
//! with which they continue the chat. Who reads is asked anew by each request. A share that is unknown, has ended, or is
//! not for this reader has the answer of a link that leads nowhere.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::header::REFRESH;
use http::{HeaderValue, StatusCode};
use uuid::Uuid;

use super::reader::{image_response, missing};
use crate::domain::{BranchShareId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::shares::snapshot::{
    SnapshotFrame, render_path, render_snapshot, snapshot_response, with_live_links, without_traces,
};
use crate::server::http::site::assets::Site;
use crate::server::http::transfer::exports::export_permit;
use crate::server::http::turns::forms::redirect_to_turn;
use crate::server::server_pages::shares::{ContinueSharePage, ContinuedPage};
use turnleaf_platform::ids;
use turnleaf_service::shares::RenderedSnapshot;
use turnleaf_service::shares::branch_shares::OpenBranchShare;

/// Answers what is not there as a link that leads nowhere.
fn or_missing(answer: Result<Response, Problem>, app: &App, context: PageContext) -> Result<Response, Problem> {
    match answer {
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => Ok(missing(app, context)),
        answer => answer,
    }
}

/// `GET /shared/branches/{id}`: the branch at this moment. While a reply runs, the browser reads the page again.
pub async fn show(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    id: Result<PathId<BranchShareId>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let draw = async {
        let PathId(id) = id?;
        let _permit = export_permit(&app, principal.user)?;
        let OpenBranchShare { owner, chat_id, head, parts } =
            app.service().open_branch_share(principal.user, id).await?;
        let path = render_path(&app, site.style(), owner, (chat_id, head), parts.into());
        let (RenderedSnapshot { html, .. }, is_running) = path.await?;
        let html = with_live_links(&html, id, is_running);
        let mut response = snapshot_response(&html, &format!("/shared/branches/{id}"), SnapshotFrame::Nobody);
        if is_running {
            response.headers_mut().insert(REFRESH, HeaderValue::from(limits::BRANCH_REFRESH_SECONDS));
        }
        Ok::<_, Problem>(response)
    };
    or_missing(draw.await, &app, context)
}

/// `GET /shared/branches/{id}/blobs/{sha256}`.
pub async fn image(
    State(app): State<App>,
    principal: Principal,
    ids: Result<PathIds<BranchShareId, String>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let read = async {
        let PathIds(id, sha256) = ids?;
        let bytes = app.service().open_branch_image(principal.user, id, &sha256).await?;
        image_response(bytes).ok_or_else(Problem::not_found)
    };
    or_missing(read.await, &app, context)
}

/// Renders what a reader of a live share would copy: all of it but a reply that runs.
async fn copied_path(app: &App, reader: UserId, id: BranchShareId) -> Result<RenderedSnapshot, Problem> {
    let _permit = export_permit(app, reader)?;
    let OpenBranchShare { owner, chat_id, head, parts } = app.service().open_branch_share(reader, id).await?;
    // Only the turns are used, so the page needs no style.
    render_snapshot(app, String::new(), owner, (chat_id, Some(head)), parts.into()).await
}

/// `GET /shared/branches/{id}/continue`.
pub async fn continue_page(
    State(app): State<App>,
    principal: Principal,
    id: Result<PathId<BranchShareId>, Problem>,
    context: PageContext,
) -> Result<Response, Problem> {
    let read = async {
        let PathId(id) = id?;
        Ok::<_, Problem>((id, copied_path(&app, principal.user, id).await?.turns))
    };
    let (id, shared) = match read.await {
        Ok(read) => read,
        Err(problem) => return or_missing(Err(problem), &app, context),
    };
    let (messages, request_id) = (shared.turns.len(), ids::mint::<Uuid>().to_string());
    let page = ContinueSharePage { title: shared.title, messages, of: ContinuedPage::Branch(id), request_id };
    Ok(without_traces(context.respond(&app, StatusCode::OK, page.draw())))
}

/// `POST /forms/shares/continue-branch`: copies the branch into a new chat of the reader and redirects to it.
pub async fn continue_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let copy = async {
        let (id, request_id) = (fields.subject_id("share_id")?, fields.text("client_request_id"));
        let shown = copied_path(&app, principal.user, id).await?;
        let copied = app.service().continue_branch_share(principal.user, id, shown, request_id.as_deref()).await?;
        Ok::<_, Problem>(redirect_to_turn(copied.value.chat.id, copied.value.leaf))
    };
    or_missing(copy.await, &app, context)
}
