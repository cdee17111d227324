//! The page of a chat's tools and its forms.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::tools::approval::ToolApprovalPolicy;
use crate::domain::tools::tool::ToolChoice;
use crate::domain::{BranchId, ChatId, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::chats::settings::shown_branch;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::messages::tools as words;
use crate::server::server_pages::tools::chat::ChatToolsPage;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::servers::StoredPolicy;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatToolsPageQuery {
    /// Set by the redirect after a change: `asks` or `running`.
    done: Option<String>,
}

/// `GET /c/{id}/tools`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ChatToolsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let notice = match query.done.as_deref() {
        Some("asks") => Some(ActionNotice::Done(words::asks_again().into())),
        Some("running") => Some(ActionNotice::Refused(words::use_now_running().into())),
        _ => None,
    };
    tools_response(&app, principal.user, id, context, (StatusCode::OK, notice)).await
}

/// `POST /c/{id}/tools`: saves the tools and returns to the chat. With a branch as `now`, the branch uses them from
/// its next message on. Tools that the client runs can be chosen over the API only, and are kept.
pub async fn save(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let client = app.service().chat_tools(principal.user, id).await?.choice.client;
    let choice = ToolChoice { on: fields.values("on"), client };
    match app.service().choose_tools(principal.user, id, choice).await {
        Ok(_) => match fields.text("now").and_then(|id| id.parse().ok()) {
            Some(branch) => use_tools_on_branch(&app, principal.user, id, branch).await,
            None => Ok(see_other(&format!("/c/{id}"))),
        },
        Err(ServiceError::Invalid(invalid)) => {
            let notice = Some(ActionNotice::Refused(words::not_saved_because(&invalid)));
            tools_response(&app, principal.user, id, context, (StatusCode::UNPROCESSABLE_ENTITY, notice)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Gives the branch the tools of its chat from the next message on.
async fn use_tools_on_branch(app: &App, viewer: UserId, chat: ChatId, id: BranchId) -> Result<Response, Problem> {
    let (branch, _) = app.service().branch(viewer, id).await?;
    if branch.chat_id != chat {
        return Err(Problem::not_found());
    }
    match app.service().refresh_branch_tools(viewer, id).await {
        Ok(_) => Ok(see_other(&format!("/c/{chat}"))),
        Err(ServiceError::Conflict { .. }) => Ok(see_other(&format!("/c/{chat}/tools?done=running"))),
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/tools/ask-again`: revokes the permission of a tool in a chat.
pub async fn ask_again(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ChatId = fields.subject_id("chat_id")?;
    let (server, tool) = (fields.text("server").unwrap_or_default(), fields.text("tool").unwrap_or_default());
    let host = fields.text("host");
    app.service().revoke_tool_answer(principal.user, id, (&server, &tool, host.as_deref())).await?;
    Ok(see_other(&format!("/c/{id}/tools?done=asks")))
}

async fn tools_response(
    app: &App,
    viewer: UserId,
    id: ChatId,
    context: PageContext,
    (status, notice): (StatusCode, Option<ActionNotice>),
) -> Result<Response, Problem> {
    let service = app.service();
    let (_, branch) = shown_branch(app, viewer, id).await?;
    let no_tool_support =
        branch.as_ref().is_some_and(|(branch, _)| service.model_details(viewer, &branch.lock).1.tools == Some(false));
    let tools = service.chat_tools(viewer, id).await?;
    let of_provider =
        branch.as_ref().map(|(branch, _)| service.provider_tools(viewer, &branch.lock)).unwrap_or_default();
    let policies = service.tool_policies(viewer).await?;
    let is_allowed = |policy: &StoredPolicy| policy.chat == Some(id) && policy.policy == ToolApprovalPolicy::Allow;
    let allowed = policies.into_iter().filter(is_allowed).collect();
    let page = ChatToolsPage {
        allowed_policies: allowed,
        chat: Some(id),
        tools,
        provider_tools: of_provider,
        built_in: service.built_in_tools(viewer).await?,
        servers: service.tool_servers(viewer).await?,
        branch: branch.map(|(branch, _)| branch),
        no_tool_support,
        notice,
    };
    Ok(context.respond(app, status, page.draw()))
}
