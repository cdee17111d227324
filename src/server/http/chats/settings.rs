//! The page of a chat's settings and its forms.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::branches::branch::PromptPrefix;
use crate::domain::{Branch, Chat, ChatId, InvalidField, MessageCode, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::chat_settings::{ChatSettingsForm, ChatSettingsView, FieldErrors, field_errors};
use crate::server::server_pages::{ActionNotice, messages};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::BranchChange;
use turnleaf_service::chats::ChatChange;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatSettingsPageQuery {
    /// Set by the redirect after a change.
    saved: Option<String>,
}

/// `GET /c/{id}/settings`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ChatSettingsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let notice = query.saved.map(|_| ActionNotice::Done(messages::saved().into()));
    settings_response(&app, principal.user, id, context, RejectedForm::Nothing, notice).await
}

/// `POST /c/{id}/settings`: saves all fields or none. On an error the page keeps what was typed and marks the wrong
/// fields.
pub async fn save(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = read_chat_form(&fields);
    let refused = |wrong| async {
        let notice = Some(ActionNotice::Refused(messages::invalid_fields().into()));
        settings_response(&app, principal.user, id, context, RejectedForm::Settings(form.clone(), wrong), notice).await
    };
    let params = match form.params() {
        Ok(params) => params,
        Err(wrong) => return refused(wrong).await,
    };
    let (system_prompt, params) = (Some(form.system_prompt.clone()), Some(params));
    let change = ChatChange { system_prompt, params, ..ChatChange::default() };
    match app.service().change_chat(principal.user, id, change).await {
        Ok(_) => {}
        Err(ServiceError::Invalid(invalid)) => return refused(field_errors(invalid)).await,
        Err(error) => return Err(error.into()),
    }
    // The policy belongs to the branch that the page showed; the chat may open at another one by now.
    if let (Some(branch), Some(policy)) = (fields.text("branch_id").and_then(|id| id.parse().ok()), form.policy()) {
        let (branch, _) = app.service().branch(principal.user, branch).await?;
        if branch.chat_id == id && branch.policy != policy {
            let change = BranchChange { policy: Some(policy), ..BranchChange::default() };
            app.service().change_branch(principal.user, branch.id, change).await?;
        }
    }
    Ok(see_other(&format!("/c/{id}/settings?saved=1")))
}

/// `POST /forms/rename`: renames a chat. A refused title stays in its field.
pub async fn rename(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ChatId = fields.required_id("chat_id")?;
    let title = fields.text("title").unwrap_or_default();
    let change = ChatChange { title: Some(title.clone()), ..ChatChange::default() };
    let renamed = match title.is_empty() {
        true => Err(InvalidField::new("title", MessageCode::Empty).into()),
        false => app.service().change_chat(principal.user, id, change).await,
    };
    match renamed {
        Ok(_) => Ok(see_other(&format!("/c/{id}/settings?saved=1"))),
        Err(ServiceError::Invalid(InvalidField { reason, .. })) => {
            let notice = Some(ActionNotice::Refused(messages::invalid_fields().into()));
            settings_response(
                &app,
                principal.user,
                id,
                context,
                RejectedForm::Title(title, coded_sentence(&reason)),
                notice,
            )
            .await
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the form of the settings.
pub fn read_chat_form(fields: &SubmittedFields) -> ChatSettingsForm {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    ChatSettingsForm {
        system_prompt: text("system_prompt"),
        thinking: text("thinking"),
        budget: text("budget"),
        temperature: text("temperature"),
        top_p: text("top_p"),
        top_k: text("top_k"),
        max_tokens: text("max_tokens"),
        stop_sequences: fields.lines("stop_sequences"),
        policy: text("policy"),
    }
}

/// A submitted form that could not be saved, with its errors.
enum RejectedForm {
    Nothing,
    Settings(ChatSettingsForm, FieldErrors),
    Title(String, String),
}

/// Returns the chat, and the branch at which it opens with the frozen prompt prefix of that branch.
pub(super) async fn shown_branch(
    app: &App,
    viewer: UserId,
    id: ChatId,
) -> Result<(Chat, Option<(Branch, PromptPrefix)>), Problem> {
    let path = app.service().path(viewer, id, None, 1).await?;
    let branch = match path.branch {
        Some(branch) => Some(app.service().branch(viewer, branch.id).await?),
        None => None,
    };
    Ok((path.chat, branch))
}

async fn settings_response(
    app: &App,
    viewer: UserId,
    id: ChatId,
    context: PageContext,
    typed: RejectedForm,
    notice: Option<ActionNotice>,
) -> Result<Response, Problem> {
    let (chat, branch) = shown_branch(app, viewer, id).await?;
    let model = branch.as_ref().map(|(branch, _)| app.service().model_details(viewer, &branch.lock));
    let status = if matches!(typed, RejectedForm::Nothing) { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let stored = ChatSettingsForm::from_settings(
        &chat.system_prompt,
        &chat.settings.params,
        branch.as_ref().map(|(branch, _)| branch),
    );
    let (form, wrong, title) = match typed {
        RejectedForm::Nothing => (stored, FieldErrors::new(), chat.title.clone()),
        RejectedForm::Settings(form, wrong) => (form, wrong, chat.title.clone()),
        RejectedForm::Title(title, reason) => (stored, FieldErrors::from([("title".to_owned(), reason)]), title),
    };
    let projects = app.service().projects(viewer).await?;
    let title_requests = app.service().title_requests(viewer, id).await?;
    let view = ChatSettingsView {
        chat: Some(&chat),
        title: &title,
        branch: branch
            .as_ref()
            .zip(model.as_ref())
            .map(|((branch, frozen), (name, capabilities))| (branch, frozen, name.as_str(), capabilities)),
        projects: &projects,
        form: &form,
        errors: &wrong,
        title_requests: &title_requests,
    };
    Ok(context.respond(app, status, view.page(notice)))
}
