//! The server-rendered pages of a chat's tree: the list of its branches with their forms, and the drawing.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{BranchId, ChatId, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::page_data::demo;
use crate::server::server_pages::branches::BranchesPage;
use crate::server::server_pages::tree_drawing::{DEFAULT_ZOOM, TreeDrawingPage, ZOOMS};
use crate::server::server_pages::{ActionNotice, messages};
use crate::ui::locale::coded_messages::field_error_sentence;
use crate::ui::locale::label_with_value;
use crate::ui::messages::branches::branch_name;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::BranchChange;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchesPageQuery {
    /// Set by the redirect after a change.
    saved: Option<String>,
    /// A branch on the wanted page of the list. Without it, or when it is gone, the first page.
    at: Option<BranchId>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeDrawingQuery {
    zoom: Option<u16>,
    top: Option<TurnId>,
}

/// `GET /c/{id}/branches`.
pub async fn branch_list(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<BranchesPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let notice = query.saved.map(|_| ActionNotice::Done(messages::saved().into()));
    render_branch_list(&app, principal.user, (chat, query.at), context, StatusCode::OK, notice).await
}

/// `GET /c/{id}/drawing`: draws the tree. An unknown zoom is the default one.
pub async fn tree_drawing(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<TreeDrawingQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let seen = app.service().outline(principal.user, chat, None, "").await?;
    let zoom = query.zoom.filter(|zoom| ZOOMS.contains(zoom)).unwrap_or(DEFAULT_ZOOM);
    Ok(context.respond(&app, StatusCode::OK, TreeDrawingPage { outline: seen, top: query.top, zoom }.draw()))
}

/// `POST /forms/branch`: changes the fields that are present. An empty label removes the label.
pub async fn update_branch(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: BranchId = fields.subject_id("branch_id")?;
    let (branch, _) = app.service().branch(principal.user, id).await?;
    let given = |name: &str| fields.contains(name).then(|| fields.text(name).unwrap_or_default());
    let shown_name = branch_name(&branch.name);
    let change = BranchChange {
        // A default name is shown in the language of the page, and stays stored as it is.
        name: given("name").filter(|name| *name != shown_name),
        label: given("label").map(Some),
        pinned: given("pinned").map(|pinned| pinned == "true"),
        policy: None,
    };
    match app.service().change_branch(principal.user, id, change).await {
        Ok(_) => {
            let list = format!("/c/{}/branches?saved=1&at={id}#{id}", branch.chat_id);
            let next = fields.text("next").filter(|next| !next.ends_with("/branches")).unwrap_or(list);
            Ok(see_other(local_path(&next)))
        }
        Err(ServiceError::Invalid(invalid)) => {
            let why = field_error_sentence(&invalid);
            let notice = Some(ActionNotice::Refused(label_with_value(&shown_name, &why)));
            render_branch_list(
                &app,
                principal.user,
                (branch.chat_id, Some(id)),
                context,
                StatusCode::UNPROCESSABLE_ENTITY,
                notice,
            )
            .await
        }
        Err(error) => Err(error.into()),
    }
}

async fn render_branch_list(
    app: &App,
    viewer: UserId,
    (chat, at): (ChatId, Option<BranchId>),
    context: PageContext,
    status: StatusCode,
    notice: Option<ActionNotice>,
) -> Result<Response, Problem> {
    let service = app.service();
    let all = service.listed_branches(viewer, chat).await?;
    let listed = &all.branches;
    let place = listed.iter().position(|listed| Some(listed.branch.id) == at).unwrap_or(0);
    let first = place - place % limits::BRANCHES_PAGE;
    let begins = |place: usize| listed.get(place).map(|listed| listed.branch.id);
    let (count, next) = (listed.len(), begins(first + limits::BRANCHES_PAGE));
    let previous = first.checked_sub(limits::BRANCHES_PAGE).and_then(begins);
    let shown = listed.iter().skip(first).take(limits::BRANCHES_PAGE).map(|listed| {
        let (provider, model) = service.lock_names(viewer, &listed.branch.lock);
        (listed.clone(), all.impact(listed), demo::localize_description(&provider), model)
    });
    let branches = shown.collect();
    let page = BranchesPage { chat: all.chat, branches, first, count, previous, next, notice };
    Ok(context.respond(app, status, page.draw()))
}
