//! What was spent, as JSON and CSV (`GET /api/usage`) and as the page `/usage`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, Invalid};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::accept;
use crate::server::http::request::json::Json;
use crate::server::http::request::query::Query;
use crate::server::http::response::csv;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::Said;
use crate::server::plain_pages::usage::{By, UsagePage};
use turnleaf_service::usage::storage::StorageUse;
use turnleaf_service::usage::{Grouping, Period, Sum};

/// What can be asked for. Days are `YYYY-MM-DD` in UTC, both included.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    from: Option<NaiveDate>,
    to: Option<NaiveDate>,
    #[param(inline)]
    group: Option<Group>,
    /// The chat whose branches are told apart.
    chat_id: Option<ChatId>,
    #[param(inline)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = UsageGroup)]
pub enum Group {
    Day,
    Model,
    Provider,
    Chat,
    Branch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Json,
    Csv,
}

/// The answer in JSON.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct UsageBody {
    from: NaiveDate,
    to: NaiveDate,
    group: Group,
    /// What `cost_micros` are millionths of.
    currency: &'static str,
    rows: Vec<Sum>,
    total: Sum,
    /// What is kept now, whatever the period.
    storage: StorageUse,
}

impl UsageQuery {
    fn period(&self, app: &App) -> Result<Period, Invalid> {
        Period::new(self.from, self.to, app.now().date_naive())
    }

    fn grouping(&self) -> Result<(Group, Grouping), Invalid> {
        let group = self.group.unwrap_or(if self.chat_id.is_some() { Group::Branch } else { Group::Day });
        let grouping = match (group, self.chat_id) {
            (Group::Branch, Some(chat)) => Grouping::Branch(chat),
            (Group::Branch, None) => return Err(Invalid::new("chat_id", "names the chat whose branches are meant")),
            (_, Some(_)) => return Err(Invalid::new("chat_id", "goes with `group=branch` alone")),
            (Group::Day, None) => Grouping::Day,
            (Group::Model, None) => Grouping::Model,
            (Group::Provider, None) => Grouping::Provider,
            (Group::Chat, None) => Grouping::Chat,
        };
        Ok((group, grouping))
    }
}

/// `GET /api/usage`: sums over a period; CSV by `format=csv` or by `Accept`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<UsageQuery>,
) -> Result<Response, Problem> {
    let (group, grouping) = query.grouping()?;
    let period = query.period(&app)?;
    let rows = app.service().usage(viewer.0, period, grouping).await?;
    let accepts_csv = accept::preferred(&headers, &["application/json", "text/csv"]) == "text/csv";
    let is_csv = query.format.map_or(accepts_csv, |format| format == Format::Csv);
    if is_csv {
        return Ok(as_csv(period, &rows));
    }
    let total = Sum::total(&rows);
    let storage = app.service().storage_use(viewer.0).await?;
    let (from, to) = (period.from(), period.to());
    Ok(Json(UsageBody { from, to, group, currency: "USD", rows, total, storage }).into_response())
}

fn as_csv(period: Period, rows: &[Sum]) -> Response {
    const HEAD: [&str; 17] = [
        "day",
        "provider",
        "model",
        "chat_id",
        "title",
        "branch_id",
        "branch_name",
        "generations",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "unknown_token_generations",
        "cost_micros",
        "unknown_cost_generations",
        "estimated_generations",
    ];
    let mut body = csv::line(HEAD.map(str::to_owned));
    for row in rows {
        let text = |text: &Option<String>| text.as_deref().map(csv::text).unwrap_or_default();
        body.push_str(&csv::line([
            text(&row.day),
            text(&row.provider),
            text(&row.model),
            row.chat_id.map(|id| id.to_string()).unwrap_or_default(),
            text(&row.title),
            row.branch_id.map(|id| id.to_string()).unwrap_or_default(),
            text(&row.branch_name),
            csv::number(Some(row.generations)),
            csv::number(row.usage.input_tokens),
            csv::number(row.usage.cache_read_tokens),
            csv::number(row.usage.cache_write_tokens),
            csv::number(row.usage.output_tokens),
            csv::number(row.usage.reasoning_tokens),
            csv::number(Some(row.unknown_token_generations)),
            csv::number(row.cost_micros),
            csv::number(Some(row.unknown_cost_generations)),
            csv::number(Some(row.estimated_generations)),
        ]));
    }
    let name = format!("attachment; filename=\"usage-{}-{}.csv\"", period.from(), period.to());
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    response
}

/// What the page's form sends. Its fields may be empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    group: By,
}

/// `GET /usage`.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    query: Result<Query<PageQuery>, Problem>,
) -> Result<Response, Problem> {
    let today = app.now().date_naive();
    let period = match &query {
        Ok(Query(query)) => day("from", &query.from)
            .and_then(|from| Ok((from, day("to", &query.to)?)))
            .and_then(|(from, to)| Period::new(from, to, today)),
        Err(_) => Err(Invalid::new("group", "is none of those in the list")),
    };
    let (period, refused) = match period {
        Ok(period) => (period, None),
        Err(invalid) => (Period::new(None, None, today)?, Some(Said::Refused(format!("{invalid}.")))),
    };
    let by = query.map(|Query(query)| query.group).unwrap_or_default();
    let grouping = match by {
        By::Day => Grouping::Day,
        By::Model => Grouping::Model,
        By::Provider => Grouping::Provider,
        By::Chat => Grouping::Chat,
    };
    let rows = app.service().usage(viewer.0, period, grouping).await?;
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let page = UsagePage { period, today, by, rows }.draw(refused);
    Ok(asked.answer(&app, status, page))
}

fn day(field: &'static str, text: &str) -> Result<Option<NaiveDate>, Invalid> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| Invalid::new(field, "is no day such as 2026-11-21")),
    }
}
