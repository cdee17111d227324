//! `GET /leave`: asks before a link of a reply leads to a host that is not known in its chat. It answers with a page and
//! never with a redirect, so it sends nobody anywhere.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::TurnId;
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::leave::LeavePage;
use turnleaf_service::ServiceError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaveQuery {
    /// The address that the link leads to.
    to: String,
    /// The reply that it is in.
    turn: Option<TurnId>,
}

/// The page of one link. The reply may be gone meanwhile.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    Query(query): Query<LeaveQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let turn = match query.turn {
        Some(id) => match app.service().turn(viewer.0, id).await {
            Ok(turn) => Some(turn),
            Err(ServiceError::NotFound) => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let page = LeavePage::new(&query.to, turn.as_ref());
    let status = if page.has_target() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(asked.answer(&app, status, page.draw()))
}
