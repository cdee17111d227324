//! The API of chats (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::tools::tool::ToolChoice;
use crate::domain::{Branch, Chat, ChatId, ModelParams, ProjectId, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, page_limit};
use crate::server::http::response::problem::Problem;
use turnleaf_service::chats::{BrowseFilter, ChatChange, NewChat};
use turnleaf_service::usage::SpendingSum;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListChatsQuery {
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// `true` lists archived chats instead of the others.
    #[serde(default)]
    archived: bool,
    /// Only the chats of this project.
    project: Option<ProjectId>,
}

/// A chat in the list of chats.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ChatSummary {
    id: ChatId,
    title: String,
    updated_at: DateTime<Utc>,
    /// When the chat was pinned. Absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_at: Option<DateTime<Utc>>,
    /// When the chat was archived. Absent if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<DateTime<Utc>>,
    /// The project of the chat. Absent if it is in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<ProjectId>,
    /// True while a reply is generated.
    running: bool,
    /// True if a reply ended and the chat was not opened since.
    unread: bool,
}

/// A chat to create. All fields are optional.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateChatRequest {
    /// The title. An empty one is derived from the first message.
    #[serde(default)]
    title: String,
    /// Provider of the first branch. By default that of new chats.
    provider: Option<String>,
    /// Model of the first branch. By default that of the provider.
    model: Option<String>,
    /// Instructions for the model, which a branch keeps from its first message on. Empty ones are those of the project.
    #[serde(default)]
    system_prompt: String,
    /// Parameters of every request of the chat, unless a message has others.
    #[serde(default)]
    params: ModelParams,
    /// The tools that the chat offers; by default those of new chats.
    tools: Option<ToolChoice>,
    /// The project of the chat, from which it takes instructions and model unless it has its own.
    project_id: Option<ProjectId>,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// Changes of a chat. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateChatRequest {
    title: Option<String>,
    /// Instructions for the model. Branches that have messages keep the earlier ones.
    system_prompt: Option<String>,
    params: Option<ModelParams>,
    /// True puts the chat before the unpinned ones in the list.
    pinned: Option<bool>,
    /// True hides the chat from the list. A new message unarchives it.
    archived: Option<bool>,
    /// Moves the chat into this project; `null` moves it out of its project. It keeps its instructions.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<ProjectId>)]
    project_id: Option<Option<ProjectId>>,
    /// False marks the chat as read, true as unread. A chat without finished replies stays read.
    unread: Option<bool>,
}

/// A reading position.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetLastViewedRequest {
    /// The turn that was last viewed. The chat opens at its path.
    turn_id: TurnId,
}

/// A chat with its branches.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ChatDetails {
    #[serde(flatten)]
    chat: Chat,
    branches: Vec<Branch>,
    /// Usage of the whole chat so far.
    usage: SpendingSum,
    /// True if a reply ended and the chat was not opened since.
    unread: bool,
}

/// `GET /api/chats`: lists the chats, the newest first.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ListChatsQuery>,
) -> Result<ApiJson<Vec<ChatSummary>>, Problem> {
    let limit = page_limit(query.limit, limits::PAGE_DEFAULT, limits::PAGE_MAX)?;
    if let Some(project) = query.project {
        app.service().project(principal.user, project).await?;
    }
    let which = BrowseFilter { archived: query.archived, project: query.project, ..BrowseFilter::default() };
    let chats = app.service().browse_chats(principal.user, &which, limit).await?;
    Ok(ApiJson(
        chats
            .into_iter()
            .map(|chat| ChatSummary {
                id: chat.id,
                title: chat.title,
                updated_at: chat.updated_at,
                pinned_at: chat.pinned_at,
                archived_at: chat.archived_at,
                project_id: chat.project_id,
                running: chat.running,
                unread: chat.unread,
            })
            .collect(),
    ))
}

/// `POST /api/chats`: creates a chat. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    body: Option<ApiJson<CreateChatRequest>>,
) -> Result<Response, Problem> {
    let ApiJson(new) = body.unwrap_or(ApiJson(CreateChatRequest::default()));
    let new = NewChat {
        title: new.title,
        system_prompt: new.system_prompt,
        params: new.params,
        provider: new.provider,
        model: new.model,
        tools: new.tools,
        project_id: new.project_id,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let made = app.service().create_chat(principal.user, new).await?;
    let (chat, branch) = made.value;
    let (usage, unread) = match made.is_new {
        true => (SpendingSum::default(), false),
        false => usage_and_unread(&app, principal, chat.id).await?,
    };
    let details = ChatDetails { chat, branches: vec![branch], usage, unread };
    Ok((created_status(made.is_new), ApiJson(details)).into_response())
}

/// `GET /api/chats/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
) -> Result<ApiJson<ChatDetails>, Problem> {
    let chat = app.service().chat(principal.user, id).await?;
    let branches = app.service().branches(principal.user, id).await?;
    let (usage, unread) = usage_and_unread(&app, principal, id).await?;
    Ok(ApiJson(ChatDetails { chat, branches, usage, unread }))
}

async fn usage_and_unread(app: &App, principal: Principal, id: ChatId) -> Result<(SpendingSum, bool), Problem> {
    let usage = app.service().chat_usage(principal.user, id).await?;
    Ok((usage, app.service().is_chat_unread(principal.user, id).await?))
}

/// `PATCH /api/chats/{id}`.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    ApiJson(patch): ApiJson<UpdateChatRequest>,
) -> Result<ApiJson<Chat>, Problem> {
    let UpdateChatRequest { title, system_prompt, params, pinned, archived, project_id, unread } = patch;
    let change = ChatChange { title, system_prompt, params, pinned, archived, project_id, unread };
    Ok(ApiJson(app.service().change_chat(principal.user, id, change).await?))
}

/// `DELETE /api/chats/{id}`: moves the chat to Trash (soft deletion).
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
) -> Result<StatusCode, Problem> {
    app.service().delete_chat(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/chats/{id}/restore`.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
) -> Result<ApiJson<Chat>, Problem> {
    Ok(ApiJson(app.service().restore_chat(principal.user, id).await?))
}

/// `PUT /api/chats/{id}/last-viewed`.
pub async fn set_last_viewed(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    ApiJson(seen): ApiJson<SetLastViewedRequest>,
) -> Result<StatusCode, Problem> {
    app.service().set_last_viewed(principal.user, id, seen.turn_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
