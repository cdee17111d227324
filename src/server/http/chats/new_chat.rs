//! What the next chat begins with, set before it exists: its settings, its tools, and the instructions of all new chats.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::UserId;
use crate::domain::tool::ToolChoice;
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::chats::settings::typed;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::chat_settings::{ChatForm, ChatSettingsView, Wrong, wrong_of};
use crate::server::plain_pages::tools::chat::ChatToolsPage;
use crate::server::plain_pages::{Said, words};
use turnleaf_service::ServiceError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowQuery {
    /// Set after a deed.
    saved: Option<String>,
}

/// `GET /new/settings`.
pub async fn settings(
    State(app): State<App>,
    viewer: Viewer,
    Query(query): Query<ShowQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let next = app.service().next_chat(viewer.0).await?;
    let prompt = match next.system_prompt {
        Some(prompt) => prompt,
        None => app.service().instructions(viewer.0).await?,
    };
    let form = ChatForm::of(&prompt, &next.params, None);
    let said = query.saved.map(|_| Said::Done(words::saved().into()));
    Ok(answer(&app, asked, &form, &Wrong::new(), said))
}

/// `POST /new/settings`: all of it or nothing; what was typed stays on the page with what is wrong beside it.
pub async fn save_settings(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    fields: Fields,
) -> Result<Response, Problem> {
    let form = typed(&fields);
    let wrong = match form.params() {
        Ok(params) => match app.service().settle_next_chat(viewer.0, &form.system_prompt, params).await {
            Ok(()) => return Ok(see_other("/new/settings?saved=1")),
            Err(ServiceError::Invalid(invalid)) => wrong_of(invalid),
            Err(error) => return Err(error.into()),
        },
        Err(wrong) => wrong,
    };
    Ok(answer(&app, asked, &form, &wrong, Some(Said::Refused(words::not_saved().into()))))
}

fn answer(app: &App, asked: Asked, form: &ChatForm, wrong: &Wrong, said: Option<Said>) -> Response {
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let view = ChatSettingsView { chat: None, title: "", branch: None, form, wrong };
    asked.answer(app, status, view.page(said))
}

/// `GET /new/tools`.
pub async fn tools(State(app): State<App>, viewer: Viewer, asked: Asked) -> Result<Response, Problem> {
    answer_tools(&app, viewer.0, asked, (StatusCode::OK, None)).await
}

/// `POST /new/tools`, and back to the message.
pub async fn save_tools(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    fields: Fields,
) -> Result<Response, Problem> {
    let choice = ToolChoice { on: fields.all("on"), client: Vec::new() };
    match app.service().choose_tools_of_next_chat(viewer.0, choice).await {
        Ok(()) => Ok(see_other("/")),
        Err(ServiceError::Invalid(invalid)) => {
            let said = Some(Said::Refused(words::tools::not_saved_because(&invalid)));
            answer_tools(&app, viewer.0, asked, (StatusCode::UNPROCESSABLE_ENTITY, said)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn answer_tools(
    app: &App,
    viewer: UserId,
    asked: Asked,
    (status, said): (StatusCode, Option<Said>),
) -> Result<Response, Problem> {
    let service = app.service();
    let choice = service.tools_of_next_chat(viewer).await?;
    // The model that was chosen for the message, else the one that answers new chats.
    let lock = match service.draft(viewer, None).await?.and_then(|draft| draft.lock) {
        Some(lock) => lock,
        None => service.default_model_of(viewer).await?,
    };
    let page = ChatToolsPage {
        chat: None,
        tools: service.what_becomes_of(viewer, choice).await?,
        built_in: service.built_in_tools(viewer).await?,
        servers: service.tool_servers(viewer).await?,
        branch: None,
        of_provider: service.tools_of_provider(&lock),
        takes_none: service.model(&lock).1.tools == Some(false),
        allowed: Vec::new(),
        said,
    };
    Ok(asked.answer(app, status, page.draw()))
}
