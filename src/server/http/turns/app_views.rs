//! The page of a tool server for the result of a call: Turnleaf's page around it, the document itself, and what the
//! document is told about its call. All of it was stored when the call ended.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::domain::{BlockId, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathIds;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::sandboxed_document::sandboxed_document;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::app_view::AppViewPage;
use crate::ui::sandboxed_frame::app_view_address;

/// `GET /turns/{id}/calls/{block}/view`: the document in a page of its own.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let view = app.service().app_view(viewer.0, turn, block).await?;
    let page = AppViewPage { turn: &view.turn, block, title: &view.title, server: &view.server };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `GET /turns/{id}/calls/{block}/view/document`: the document. A visit leads to the page around it: only a page can
/// keep a document from navigating to an address of its choice.
pub async fn document(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let view = app.service().app_view(viewer.0, turn, block).await?;
    if headers.get("sec-fetch-dest").is_some_and(|of| of == "document") {
        return Ok(Redirect::to(&app_view_address(turn, block)).into_response());
    }
    Ok(sandboxed_document(app.service().app_view_page(viewer.0, &view).await?))
}

/// What a document is told, in the terms of the protocol, for the script between it and Turnleaf's page.
#[derive(Debug, Serialize)]
pub struct AppViewCall {
    /// The reply with the call.
    turn: TurnId,
    tool: String,
    arguments: Value,
    result: Value,
    version: &'static str,
}

/// `GET /turns/{id}/calls/{block}/view/call`.
pub async fn call(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
) -> Result<ApiJson<AppViewCall>, Problem> {
    let view = app.service().app_view(viewer.0, turn, block).await?;
    let result = app.service().app_view_answer(viewer.0, &view).await?;
    let (tool, arguments) = (view.tool, view.arguments);
    Ok(ApiJson(AppViewCall { turn, tool, arguments, result, version: env!("CARGO_PKG_VERSION") }))
}
