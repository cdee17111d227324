//! Restarts and tests of tool servers: both return the status of the server once it is known.

use super::view::ToolServerView;
use crate::{Service, ServiceError};
use turnleaf_domain::{MessageCode, UserId, limits};
use turnleaf_tools::mcp::McpServerState;

impl Service {
    /// Restarts a server in any state, and returns its status once it has listed its tools or failed.
    pub async fn restart_tool_server(&self, owner: UserId, id: &str) -> Result<ToolServerView, ServiceError> {
        let server = self.tool_server(owner, id).await?;
        if matches!(server.status.state, "off" | "headers_unreadable") {
            return Err(ServiceError::conflict("server_off", server.status.message()));
        }
        // Others may be using it. One that has failed starts again when it is tested or called.
        if server.locked && !self.tools().is_keeper(owner) {
            let (code, message) = ("server_for_owner", MessageCode::ServerForOwner.with("name", server.name));
            return Err(ServiceError::Forbidden { code, message, extra: Box::default() });
        }
        self.start_tool_server_again(owner, id).await
    }

    async fn start_tool_server_again(&self, owner: UserId, id: &str) -> Result<ToolServerView, ServiceError> {
        self.tools().servers().restart(&self.tools().server_key(owner, id));
        self.wait_for_tool_server(owner, id).await
    }

    /// Returns the status of a server once it is known: waits for a starting one, restarts a failed one.
    pub async fn test_tool_server(&self, owner: UserId, id: &str) -> Result<ToolServerView, ServiceError> {
        let status = self.tools().servers().status(&self.tools().server_key(owner, id));
        match status.map(|status| status.state) {
            Some(McpServerState::Failed) => self.start_tool_server_again(owner, id).await,
            _ => self.wait_for_tool_server(owner, id).await,
        }
    }

    async fn wait_for_tool_server(&self, owner: UserId, id: &str) -> Result<ToolServerView, ServiceError> {
        let key = self.tools().server_key(owner, id);
        // A page or request waits for this; a slower server continues to start in the background.
        let _ = tokio::time::timeout(limits::CONNECT, self.tools().servers().tools(&key)).await;
        self.tool_server(owner, id).await
    }
}
