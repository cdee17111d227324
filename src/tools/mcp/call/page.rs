//! The page of a call's tool (MCP Apps), which is read while a longer call runs, or after its end.

use std::sync::PoisonError;

use rmcp::model::ServerResult;
use tokio::time::{sleep, timeout};

use super::{CallEnd, McpCall};
use crate::mcp::app_view::{self, EmbeddedPage};
use crate::mcp::server::McpConnection;
use crate::result::{CallOutcome, CallResult, ResultView};
use turnleaf_domain::MessageCode;
use turnleaf_domain::limits::{APP_VIEW_EARLY, APP_VIEW_TIME};

impl McpCall {
    /// Adds the tool's page to a result. The call has ended, so a server that does not give the page costs nothing but
    /// the page.
    pub(super) async fn with_view(&self, connection: &McpConnection, mut outcome: CallResult) -> CallResult {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(uri), Some(answer)) = (self.view.get(), answer) else { return outcome };
        if outcome.outcome != CallOutcome::Done {
            return outcome;
        }
        let early = self.page.borrow().clone();
        let view = match early {
            Some(view) => view,
            None => tokio::select! {
                view = self.read_page(connection, uri) => view,
                () = self.stop.cancelled() => return outcome,
            },
        };
        let answer = match view.page {
            Some(_) => app_view::told_answer(self.server.result_secrets(), answer).await,
            None => None,
        };
        ResultView { answer, ..view }.attach_to(&mut outcome);
        outcome
    }

    /// Keeps the answer of the server if there is a page to be told it. A page that the answer embeds is shown instead of
    /// the one that the tool names.
    pub(super) fn keep_answer(&self, answer: Option<ServerResult>, page: Option<EmbeddedPage>) {
        if let Some(EmbeddedPage { uri, page }) = page {
            let _ = self.view.set(uri.clone());
            let view = ResultView { tool: self.tool.clone(), uri, page: Some(page), answer: None };
            self.page.send_replace(Some(view));
        }
        if self.view.get().is_some() {
            *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        }
    }

    async fn read_page(&self, connection: &McpConnection, uri: &str) -> ResultView {
        let read = app_view::read_page(&connection.peer, self.server.result_secrets(), uri);
        let page = timeout(APP_VIEW_TIME, read).await.unwrap_or_else(|_| Err(MessageCode::NoTimelyResponse.into()));
        if let Err(reason) = &page {
            self.server.log.add(&format!("(the page `{uri}` of a tool is not shown: {reason})"));
        }
        ResultView { tool: self.tool.clone(), uri: uri.to_owned(), page: page.ok(), answer: None }
    }

    /// Reads the page while a call runs that takes some time: it is shown also if such a call is stopped. Never ends.
    pub(super) async fn read_page_early(&self, connection: &McpConnection) -> CallEnd {
        if let Some(uri) = self.view.get() {
            sleep(APP_VIEW_EARLY).await;
            let view = self.read_page(connection, uri).await;
            // A server that does one thing at a time gives the page after the call.
            if view.page.is_some() {
                self.page.send_replace(Some(view));
            }
        }
        std::future::pending().await
    }
}
