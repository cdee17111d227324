//! Tool calls that wait for a person, as JSON and as forms: approving or declining a call, stopping one, and resuming
//! a paused reply.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::tools::approval::ApprovalDecision;
use crate::domain::{BlockId, InvalidField, MessageCode, Turn, TurnId, TurnStatus};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::turns::call_page;
use crate::server::http::turns::forms::redirect_to_turn;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::call_edits::parse_edited_arguments;
use turnleaf_service::tools::calls::CallDecision;

/// The answer to an approval request.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallDecision {
    decision: ApprovalDecision,
    /// `hash` of the approval request (`block_metadata.approval`).
    hash: String,
    /// Reason for declining, which the model reads.
    reason: Option<String>,
    /// Arguments to allow the call with, instead of those of the model.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Value>,
}

/// The status of the reply after the request.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ReplyStatus {
    turn_id: TurnId,
    status: TurnStatus,
}

impl From<Turn> for ReplyStatus {
    fn from(turn: Turn) -> Self {
        Self { turn_id: turn.id, status: turn.status }
    }
}

/// `POST /api/turns/{id}/calls/{block}`: approves or declines a call. 200 once the answer is stored.
pub async fn decide(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    ApiJson(decision): ApiJson<ToolCallDecision>,
) -> Result<ApiJson<ReplyStatus>, Problem> {
    let ToolCallDecision { decision, hash, reason, arguments } = decision;
    let answer = CallDecision { reason, arguments, ..CallDecision::new(hash, decision) };
    let actor = actor(&principal, &client);
    Ok(ApiJson(app.service().decide_tool_call(principal.user, actor, (turn, block), answer).await?.into()))
}

/// `POST /api/turns/{id}/calls/{block}/stop`: stops a call. 200 once its end is stored.
pub async fn stop(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
) -> Result<ApiJson<ReplyStatus>, Problem> {
    Ok(ApiJson(app.service().stop_tool_call(principal.user, turn, block).await?.into()))
}

/// `POST /api/turns/{id}/continue`: resumes a paused reply.
pub async fn continue_reply(
    State(app): State<App>,
    principal: Principal,
    PathId(turn): PathId<TurnId>,
) -> Result<ApiJson<ReplyStatus>, Problem> {
    Ok(ApiJson(app.service().continue_paused_reply(principal.user, turn).await?.into()))
}

/// `POST /forms/call`: from the reply, or from the page of the call.
pub async fn decide_form(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (turn, block) = (fields.subject_id("turn")?, fields.subject_id("block")?);
    let is_page = fields.is_checked("page");
    let decided = match submitted_decision(&fields) {
        Ok(answer) => {
            let actor = actor(&principal, &client);
            app.service().decide_tool_call(principal.user, actor, (turn, block), answer).await
        }
        Err(invalid) if is_page => Err(invalid.into()),
        Err(invalid) => return Err(invalid.into()),
    };
    match decided {
        Ok(turn) => Ok(reply_response(&fields, &turn)),
        Err(ServiceError::Invalid(invalid)) if is_page => {
            call_page::refuse(&app, principal.user, context, (turn, block), (&fields, invalid)).await
        }
        Err(error) => Err(error.into()),
    }
}

fn submitted_decision(fields: &SubmittedFields) -> Result<CallDecision, InvalidField> {
    let word = fields.text("decision").unwrap_or_default();
    let decision: ApprovalDecision = serde_json::from_value(Value::String(word))
        .map_err(|_| InvalidField::new("decision", MessageCode::NoValidDecision))?;
    if decision == ApprovalDecision::AllowServer && !fields.is_checked("confirm") {
        return Err(InvalidField::new("confirm", MessageCode::IsRequired));
    }
    let typed = fields.contains("arguments") && decision.allows();
    let arguments = typed.then(|| parse_edited_arguments(&fields.lines("arguments"))).transpose()?;
    let (hash, reason) = (fields.text("hash").unwrap_or_default(), fields.text("reason"));
    let shown_tools = Some(fields.text("shown_tools").unwrap_or_default());
    Ok(CallDecision { hash, decision, reason, arguments, shown_tools })
}

/// `POST /forms/call-stop`.
pub async fn stop_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let turn =
        app.service().stop_tool_call(principal.user, fields.subject_id("turn")?, fields.subject_id("block")?).await?;
    Ok(reply_response(&fields, &turn))
}

/// `POST /forms/continue`.
pub async fn continue_reply_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let turn = app.service().continue_paused_reply(principal.user, fields.subject_id("turn")?).await?;
    Ok(reply_response(&fields, &turn))
}

/// Returns 204 to a page that follows the reply itself (`stay`), and redirects any other to the reply.
pub(super) fn reply_response(fields: &SubmittedFields, turn: &Turn) -> Response {
    match fields.is_checked("stay") {
        true => StatusCode::NO_CONTENT.into_response(),
        false => redirect_to_turn(turn.chat_id, turn.id),
    }
}
