//! Reruns ("grafts" in the API): starting, reading, cancelling and resuming them, as JSON for programs and as forms
//! with a page.

use axum::Form;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::branches::rerun::RerunStatus;
use crate::domain::{Branch, ChatId, InvalidField, MessageCode, ModelParams, Rerun, RerunId, TurnId, TurnStatus};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::reruns::RerunPage;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage, messages, reruns as plain};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::reruns::{NewRerun, RerunState};

/// Interval at which the page of a running rerun refreshes itself, in seconds.
const AGAIN_AFTER: &str = "3";

/// A rerun to start.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateRerunRequest {
    /// A reply after which the messages are sent again, or the first message to send again. Absent: the whole path.
    from_turn_id: Option<TurnId>,
    /// The end of the path whose messages are sent again.
    leaf_turn_id: TurnId,
    /// Provider of the new branch.
    provider: String,
    /// Model of the new branch. By default that of the provider.
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    /// Idempotency key: repeating the request with it starts nothing.
    client_request_id: Option<String>,
}

/// A rerun with its branch and its newest reply.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct RerunDetails {
    graft: Rerun,
    branch: Branch,
    /// The newest reply on the new branch.
    reply_turn_id: Option<TurnId>,
    reply_status: Option<TurnStatus>,
}

impl From<RerunState> for RerunDetails {
    fn from(grafted: RerunState) -> Self {
        let reply = grafted.reply.as_ref();
        Self {
            reply_turn_id: reply.map(|reply| reply.id),
            reply_status: reply.map(|reply| reply.status),
            graft: grafted.graft,
            branch: grafted.branch,
        }
    }
}

/// `POST /api/chats/{id}/grafts`: starts a rerun. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    headers: HeaderMap,
    ApiJson(body): ApiJson<CreateRerunRequest>,
) -> Result<Response, Problem> {
    let new = NewRerun {
        from_turn_id: body.from_turn_id,
        leaf_turn_id: body.leaf_turn_id,
        provider: body.provider,
        model: body.model,
        params: body.params,
        client_request_id: client_request_id(body.client_request_id, &headers)?,
    };
    let made = app.service().start_rerun(principal.user, chat, new).await?;
    Ok((created_status(made.is_new), ApiJson(RerunDetails::from(made.value))).into_response())
}

/// `GET /api/chats/{id}/grafts`: lists the reruns, newest first.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
) -> Result<ApiJson<Vec<Rerun>>, Problem> {
    Ok(ApiJson(app.service().reruns(principal.user, chat).await?))
}

/// `GET /api/grafts/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<RerunId>,
) -> Result<ApiJson<RerunDetails>, Problem> {
    Ok(ApiJson(app.service().rerun(principal.user, id).await?.into()))
}

/// `POST /api/grafts/{id}/cancel`: ends the rerun and stops the reply that it waits for.
pub async fn cancel(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<RerunId>,
) -> Result<ApiJson<RerunDetails>, Problem> {
    Ok(ApiJson(app.service().cancel_rerun(principal.user, id).await?.into()))
}

/// `POST /api/grafts/{id}/resume`: resumes a paused rerun.
pub async fn resume(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<RerunId>,
) -> Result<ApiJson<RerunDetails>, Problem> {
    Ok(ApiJson(app.service().resume_rerun(principal.user, id).await?.into()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerunPageQuery {
    /// Code of the refusal, set by the redirect of a form that was refused.
    refused: Option<String>,
}

/// `GET /c/{id}/grafts/{graft}`.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathIds(chat, id): PathIds<ChatId, RerunId>,
    StrictQuery(query): StrictQuery<RerunPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let grafted = app.service().rerun(principal.user, id).await?;
    if grafted.graft.chat_id != chat {
        return Err(Problem::not_found());
    }
    let (model, _) = app.service().model_details(principal.user, &grafted.branch.lock);
    let notice = query.refused.map(|code| ActionNotice::Refused(messages::compare::rerun_refused(&code)));
    let body = RerunPage { grafted: &grafted, model: &model }.draw();
    let page = ServerPage { section: PageSection::Chat, title: plain::rerun_page_title(), notice, body };
    let mut response = context.respond(&app, StatusCode::OK, page);
    if grafted.graft.status == RerunStatus::Running {
        // Pages work without script, so a refresh is the only way to show progress.
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(AGAIN_AFTER));
    }
    Ok(response)
}

#[derive(Debug, Deserialize)]
pub struct CreateRerunForm {
    chat_id: ChatId,
    leaf_turn_id: TurnId,
    /// Empty starts at the root, and so does a form without this field: the first message is rerun, too.
    #[serde(default)]
    from_turn_id: String,
    /// `provider/model`; a provider's id has no slash.
    model: String,
    client_request_id: Option<String>,
    /// The address of the comparison that contained the form.
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct RerunActionForm {
    graft_id: RerunId,
}

/// `POST /forms/graft`: starts a rerun and redirects to it, or back to the comparison with the code of the refusal.
pub async fn create_form(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<CreateRerunForm>,
) -> Result<Response, Problem> {
    let from = match form.from_turn_id.as_str() {
        "" => None,
        id => Some(id.parse().map_err(|_| Problem::invalid(InvalidField::new("from_turn_id", MessageCode::NotAnId)))?),
    };
    let (provider, model) = form.model.split_once('/').unwrap_or((&form.model, ""));
    let new = NewRerun {
        from_turn_id: from,
        leaf_turn_id: form.leaf_turn_id,
        provider: provider.to_owned(),
        model: Some(model.to_owned()).filter(|model| !model.is_empty()),
        params: ModelParams::default(),
        client_request_id: form.client_request_id.filter(|id| !id.is_empty()),
    };
    match app.service().start_rerun(principal.user, form.chat_id, new).await {
        Ok(made) => Ok(redirect_to_rerun(&made.value, None)),
        Err(error) => {
            let own = format!("/c/{}/compare", form.chat_id);
            let back = form.next.filter(|next| next.starts_with(&format!("{own}?left="))).unwrap_or(own);
            let mark = if back.contains('?') { '&' } else { '?' };
            Ok(see_other(&format!("{back}{mark}refused={}", refusal_code(error)?)))
        }
    }
}

/// `POST /forms/graft/cancel`.
pub async fn cancel_form(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<RerunActionForm>,
) -> Result<Response, Problem> {
    Ok(redirect_to_rerun(&app.service().cancel_rerun(principal.user, form.graft_id).await?, None))
}

/// `POST /forms/graft/resume`.
pub async fn resume_form(
    State(app): State<App>,
    principal: Principal,
    Form(form): Form<RerunActionForm>,
) -> Result<Response, Problem> {
    match app.service().resume_rerun(principal.user, form.graft_id).await {
        Ok(grafted) => Ok(redirect_to_rerun(&grafted, None)),
        Err(error) => {
            let grafted = app.service().rerun(principal.user, form.graft_id).await?;
            Ok(redirect_to_rerun(&grafted, Some(refusal_code(error)?)))
        }
    }
}

fn redirect_to_rerun(grafted: &RerunState, refused: Option<&str>) -> Response {
    let refused = refused.map(|code| format!("?refused={code}")).unwrap_or_default();
    see_other(&format!("/c/{}/grafts/{}{refused}", grafted.graft.chat_id, grafted.graft.id))
}

/// Maps a refusal to the code that the page explains. An error that no form can cause stays a problem.
fn refusal_code(error: ServiceError) -> Result<&'static str, Problem> {
    Ok(match error {
        ServiceError::Conflict { code: "graft_not_paused", .. } => "not_paused",
        ServiceError::Conflict { code: "model_unavailable", .. } | ServiceError::Forbidden { .. } => "model",
        ServiceError::Conflict { code, .. } => code,
        ServiceError::Invalid(invalid) => match invalid.field.as_str() {
            "provider" | "model" => "model",
            "leaf_turn_id" => "nothing_to_ask",
            _ => "other",
        },
        ServiceError::TooManyRunning => "too_many",
        error => return Err(error.into()),
    })
}
