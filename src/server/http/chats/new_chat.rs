//! The settings and tools of the next chat, which are chosen before it exists.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::UserId;
use crate::domain::tools::tool::ToolChoice;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::chats::settings::read_chat_form;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::chat_settings::{ChatSettingsForm, ChatSettingsView, FieldErrors, field_errors};
use crate::server::server_pages::tools::chat::ChatToolsPage;
use crate::server::server_pages::{ActionNotice, messages};
use turnleaf_service::ServiceError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewChatSettingsQuery {
    /// Set by the redirect after a change.
    saved: Option<String>,
}

/// `GET /new/settings`.
pub async fn settings(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<NewChatSettingsQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let next = app.service().next_chat(principal.user).await?;
    let prompt = match next.system_prompt {
        Some(prompt) => prompt,
        None => app.service().instructions(principal.user).await?,
    };
    let form = ChatSettingsForm::from_settings(&prompt, &next.params, None);
    let notice = query.saved.map(|_| ActionNotice::Done(messages::saved().into()));
    Ok(settings_response(&app, context, &form, &FieldErrors::new(), notice))
}

/// `POST /new/settings`: saves all fields or none. On an error the page keeps what was typed and marks the wrong
/// fields.
pub async fn save_settings(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = read_chat_form(&fields);
    let wrong = match form.params() {
        Ok(params) => match app.service().set_next_chat(principal.user, &form.system_prompt, params).await {
            Ok(()) => return Ok(see_other("/new/settings?saved=1")),
            Err(ServiceError::Invalid(invalid)) => field_errors(invalid),
            Err(error) => return Err(error.into()),
        },
        Err(wrong) => wrong,
    };
    Ok(settings_response(&app, context, &form, &wrong, Some(ActionNotice::Refused(messages::invalid_fields().into()))))
}

fn settings_response(
    app: &App,
    context: PageContext,
    form: &ChatSettingsForm,
    wrong: &FieldErrors,
    notice: Option<ActionNotice>,
) -> Response {
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let view = ChatSettingsView {
        chat: None,
        title: "",
        branch: None,
        projects: &[],
        form,
        errors: wrong,
        title_requests: &[],
    };
    context.respond(app, status, view.page(notice))
}

/// `GET /new/tools`.
pub async fn tools(State(app): State<App>, principal: Principal, context: PageContext) -> Result<Response, Problem> {
    tools_response(&app, principal.user, context, (StatusCode::OK, None)).await
}

/// `POST /new/tools`: saves the tools and returns to the new chat.
pub async fn save_tools(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let choice = ToolChoice { on: fields.values("on"), client: Vec::new() };
    match app.service().choose_next_chat_tools(principal.user, choice).await {
        Ok(()) => Ok(see_other("/")),
        Err(ServiceError::Invalid(invalid)) => {
            let notice = Some(ActionNotice::Refused(messages::tools::not_saved_because(&invalid)));
            tools_response(&app, principal.user, context, (StatusCode::UNPROCESSABLE_ENTITY, notice)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn tools_response(
    app: &App,
    viewer: UserId,
    context: PageContext,
    (status, notice): (StatusCode, Option<ActionNotice>),
) -> Result<Response, Problem> {
    let service = app.service();
    let choice = service.next_chat_tools(viewer).await?;
    // The model of the draft, else the default model of new chats.
    let lock = match service.draft(viewer, None).await?.and_then(|draft| draft.lock) {
        Some(lock) => lock,
        None => service.default_model(viewer).await?,
    };
    let page = ChatToolsPage {
        chat: None,
        tools: service.resolve_tool_choice(viewer, choice).await?,
        built_in: service.built_in_tools(viewer).await?,
        servers: service.tool_servers(viewer).await?,
        branch: None,
        provider_tools: service.provider_tools(viewer, &lock),
        no_tool_support: service.model_details(viewer, &lock).1.tools == Some(false),
        allowed_policies: Vec::new(),
        notice,
    };
    Ok(context.respond(app, status, page.draw()))
}
