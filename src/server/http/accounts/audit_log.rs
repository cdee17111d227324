//! The audit log for administrators: the page, and the same entries as JSON and CSV.

use async_stream::stream;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::domain::{ApiTokenId, AuditEntryId, AuditOutcome, AuditVerb, InvalidField, MessageCode, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::admission::hold_permit_until_sent;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::query::{StrictQuery, page_limit};
use crate::server::http::response::csv::{TableFormat, csv_download, csv_line, text_cell};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::http::transfer::exports::export_permit;
use crate::server::http::usage::parse_day;
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::accounts::audit_log::AuditLogPage;
use crate::ui::locale::coded_messages::field_error_sentence;
use turnleaf_service::Service;
use turnleaf_service::accounts::audit_log::{AuditEntry, AuditFilter};

/// The entries to list. Days are `YYYY-MM-DD` in UTC, both included.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct AuditLogQuery {
    /// The recorded action.
    #[param(inline)]
    action: Option<AuditVerb>,
    /// The account that did it.
    account: Option<UserId>,
    /// The first day, in UTC.
    from: Option<NaiveDate>,
    /// The last day, in UTC.
    to: Option<NaiveDate>,
    /// Only entries older than this one.
    before: Option<AuditEntryId>,
    /// Entries of one page of JSON; 100 by default.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// The format of the response. Without it, `Accept` decides.
    #[param(inline)]
    format: Option<TableFormat>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AuditEntryDetails {
    id: AuditEntryId,
    at: DateTime<Utc>,
    /// Account that did it. Null for people who were not signed in, and for the command line, which has no `ip`.
    actor_id: Option<UserId>,
    /// Present name of the account. Null if it was deleted.
    actor_name: Option<String>,
    /// API token of the request.
    token_id: Option<ApiTokenId>,
    /// Address of the client.
    ip: Option<String>,
    /// The action, as in the filter of the same name. Later versions may add others.
    action: String,
    /// Name of the account, the token or the invitation that it was done to, and for rights what was given.
    target: String,
    outcome: AuditOutcome,
}

impl From<AuditEntry> for AuditEntryDetails {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry { id, at, actor, actor_name, token, ip, verb, target, outcome } = entry;
        Self { id, at, actor_id: actor, actor_name, token_id: token, ip, action: verb, target, outcome }
    }
}

/// `GET /api/audit`: the entries as JSON, or all of them as CSV with `format=csv` or by `Accept`.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<AuditLogQuery>,
) -> Result<Response, Problem> {
    let AuditLogQuery { action, account, from, to, before, limit, format } = query;
    let filter = AuditFilter { action, account, from, to };
    if TableFormat::choose(format, &headers) == TableFormat::Json {
        let limit = page_limit(limit, limits::AUDIT_PAGE, limits::PAGE_MAX)?;
        let entries = app.service().audit_log(&filter, before, limit).await?;
        let entries: Vec<AuditEntryDetails> = entries.into_iter().map(AuditEntryDetails::from).collect();
        return Ok(ApiJson(entries).into_response());
    }
    let permit = export_permit(&app, principal.user)?;
    // The first page is read before the response, so that a failure is an error response.
    let first = app.service().audit_log(&filter, before, limits::AUDIT_PAGE).await?;
    let name = format!("audit-{}.csv", app.now().format("%Y-%m-%d"));
    let response = csv_download(csv_body(app.service().clone(), filter, first), &name);
    Ok(hold_permit_until_sent(response, permit))
}

/// Streams the entries page by page. A failure after the first page aborts the response, so that no part of the log is
/// taken for the whole.
fn csv_body(service: Service, filter: AuditFilter, first: Vec<AuditEntry>) -> Body {
    const HEAD: [&str; 9] = ["id", "at", "actor_id", "actor_name", "token_id", "ip", "action", "target", "outcome"];
    let body = stream! {
        yield Ok::<Bytes, std::io::Error>(csv_line(HEAD.map(str::to_owned)).into());
        let mut entries = first;
        while let Some(last) = entries.last().map(|entry| entry.id) {
            let lines: String = entries.iter().map(entry_line).collect();
            yield Ok(lines.into());
            match service.audit_log(&filter, Some(last), limits::AUDIT_PAGE).await {
                Ok(older) => entries = older,
                Err(error) => {
                    tracing::error!(%error, "the export of the audit log failed midway");
                    yield Err(std::io::Error::other("the export failed midway"));
                    break;
                }
            }
        }
    };
    Body::from_stream(body)
}

fn entry_line(entry: &AuditEntry) -> String {
    let text = |text: &Option<String>| text.as_deref().map(text_cell).unwrap_or_default();
    let outcome = match entry.outcome {
        AuditOutcome::Done => "done",
        AuditOutcome::Refused => "refused",
    };
    csv_line([
        entry.id.to_string(),
        entry.at.to_rfc3339_opts(SecondsFormat::Millis, true),
        entry.actor.map(|id| id.to_string()).unwrap_or_default(),
        text(&entry.actor_name),
        entry.token.map(|id| id.to_string()).unwrap_or_default(),
        text(&entry.ip),
        text_cell(&entry.verb),
        text_cell(&entry.target),
        outcome.to_owned(),
    ])
}

/// The query that the page's form sends. Its fields may be empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditPageQuery {
    #[serde(default)]
    action: String,
    #[serde(default)]
    account: String,
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    /// The entry before which the page begins.
    before: Option<AuditEntryId>,
}

impl AuditPageQuery {
    /// Returns what can be read of the filter, with the first error. `account` is the one that was found by its name.
    fn filter(&self, account: Option<UserId>) -> (AuditFilter, Option<InvalidField>) {
        let mut errors = Vec::new();
        let action = AuditVerb::parse(&self.action);
        if action.is_none() && !self.action.is_empty() {
            errors.push(InvalidField::new("action", MessageCode::NotAllowedValue));
        }
        let typed = self.account.trim();
        if account.is_none() && !typed.is_empty() {
            errors.push(InvalidField::new("account", MessageCode::NoSuchAccount.with("name", typed)));
        }
        let mut day = |field, text: &str| match parse_day(field, text) {
            Ok(day) => day,
            Err(error) => {
                errors.push(error);
                None
            }
        };
        let (from, to) = (day("from", &self.from), day("to", &self.to));
        let filter = AuditFilter { action, account, from, to };
        errors.extend(filter.check().err());
        (filter, errors.into_iter().next())
    }
}

/// Returns the account that was typed, with its name for the field: by its name, or by its id, which finds also one that
/// was deleted.
async fn find_account(app: &App, typed: &str) -> Result<(Option<UserId>, String), Problem> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok((None, String::new()));
    }
    if let Some(account) = app.service().find_account(typed).await? {
        return Ok((Some(account), typed.to_owned()));
    }
    let Ok(account) = typed.parse::<UserId>() else { return Ok((None, typed.to_owned())) };
    let name = app.service().account_names([account]).await?.remove(&account);
    // The owner of a server without accounts has no name.
    Ok((Some(account), name.filter(|name| !name.is_empty()).unwrap_or_else(|| typed.to_owned())))
}

/// `GET /settings/audit`.
pub async fn show(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<AuditPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let (found, account) = find_account(&app, &query.account).await?;
    let (filter, error) = query.filter(found);
    let (status, entries) = match error {
        Some(_) => (StatusCode::BAD_REQUEST, Vec::new()),
        None => (StatusCode::OK, app.service().audit_log(&filter, query.before, limits::AUDIT_PAGE).await?),
    };
    let notice = error.as_ref().map(|error| ActionNotice::Refused(field_error_sentence(error)));
    let has_more = entries.len() == limits::AUDIT_PAGE as usize;
    Ok(context.respond(&app, status, AuditLogPage { entries, has_more, filter, account, error }.draw(notice)))
}
