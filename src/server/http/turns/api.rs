//! The API of turns: sending, editing, reading, stopping and retrying (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::{Branch, BranchId, ChatId, Exchange, InvalidField, MessageCode, ModelParams, Turn, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::block_form::{BlockFormQuery, TurnResponse};
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

/// A message to send.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTurnRequest {
    content: Option<Vec<MessageBlock>>,
    /// Short form of `content` with one text block.
    text: Option<String>,
    /// The reply that the message follows. Absent: the end of the branch. `null`: none, so the message becomes a new
    /// root of the chat, on a branch of its own.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<TurnId>)]
    prev_turn_id: Option<Option<TurnId>>,
    /// The branch to continue. Absent: the branch of `prev_turn_id`, else the chat's first branch.
    branch_id: Option<BranchId>,
    /// Provider of the reply. It must be the branch's own unless the message gets a new branch as a root.
    provider: Option<String>,
    /// Model of the reply, under the same rule.
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    /// Idempotency key: repeating the request with it sends nothing.
    client_request_id: Option<String>,
}

/// The edited version of a message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditTurnRequest {
    content: Option<Vec<MessageBlock>>,
    text: Option<String>,
    /// Provider of the reply, if it changes. An edit gets a new branch in any case.
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    client_request_id: Option<String>,
}

/// Options of another reply to the same message.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryTurnRequest {
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    client_request_id: Option<String>,
}

/// A message and its reply, and where they were added.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ExchangeDetails {
    exchange: Exchange,
    user_turn: Turn,
    /// The reply, which is generated in the background. Follow it at `/api/turns/{id}/events`.
    assistant_turn: Turn,
    /// The branch of both turns, which may be new.
    branch: Branch,
}

impl From<AcceptedExchange> for ExchangeDetails {
    fn from(started: AcceptedExchange) -> Self {
        let AcceptedExchange { exchange, user_turn, assistant_turn, branch, .. } = started;
        Self { exchange, user_turn, assistant_turn, branch }
    }
}

/// `POST /api/chats/{id}/turns`: sends a message. 201, or 200 for a repeated idempotency key.
pub async fn start(
    State(app): State<App>,
    principal: Principal,
    PathId(chat_id): PathId<ChatId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateTurnRequest>,
) -> Result<Response, Problem> {
    let content = content_of(new.content, new.text)?;
    let request = TurnRequest {
        chat_id: Some(chat_id),
        content,
        place: PlacementRequest {
            prev_turn_id: new.prev_turn_id.flatten(),
            starts_root: new.prev_turn_id == Some(None),
            branch_id: new.branch_id,
            provider: new.provider,
            model: new.model,
            may_branch: false,
        },
        params: new.params,
        takes_attachments: false,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
        keeps_draft: false,
    };
    Ok(respond(app.service().start_turn(principal.user, request).await?))
}

/// `GET /api/turns/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    StrictQuery(query): StrictQuery<BlockFormQuery>,
) -> Result<ApiJson<TurnResponse>, Problem> {
    let turn = app.service().turn(principal.user, id).await?;
    Ok(ApiJson(TurnResponse::new(&app, turn, query.form.unwrap_or_default()).await?))
}

/// `GET /api/turns/{id}/markdown`: returns a turn as Markdown. Quotes appear with their source, also below the reply
/// to them.
pub async fn markdown(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
) -> Result<Response, Problem> {
    let text = app.service().turn_markdown(principal.user, id).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response())
}

/// `POST /api/turns/{id}/stop`: stops a reply. 200 once the ending is stored, also for a turn that has ended.
pub async fn stop(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<Turn>, Problem> {
    Ok(ApiJson(app.service().stop_turn(principal.user, id).await?))
}

/// `POST /api/turns/{id}/retry`: requests another reply to the same message.
pub async fn retry(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    body: Option<ApiJson<RetryTurnRequest>>,
) -> Result<Response, Problem> {
    let ApiJson(retry) = body.unwrap_or(ApiJson(RetryTurnRequest::default()));
    let place = PlacementRequest { provider: retry.provider, model: retry.model, ..PlacementRequest::default() };
    let request_id = client_request_id(retry.client_request_id, &headers)?;
    Ok(respond(app.service().retry_turn(principal.user, id, place, retry.params, request_id).await?))
}

/// `POST /api/turns/{id}/edit`: sends the edited message as a new version beside the old one, and requests a reply.
pub async fn edit(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    ApiJson(edit): ApiJson<EditTurnRequest>,
) -> Result<Response, Problem> {
    let request = TurnRequest {
        chat_id: None,
        // `text` alone keeps the attachments of the old version; `content` replaces everything.
        takes_attachments: edit.content.is_none(),
        content: content_of(edit.content, edit.text)?,
        place: PlacementRequest { provider: edit.provider, model: edit.model, ..PlacementRequest::default() },
        params: edit.params,
        client_request_id: client_request_id(edit.client_request_id, &headers)?,
        keeps_draft: false,
    };
    Ok(respond(app.service().edit_turn(principal.user, id, request).await?))
}

/// Returns the blocks of a message, from `content` or from `text`.
pub(super) fn content_of(
    content: Option<Vec<MessageBlock>>,
    text: Option<String>,
) -> Result<Vec<MessageBlock>, InvalidField> {
    match (content, text) {
        (Some(content), None) => Ok(content),
        (None, Some(text)) => Ok(vec![MessageBlock::Text { text }]),
        (None, None) => Err(InvalidField::new("content", MessageCode::NeedsContentOrText)),
        (Some(_), Some(_)) => {
            let reason = MessageCode::BothSet.with("one", "content").with("other", "text");
            Err(InvalidField::new("text", reason))
        }
    }
}

fn respond(started: AcceptedExchange) -> Response {
    (created_status(started.is_new), ApiJson(ExchangeDetails::from(started))).into_response()
}
