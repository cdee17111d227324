//! The start of a connection: its handshake and the first list of its tools.

use rmcp::RoleClient;
use rmcp::service::ClientServiceExt;
use rmcp::transport::Transport as Wire;

use super::{ServerEnd, StartedServer};
use crate::mcp::lifecycle::{self, Handshake};
use crate::mcp::listener::McpListener;
use crate::mcp::log::ServerOutputLog;
use crate::mcp::{error_messages, listing};

/// Begins a connection over a transport, and lists the tools of its server.
///
/// # Errors
/// How it ended before its server was ready.
pub(super) async fn connect(
    wire: impl Wire<RoleClient> + 'static,
    listener: McpListener,
    handshake: Handshake,
    log: ServerOutputLog,
) -> Result<StartedServer, ServerEnd> {
    let secrets = listener.secrets.clone();
    let service = listener.clone().serve_with_lifecycle(wire, handshake.mode()).await;
    let service = service.map_err(|error| {
        let problem = error_messages::start_error(&error, &secrets);
        let is_gone = matches!(error, rmcp::service::ClientInitializeError::ConnectionClosed(_));
        match lifecycle::refusal(&handshake, &error) {
            Some(refusal) => ServerEnd::Refused { refusal, problem },
            None => ServerEnd::Failed { problem, is_gone },
        }
    })?;
    match listing::list(service.peer(), &secrets, &log).await {
        Ok(list) => Ok(StartedServer { service, listener, list }),
        Err(problem) => Err(ServerEnd::Failed { is_gone: service.peer().is_transport_closed(), problem }),
    }
}
