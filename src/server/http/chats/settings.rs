//! The page of a chat's settings: shown, and saved by its form.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::branch::Frozen;
use crate::domain::{Branch, Chat, ChatId, Invalid, UserId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::chat_settings::{ChatForm, ChatSettingsView, Wrong, wrong_of};
use crate::server::plain_pages::{Said, words};
use turnleaf_service::ServiceError;
use turnleaf_service::branches::BranchChange;
use turnleaf_service::chats::ChatChange;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowQuery {
    /// Set after a deed.
    saved: Option<String>,
}

/// `GET /c/{id}/settings`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    Query(query): Query<ShowQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let said = query.saved.map(|_| Said::Done(words::saved().into()));
    answer(&app, viewer.0, id, asked, Typed::Nothing, said).await
}

/// `POST /c/{id}/settings`: all of it or nothing; what was typed stays on the page with what is wrong beside it.
pub async fn save(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    asked: Asked,
    fields: Fields,
) -> Result<Response, Problem> {
    let form = typed(&fields);
    let refused = |wrong| async {
        let said = Some(Said::Refused(words::not_saved().into()));
        answer(&app, viewer.0, id, asked, Typed::Settings(form.clone(), wrong), said).await
    };
    let params = match form.params() {
        Ok(params) => params,
        Err(wrong) => return refused(wrong).await,
    };
    let (system_prompt, params) = (Some(form.system_prompt.clone()), Some(params));
    let change = ChatChange { system_prompt, params, ..ChatChange::default() };
    match app.service().change_chat(viewer.0, id, change).await {
        Ok(_) => {}
        Err(ServiceError::Invalid(invalid)) => return refused(wrong_of(invalid)).await,
        Err(error) => return Err(error.into()),
    }
    // The branch that the page showed, which may not be the one that the chat shows by now.
    if let (Some(branch), Some(policy)) = (fields.text("branch_id").and_then(|id| id.parse().ok()), form.policy()) {
        let (branch, _) = app.service().branch(viewer.0, branch).await?;
        if branch.chat_id == id && branch.policy != policy {
            let change = BranchChange { policy: Some(policy), ..BranchChange::default() };
            app.service().change_branch(viewer.0, branch.id, change).await?;
        }
    }
    Ok(see_other(&format!("/c/{id}/settings?saved=1")))
}

/// `POST /forms/rename`: gives a chat another title; what it cannot be called stays in its field.
pub async fn rename(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let id: ChatId = fields.required_id("chat_id")?;
    let title = fields.text("title").unwrap_or_default();
    let change = ChatChange { title: Some(title.clone()), ..ChatChange::default() };
    let renamed = match title.is_empty() {
        true => Err(Invalid::new("title", Invalid::IS_EMPTY).into()),
        false => app.service().change_chat(viewer.0, id, change).await,
    };
    match renamed {
        Ok(_) => Ok(see_other(&format!("/c/{id}/settings?saved=1"))),
        Err(ServiceError::Invalid(Invalid { reason, .. })) => {
            let said = Some(Said::Refused(words::not_saved().into()));
            answer(&app, viewer.0, id, asked, Typed::Title(title, reason), said).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What the form holds.
pub fn typed(fields: &Fields) -> ChatForm {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    ChatForm {
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

/// What a form sent that could not be saved, with what is wrong.
enum Typed {
    Nothing,
    Settings(ChatForm, Wrong),
    Title(String, String),
}

/// The chat, and the branch that it opens at with what is frozen of it.
pub(super) async fn shown_branch(
    app: &App,
    viewer: UserId,
    id: ChatId,
) -> Result<(Chat, Option<(Branch, Frozen)>), Problem> {
    let path = app.service().path(viewer, id, None, 1).await?;
    let branch = match path.branch {
        Some(branch) => Some(app.service().branch(viewer, branch.id).await?),
        None => None,
    };
    Ok((path.chat, branch))
}

async fn answer(
    app: &App,
    viewer: UserId,
    id: ChatId,
    asked: Asked,
    typed: Typed,
    said: Option<Said>,
) -> Result<Response, Problem> {
    let (chat, branch) = shown_branch(app, viewer, id).await?;
    let model = branch.as_ref().map(|(branch, _)| app.service().model(&branch.lock));
    let status = if matches!(typed, Typed::Nothing) { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let stored = ChatForm::of(&chat.system_prompt, &chat.settings.params, branch.as_ref().map(|(branch, _)| branch));
    let (form, wrong, title) = match typed {
        Typed::Nothing => (stored, Wrong::new(), chat.title.clone()),
        Typed::Settings(form, wrong) => (form, wrong, chat.title.clone()),
        Typed::Title(title, why) => (stored, Wrong::from([("title".to_owned(), why)]), title),
    };
    let view = ChatSettingsView {
        chat: Some(&chat),
        title: &title,
        branch: branch
            .as_ref()
            .zip(model.as_ref())
            .map(|((branch, frozen), (name, capabilities))| (branch, frozen, name.as_str(), capabilities)),
        form: &form,
        wrong: &wrong,
    };
    Ok(asked.answer(app, status, view.page(said)))
}
