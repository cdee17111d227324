//! What a run needs of tools: whether a call may run, and running it. Narrow on purpose, so that runs are tested with a
//! stand-in and know nothing of servers, processes and policies.

use futures::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::name::wire_name;
use super::result::text_result;
use turnleaf_domain::approval::ApprovalRequest;
use turnleaf_domain::hidden_text::count_hidden_characters;
use turnleaf_domain::tool::{
    OfferedTool, ToolChoice, ToolLabel, ToolOrigin, ToolProgress, ToolSpec, canonical_arguments,
};
use turnleaf_domain::{BlockId, ChatId, TurnId, UserId};
use turnleaf_platform::hex::hex;

pub use super::result::{CallOutcome, CallResult, NewBlob};

/// For whom a tool runs.
#[derive(Debug, Clone, Copy)]
pub struct ToolCaller {
    pub owner: UserId,
    pub chat: ChatId,
    pub turn: TurnId,
    /// The block of the call: a call is run at most once by this name.
    pub block: BlockId,
}

/// A call with arguments that are JSON.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub caller: ToolCaller,
    pub origin: ToolOrigin,
    pub arguments: Value,
}

/// Whether a call may run now.
#[derive(Debug, Clone, PartialEq)]
pub enum GateDecision {
    Run,
    /// A person has to say so.
    Ask(ApprovalRequest),
    /// No; this is what the model is told, so that it can do better.
    Refuse(String),
}

/// A call that runs. Dropping it cancels it; what does not let go is ended behind the scenes.
pub struct RunningCall {
    pub result: BoxFuture<'static, CallResult>,
    /// How far it is, as far as it says so.
    pub progress: watch::Receiver<Option<ToolProgress>>,
}

impl RunningCall {
    /// A call that is over already.
    pub fn from_result(outcome: CallResult) -> Self {
        Self { result: Box::pin(std::future::ready(outcome)), progress: watch::Sender::new(None).subscribe() }
    }
}

/// A tool as whoever brings it describes it. All of it is text of a stranger where a server brings it: bounded and
/// cleaned, never trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescription {
    /// Its name there.
    pub tool: String,
    /// Its name for people; the name where nothing is said.
    pub title: String,
    pub description: String,
    /// A JSON Schema of the arguments.
    pub schema: Value,
    /// Turnleaf's own, without any effect and without a way out: it runs without asking unless a person says otherwise.
    pub is_harmless: bool,
    /// What its server claims about its effects (`read only`, `destructive`, `open world`): shown, never believed.
    pub hints: Vec<String>,
}

impl ToolDescription {
    /// As a model is offered it; `server` is the id of its server and its name for people, nothing for a built-in one.
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
        OfferedTool { spec, origin: Some(origin), called: Some(called) }
    }

    /// Of its schema and its description: what a lasting answer holds for.
    pub fn schema_hash(&self) -> String {
        hash(&[&canonical_arguments(&self.schema), &self.description])
    }

    /// What is asked about a call of it with these arguments. A question that a lasting answer about one host is given to
    /// names the host.
    pub fn approval_request(&self, server: &str, arguments: &Value, host: Option<&str>) -> ApprovalRequest {
        let schema_hash = self.schema_hash();
        let arguments = canonical_arguments(arguments);
        let parts = [server, &self.tool, &schema_hash, &arguments];
        let parts: Vec<&str> = parts.into_iter().chain(host).collect();
        ApprovalRequest {
            hash: hash(&parts),
            server: server.to_owned(),
            tool: self.tool.clone(),
            title: host.map_or_else(|| self.title.clone(), |host| format!("{} ({host})", self.title)),
            schema_hash,
            hidden_characters: count_hidden_characters(&arguments),
            note: None,
        }
    }
}

/// Of parts that cannot run into each other.
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
    /// Whether this call may run now: there is such a tool, it is on in the chat, its arguments are such as it takes, and
    /// nobody said otherwise. `granted` is the hash of what a person allowed ([`Ask::hash`]).
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, GateDecision>;

    fn run(&self, call: ToolCall) -> RunningCall;

    /// What a new branch offers to its model, in an order that stays.
    fn offered_tools<'a>(&'a self, owner: UserId, choice: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>>;

    /// Ends everything that runs.
    fn shut_down(&self) -> BoxFuture<'_, ()>;
}

/// What a model is told of a tool that is not there, or not for this chat.
pub const NOT_AVAILABLE: &str = "this tool is not available";

/// No tools at all.
pub struct NoTools;

impl Toolbox for NoTools {
    fn gate<'a>(&'a self, _: &'a ToolCall, _: Option<&'a str>) -> BoxFuture<'a, GateDecision> {
        Box::pin(std::future::ready(GateDecision::Refuse(NOT_AVAILABLE.into())))
    }

    fn run(&self, _: ToolCall) -> RunningCall {
        RunningCall::from_result(text_result(CallOutcome::Unavailable, NOT_AVAILABLE))
    }

    fn offered_tools<'a>(&'a self, _: UserId, _: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
