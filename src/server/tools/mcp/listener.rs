//! Turnleaf as a server of tools sees it: it hears progress and that the list has changed, and offers nothing to servers:
//! no model (the trait refuses that by itself), no questions to people, no folders.

#![expect(deprecated, reason = "servers of earlier versions still ask for folders, and are refused")]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, ErrorData,
    Implementation, ListRootsRequestMethod, ListRootsResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Notify, broadcast};

/// Progress that no call has taken up yet; more than this is only counted as a sign of life.
const UNREAD: usize = 256;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Listener {
    pub progress: broadcast::Sender<ProgressNotificationParam>,
    pub list_changed: Arc<Notify>,
}

impl Listener {
    pub fn new() -> Self {
        Self { progress: broadcast::Sender::new(UNREAD), list_changed: Arc::default() }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("turnleaf", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // Nobody may be listening.
        let _ = self.progress.send(progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>())
    }
}
