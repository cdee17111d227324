//! The API of deletion and Trash (docs/reference/api.md 3, docs/reference/domain.md I13).

use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{
    BranchId, ChatId, DeletionId, DeletionKind, DeletionSummary, RestoreSummary, Role, TurnId, UserId, limits,
};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, page_limit};
use crate::server::http::response::problem::Problem;
use turnleaf_service::{DeletedItem, Deletion};

/// A page of Trash.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListTrashQuery {
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// Only deletions older than this one.
    before: Option<DeletionId>,
}

/// The part of a chat to keep.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PruneChatRequest {
    /// The turn to keep, with the path to it and everything below it.
    keep: TurnId,
}

/// A deletion that can be restored.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TrashEntry {
    id: DeletionId,
    chat_id: ChatId,
    kind: DeletionKind,
    /// The title of the chat, the name of the branch, or the first words of the turn.
    title: String,
    chat_title: String,
    /// True if the chat is deleted as well. Restore the chat first.
    chat_is_deleted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    turns: u64,
    branches: u64,
    deleted_at: DateTime<Utc>,
    /// After this time the deletion cannot be restored.
    purged_at: DateTime<Utc>,
}

impl From<Deletion> for TrashEntry {
    fn from(deletion: Deletion) -> Self {
        Self {
            id: deletion.id,
            chat_id: deletion.chat_id,
            kind: deletion.kind,
            title: deletion.title,
            chat_title: deletion.chat_title,
            chat_is_deleted: deletion.chat_is_deleted,
            role: deletion.role,
            turns: deletion.turns,
            branches: deletion.branches,
            deleted_at: deletion.created_at,
            purged_at: deletion.created_at + limits::TRASH_KEPT,
        }
    }
}

/// `DELETE /api/turns/{id}`: moves a turn and everything below it to Trash.
pub async fn delete_turn(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<DeletionSummary>, Problem> {
    Ok(ApiJson(app.service().delete_turn(principal.user, id).await?))
}

/// `DELETE /api/branches/{id}`: moves the first turn of a branch and everything below it to Trash.
pub async fn delete_branch(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<BranchId>,
) -> Result<ApiJson<DeletionSummary>, Problem> {
    Ok(ApiJson(app.service().delete_branch(principal.user, id).await?))
}

/// `POST /api/chats/{id}/prune`: moves everything to Trash except the path to one turn and what is below it.
pub async fn prune(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    ApiJson(prune): ApiJson<PruneChatRequest>,
) -> Result<ApiJson<DeletionSummary>, Problem> {
    Ok(ApiJson(app.service().prune_others(principal.user, id, prune.keep).await?))
}

/// `POST /api/turns/{id}/restore`: restores the whole deletion that contains the turn.
pub async fn restore_turn(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<RestoreSummary>, Problem> {
    restore_thing(&app, principal.user, DeletedItem::Turn(id)).await
}

/// `POST /api/branches/{id}/restore`: restores the whole deletion that contains the branch.
pub async fn restore_branch(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<BranchId>,
) -> Result<ApiJson<RestoreSummary>, Problem> {
    restore_thing(&app, principal.user, DeletedItem::Branch(id)).await
}

async fn restore_thing(app: &App, viewer: UserId, thing: DeletedItem) -> Result<ApiJson<RestoreSummary>, Problem> {
    Ok(ApiJson(app.service().restore(viewer, thing).await?))
}

/// `GET /api/trash`: lists the deletions, the newest first.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ListTrashQuery>,
) -> Result<ApiJson<Vec<TrashEntry>>, Problem> {
    let limit = page_limit(query.limit, limits::PAGE_DEFAULT, limits::PAGE_MAX)?;
    let deletions = app.service().list_trash(principal.user, query.before, limit).await?;
    Ok(ApiJson(deletions.into_iter().map(TrashEntry::from).collect()))
}

/// `POST /api/trash/{id}/restore`.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DeletionId>,
) -> Result<ApiJson<RestoreSummary>, Problem> {
    Ok(ApiJson(app.service().restore_deletion(principal.user, id).await?))
}

/// `DELETE /api/trash/{id}`: deletes the contents of one deletion permanently.
pub async fn purge(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DeletionId>,
) -> Result<StatusCode, Problem> {
    app.service().purge_deletion(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/trash`: deletes everything in Trash permanently.
pub async fn empty(State(app): State<App>, principal: Principal) -> Result<StatusCode, Problem> {
    app.service().empty_trash(principal.user).await?;
    Ok(StatusCode::NO_CONTENT)
}
