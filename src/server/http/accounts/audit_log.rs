//! The page of the audit log, for administrators.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{AuditEntryId, limits};
use crate::server::app::App;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::accounts::audit_log::AuditLogPage;

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditLogQuery {
    /// The entry before which the page begins.
    before: Option<AuditEntryId>,
}

/// `GET /settings/audit`.
pub async fn show(
    State(app): State<App>,
    StrictQuery(query): StrictQuery<AuditLogQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let entries = app.service().audit_log(query.before).await?;
    let has_more = entries.len() == limits::AUDIT_PAGE as usize;
    Ok(context.respond(&app, StatusCode::OK, AuditLogPage { entries, has_more }.draw()))
}
