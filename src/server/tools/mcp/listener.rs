//! Turnleaf as a server of tools sees it: it hears progress and that the list has changed, and offers nothing to servers:
//! no model (the trait refuses that by itself), no questions to people, no folders.

#![expect(deprecated, reason = "servers of earlier versions still ask for folders, and are refused")]

use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, ErrorData,
    Implementation, ListRootsRequestMethod, ListRootsResult, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::{Notify, broadcast};

use super::clean;
use crate::domain::tool::ToolProgress;

/// The longest line of progress.
const LINE_BYTES: usize = 300;
/// Progress that no call has taken up yet; more than this is only counted as a sign of life.
const UNREAD: usize = 256;

/// How far a call is, in bounds: what a server says of it may be as large as a message.
#[derive(Debug, Clone)]
pub struct Progress {
    pub token: ProgressToken,
    pub done: f64,
    pub told: ToolProgress,
}

impl Progress {
    fn new(said: &ProgressNotificationParam) -> Self {
        let total = said.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let count = format!("{}{total}", said.progress);
        let message = said.message.as_deref().map(|message| clean::line(message, LINE_BYTES));
        let line = match message.filter(|message| !message.is_empty()) {
            Some(message) => format!("{count} · {message}"),
            None => count,
        };
        let token = said.progress_token.clone();
        let percent = said.total.and_then(|total| ToolProgress::percent_of(said.progress, total));
        Self { token, done: said.progress, told: ToolProgress { line: clean::shorten(line, LINE_BYTES), percent } }
    }
}

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Listener {
    pub progress: broadcast::Sender<Progress>,
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
        let _ = self.progress.send(Progress::new(&progress));
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

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn progress_is_one_line_and_a_share_where_there_is_a_whole() {
        let said = |progress: f64, total: Option<f64>, message: Option<&str>| {
            let mut said = ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(1)), progress);
            said.total = total;
            said.message = message.map(str::to_owned);
            Progress::new(&said).told
        };
        let is = |line: &str, percent: Option<u8>| ToolProgress { line: line.to_owned(), percent };
        assert_eq!(
            said(3.0, Some(10.0), Some("copying\n\u{1b}[1mfiles\u{1b}[0m\0")),
            is("3 of 10 · copying files", Some(30))
        );
        assert_eq!(said(0.5, Some(1.0), None), is("0.5 of 1", Some(50)));
        assert_eq!(said(7.0, None, Some("")), is("7", None));
        for (done, total, percent) in [(3.0, 2.0, Some(100)), (-1.0, 2.0, Some(0)), (1.0, 0.0, None), (1.0, -2.0, None)]
        {
            assert_eq!(said(done, Some(total), None).percent, percent, "{done} of {total}");
        }
        assert_eq!(said(f64::NAN, Some(2.0), None).percent, None);
        assert!(said(1e300, Some(1e300), Some(&"x".repeat(9999))).line.len() <= LINE_BYTES);
    }
}
