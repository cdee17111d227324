//! `GET /leave`: asks before a link of a reply leads to a host that is not known in its chat. It responds with a page
//! and never with a redirect, so it cannot be abused as an open redirect.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::TurnId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::external_link::ExternalLinkPage;
use turnleaf_service::ServiceError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalLinkQuery {
    /// The address that the link leads to.
    to: String,
    /// The reply that contains the link.
    turn: Option<TurnId>,
}

/// Shows the page of one link. The reply may be gone meanwhile.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ExternalLinkQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let turn = match query.turn {
        Some(id) => match app.service().turn(principal.user, id).await {
            Ok(turn) => Some(turn),
            Err(ServiceError::NotFound) => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let page = ExternalLinkPage::new(&query.to, turn.as_ref());
    let status = if page.has_target() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(context.respond(&app, status, page.draw()))
}
