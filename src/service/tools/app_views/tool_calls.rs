//! Calls of tools by views: a view may call the tools of its own server that run without an approval in its chat. The
//! gate decides as it does for a model, and each call is stored before its tool runs. A view may also read the resources
//! of its own server, which is stored in the same list.

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{StoredAppView, answer_of};
use crate::tools::server_content::{check_resource_uri, unavailable};
use crate::{Service, ServiceError};
use turnleaf_domain::id::is_imported;
use turnleaf_domain::tools::tool::ToolOrigin;
use turnleaf_domain::tools::tool_output::{AppView, render, value_to_text};
use turnleaf_domain::tools::view_call::{ViewCall, ViewCallEnd, ViewCallOutcome};
use turnleaf_domain::{BlockId, InvalidField, TurnId, UserId, ViewCallId, limits};
use turnleaf_platform::ids;
use turnleaf_store::branches;
use turnleaf_store::tools::view_calls::{self, NewViewCall};
use turnleaf_tools::result::text_result;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, GateDecision, RunningCall, ToolCall, ToolCaller};

/// The method of the protocol, under which reading a resource is listed among the calls of a view.
const RESOURCE_READ: &str = "resources/read";

impl Service {
    /// Runs a tool for the view of a call's result; returns the result as `tools/call` of the protocol gives it. A
    /// caller that goes away cancels the call.
    ///
    /// # Errors
    /// `InvalidField` for too long arguments. `NotFound` for a view of another user, and for a tool that the view may
    /// not call: one of another server, one that its server keeps for models, one that needs an approval or is
    /// forbidden; any tool in an imported chat; and one more than a view may call.
    pub async fn call_tool_from_view(
        &self,
        owner: UserId,
        (turn, block): (TurnId, BlockId),
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, ServiceError> {
        let view = self.app_view(owner, turn, block).await?;
        let call = self.tool_call_of_view(owner, &view, tool, arguments).await?;
        let toolbox = self.supervisor().toolbox().clone();
        let may_run =
            toolbox.is_open_to_views(owner, &call.origin).await && toolbox.gate(&call, None).await == GateDecision::Run;
        if !may_run {
            return Err(ServiceError::NotFound);
        }
        let id = self.begin_view_call(owner, block, (tool, &call.arguments)).await?;
        let RunningCall { result, limit, .. } = toolbox.run(call);
        // The toolbox enforces a limit of its own, as for a model. There is nobody to answer questions of the tool.
        let most = limit + limits::TOOL_STOP + limits::APP_VIEW_TIME + limits::TOOL_PICTURES_TIME;
        let late = || text_result(CallOutcome::TimedOut, "the tool took too long");
        let outcome = timeout(most, result).await.unwrap_or_else(|_| late());
        let (answer, end) = self.end_of_view_call(outcome);
        self.end_view_call(owner, id, end).await?;
        Ok(answer)
    }

    /// Reads a resource of the view's own server; returns it as `resources/read` of the protocol gives it.
    ///
    /// # Errors
    /// `InvalidField` for an address that is none. `NotFound` for a view of another user, for one in an imported chat or
    /// of a disabled server, and for one call more than a view may make. `server_unavailable` if it cannot be read.
    pub async fn read_resource_from_view(
        &self,
        owner: UserId,
        (turn, block): (TurnId, BlockId),
        uri: &str,
    ) -> Result<Value, ServiceError> {
        check_resource_uri(uri)?;
        let view = self.app_view(owner, turn, block).await?;
        let server = self.server_of_view(&view).await?;
        if self.tools().offerings(owner).await?.iter().all(|offering| offering.server != server) {
            return Err(ServiceError::NotFound);
        }
        let id = self.begin_view_call(owner, block, (RESOURCE_READ, &json!({ "uri": uri }))).await?;
        let key = self.tools().server_key(owner, &server);
        let read = self.tools().servers().read_resource_for_view(&key, uri).await;
        let (outcome, mut shown) = match &read {
            Ok(contents) => (ViewCallOutcome::Done, contents.to_string()),
            Err(reason) => (ViewCallOutcome::Failed, reason.to_string()),
        };
        shown.truncate(shown.floor_char_boundary(limits::TOOL_OUTPUT_BYTES.min(shown.len())));
        self.end_view_call(owner, id, ViewCallEnd { outcome, result: shown, at: self.clock().now() }).await?;
        read.map_err(unavailable)
    }

    async fn end_view_call(&self, owner: UserId, id: ViewCallId, end: ViewCallEnd) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        view_calls::end(&mut tx, owner, id, &end).await?;
        Ok(tx.commit().await?)
    }

    /// Returns the calls that the view of this call's result has made, oldest first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn view_calls(&self, owner: UserId, block: BlockId) -> Result<Vec<ViewCall>, ServiceError> {
        Ok(view_calls::list_of_block(self.db(), owner, block).await?)
    }

    /// Returns the call of a tool of the view's own server.
    async fn tool_call_of_view(
        &self,
        owner: UserId,
        view: &StoredAppView,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolCall, ServiceError> {
        let (turn, server) = (&view.turn, self.server_of_view(view).await?);
        // The id of the block is that of one call, so each call of a view has its own.
        let caller = ToolCaller { owner, chat: turn.chat_id, turn: turn.id, block: ids::mint() };
        let origin = ToolOrigin::Server { server, tool: tool.to_owned() };
        Ok(ToolCall { caller, origin, arguments: Value::Object(arguments), is_from_view: true })
    }

    /// Returns the id of the server that a view is from.
    async fn server_of_view(&self, view: &StoredAppView) -> Result<String, ServiceError> {
        // Nobody approved the call of an imported chat here.
        if is_imported(view.turn.id.uuid()) {
            return Err(ServiceError::NotFound);
        }
        let frozen = branches::frozen(self.db(), view.turn.branch_id).await?;
        let offered = frozen.and_then(|frozen| frozen.tools).unwrap_or_default();
        let shown = offered.into_iter().find(|known| known.spec.name == view.wire_name).and_then(|known| known.origin);
        match shown {
            Some(ToolOrigin::Server { server, .. }) => Ok(server),
            _ => Err(ServiceError::NotFound),
        }
    }

    async fn begin_view_call(
        &self,
        owner: UserId,
        block: BlockId,
        (tool, arguments): (&str, &Value),
    ) -> Result<ViewCallId, ServiceError> {
        let arguments = arguments.to_string();
        if arguments.len() > limits::TOOL_OUTPUT_BYTES {
            return Err(InvalidField::too_long("arguments", limits::TOOL_OUTPUT_BYTES).into());
        }
        let id = ids::mint();
        let call = NewViewCall { id, block, tool, arguments: &arguments, began_at: self.clock().now() };
        let mut tx = self.db().begin().await?;
        if !view_calls::begin(&mut tx, owner, call, limits::VIEW_CALLS).await? {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        Ok(id)
    }

    /// Returns what the view is told, and what is stored.
    fn end_of_view_call(&self, outcome: CallResult) -> (Value, ViewCallEnd) {
        let CallResult { outcome, result, metadata, blobs, .. } = outcome;
        let is_done = outcome == CallOutcome::Done;
        let metadata = Value::Object(metadata);
        let whole = AppView::find(&metadata).and_then(|view| view.answer);
        let whole = whole.and_then(|sha256| blobs.iter().find(|blob| blob.sha256 == sha256));
        let answer = whole.and_then(|blob| serde_json::from_slice(&blob.bytes).ok());
        let answer = answer.unwrap_or_else(|| answer_of(&result, !is_done));
        let mut shown = value_to_text(render(&result, &metadata));
        shown.truncate(shown.floor_char_boundary(limits::TOOL_OUTPUT_BYTES.min(shown.len())));
        let outcome = if is_done { ViewCallOutcome::Done } else { ViewCallOutcome::Failed };
        (answer, ViewCallEnd { outcome, result: shown, at: self.clock().now() })
    }
}
