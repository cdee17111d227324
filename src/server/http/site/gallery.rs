//! The gallery's pages: every part of the interface in every state.

use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;

use crate::server::app::App;
use crate::server::gallery::Sheet;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;

/// `GET /settings/about/gallery`.
pub async fn first(State(app): State<App>, asked: Asked) -> Response {
    asked.answer(&app, StatusCode::OK, Sheet::Basics.draw())
}

/// `GET /settings/about/gallery/{sheet}`.
pub async fn show(State(app): State<App>, asked: Asked, Path(sheet): Path<String>) -> Result<Response, Problem> {
    let sheet = Sheet::parse(&sheet).ok_or_else(Problem::not_found)?;
    Ok(asked.answer(&app, StatusCode::OK, sheet.draw()))
}
