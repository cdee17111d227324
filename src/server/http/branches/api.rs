//! Branches over HTTP (contract.md 3).

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::branch::ContextPolicy;
use crate::domain::tool::OfferedTool;
use crate::domain::{Branch, BranchId, ChatId, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, made_status};
use crate::server::http::request::json::{Json, given};
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::branches::{BranchChange, NewBranch};
use turnleaf_service::paths::outline::ListedBranch;
use turnleaf_service::usage::Sum;

/// A branch to make; what a `branch_locked` problem has under `fork` is one.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBranchBody {
    name: Option<String>,
    from_turn_id: Option<TurnId>,
    provider: Option<String>,
    model: Option<String>,
    policy: Option<ContextPolicy>,
    client_request_id: Option<String>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchPatch {
    name: Option<String>,
    /// `null` takes it away.
    #[serde(default, deserialize_with = "given")]
    label: Option<Option<String>>,
    pinned: Option<bool>,
    policy: Option<ContextPolicy>,
}

/// A branch in the list of a chat's branches.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ListedBody {
    #[serde(flatten)]
    branch: Branch,
    /// Turns of its own.
    turns: usize,
    /// What they took.
    usage: Sum,
}

/// A branch with what it says in every request.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BranchBody {
    #[serde(flatten)]
    branch: Branch,
    system_prompt: String,
    /// Null where the provider's own are sent.
    tools: Option<Vec<OfferedTool>>,
}

/// `GET /api/chats/{id}/branches`: pinned ones first, then the oldest.
pub async fn list(
    State(app): State<App>,
    viewer: Viewer,
    PathId(chat): PathId<ChatId>,
) -> Result<Json<Vec<ListedBody>>, Problem> {
    let listed = app.service().listed_branches(viewer.0, chat).await?.branches;
    let body = |listed: ListedBranch| ListedBody {
        // The branch says who it is.
        usage: Sum { branch_id: None, branch_name: None, ..listed.usage },
        branch: listed.branch,
        turns: listed.turns,
    };
    Ok(Json(listed.into_iter().map(body).collect()))
}

/// `POST /api/chats/{id}/branches`: a branch without turns; a message that names it goes on from there.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    PathId(chat): PathId<ChatId>,
    headers: HeaderMap,
    body: Option<Json<NewBranchBody>>,
) -> Result<Response, Problem> {
    let Json(new) = body.unwrap_or(Json(NewBranchBody::default()));
    let new = NewBranch {
        name: new.name,
        from_turn_id: new.from_turn_id,
        provider: new.provider,
        model: new.model,
        policy: new.policy,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let made = app.service().create_branch(viewer.0, chat, new).await?;
    Ok((made_status(made.is_new), Json(made.it)).into_response())
}

/// `GET /api/branches/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<BranchId>,
) -> Result<Json<BranchBody>, Problem> {
    let (branch, frozen) = app.service().branch(viewer.0, id).await?;
    Ok(Json(BranchBody { branch, system_prompt: frozen.system_prompt, tools: frozen.tools }))
}

/// `PATCH /api/branches/{id}`: its name, label, pin and policy; the lock stays (domain.md I3).
pub async fn change(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<BranchId>,
    Json(patch): Json<BranchPatch>,
) -> Result<Json<Branch>, Problem> {
    let change = BranchChange { name: patch.name, label: patch.label, pinned: patch.pinned, policy: patch.policy };
    Ok(Json(app.service().change_branch(viewer.0, id, change).await?))
}
