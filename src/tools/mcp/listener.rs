//! The client side of the MCP protocol: receives progress, log messages, list changes and questions to the user, and
//! declares that pages of tools are shown. It offers no other capabilities to servers: no sampling (the trait refuses
//! it by default), no roots.

#![expect(deprecated, reason = "servers of earlier versions log and request folders, which is refused")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ListRootsRequestMethod, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, broadcast};

use super::elicitation::{self, RunningCalls};
use super::{app_view, sanitizer};
use turnleaf_domain::limits::{SERVER_NOTIFICATIONS, SERVER_PROGRESS_BYTES, TOOL_TAIL_LINES};
use turnleaf_domain::tools::elicitation::ElicitationAnswer;
use turnleaf_domain::tools::tool::ToolProgress;
use turnleaf_providers::redaction::SecretSet;

/// Reports that the user finished on the page of a question.
const ELICITATION_COMPLETE: &str = "notifications/elicitation/complete";

/// Progress of a call, bounded because a server may send text of any size.
#[derive(Debug, Clone)]
pub struct CallProgress {
    pub token: ProgressToken,
    pub done: f64,
    pub progress: ToolProgress,
    /// The server's own text; empty if it only counts.
    pub message: String,
}

/// A notification of a server during calls.
#[derive(Debug, Clone)]
pub enum ServerNotification {
    Progress(CallProgress),
    /// A line of the server's log; it names no call.
    Logged(String),
}

impl CallProgress {
    fn new(notification: &ProgressNotificationParam, secrets: &SecretSet) -> Self {
        let total = notification.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let count = format!("{}{total}", notification.progress);
        let message = notification
            .message
            .as_deref()
            .map(|message| sanitizer::clean_line(message, secrets, SERVER_PROGRESS_BYTES));
        let message = message.unwrap_or_default();
        let line = if message.is_empty() { count } else { format!("{count} · {message}") };
        let token = notification.progress_token.clone();
        let percent = notification.total.and_then(|total| ToolProgress::percent_of(notification.progress, total));
        let progress =
            ToolProgress { percent, ..ToolProgress::from_line(sanitizer::shorten(line, SERVER_PROGRESS_BYTES)) };
        Self { token, done: notification.progress, progress, message }
    }
}

/// The last progress lines of a call. Consecutive duplicates are merged.
#[derive(Debug, Default)]
pub struct ProgressTail(VecDeque<String>);

impl ProgressTail {
    pub fn push(&mut self, line: &str) {
        if line.is_empty() || self.0.back().is_some_and(|last| last == line) {
            return;
        }
        if self.0.len() == TOOL_TAIL_LINES {
            self.0.pop_front();
        }
        self.0.push_back(line.to_owned());
    }

    /// Returns no lines if there is only one, because that line is already shown next to the call.
    pub fn lines(&self) -> Vec<String> {
        if self.0.len() < 2 { Vec::new() } else { self.0.iter().cloned().collect() }
    }
}

/// Handles the notifications of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct McpListener {
    pub notifications: broadcast::Sender<ServerNotification>,
    pub list_changed: Arc<Notify>,
    /// The running calls, which the server's questions belong to.
    pub calls: RunningCalls,
    pub secrets: SecretSet,
    /// Counts the changes of the lists of resources and prompts.
    catalog_changes: Arc<AtomicU64>,
    /// The display name of the server.
    name: Arc<str>,
    /// The version of the protocol that is requested.
    version: ProtocolVersion,
}

impl McpListener {
    /// Creates a listener for the server with this display name, which redacts these credentials.
    pub fn new(name: &str, secrets: SecretSet, version: ProtocolVersion) -> Self {
        let notifications = broadcast::Sender::new(SERVER_NOTIFICATIONS);
        let (list_changed, calls) = (Arc::default(), RunningCalls::default());
        let catalog_changes = Arc::default();
        Self { notifications, list_changed, calls, secrets, catalog_changes, name: name.into(), version }
    }

    /// Returns how often the lists of resources and prompts have changed.
    pub fn catalog_changes(&self) -> u64 {
        self.catalog_changes.load(Ordering::Relaxed)
    }

    pub fn note_catalog_change(&self) {
        self.catalog_changes.fetch_add(1, Ordering::Relaxed);
    }
}

impl ClientHandler for McpListener {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("turnleaf", env!("CARGO_PKG_VERSION"));
        let elicitation = ElicitationCapability::default()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.extensions = Some(app_view::extensions());
        ClientConfig::new(capabilities, own).with_protocol_version(self.version.clone())
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // Sending fails if no call is subscribed.
        let _ = self.notifications.send(ServerNotification::Progress(CallProgress::new(&progress, &self.secrets)));
    }

    async fn on_logging_message(
        &self,
        notification: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let line = match notification.data {
            Value::String(text) => sanitizer::clean_line(&text, &self.secrets, SERVER_PROGRESS_BYTES),
            other => sanitizer::clean_line(&other.to_string(), &self.secrets, SERVER_PROGRESS_BYTES),
        };
        let _ = self.notifications.send(ServerNotification::Logged(line));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_catalog_change();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_catalog_change();
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let meta = serde_json::to_value(&context.meta).unwrap_or_default();
        let request = elicitation::read_request(&params, &meta, &self.name, &self.secrets)
            .map_err(|reason| ErrorData::invalid_params(reason, None))?;
        let is_form = request.page.is_none();
        let answer = match self.calls.find_asking() {
            Some(call) => tokio::select! {
                answer = call.ask(request) => answer,
                // The server took the question back; dropping the future withdraws it.
                () = context.ct.cancelled() => ElicitationAnswer::Cancel,
            },
            // Nobody waits for a call whose card could show the question.
            None => ElicitationAnswer::Cancel,
        };
        Ok(elicitation::to_result(answer, is_form))
    }

    async fn on_custom_notification(&self, notification: CustomNotification, _: NotificationContext<RoleClient>) {
        let id = notification.params.as_ref().and_then(|params| params.get("elicitationId")).and_then(Value::as_str);
        if let Some(id) = id.filter(|_| notification.method == ELICITATION_COMPLETE) {
            self.calls.complete(&elicitation::clean_id(id, &self.secrets));
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn progress_is_one_line_with_percent_when_total_is_known() {
        let progress_of = |progress: f64, total: Option<f64>, message: Option<&str>| {
            let mut params = ProgressNotificationParam::new(ProgressToken(NumberOrString::Number(1)), progress);
            params.total = total;
            params.message = message.map(str::to_owned);
            CallProgress::new(&params, &SecretSet::default()).progress
        };
        let is = |line: &str, percent: Option<u8>| ToolProgress { percent, ..ToolProgress::from_line(line) };
        assert_eq!(
            progress_of(3.0, Some(10.0), Some("copying\n\u{1b}[1mfiles\u{1b}[0m\0")),
            is("3 of 10 · copying files", Some(30))
        );
        assert_eq!(progress_of(0.5, Some(1.0), None), is("0.5 of 1", Some(50)));
        assert_eq!(progress_of(7.0, None, Some("")), is("7", None));
        for (done, total, percent) in [(3.0, 2.0, Some(100)), (-1.0, 2.0, Some(0)), (1.0, 0.0, None), (1.0, -2.0, None)]
        {
            assert_eq!(progress_of(done, Some(total), None).percent, percent, "{done} of {total}");
        }
        assert_eq!(progress_of(f64::NAN, Some(2.0), None).percent, None);
        assert!(progress_of(1e300, Some(1e300), Some(&"x".repeat(9999))).line.len() <= SERVER_PROGRESS_BYTES);
    }
    #[test]
    fn last_lines_are_kept_without_repeats() {
        let mut tail = ProgressTail::default();
        for line in ["one", "", "one"] {
            tail.push(line);
        }
        assert!(tail.lines().is_empty(), "one line stands beside the call");
        for n in 0..20 {
            tail.push(&format!("line {n}"));
            tail.push(&format!("line {n}"));
        }
        let expected: Vec<String> = (20 - TOOL_TAIL_LINES..20).map(|n| format!("line {n}")).collect();
        assert_eq!(tail.lines(), expected);
    }
}
