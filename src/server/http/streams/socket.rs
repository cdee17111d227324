//! `GET /api/chats/{id}/ws`: follows one path of a chat over a WebSocket, in the messages of the block API in both
//! directions (docs/reference/domain.md 4.10). The source is the same journal as for `/events`, for all replies of
//! the path one after the other.
//!
//! A connection follows the branch at the end of its path: it sends the replies that start there, whichever client
//! asked for them. A message of the client is added below the last turn that was sent. If another turn was added
//! there meanwhile, the message forks a branch as usual, and the connection continues on it. If the last turn was
//! deleted, the client receives the new end of the path and must send its message again.
//!
//! The protocol has a version: clients may offer the subprotocol [`SOCKET_PROTOCOL`], and the first message, `hello`, names it
//! for everyone.

mod arguments;
mod client_message;
mod connection;
mod encoder;
mod writer;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::domain::{BranchId, ChatId, CodedMessage, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::features::SOCKET_PROTOCOL;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::ConnectionLease;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::open_streams::Subscriber;
use crate::server::http::streams::socket::arguments::ArgumentsForm;
use crate::server::http::streams::socket::connection::SocketConnection;
use turnleaf_service::usage::calling_token::with_calling_token;

/// The path to follow, and the position to start from.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SocketQuery {
    /// A turn of the path. Below it the path continues as when the chat opens there. Without it, the path at which
    /// the chat opens.
    leaf: Option<TurnId>,
    /// The branch whose path is followed, instead of `leaf`.
    branch_id: Option<BranchId>,
    /// Cursor: `sequence_number` of the last finished block that the client has. Later blocks are sent first. Without
    /// it, only the running reply is sent.
    after: Option<i64>,
    /// The form of `partial_args` in `tool_call_args_chunk`: `append` (default) for the next piece, `whole` for all
    /// arguments so far.
    #[param(inline)]
    args: Option<ArgumentsForm>,
}

/// Upgrades the connection, after all checks that can refuse it.
pub async fn open(
    State(app): State<App>,
    principal: Principal,
    (client, lease): (ClientIdentity, ConnectionLease),
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<SocketQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let end = app.service().path_tip(principal.user, chat, query.leaf, query.branch_id).await?;
    let Ok(upgrade) = upgrade else { return Ok(upgrade_required()) };
    if app.open_sockets().len() >= limits::SOCKETS {
        return Err(Problem::too_many(CodedMessage::uncoded("Too many WebSocket connections are open."), 5));
    }
    let upgrade = upgrade
        .protocols([SOCKET_PROTOCOL])
        .max_message_size(limits::SOCKET_MESSAGE_BYTES)
        .max_frame_size(limits::SOCKET_MESSAGE_BYTES);
    let form = query.args.unwrap_or_default();
    let token = app.open_sockets().token();
    let place = app.open_streams().open(Subscriber::new(principal.user, client));
    Ok(upgrade.on_upgrade(move |socket| async move {
        let connection = SocketConnection::new(app, principal.user, chat, end, (place, lease), form);
        with_calling_token(principal.token(), connection.run(socket, query.after)).await;
        drop(token);
    }))
}

/// Returns 426 for a request that is not a WebSocket handshake.
fn upgrade_required() -> Response {
    let detail = CodedMessage::uncoded("This address requires a WebSocket connection (RFC 6455, version 13).");
    let mut response = Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail).into_response();
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}
