//! The page of budgets with its forms, and what all accounts and groups have spent as CSV, for administrators.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use chrono::NaiveDate;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{BudgetKind, BudgetTarget, GroupId, InvalidField, UserId, limits};
use crate::server::access::{Credential, Principal};
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::csv;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::accounts::budgets::{BudgetsPage, RefusedBudgets};
use crate::server::server_pages::accounts::name_list::position_query;
use crate::server::server_pages::messages::budgets as words;
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::list_pages::ListPosition;
use turnleaf_service::usage::UsagePeriod;
use turnleaf_service::usage::budgets::{BudgetChanges, SpenderGrouping, StoredBudgets};

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetsPageQuery {
    /// The account whose form is open.
    account: Option<UserId>,
    /// The group whose form is open.
    group: Option<GroupId>,
    /// The grouping of what was spent.
    #[serde(default)]
    by: SpenderGrouping,
    /// A part of the name of the listed accounts and groups.
    #[serde(default)]
    find: String,
    /// The name behind which the page of accounts begins.
    #[serde(default)]
    after: String,
    /// The action that a form has done.
    done: Option<BudgetsFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BudgetsFormResult {
    Saved,
}

/// Refuses on a server without accounts, which has no budgets.
fn require_accounts(principal: &Principal) -> Result<(), Problem> {
    if principal.credential == Credential::Admission { Err(Problem::not_found()) } else { Ok(()) }
}

async fn read_page(
    app: &App,
    chosen: BudgetTarget,
    by: SpenderGrouping,
    position: ListPosition,
) -> Result<BudgetsPage, Problem> {
    let period = UsagePeriod::new(None, None, app.now().date_naive())?;
    // One more tells that there are more.
    let mut spending = app.service().usage_by_spender(by, period, Some(limits::ACCOUNT_SUMS_LISTED + 1)).await?;
    let most = limits::ACCOUNT_SUMS_LISTED as usize;
    let is_spending_cut = spending.len() > most;
    spending.truncate(most);
    let StoredBudgets { budgets, unreadable } = app.service().stored_budgets().await?;
    let accounts = app.service().account_page(&position).await?;
    let listed: Vec<UserId> = accounts.entries.iter().map(|account| account.id).collect();
    let named = unreadable.iter().chain([&chosen]).filter_map(|target| match target {
        BudgetTarget::Account(account) => Some(*account),
        BudgetTarget::Group(_) | BudgetTarget::Default => None,
    });
    let named: Vec<UserId> = named.filter(|account| !listed.contains(account)).collect();
    Ok(BudgetsPage {
        accounts,
        position,
        names: app.service().account_names(named).await?,
        groups: app.service().group_names().await?,
        members: app.service().group_memberships(&listed).await?.into_iter().collect(),
        budgets,
        unreadable,
        spending,
        grouping: by,
        is_spending_cut,
        period,
        chosen,
        refused: None,
    })
}

/// `GET /settings/budgets`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<BudgetsPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    require_accounts(&principal)?;
    let notice = query.done.map(|BudgetsFormResult::Saved| ActionNotice::Done(words::saved().to_owned()));
    let chosen = match (query.account, query.group) {
        (Some(account), _) => BudgetTarget::Account(account),
        (None, Some(group)) => BudgetTarget::Group(group),
        (None, None) => BudgetTarget::Default,
    };
    let page = read_page(&app, chosen, query.by, ListPosition::new(&query.find, &query.after)).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(notice)))
}

fn submitted_budgets(fields: &SubmittedFields) -> Result<BudgetChanges, InvalidField> {
    let budget = |kind: BudgetKind| {
        let text = fields.text(kind.as_str()).unwrap_or_default();
        Ok((kind, kind.parse_amount(&text)?))
    };
    BudgetKind::ALL.into_iter().map(budget).collect()
}

/// `POST /forms/budgets`: sets those of an account or of a group, or without both the defaults.
pub async fn save(form: AccountForm) -> Result<Response, EarlyResponse> {
    require_accounts(&form.principal)?;
    let target = if form.fields.contains("user_id") {
        BudgetTarget::Account(form.fields.subject_id("user_id")?)
    } else if form.fields.contains("group_id") {
        BudgetTarget::Group(form.fields.subject_id("group_id")?)
    } else {
        BudgetTarget::Default
    };
    form.require_password("/forms/budgets", PageSection::Budgets).await?;
    let saved = match submitted_budgets(&form.fields) {
        Ok(budgets) => form.service().set_budgets(form.actor(), target, budgets).await,
        Err(invalid) => Err(AccountError::Service(ServiceError::Invalid(invalid))),
    };
    match saved {
        Ok(()) => {
            let position = position_query(&form.list_position());
            Ok(see_other(&format!("{}?done=saved{position}", PageSection::Budgets.path())))
        }
        Err(AccountError::Service(ServiceError::Invalid(error))) => {
            let typed = BudgetKind::ALL.map(|kind| form.text(kind.as_str()));
            let mut page = read_page(&form.app, target, SpenderGrouping::default(), form.list_position()).await?;
            page.refused = Some(RefusedBudgets { target, error, typed });
            Ok(form.respond(StatusCode::UNPROCESSABLE_ENTITY, page.draw(None)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The period and the grouping of the sums. Days are in UTC, both included.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountUsageQuery {
    from: Option<NaiveDate>,
    to: Option<NaiveDate>,
    #[serde(default)]
    by: SpenderGrouping,
}

/// `GET /settings/budgets/usage`: what all accounts or groups have spent by model, as CSV, with every sum. It names no
/// chats.
pub async fn usage(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<AccountUsageQuery>,
) -> Result<Response, Problem> {
    const COLUMNS: [&str; 11] = [
        "provider",
        "model",
        "generations",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "cost_micros",
        "unknown_cost_generations",
        "estimated_generations",
    ];
    require_accounts(&principal)?;
    let period = UsagePeriod::new(query.from, query.to, app.now().date_naive())?;
    let (file, spender) = match query.by {
        SpenderGrouping::Account => ("accounts", ["account_id", "account"]),
        SpenderGrouping::Group => ("groups", ["group_id", "group"]),
    };
    let mut body = csv::csv_line(spender.into_iter().chain(COLUMNS).map(str::to_owned));
    for sum in app.service().usage_by_spender(query.by, period, None).await? {
        body.push_str(&csv::csv_line([
            sum.spender.map(|id| id.to_string()).unwrap_or_default(),
            csv::text_cell(&sum.name),
            csv::text_cell(&sum.provider),
            csv::text_cell(&sum.model),
            csv::number_cell(Some(sum.calls)),
            csv::number_cell(sum.usage.input_tokens),
            csv::number_cell(sum.usage.cache_read_tokens),
            csv::number_cell(sum.usage.cache_write_tokens),
            csv::number_cell(sum.usage.output_tokens),
            csv::number_cell(sum.usage.reasoning_tokens),
            csv::number_cell(sum.cost_micros),
            csv::number_cell(Some(sum.unknown_costs)),
            csv::number_cell(Some(sum.estimated_costs)),
        ]));
    }
    Ok(csv::csv_download(Body::from(body), &format!("{file}-{}-{}.csv", period.from(), period.to())))
}
