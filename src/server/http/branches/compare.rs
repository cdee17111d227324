//! Two paths side by side, over HTTP: for scripts, and the page.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, Invalid, TurnId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::json::Json;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;
use crate::server::pages::demo;
use crate::server::plain_pages::compare::{ComparePage, Offered};
use crate::server::plain_pages::{Page, Said, Section, words};
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::branches::compare::{Compare, Comparison};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CompareQuery {
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
    viewer: Viewer,
    PathId(chat): PathId<ChatId>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<Comparison>, Problem> {
    let limit = query.limit.unwrap_or(limits::COMPARE_DEFAULT);
    let asked = Compare { left: query.left, right: query.right, skip: query.skip, limit };
    // A limit is part of the request's shape.
    match app.service().compare(viewer.0, chat, asked).await {
        Err(ServiceError::Invalid(invalid)) if invalid.field == "limit" => Err(Problem::invalid(invalid)),
        compared => Ok(Json(compared?)),
    }
}

/// What the page's address says. Its form sends empty fields for what is not chosen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    left: Option<String>,
    right: Option<String>,
    #[serde(default)]
    skip: usize,
    limit: Option<u32>,
    /// Set after a graft was refused: why.
    refused: Option<String>,
}

impl PageQuery {
    fn end(&self, field: &'static str) -> Result<Option<TurnId>, Problem> {
        let text = match field {
            "left" => &self.left,
            _ => &self.right,
        };
        match text.as_deref() {
            None | Some("") => Ok(None),
            Some(id) => id.parse().map(Some).map_err(|_| Problem::invalid(Invalid::new(field, "not an id"))),
        }
    }
}

/// `GET /c/{id}/compare`: the form alone as long as two ends are not chosen.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(chat): PathId<ChatId>,
    Query(query): Query<PageQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let service = app.service();
    let (left, right) = (query.end("left")?, query.end("right")?);
    let (row, read_last) = service.chat_with_leaf(viewer.0, chat, None).await?;
    let mut said = query.refused.map(|why| Said::Refused(words::compare::refused(&why)));
    let mut status = StatusCode::OK;
    let comparison = match (left, right) {
        (Some(left), Some(right)) => {
            let limit = query.limit.unwrap_or(limits::COMPARE_DEFAULT);
            match service.compare(viewer.0, chat, Compare { left, right, skip: query.skip, limit }).await {
                Ok(comparison) => Some(comparison),
                Err(ServiceError::Invalid(invalid)) => {
                    status = StatusCode::UNPROCESSABLE_ENTITY;
                    said = Some(Said::Refused(words::compare::invalid(&invalid)));
                    None
                }
                Err(error) => return Err(error.into()),
            }
        }
        _ => None,
    };
    let offered = Offered {
        branches: service.branches(viewer.0, chat).await?,
        grafts: service.grafts(viewer.0, chat).await?,
        models: demo::in_readers_words(service.supervisor().registry().models()),
        request_id: ids::mint::<uuid::Uuid>().to_string(),
    };
    let view = ComparePage { chat: &row, left: left.or(read_last), right, comparison: comparison.as_ref(), offered };
    let title = words::compare::title().to_owned();
    Ok(asked.answer(&app, status, Page { section: Section::Chat, title, said, body: view.draw() }))
}
