//! The page of a tool server for the result of a call: Turnleaf's page around it, the document itself, and the data of
//! the call that the document receives. All of it was stored when the call ended. The document may also call tools and
//! read resources.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{BlockId, TurnId};
use crate::server::access::Principal;
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
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let view = app.service().app_view(principal.user, turn, block).await?;
    let calls = app.service().view_calls(principal.user, block).await?;
    let page = AppViewPage { turn: &view.turn, block, title: &view.title, server: &view.server, calls: &calls };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `GET /turns/{id}/calls/{block}/view/document`: the document. A visit leads to the page around it: only a page can
/// keep a document from navigating to an address of its choice.
pub async fn document(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let view = app.service().app_view(principal.user, turn, block).await?;
    if headers.get("sec-fetch-dest").is_some_and(|of| of == "document") {
        return Ok(Redirect::to(&app_view_address(turn, block)).into_response());
    }
    Ok(sandboxed_document(app.service().app_view_page(principal.user, &view).await?))
}

/// The data of a call that its document receives, in the terms of the protocol, for the script between it and
/// Turnleaf's page.
#[derive(Debug, Serialize)]
pub struct AppViewCall {
    /// The reply with the call.
    turn: TurnId,
    tool: String,
    arguments: Value,
    /// `None` for a call that was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    version: &'static str,
}

/// `GET /turns/{id}/calls/{block}/view/call`.
pub async fn call(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
) -> Result<ApiJson<AppViewCall>, Problem> {
    let view = app.service().app_view(principal.user, turn, block).await?;
    let result = match view.is_stopped {
        true => None,
        false => Some(app.service().app_view_answer(principal.user, &view).await?),
    };
    let (tool, arguments) = (view.tool, view.arguments);
    Ok(ApiJson(AppViewCall { turn, tool, arguments, result, version: env!("CARGO_PKG_VERSION") }))
}

/// A tool that a document calls, as the script between it and Turnleaf's page passes it on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewToolCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// `POST /turns/{id}/calls/{block}/view/call`: runs a tool for the document and responds with its result. The document
/// itself cannot send this.
pub async fn call_tool(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    ApiJson(body): ApiJson<ViewToolCall>,
) -> Result<ApiJson<Value>, Problem> {
    let ViewToolCall { name, arguments } = body;
    Ok(ApiJson(app.service().call_tool_from_view(principal.user, (turn, block), &name, arguments).await?))
}

/// A resource that a document reads, as the script between it and Turnleaf's page passes it on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewResourceRead {
    uri: String,
}

/// `POST /turns/{id}/calls/{block}/view/resource`: reads a resource of the document's server and responds with its
/// contents. The document itself cannot send this.
pub async fn read_resource(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    ApiJson(body): ApiJson<ViewResourceRead>,
) -> Result<ApiJson<Value>, Problem> {
    Ok(ApiJson(app.service().read_resource_from_view(principal.user, (turn, block), &body.uri).await?))
}
