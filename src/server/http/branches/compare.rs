//! The comparison of two paths: as JSON for programs, and as a page.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, InvalidField, MessageCode, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::page_data::demo;
use crate::server::server_pages::compare::{CompareOptions, ComparePage};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage, messages};
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::compare::{Comparison, ComparisonRequest};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ComparePathsQuery {
    left: TurnId,
    right: TurnId,
    #[serde(default)]
    #[param(maximum = 50000)]
    skip: usize,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// `GET /api/chats/{id}/compare`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ComparePathsQuery>,
) -> Result<ApiJson<Comparison>, Problem> {
    let limit = query.limit.unwrap_or(limits::COMPARE_DEFAULT);
    let comparison = ComparisonRequest { left: query.left, right: query.right, skip: query.skip, limit };
    // `limit` belongs to the shape of the request, so a bad one is 400 and not 422.
    match app.service().compare(principal.user, chat, comparison).await {
        Err(ServiceError::Invalid(invalid)) if invalid.field == "limit" => Err(Problem::invalid(invalid)),
        compared => Ok(ApiJson(compared?)),
    }
}

/// The query of the page. Its form sends empty fields for what is not chosen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparePageQuery {
    left: Option<String>,
    right: Option<String>,
    #[serde(default)]
    skip: usize,
    limit: Option<u32>,
    /// Code of the refusal, set by the redirect of a refused rerun.
    refused: Option<String>,
}

impl ComparePageQuery {
    fn turn_id(&self, field: &'static str) -> Result<Option<TurnId>, Problem> {
        let text = match field {
            "left" => &self.left,
            _ => &self.right,
        };
        match text.as_deref() {
            None | Some("") => Ok(None),
            Some(id) => {
                id.parse().map(Some).map_err(|_| Problem::invalid(InvalidField::new(field, MessageCode::NotAnId)))
            }
        }
    }
}

/// `GET /c/{id}/compare`: shows the form, and the comparison once both ends are chosen.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ComparePageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let service = app.service();
    let (left, right) = (query.turn_id("left")?, query.turn_id("right")?);
    let (row, read_last) = service.chat_with_leaf(principal.user, chat, None).await?;
    let mut notice = query.refused.map(|code| ActionNotice::Refused(messages::compare::rerun_refused(&code)));
    let mut status = StatusCode::OK;
    let comparison = match (left, right) {
        (Some(left), Some(right)) => {
            let limit = query.limit.unwrap_or(limits::COMPARE_DEFAULT);
            match service
                .compare(principal.user, chat, ComparisonRequest { left, right, skip: query.skip, limit })
                .await
            {
                Ok(comparison) => Some(comparison),
                Err(ServiceError::Invalid(invalid)) => {
                    status = StatusCode::UNPROCESSABLE_ENTITY;
                    notice = Some(ActionNotice::Refused(messages::compare::invalid_rerun(&invalid)));
                    None
                }
                Err(error) => return Err(error.into()),
            }
        }
        _ => None,
    };
    let offered = CompareOptions {
        branches: service.branches(principal.user, chat).await?,
        reruns: service.reruns(principal.user, chat).await?,
        models: demo::localize_models(service.models(principal.user).await?),
        request_id: ids::mint::<uuid::Uuid>().to_string(),
    };
    let view =
        ComparePage { chat: &row, left: left.or(read_last), right, comparison: comparison.as_ref(), options: offered };
    let title = messages::compare::title().to_owned();
    Ok(context.respond(&app, status, ServerPage { section: PageSection::Chat, title, notice, body: view.draw() }))
}
