//! `GET /api/chats/{id}/ws`: one path of a chat over a WebSocket, in the words of the block API both ways
//! (docs/reference/domain.md 4.10). The same log as `/events`, for all replies of the path, one after the other.
//!
//! A connection follows the branch at the end of its path: replies that are begun there, here or elsewhere, are sent.
//! A message goes below the last turn that was sent; where something else was added there meanwhile it makes a branch
//! like any other message, and the connection goes on there. Where that turn was deleted the client is told where the
//! path ends now, and says its message again.

mod client_message;
mod connection;
mod encoder;
mod writer;

use std::convert::Infallible;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use futures::future::BoxFuture;
use serde::Deserialize;

use crate::domain::{BranchId, ChatId, TurnId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::csrf;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::open_streams::Subscriber;
use crate::server::http::streams::socket::connection::SocketConnection;

/// Which path, and from where on.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SocketQuery {
    /// A turn of the path; it goes on below as the chat would open there. Without it, as the chat opens.
    leaf: Option<TurnId>,
    /// The branch whose path it is.
    branch_id: Option<BranchId>,
    /// The `sequence_number` of the last finished block that the client has: what lies behind is sent first. Without
    /// it, only the reply that runs.
    after: Option<i64>,
}

/// Upgrades, after everything that can be refused is.
pub async fn open(
    State(app): State<App>,
    viewer: Viewer,
    client: ClientIdentity,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<SocketQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let end = app.service().path_tip(viewer.0, chat, query.leaf, query.branch_id).await?;
    let Ok(upgrade) = upgrade else { return Ok(upgrade_required()) };
    if app.open_sockets().len() >= limits::SOCKETS {
        return Err(Problem::too_many("Too many WebSockets are open.", 5));
    }
    let upgrade = upgrade.max_message_size(limits::SOCKET_MESSAGE_BYTES).max_frame_size(limits::SOCKET_MESSAGE_BYTES);
    let token = app.open_sockets().token();
    let place = app.open_streams().open(Subscriber::new(viewer.0, client));
    Ok(upgrade.on_upgrade(move |socket| async move {
        SocketConnection::new(app, viewer.0, chat, end, place).run(socket, query.after).await;
        drop(token);
    }))
}

/// 426 for a request that is no handshake.
fn upgrade_required() -> Response {
    let detail = "This address speaks WebSocket (RFC 6455, version 13).";
    let mut response = Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail).into_response();
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}

/// Lets in only what comes from our own pages, or from no browser. The rule for requests from other sites looks only at
/// methods that change something, and a handshake is a `GET` that browsers send from any site: for that rule's eyes it
/// is a `POST`.
pub fn require_same_origin(route: MethodRouter<App>, public_origin: Option<&str>) -> MethodRouter<App> {
    route
        .layer::<_, Infallible>(from_fn(with_method(Method::GET)))
        .layer::<_, Infallible>(csrf::layer(public_origin))
        .layer(from_fn(with_method(Method::POST)))
}

fn with_method(method: Method) -> impl Fn(Request, Next) -> BoxFuture<'static, Response> + Clone {
    move |mut request, next| {
        *request.method_mut() = method.clone();
        Box::pin(next.run(request))
    }
}
