//! The port between a run and its tools: whether a call may run, and running it. The interface is narrow so that runs
//! are tested with a fake and know nothing of servers, processes and policies.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::name::wire_name;
use super::question::CallQuestions;
use super::result::{ResultView, text_result};
use turnleaf_domain::messages::message_template::MessageArgs;
use turnleaf_domain::text::hidden_text::count_hidden_characters;
use turnleaf_domain::tools::approval::ApprovalRequest;
use turnleaf_domain::tools::tool::{
    OfferedTool, ToolChoice, ToolLabel, ToolOrigin, ToolProgress, ToolSpec, canonical_arguments,
};
use turnleaf_domain::{BlockId, ChatId, TurnId, UserId, limits};
use turnleaf_platform::hex::hex;

pub use super::result::{CallOutcome, CallResult, NewBlob};

/// The chat and turn that a tool runs for.
#[derive(Debug, Clone, Copy)]
pub struct ToolCaller {
    pub owner: UserId,
    pub chat: ChatId,
    pub turn: TurnId,
    /// The block of the call; its id is the idempotency key of the call, so a call runs at most once.
    pub block: BlockId,
}

/// A call whose arguments are valid JSON.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub caller: ToolCaller,
    pub origin: ToolOrigin,
    pub arguments: Value,
    /// True if a page of its server calls the tool, not a model.
    pub is_from_view: bool,
}

/// The decision of the gate about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum GateDecision {
    Run,
    /// A person has to approve the call.
    Ask(ApprovalRequest),
    /// The call is refused; the model gets this reason, so that it can correct itself.
    Refuse(String),
}

/// A running call. Dropping it cancels the call; a tool that does not react is stopped in the background.
pub struct RunningCall {
    pub result: BoxFuture<'static, CallResult>,
    /// The latest progress, if the tool reports any.
    pub progress: watch::Receiver<Option<ToolProgress>>,
    /// The tool's own limit for the whole call.
    pub limit: Duration,
    /// The questions of the tool to the user, if it can ask any.
    pub questions: Option<CallQuestions>,
    /// The page of the tool, as soon as its server gave it. It is shown also if the call is stopped.
    pub view: Option<watch::Receiver<Option<ResultView>>>,
}

impl RunningCall {
    /// Wraps the result of a call that has already finished.
    pub fn from_result(outcome: CallResult) -> Self {
        Self::new(Box::pin(std::future::ready(outcome)), watch::Sender::new(None).subscribe())
    }

    /// Creates a call with the usual limit.
    pub fn new(result: BoxFuture<'static, CallResult>, progress: watch::Receiver<Option<ToolProgress>>) -> Self {
        Self { result, progress, limit: limits::TOOL_TIME, questions: None, view: None }
    }
}

/// A tool as its server or Turnleaf describes it. Text from a server is untrusted: bounded and sanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescription {
    /// The name at its server.
    pub tool: String,
    /// The display name; the tool's name if there is no title.
    pub title: String,
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
    /// True for a built-in tool without side effects or network access: it runs without approval unless a person
    /// decides otherwise.
    pub is_harmless: bool,
    /// The server's claims about effects (`read only`, `destructive`, `open world`). They are displayed but not
    /// trusted.
    pub hints: Vec<String>,
    /// A small raster image of the server as `data:` URL. It is displayed but proves nothing.
    pub icon: Option<String>,
    /// The address of the page that its server has for its results (`ui://…`, MCP Apps).
    pub view: Option<String>,
    /// True if its server does not let its own pages call it.
    pub is_closed_to_views: bool,
    /// True if its server keeps it for its own pages.
    pub is_closed_to_models: bool,
}

impl ToolDescription {
    /// Creates the description of a tool without a title, for which its name stands, and without hints, icon and page.
    pub fn new(tool: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        let tool = tool.into();
        Self {
            title: tool.clone(),
            tool,
            description: description.into(),
            schema,
            is_harmless: false,
            hints: Vec::new(),
            icon: None,
            view: None,
            is_closed_to_views: false,
            is_closed_to_models: false,
        }
    }

    /// Returns the tool as it is offered to a model; `server` is the id and the display name of its server, `None`
    /// for a built-in tool.
    pub fn to_offered_tool(&self, server: Option<(&str, &str)>) -> OfferedTool {
        let tool = self.tool.clone();
        let called = ToolLabel { title: self.title.clone(), server: server.map(|(_, name)| name.to_owned()) };
        let server = server.map(|(id, _)| id);
        let origin = match server {
            None => ToolOrigin::BuiltIn { tool },
            Some(server) => ToolOrigin::Server { server: server.to_owned(), tool },
        };
        let spec = ToolSpec {
            name: wire_name(server, &self.tool),
            description: self.description.clone(),
            parameters: self.schema.clone(),
        };
        OfferedTool { spec, origin: Some(origin), called: Some(called), is_found: false }
    }

    /// Hashes the schema and the description. A remembered grant is valid only while this hash is unchanged.
    pub fn schema_hash(&self) -> String {
        hash(&[&canonical_arguments(&self.schema), &self.description])
    }

    /// Builds the approval request for a call with these arguments. It names the host if the grant would be limited
    /// to one.
    pub fn approval_request(&self, server: &str, arguments: &Value, host: Option<&str>) -> ApprovalRequest {
        let ask = ApprovalRequest {
            hash: String::new(),
            server: server.to_owned(),
            tool: self.tool.clone(),
            title: host.map_or_else(|| self.title.clone(), |host| format!("{} ({host})", self.title)),
            schema_hash: self.schema_hash(),
            hidden_characters: 0,
            hints: self.hints.clone(),
            note: None,
            note_code: None,
            note_args: MessageArgs::new(),
        };
        request_with_arguments(ask, arguments, host)
    }
}

/// Returns the approval request for the same tool with these arguments, which reach this host.
pub fn request_with_arguments(ask: ApprovalRequest, arguments: &Value, host: Option<&str>) -> ApprovalRequest {
    let arguments = canonical_arguments(arguments);
    let parts = [&*ask.server, &*ask.tool, &*ask.schema_hash, &*arguments];
    let hash = hash(&parts.into_iter().chain(host).collect::<Vec<_>>());
    ApprovalRequest { hash, hidden_characters: count_hidden_characters(&arguments), ..ask }
}

/// A tool that a server lists and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableTool {
    pub tool: String,
    pub why: String,
}

/// Hashes the names, the schemas and the descriptions of a server's tools, so that a permission covers only the tools
/// that were shown.
pub fn listing_hash(tools: &[ToolDescription]) -> String {
    let mut hashes: Vec<(&str, String)> = tools.iter().map(|tool| (tool.tool.as_str(), tool.schema_hash())).collect();
    hashes.sort_unstable();
    let parts: Vec<&str> = hashes.iter().flat_map(|(tool, hash)| [*tool, hash.as_str()]).collect();
    hash(&parts)
}

/// Hashes length-prefixed parts, so that different splits never collide.
fn hash(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    hex(digest.finalize())
}

/// All tools that Turnleaf runs.
pub trait Toolbox: Send + Sync {
    /// Decides whether a call may run now: the tool exists, is enabled in the chat, accepts the arguments and is not
    /// blocked by a policy. `granted` is the hash of the request that a person approved ([`ApprovalRequest::hash`]).
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, GateDecision>;

    fn run(&self, call: ToolCall) -> RunningCall;

    /// Forgets that this call waits for a sign-in: its owner wants it tried as it is, or it ended without running.
    fn end_sign_in_wait(&self, _call: &ToolCall, _is_tried: bool) {}

    /// Returns whether pages of its server may call this tool, as far as the server is concerned. What a person allows is
    /// the matter of the gate.
    fn is_open_to_views<'a>(&'a self, owner: UserId, origin: &'a ToolOrigin) -> BoxFuture<'a, bool>;

    /// Returns the tools that a new branch offers to its model, in a stable order.
    fn offered_tools<'a>(&'a self, owner: UserId, choice: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>>;

    /// Returns the full names of the tools that servers list and that cannot be offered to any model.
    fn unusable_tools(&self, _owner: UserId) -> Vec<String> {
        Vec::new()
    }

    /// Stops all running calls and servers.
    fn shut_down(&self) -> BoxFuture<'_, ()>;
}

/// The message to the model about a tool that does not exist or is not enabled in this chat.
pub const NOT_AVAILABLE: &str = "this tool is not available";

/// A toolbox without tools.
pub struct NoTools;

impl Toolbox for NoTools {
    fn gate<'a>(&'a self, _: &'a ToolCall, _: Option<&'a str>) -> BoxFuture<'a, GateDecision> {
        Box::pin(std::future::ready(GateDecision::Refuse(NOT_AVAILABLE.into())))
    }

    fn run(&self, _: ToolCall) -> RunningCall {
        RunningCall::from_result(text_result(CallOutcome::Unavailable, NOT_AVAILABLE))
    }

    fn is_open_to_views<'a>(&'a self, _: UserId, _: &'a ToolOrigin) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    fn offered_tools<'a>(&'a self, _: UserId, _: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
