//! The gallery's pages: every part of the interface in every state.

use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;

use crate::server::app::App;
use crate::server::gallery::GallerySheet;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;

/// `GET /settings/about/gallery`.
pub async fn redirect_to_first_sheet(State(app): State<App>, context: PageContext) -> Response {
    context.respond(&app, StatusCode::OK, GallerySheet::Basics.draw())
}

/// `GET /settings/about/gallery/{sheet}`.
pub async fn show(
    State(app): State<App>,
    context: PageContext,
    Path(sheet): Path<String>,
) -> Result<Response, Problem> {
    let sheet = GallerySheet::parse(&sheet).ok_or_else(Problem::not_found)?;
    Ok(context.respond(&app, StatusCode::OK, sheet.draw()))
}
