//! The pages of tool servers for the results of their tools (MCP Apps), as they were stored with the results. Nothing
//! is requested from a server to show one, so a page is what it was when its call ended. `tool_calls` runs the
//! tools that a page calls, and reads the resources that it asks for.

mod tool_calls;

use bytes::Bytes;
use serde_json::{Value, json};

use super::calls::call_of;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::tools::tool::ToolLabel;
use turnleaf_domain::tools::tool_output::{AppView, value_to_text};
use turnleaf_domain::{Block, BlockId, Content, Turn, TurnId, UserId};

/// A call whose result has a page.
#[derive(Debug, Clone)]
pub struct StoredAppView {
    pub turn: Turn,
    /// The name of the tool at its server, and its display name.
    pub tool: String,
    pub title: String,
    /// The display name of the server.
    pub server: String,
    /// The arguments with which the call ran.
    pub arguments: Value,
    /// The name of the tool in the requests to its model.
    wire_name: String,
    /// True if the call was stopped before it had a result.
    pub is_stopped: bool,
    page: String,
    answer: Option<String>,
    /// The stored result, which may be shorter than the server's.
    result: Value,
}

impl Service {
    /// Returns the call with this block and the page of its result.
    ///
    /// # Errors
    /// `NotFound` for a call of another user, and for one whose result has no page.
    pub async fn app_view(&self, owner: UserId, turn: TurnId, block: BlockId) -> Result<StoredAppView, ServiceError> {
        let turn = self.turn(owner, turn).await?;
        StoredAppView::find(turn, block)
    }

    /// Returns the HTML of the page, which is untrusted.
    ///
    /// # Errors
    /// `NotFound` if it is gone.
    pub async fn app_view_page(&self, owner: UserId, view: &StoredAppView) -> Result<Bytes, ServiceError> {
        Ok(self.blob(owner, &view.page).await?.bytes)
    }

    /// Returns the result that the page receives, as `tools/call` of the protocol gives it.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn app_view_answer(&self, owner: UserId, view: &StoredAppView) -> Result<Value, ServiceError> {
        let stored = match &view.answer {
            Some(sha256) => match self.blob(owner, sha256).await {
                Ok(blob) => serde_json::from_slice(&blob.bytes).ok(),
                Err(ServiceError::NotFound) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        Ok(stored.unwrap_or_else(|| answer_of(&view.result, false)))
    }
}

impl StoredAppView {
    fn find(turn: Turn, block: BlockId) -> Result<Self, ServiceError> {
        let call = call_of(&turn, block)?;
        let Content::ToolUse { tool_name, arguments, status, .. } = &call.content else {
            return Err(ServiceError::NotFound);
        };
        let of_call = |known: &&Block| known.parent_block_id == Some(block);
        let mut results = turn.blocks.iter().filter(of_call).filter_map(|known| match &known.content {
            Content::ToolResult { result, metadata, .. } => Some((result, AppView::find(metadata)?)),
            _ => None,
        });
        let (result, view) = results.next_back().ok_or(ServiceError::NotFound)?;
        let page = view.page.ok_or(ServiceError::NotFound)?.to_owned();
        let label = |key: &str| call.block_metadata.get(ToolLabel::KEY)?.get(key)?.as_str().map(str::to_owned);
        let tool = view.tool.map_or_else(|| tool_name.clone(), str::to_owned);
        let (answer, result) = (view.answer.map(str::to_owned), result.clone());
        let title = label("title").unwrap_or_else(|| tool.clone());
        let (server, arguments) = (label("server").unwrap_or_default(), arguments.clone());
        let (wire_name, is_stopped) = (tool_name.clone(), *status == ToolStatus::Cancelled);
        Ok(Self { tool, title, server, arguments, wire_name, is_stopped, page, answer, result, turn })
    }
}

/// Returns a stored result in the form of the protocol.
fn answer_of(result: &Value, is_error: bool) -> Value {
    let text = json!({ "type": "text", "text": value_to_text(result.clone()) });
    let mut answer = json!({ "content": [text], "isError": is_error });
    if result.is_object() {
        answer["structuredContent"] = result.clone();
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::fixtures;

    fn turn(metadata: Value) -> (Turn, BlockId) {
        let mut call =
            fixtures::block(2, 0, fixtures::tool_use("c", "w__weather", json!({ "in": "x" }), ToolStatus::Done));
        call.block_metadata = json!({ "tool": { "title": "Weather", "server": "Skies" } });
        let content = Content::ToolResult {
            tool_use_id: "c".into(),
            tool_name: "w__weather".into(),
            result: json!({ "sky": "blue" }),
            success: true,
            is_error: false,
            metadata,
        };
        let result = Block { parent_block_id: Some(call.id), ..fixtures::block(2, 1, content) };
        let id = call.id;
        let mut turn = fixtures::reply(2, []);
        turn.blocks = vec![call, result];
        (turn, id)
    }

    #[test]
    fn page_is_found_by_its_call() {
        let view = AppView { uri: "ui://w", tool: Some("weather"), page: Some("p"), answer: None };
        let (turn, call) = turn(json!({ AppView::KEY: view.to_value() }));
        let result = turn.blocks[1].id;
        let found = StoredAppView::find(turn.clone(), call).unwrap();
        let named = (found.tool.as_str(), found.title.as_str(), found.server.as_str(), found.page.as_str());
        assert_eq!(named, ("weather", "Weather", "Skies", "p"));
        assert_eq!((&found.arguments, found.is_stopped), (&json!({ "in": "x" }), false));
        let told = answer_of(&found.result, false);
        assert_eq!((&told["structuredContent"], &told["isError"]), (&json!({ "sky": "blue" }), &json!(false)));
        assert!(matches!(StoredAppView::find(turn, result), Err(ServiceError::NotFound)));
    }

    #[test]
    fn result_without_page_is_not_found() {
        let missing = AppView { uri: "ui://w", tool: None, page: None, answer: None };
        for metadata in [Value::Null, json!({ AppView::KEY: missing.to_value() })] {
            let (turn, call) = turn(metadata);
            assert!(matches!(StoredAppView::find(turn, call), Err(ServiceError::NotFound)));
        }
    }
}
