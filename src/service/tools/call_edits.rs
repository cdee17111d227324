//! Arguments that a person edits before allowing a call (docs/adr/0069-edited-tool-calls.md).

use serde_json::Value;

use super::calls::{call_of, no_open_request};
use crate::{Service, ServiceError};
use turnleaf_domain::encoding::json_bounds;
use turnleaf_domain::tools::approval::ApprovalRequest;
use turnleaf_domain::tools::tool::{ToolOrigin, canonical_arguments};
use turnleaf_domain::{Block, BlockId, CodedMessage, Content, InvalidField, MessageCode, Turn, TurnId, UserId, limits};
use turnleaf_providers::json_text;
use turnleaf_tools::schema::find_fault;
use turnleaf_tools::server_file::parse_relaxed_json;
use turnleaf_tools::toolbox::{ToolCall, ToolCaller, listing_hash};

/// The field with the edited arguments.
const FIELD: &str = "arguments";

/// The open question about a call, with what a person needs to edit its arguments.
#[derive(Debug, Clone)]
pub struct CallQuestion {
    pub turn: Turn,
    pub block: BlockId,
    pub ask: ApprovalRequest,
    pub arguments: Value,
    /// The schema of the arguments; `None` if the tool does not exist any more.
    pub schema: Option<Value>,
    /// The titles of all tools of its server; empty for a built-in tool.
    pub server_tools: Vec<String>,
    /// Identifies these tools as they are described now ([`listing_hash`]).
    pub server_tools_hash: String,
}

impl Service {
    /// Returns the open question about a call.
    ///
    /// # Errors
    /// `NotFound` for a call of another user; `not_asked` for a call without a pending request.
    pub async fn call_question(
        &self,
        owner: UserId,
        turn: TurnId,
        block: BlockId,
    ) -> Result<CallQuestion, ServiceError> {
        let turn = self.current_turn(owner, turn).await?;
        let call = call_of(&turn, block)?;
        let ask = ApprovalRequest::from_block(call).filter(|_| !turn.status.is_terminal());
        let (ask, arguments) = (ask.ok_or_else(no_open_request)?, arguments_of(call).clone());
        let tool = self.tools().find_tool(owner, &origin_of(&ask)).await?;
        let server_tools = match ask.server.as_str() {
            "" => Vec::new(),
            server => self.tools().server_tools(owner, server, &self.tools().listings(owner).await?),
        };
        let (schema, server_tools_hash) = (tool.map(|tool| tool.schema), listing_hash(&server_tools));
        let server_tools = server_tools.into_iter().map(|tool| tool.title).collect();
        Ok(CallQuestion { turn, block, ask, arguments, schema, server_tools, server_tools_hash })
    }

    /// Checks edited arguments as the gate would check those of the model, and that they can be stored. Returns `None`
    /// if they are those of the call.
    pub(super) async fn checked_edit(
        &self,
        owner: UserId,
        (turn, call): (&Turn, &Block),
        ask: &ApprovalRequest,
        mut arguments: Value,
    ) -> Result<Option<Value>, ServiceError> {
        let wrong = |place: &str, reason: CodedMessage| InvalidField::new(format!("{FIELD}{place}"), reason);
        if !arguments.is_object() {
            return Err(wrong("", MessageCode::NotAnObject.into()).into());
        }
        let text = arguments.to_string();
        if text.len() > limits::TOOL_ARGS_BYTES {
            return Err(wrong("", MessageCode::IsTooLong.into()).into());
        }
        if let Err(error) = json_bounds::parse_bounded(&text) {
            return Err(wrong("", CodedMessage::uncoded(error.to_string())).into());
        }
        json_text::replace_escaped_nuls(&mut arguments, &text);
        if canonical_arguments(&arguments) == canonical_arguments(arguments_of(call)) {
            return Ok(None);
        }
        let origin = origin_of(ask);
        // Without the tool, the gate refuses the call.
        if let Some(tool) = self.tools().find_tool(owner, &origin).await?
            && let Some((place, words)) = find_fault(&tool.schema, &arguments)
        {
            return Err(wrong(&place, CodedMessage::uncoded(words)).into());
        }
        let caller = ToolCaller { owner, chat: turn.chat_id, turn: turn.id, block: call.id };
        let call = ToolCall { caller, origin, arguments, is_from_view: false };
        call.host().map_err(|refusal| wrong("/url", CodedMessage::uncoded(refusal)))?;
        Ok(Some(call.arguments))
    }
}

/// Parses arguments that a person wrote as text.
///
/// # Errors
/// `InvalidField` naming the line if they are not JSON.
pub fn parse_edited_arguments(text: &str) -> Result<Value, InvalidField> {
    parse_relaxed_json(text).map_err(|reason| InvalidField::new(FIELD, reason))
}

fn arguments_of(call: &Block) -> &Value {
    match &call.content {
        Content::ToolUse { arguments, .. } => arguments,
        _ => &Value::Null,
    }
}

fn origin_of(ask: &ApprovalRequest) -> ToolOrigin {
    match ask.server.as_str() {
        "" => ToolOrigin::BuiltIn { tool: ask.tool.clone() },
        server => ToolOrigin::Server { server: server.to_owned(), tool: ask.tool.clone() },
    }
}
