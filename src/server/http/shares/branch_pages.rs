//! The forms of live shares: a branch is shared, its readers change, and the share ends.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::domain::{BranchReaders, BranchShareId, InvalidField, LiveParts, SharedParts, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::shares::pages::{list_page, path_page, redirect_to_list};
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::shares::SharePage;
use crate::server::server_pages::shares::branch_shares::BranchShareForm;
use turnleaf_service::shares::branch_shares::BranchShareRequest;

/// Reads the names in the fields of a form, of which each line is one.
fn submitted_readers(fields: &SubmittedFields) -> BranchReaders {
    let names = |field: &str| {
        let lines = fields.lines(field);
        lines.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    BranchReaders { accounts: names("accounts"), groups: names("groups") }
}

/// Returns whether a refusal is said on the page of the form; the others are pages of their own.
fn is_said(problem: &Problem) -> bool {
    problem.status() != StatusCode::NOT_FOUND && problem.status().is_client_error()
}

/// `POST /forms/shares/branch`.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let parts = LiveParts {
        reasoning: fields.is_checked("reasoning"),
        tools: fields.is_checked("tools"),
        documents: fields.is_checked("documents"),
    };
    let (chat, leaf) = (fields.subject_id("chat_id")?, fields.subject_id("leaf")?);
    let request = BranchShareRequest {
        branch: fields.subject_id("branch_id")?,
        parts,
        readers: submitted_readers(&fields),
        client_request_id: fields.text("client_request_id"),
    };
    let shared = app.service().share_branch(principal.user, actor(&principal, &client), request.clone()).await;
    let problem = match shared.map_err(Problem::from) {
        Ok(_) => return Ok(redirect_to_list("live")),
        Err(problem) if is_said(&problem) => problem,
        Err(problem) => return Err(problem),
    };
    let days = limits::SHARE_DAYS_DEFAULT;
    let page = path_page(&app, &principal, (chat, Some(leaf)), SharedParts::default(), days).await?;
    // Errors of names are shown beside their fields.
    let field = problem.field().filter(|field| ["accounts", "groups"].contains(field));
    let error = field.map(|field| InvalidField::new(field, problem.message().clone()));
    let notice = error.is_none().then(|| ActionNotice::Refused(problem.sentence()));
    let BranchShareRequest { branch, readers, .. } = request;
    let live = page.live.map(|form| BranchShareForm { branch, parts, readers, error, ..form });
    Ok(context.respond(&app, problem.status(), SharePage { live, ..page }.draw(notice)))
}

/// `POST /forms/shares/readers`.
pub async fn set_readers(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (id, readers): (BranchShareId, _) = (fields.subject_id("share_id")?, submitted_readers(&fields));
    let set = app.service().set_branch_readers(principal.user, actor(&principal, &client), id, &readers).await;
    match set.map_err(Problem::from) {
        Ok(_) => Ok(redirect_to_list("readers")),
        Err(problem) if is_said(&problem) => {
            let page = list_page(&app, principal.user).await?;
            Ok(context.respond(&app, problem.status(), page.draw(Some(ActionNotice::Refused(problem.sentence())))))
        }
        Err(problem) => Err(problem),
    }
}

/// `POST /forms/shares/end`.
pub async fn end(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: BranchShareId = fields.subject_id("share_id")?;
    app.service().end_branch_share(principal.user, actor(&principal, &client), id).await?;
    Ok(redirect_to_list("ended"))
}
