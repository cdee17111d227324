//! The start of a connection: its handshake and the first list of its tools.

use rmcp::RoleClient;
use rmcp::service::{ClientServiceExt, RunningService};
use rmcp::transport::Transport as Wire;

use crate::mcp::lifecycle::{self, Handshake, HandshakeRefusal};
use crate::mcp::listener::McpListener;
use crate::mcp::listing::ToolList;
use crate::mcp::log::ServerOutputLog;
use crate::mcp::{error_messages, listing};
use turnleaf_domain::CodedMessage;

/// The reason why a connection ended.
pub(super) enum ServerEnd {
    /// The server was removed or Turnleaf shuts down.
    Ended,
    /// A person requested a restart.
    Restart,
    /// A call did not react to its cancellation.
    Stuck,
    Failed {
        problem: CodedMessage,
        /// The server ended by itself; the exit of its program says why.
        is_gone: bool,
    },
    /// The server refused the handshake; another one may succeed.
    Refused { refusal: HandshakeRefusal, problem: CodedMessage },
}

/// A server that has answered, with its first tool list.
pub(super) struct StartedServer {
    pub(super) service: RunningService<RoleClient, McpListener>,
    pub(super) listener: McpListener,
    pub(super) list: ToolList,
}

/// Begins a connection over a transport, and lists the tools of its server.
///
/// # Errors
/// The end of the connection before its server was ready.
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
