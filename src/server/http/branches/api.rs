//! The API of branches (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::branches::branch::ContextPolicy;
use crate::domain::tools::server_instructions::ServerInstructions;
use crate::domain::tools::tool::OfferedTool;
use crate::domain::{Branch, BranchId, ChatId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::branches::{BranchChange, NewBranch};
use turnleaf_service::paths::outline::ListedBranch;
use turnleaf_service::usage::SpendingSum;

/// A branch to create. The `fork` of a `branch_locked` error is such a body.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateBranchRequest {
    /// Absent: the model's name, or `branch`. A number is added to a name that another branch has.
    name: Option<String>,
    /// The reply after which the branch starts. Absent: where the chat was last read.
    from_turn_id: Option<TurnId>,
    /// The branch at whose end the new one starts, by name or id, or a turn by its id; instead of `from_turn_id`.
    #[serde(rename = "fromRef")]
    from_ref: Option<String>,
    /// Absent: the provider of the branch that is left.
    provider: Option<String>,
    /// Absent: the model of the branch that is left if the provider is the same, else the provider's default.
    model: Option<String>,
    policy: Option<ContextPolicy>,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// Changes of a branch. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateBranchRequest {
    name: Option<String>,
    /// `null` removes the label.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    label: Option<Option<String>>,
    /// Pinned branches are listed first.
    pinned: Option<bool>,
    policy: Option<ContextPolicy>,
}

/// A branch in the list of a chat's branches.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BranchSummary {
    #[serde(flatten)]
    branch: Branch,
    /// Number of turns written on this branch.
    turns: usize,
    /// Usage of these turns.
    usage: SpendingSum,
}

/// A branch with the parts that every request on it repeats.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct BranchDetails {
    #[serde(flatten)]
    branch: Branch,
    system_prompt: String,
    /// The offered tools. `null` on older branches, which use the tools configured for the provider.
    tools: Option<Vec<OfferedTool>>,
    /// The instructions of tool servers, which follow the system prompt in every request.
    server_instructions: Vec<ServerInstructions>,
}

/// `GET /api/chats/{id}/branches`: lists the branches, pinned ones first, then oldest first.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
) -> Result<ApiJson<Vec<BranchSummary>>, Problem> {
    let listed = app.service().listed_branches(principal.user, chat).await?.branches;
    let body = |listed: ListedBranch| BranchSummary {
        // The entry already contains the branch.
        usage: SpendingSum { branch_id: None, branch_name: None, ..listed.usage },
        branch: listed.branch,
        turns: listed.turns,
    };
    Ok(ApiJson(listed.into_iter().map(body).collect()))
}

/// `POST /api/chats/{id}/branches`: creates a branch without turns. The first message that names it continues from
/// its fork turn.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    headers: HeaderMap,
    body: Option<ApiJson<CreateBranchRequest>>,
) -> Result<Response, Problem> {
    let ApiJson(new) = body.unwrap_or(ApiJson(CreateBranchRequest::default()));
    let new = NewBranch {
        name: new.name,
        from_turn_id: new.from_turn_id,
        from_ref: new.from_ref,
        provider: new.provider,
        model: new.model,
        policy: new.policy,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let made = app.service().create_branch(principal.user, chat, new).await?;
    Ok((created_status(made.is_new), ApiJson(made.value)).into_response())
}

/// `GET /api/branches/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<BranchId>,
) -> Result<ApiJson<BranchDetails>, Problem> {
    let (branch, frozen) = app.service().branch(principal.user, id).await?;
    Ok(ApiJson(BranchDetails {
        branch,
        system_prompt: frozen.system_prompt,
        tools: frozen.tools,
        server_instructions: frozen.instructions,
    }))
}

/// `PATCH /api/branches/{id}`: changes name, label, pin and policy. Provider and model are locked
/// (docs/reference/domain.md I3).
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<BranchId>,
    ApiJson(patch): ApiJson<UpdateBranchRequest>,
) -> Result<ApiJson<Branch>, Problem> {
    let change = BranchChange { name: patch.name, label: patch.label, pinned: patch.pinned, policy: patch.policy };
    Ok(ApiJson(app.service().change_branch(principal.user, id, change).await?))
}
