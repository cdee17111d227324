//! Forms of turns without script. Each performs one action and redirects with 303 (post/redirect/get). Text that
//! could not be sent is saved as a draft.

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde::Deserialize;

use crate::api::error::ApiError;
use crate::api::view::{ComposedMessage, DraftView, StartedReply};
use crate::domain::{BudgetState, ChatId, CodedMessage, ModelLock, Thinking, Turn, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::response::problem::Problem;
use turnleaf_service::usage::storage::StorageRefusal;

#[derive(Debug, Deserialize)]
pub struct SendMessageForm {
    text: String,
    chat_id: Option<String>,
    prev_turn_id: Option<String>,
    /// `provider/model`; a provider's id has no slash.
    model: Option<String>,
    thinking: Option<String>,
    client_request_id: Option<String>,
    /// The button that queues the message behind the running reply.
    queue: Option<String>,
    /// Set if the message was not written in the message box, so the draft is kept: pages that an older version has
    /// rendered continue a reply with it.
    keeps_draft: Option<String>,
    /// For `/forms/model`: the model of the pressed button, and the one selected in the list.
    choose: Option<String>,
    other: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct TurnActionForm {
    turn_id: TurnId,
    client_request_id: Option<String>,
    /// For a retry: another model.
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct ContinueReplyForm {
    turn_id: TurnId,
    /// Asks for the rest where the model cannot continue the text.
    text: String,
    client_request_id: Option<String>,
}

/// Parses an optional id of a form. An empty field is `None`.
fn optional_id<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>, Problem> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| Problem::not_found()),
    }
}

/// `POST /forms/send`.
pub async fn send(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<SendMessageForm>,
) -> Result<Response, Problem> {
    let chat_id: Option<ChatId> = optional_id(form.chat_id.as_deref())?;
    let chosen = form.model.as_deref().and_then(parse_lock);
    let thinking = form.thinking.as_deref().and_then(Thinking::parse_level);
    let keeps_draft = form.keeps_draft.is_some();
    let message = ComposedMessage {
        chat_id,
        prev_turn_id: optional_id(form.prev_turn_id.as_deref())?,
        // Browsers send line ends of forms as CRLF.
        text: form.text.replace("\r\n", "\n"),
        // The attachments of the draft are sent only if it is the draft that is sent.
        attachments: keeps_draft.then(Vec::new),
        provider: chosen.as_ref().map(|lock| lock.provider.clone()),
        model: chosen.as_ref().map(|lock| lock.model.clone()),
        // The form names another model only if the person chose one, so it may fork a branch.
        may_branch: true,
        thinking,
        client_request_id: form.client_request_id.unwrap_or_default(),
        keeps_draft,
    };
    let text = message.text.clone();
    let pages = app.page_service();
    let sent = match message.prev_turn_id.zip(chat_id).filter(|_| form.queue.is_some()) {
        Some((turn, chat)) => pages.queue_message(principal.user, message).await.map(|_| redirect_to_turn(chat, turn)),
        None => {
            let sent = pages.send_message(principal.user, message).await;
            sent.map(|started| redirect_to_turn(started.chat_id, started.assistant_turn.turn.id))
        }
    };
    match sent {
        Ok(sent) => Ok(sent),
        Err(error) => {
            let draft = DraftView { text, thinking, lock: chosen, ..DraftView::default() };
            if !keeps_draft {
                // A text that is too large to be saved is still in the browser's form and returns with the Back
                // button.
                let _ = app.page_service().save_draft_text(principal.user, chat_id, draft).await;
            }
            if let Some(problem) = spent_limit_problem(&error) {
                return Err(problem);
            }
            let page = chat_id.map_or_else(|| "/".to_owned(), |id| format!("/c/{id}"));
            Ok(see_other(&format!("{page}?error={}", error_code(&error))))
        }
    }
}

/// Maps a refusal for lack of storage or of budget to a problem, whose page names what is used up and shows the typed
/// text.
pub fn spent_limit_problem(error: &ApiError) -> Option<Problem> {
    let ApiError::Conflict { code, message } = error else { return None };
    if code == BudgetState::EXHAUSTED {
        let message = CodedMessage::uncoded(message.as_str());
        return Some(Problem::new(StatusCode::TOO_MANY_REQUESTS, BudgetState::EXHAUSTED, message));
    }
    let code = StorageRefusal::CODES.into_iter().find(|known| known == code)?;
    Some(Problem::new(StatusCode::INSUFFICIENT_STORAGE, code, CodedMessage::uncoded(message.as_str())))
}

/// `POST /forms/model`: chooses another model for the next message and keeps the composer as it is.
pub async fn choose_model(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<SendMessageForm>,
) -> Result<Response, Problem> {
    let chat_id: Option<ChatId> = optional_id(form.chat_id.as_deref())?;
    let draft = DraftView {
        text: form.text.replace("\r\n", "\n"),
        lock: form.choose.as_deref().or(form.other.as_deref()).and_then(parse_lock),
        thinking: form.thinking.as_deref().and_then(Thinking::parse_level),
        ..DraftView::default()
    };
    let page = chat_id.map_or_else(|| "/".to_owned(), |id| format!("/c/{id}"));
    match app.page_service().save_draft_text(principal.user, chat_id, draft).await {
        Ok(_) => Ok(see_other(&format!("{page}#latest"))),
        Err(error) => Ok(see_other(&format!("{page}?error={}", error_code(&error)))),
    }
}

/// Reads `provider/model`; a provider's id has no slash.
pub fn parse_lock(value: &str) -> Option<ModelLock> {
    value.split_once('/').map(|(provider, model)| ModelLock::new(provider, model))
}

/// `POST /forms/stop`.
pub async fn stop(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<TurnActionForm>,
) -> Result<Response, Problem> {
    let turn = app.service().stop_turn(principal.user, form.turn_id).await?;
    Ok(redirect_to_turn(turn.chat_id, turn.id))
}

/// `POST /forms/retry`.
pub async fn retry(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<TurnActionForm>,
) -> Result<Response, Problem> {
    let old = app.service().turn(principal.user, form.turn_id).await?;
    let lock = form.model.as_deref().and_then(parse_lock);
    let request_id = form.client_request_id.unwrap_or_default();
    let started = app.page_service().retry_reply(principal.user, form.turn_id, lock, request_id).await;
    redirect_to_started(&old, started)
}

/// `POST /forms/continue-reply`.
pub async fn continue_reply(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<ContinueReplyForm>,
) -> Result<Response, Problem> {
    let old = app.service().turn(principal.user, form.turn_id).await?;
    let request_id = form.client_request_id.unwrap_or_default();
    let started = app.page_service().continue_reply(principal.user, form.turn_id, form.text, request_id).await;
    redirect_to_started(&old, started)
}

/// Redirects to a reply that was requested at another one, or back to that with the reason for a refusal.
fn redirect_to_started(old: &Turn, started: Result<StartedReply, ApiError>) -> Result<Response, Problem> {
    match started {
        Ok(started) => Ok(redirect_to_turn(started.chat_id, started.assistant_turn.turn.id)),
        Err(error) => match spent_limit_problem(&error) {
            Some(problem) => Err(problem),
            None => Ok(see_other(&format!("/c/{}?at={}&error={}", old.chat_id, old.id, error_code(&error)))),
        },
    }
}

/// Returns the redirect target if it is a path of this server, else `/`, to prevent open redirects.
pub fn local_path(next: &str) -> &str {
    let is_local = next.starts_with('/')
        && !next.starts_with("//")
        && !next.starts_with("/\\")
        && !next.chars().any(|c| c.is_control() || c == '\\');
    if is_local { next } else { "/" }
}

pub fn redirect_to_turn(chat: ChatId, turn: TurnId) -> Response {
    see_other(&format!("/c/{chat}?at={turn}#latest"))
}

fn see_other(to: &str) -> Response {
    Redirect::to(to).into_response()
}

fn error_code(error: &ApiError) -> &'static str {
    match error {
        ApiError::Unauthenticated => "unauthenticated",
        ApiError::NotFound => "not_found",
        ApiError::Invalid { .. } => "invalid",
        ApiError::Conflict { .. } => "conflict",
        ApiError::TooMany { .. } => "too_many",
        ApiError::TooLarge => "too_large",
        ApiError::Unreachable | ApiError::Outdated | ApiError::Unavailable { .. } => "unavailable",
        ApiError::Internal { .. } => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_only_to_local_paths() {
        for (next, to) in [
            ("/c/1?at=2", "/c/1?at=2"),
            ("/", "/"),
            ("", "/"),
            ("//canary.test", "/"),
            ("/\\canary.test", "/"),
            ("https://canary.test", "/"),
            ("javascript:alert(1)", "/"),
            ("/a\r\nSet-Cookie: x=1", "/"),
        ] {
            assert_eq!(local_path(next), to, "{next:?}");
        }
    }
}
