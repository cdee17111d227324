//! Usage and cost, as JSON and CSV (`GET /api/usage`) and as the page `/usage`.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::domain::{BudgetState, ChatId, InvalidField, MessageCode};
use crate::server::access::{Credential, Principal};
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::csv::{self, TableFormat};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::usage::{UsageGrouping, UsagePage};
use crate::ui::locale::coded_messages::field_error_sentence;
use turnleaf_service::usage::storage::StorageUse;
use turnleaf_service::usage::{SpendingGrouping, SpendingSum, UsagePeriod};

/// Query of the usage report. Days are `YYYY-MM-DD` in UTC, both included.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// The first day, in UTC. By default 29 days before `to`.
    from: Option<NaiveDate>,
    /// The last day, in UTC. Today by default.
    to: Option<NaiveDate>,
    /// The unit that a row stands for. `day` by default.
    #[param(inline)]
    group: Option<UsageGroup>,
    /// The chat whose branches are listed. Allowed with `group=branch` only, which is then the default.
    chat_id: Option<ChatId>,
    /// The format of the response. Without it, `Accept` decides.
    #[param(inline)]
    format: Option<TableFormat>,
}

/// The unit that a row of the usage report stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = UsageGroup)]
pub enum UsageGroup {
    Day,
    Model,
    Provider,
    /// API tokens.
    Token,
    Chat,
    Branch,
}

/// Usage in a period, by group and in total.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct UsageReport {
    from: NaiveDate,
    to: NaiveDate,
    group: UsageGroup,
    /// Currency of all costs. `cost_micros` are millionths of it.
    currency: &'static str,
    rows: Vec<SpendingSum>,
    total: SpendingSum,
    /// Storage in use now, regardless of the period.
    storage: StorageUse,
    /// The budgets of the account with what is used of them now, regardless of the period. Absent without budgets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    budgets: Vec<BudgetState>,
}

impl UsageQuery {
    fn period(&self, app: &App) -> Result<UsagePeriod, InvalidField> {
        UsagePeriod::new(self.from, self.to, app.now().date_naive())
    }

    fn grouping(&self) -> Result<(UsageGroup, SpendingGrouping), InvalidField> {
        let group = self.group.unwrap_or(if self.chat_id.is_some() { UsageGroup::Branch } else { UsageGroup::Day });
        let grouping = match (group, self.chat_id) {
            (UsageGroup::Branch, Some(chat)) => SpendingGrouping::Branch(chat),
            (UsageGroup::Branch, None) => {
                return Err(InvalidField::new("chat_id", MessageCode::NeedsChat));
            }
            (_, Some(_)) => return Err(InvalidField::new("chat_id", MessageCode::OnlyWithBranches)),
            (UsageGroup::Day, None) => SpendingGrouping::Day,
            (UsageGroup::Model, None) => SpendingGrouping::Model,
            (UsageGroup::Provider, None) => SpendingGrouping::Provider,
            (UsageGroup::Token, None) => SpendingGrouping::Token,
            (UsageGroup::Chat, None) => SpendingGrouping::Chat,
        };
        Ok((group, grouping))
    }
}

/// `GET /api/usage`: returns sums over a period, as CSV with `format=csv` or by `Accept`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<UsageQuery>,
) -> Result<Response, Problem> {
    let (group, grouping) = query.grouping()?;
    let period = query.period(&app)?;
    let rows = app.service().usage(principal.user, period, grouping).await?;
    if TableFormat::choose(query.format, &headers) == TableFormat::Csv {
        return Ok(csv_response(period, &rows));
    }
    let total = SpendingSum::total(&rows);
    let storage = app.service().storage_use(principal.user).await?;
    let budgets = app.service().budgets(principal.user).await?;
    let (from, to) = (period.from(), period.to());
    Ok(ApiJson(UsageReport { from, to, group, currency: "USD", rows, total, storage, budgets }).into_response())
}

fn csv_response(period: UsagePeriod, rows: &[SpendingSum]) -> Response {
    const HEAD: [&str; 19] = [
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
        "token_id",
        "token_name",
    ];
    let mut body = csv::csv_line(HEAD.map(str::to_owned));
    for row in rows {
        let text = |text: &Option<String>| text.as_deref().map(csv::text_cell).unwrap_or_default();
        body.push_str(&csv::csv_line([
            text(&row.day),
            text(&row.provider),
            text(&row.model),
            row.chat_id.map(|id| id.to_string()).unwrap_or_default(),
            text(&row.title),
            row.branch_id.map(|id| id.to_string()).unwrap_or_default(),
            text(&row.branch_name),
            csv::number_cell(Some(row.generations)),
            csv::number_cell(row.usage.input_tokens),
            csv::number_cell(row.usage.cache_read_tokens),
            csv::number_cell(row.usage.cache_write_tokens),
            csv::number_cell(row.usage.output_tokens),
            csv::number_cell(row.usage.reasoning_tokens),
            csv::number_cell(Some(row.unknown_token_generations)),
            csv::number_cell(row.cost_micros),
            csv::number_cell(Some(row.unknown_cost_generations)),
            csv::number_cell(Some(row.estimated_generations)),
            row.token_id.map(|id| id.to_string()).unwrap_or_default(),
            text(&row.token_name),
        ]));
    }
    csv::csv_download(Body::from(body), &format!("usage-{}-{}.csv", period.from(), period.to()))
}

/// The query that the page's form sends. Its fields may be empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsagePageQuery {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    group: UsageGrouping,
}

/// `GET /usage`.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    query: Result<StrictQuery<UsagePageQuery>, Problem>,
) -> Result<Response, Problem> {
    let today = app.now().date_naive();
    let period = match &query {
        Ok(StrictQuery(query)) => parse_day("from", &query.from)
            .and_then(|from| Ok((from, parse_day("to", &query.to)?)))
            .and_then(|(from, to)| UsagePeriod::new(from, to, today)),
        Err(_) => Err(InvalidField::new("group", MessageCode::NotAllowedValue)),
    };
    let (period, refused) = match period {
        Ok(period) => (period, None),
        Err(invalid) => {
            (UsagePeriod::new(None, None, today)?, Some(ActionNotice::Refused(field_error_sentence(&invalid))))
        }
    };
    let by = query.map(|StrictQuery(query)| query.group).unwrap_or_default();
    let grouping = match by {
        UsageGrouping::Day => SpendingGrouping::Day,
        UsageGrouping::Model => SpendingGrouping::Model,
        UsageGrouping::Provider => SpendingGrouping::Provider,
        UsageGrouping::Token => SpendingGrouping::Token,
        UsageGrouping::Chat => SpendingGrouping::Chat,
    };
    let rows = app.service().usage(principal.user, period, grouping).await?;
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let budgets = app.service().budgets(principal.user).await?;
    let has_accounts = principal.credential != Credential::Admission;
    let page = UsagePage { period, today, grouping: by, rows, has_accounts, budgets }.draw(refused);
    Ok(context.respond(&app, status, page))
}

/// Parses a day of a form, whose field may be empty.
pub fn parse_day(field: &'static str, text: &str) -> Result<Option<NaiveDate>, InvalidField> {
    match text.trim() {
        "" => Ok(None),
        text => text
            .parse()
            .map(Some)
            .map_err(|_| InvalidField::new(field, MessageCode::NotADate.with("example", "2026-11-21"))),
    }
}
