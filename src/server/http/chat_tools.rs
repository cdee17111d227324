//! The page of a chat's tools and its forms.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use super::path_id::PathId;
use super::plain_page::{Asked, Fields, see_other};
use super::problem::Problem;
use super::query::Query;
use crate::domain::approval::Policy;
use crate::domain::tool::ToolChoice;
use crate::domain::{BranchId, ChatId, UserId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::plain_pages::Said;
use crate::server::plain_pages::tools::chat::ChatToolsPage;
use crate::server::plain_pages::words::tools as words;
use crate::server::service::ServiceError;
use crate::server::service::tool_servers::StoredPolicy;
use crate::ui::locale::then;
use crate::ui::words::told::told_of_field;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowQuery {
    /// Set after a deed: `saved`, `now`, `asks` or `running`.
    done: Option<String>,
}

/// `GET /c/{id}/tools`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    Query(query): Query<ShowQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let said = match query.done.as_deref() {
        Some("asks") => Some(Said::Done(words::asks_again().into())),
        Some("saved") => Some(Said::Done(words::saved().into())),
        Some("now") => Some(Said::Done(words::now_done().into())),
        Some("running") => Some(Said::Refused(words::now_running().into())),
        _ => None,
    };
    answer(&app, viewer.0, id, asked, (StatusCode::OK, said)).await
}

/// `POST /c/{id}/tools`. What the client runs is chosen over the API alone, and stays.
pub async fn save(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    asked: Asked,
    fields: Fields,
) -> Result<Response, Problem> {
    let client = app.service().chat_tools(viewer.0, id).await?.choice.client;
    let choice = ToolChoice { on: fields.all("on"), client };
    match app.service().choose_tools(viewer.0, id, choice).await {
        Ok(_) => Ok(see_other(&format!("/c/{id}/tools?done=saved"))),
        Err(ServiceError::Invalid(invalid)) => {
            let said = Some(Said::Refused(then(words::not_saved(), &told_of_field(&invalid.to_string()))));
            answer(&app, viewer.0, id, asked, (StatusCode::UNPROCESSABLE_ENTITY, said)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/branch-tools`: the branch uses what its chat offers from the next message on.
pub async fn use_now(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id: Option<BranchId> = fields.text("branch_id").and_then(|id| id.parse().ok());
    let id = id.ok_or_else(Problem::not_found)?;
    let (branch, _) = app.service().branch(viewer.0, id).await?;
    let done = match app.service().use_tools_now(viewer.0, id).await {
        Ok(_) => "now",
        Err(ServiceError::Conflict { .. }) => "running",
        Err(error) => return Err(error.into()),
    };
    Ok(see_other(&format!("/c/{}/tools?done={done}", branch.chat_id)))
}

/// `POST /forms/tools/ask-again`: takes back that a tool is allowed in a chat.
pub async fn ask_again(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id: Option<ChatId> = fields.text("chat_id").and_then(|id| id.parse().ok());
    let id = id.ok_or_else(Problem::not_found)?;
    let (server, tool) = (fields.text("server").unwrap_or_default(), fields.text("tool").unwrap_or_default());
    app.service().ask_again(viewer.0, id, &server, &tool).await?;
    Ok(see_other(&format!("/c/{id}/tools?done=asks")))
}

async fn answer(
    app: &App,
    viewer: UserId,
    id: ChatId,
    asked: Asked,
    (status, said): (StatusCode, Option<Said>),
) -> Result<Response, Problem> {
    let service = app.service();
    let path = service.path(viewer, id, None, 1).await?;
    let branch = match path.branch {
        Some(branch) => Some(service.branch(viewer, branch.id).await?),
        None => None,
    };
    let takes_none = branch.as_ref().is_some_and(|(branch, _)| service.model(&branch.lock).1.tools == Some(false));
    let tools = service.chat_tools(viewer, id).await?;
    let (offered_now, of_provider) = match &branch {
        Some((branch, _)) => {
            let now = service.offered_to(viewer, &branch.lock, &tools.choice).await;
            (now, service.tools_of_provider(&branch.lock))
        }
        None => Default::default(),
    };
    let policies = service.tool_policies(viewer).await?;
    let is_allowed = |said: &StoredPolicy| said.chat == Some(id) && said.policy == Policy::Allow;
    let allowed = policies.into_iter().filter(is_allowed).map(|said| (said.server, said.tool)).collect();
    let page = ChatToolsPage {
        allowed,
        chat: id,
        tools,
        offered_now,
        of_provider,
        built_in: service.built_in_tools(viewer).await?,
        servers: service.tool_servers(viewer).await?,
        branch: branch.map(|(branch, frozen)| (branch, frozen.tools.unwrap_or_default())),
        takes_none,
        said,
    };
    Ok(asked.answer(app, status, page.draw()))
}
