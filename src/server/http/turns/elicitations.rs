//! Questions of tool servers during a call, as JSON, as a form and as a page.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::domain::tools::elicitation::{Elicitation, ElicitationAction, ElicitationRequest};
use crate::domain::{BlockId, ElicitationId, InvalidField, MessageCode, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathIds;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::turns::forms::redirect_to_turn;
use crate::server::http::turns::tool_calls::{ReplyStatus, reply_response};
use crate::server::server_pages::elicitation::ElicitationQuestionPage;
use crate::ui::transcript::elicitation_form::field_name;
use turnleaf_service::ServiceError;
use turnleaf_service::tools::elicitations::CONTENT_FIELD;

/// An answer to a question of a tool server.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerElicitationRequest {
    /// `id` of the question (`block_metadata.elicitations`).
    elicitation_id: ElicitationId,
    action: ElicitationAction,
    /// The values of the form, by the names of its fields. Only with `accept`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    content: Option<Map<String, Value>>,
}

/// `POST /api/turns/{id}/calls/{block}/answer`. 200 once the answer is stored.
pub async fn answer(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    ApiJson(body): ApiJson<AnswerElicitationRequest>,
) -> Result<ApiJson<ReplyStatus>, Problem> {
    if body.content.is_some() && body.action != ElicitationAction::Accept {
        let invalid = InvalidField::new(CONTENT_FIELD, MessageCode::OnlyWith.with("other", "accept"));
        return Err(Problem::unprocessable("invalid", invalid));
    }
    let answer = body.action.into_answer(body.content.unwrap_or_default());
    let turn = app.service().answer_elicitation(principal.user, (turn, block), body.elicitation_id, answer).await?;
    Ok(ApiJson(turn.into()))
}

/// `GET /turns/{id}/calls/{block}/question`. Redirects to the reply when the question of the call is closed.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    context: PageContext,
) -> Result<Response, Problem> {
    match app.service().open_elicitation(principal.user, turn, block).await {
        Ok(question) => {
            let page = ElicitationQuestionPage { question, typed: None, error: None };
            Ok(context.respond(&app, StatusCode::OK, page.draw()))
        }
        Err(ServiceError::Conflict { .. }) => {
            let turn = app.service().turn(principal.user, turn).await?;
            Ok(redirect_to_turn(turn.chat_id, turn.id))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/elicitation`: from the reply, or from the page of the question. A refusal names the field by its label;
/// without script, the page of the question shows it beside the field.
pub async fn answer_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (turn, block) = (fields.subject_id("turn")?, fields.subject_id("block")?);
    let question: ElicitationId = fields.subject_id("question")?;
    let action = submitted_action(&fields)?;
    let open = app.service().open_elicitation(principal.user, turn, block).await?;
    let typed = submitted_values(&open.asked.request, &fields);
    let content = open.asked.request.content_from_form(|at| typed.get(at).cloned().unwrap_or_default());
    // The form may be that of an earlier question; the service refuses it.
    let answer = action.into_answer(content);
    match app.service().answer_elicitation(principal.user, (turn, block), question, answer).await {
        Ok(turn) => Ok(reply_response(&fields, &turn)),
        Err(ServiceError::Invalid(invalid)) if fields.is_checked("stay") => {
            Err(with_label(&open.asked, invalid).into())
        }
        Err(ServiceError::Invalid(invalid)) => {
            let page = ElicitationQuestionPage { question: open, typed: Some(typed), error: Some(invalid) };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the action of the pressed button.
///
/// # Errors
/// The field with another value.
pub fn submitted_action(fields: &SubmittedFields) -> Result<ElicitationAction, InvalidField> {
    serde_json::from_value(Value::String(fields.text("action").unwrap_or_default()))
        .map_err(|_| InvalidField::new("action", MessageCode::NoValidDecision))
}

/// Returns the submitted values of each field of the form.
pub fn submitted_values(request: &ElicitationRequest, fields: &SubmittedFields) -> Vec<Vec<String>> {
    (0..request.fields.len()).map(|at| fields.values(&field_name(at))).collect()
}

/// Returns the error with the label of its field, as the form shows it.
fn with_label(asked: &Elicitation, invalid: InvalidField) -> InvalidField {
    let name = invalid.field.strip_prefix(CONTENT_FIELD).and_then(|name| name.strip_prefix('/'));
    let field = name.and_then(|name| asked.request.fields.iter().find(|field| field.name == name));
    let label = field.map(|field| field.label().to_owned());
    InvalidField { field: label.unwrap_or(invalid.field), reason: invalid.reason }
}
