//! What a run needs of tools: whether a call may run, and running it. Narrow on purpose, so that runs are tested with a
//! stand-in and know nothing of servers, processes and policies.

use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::domain::approval::Ask;
use crate::domain::tool::{OfferedTool, ToolChoice, ToolOrigin};
use crate::domain::{BlockId, ChatId, TurnId, UserId};

/// For whom a tool runs.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub owner: UserId,
    pub chat: ChatId,
    pub turn: TurnId,
    /// The block of the call: a call is run at most once by this name.
    pub block: BlockId,
}

/// A call with arguments that are JSON.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub caller: Caller,
    pub origin: ToolOrigin,
    pub arguments: Value,
}

/// Whether a call may run now.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    Run,
    /// A person has to say so.
    Ask(Ask),
    /// No; this is what the model is told, so that it can do better.
    Refuse(String),
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// The tool said so.
    Failed,
    TimedOut,
    /// The server went away while it ran.
    Crashed,
    /// There is nobody to run it now.
    Unavailable,
    Cancelled,
}

/// A call's end, as it is stored: cleaned, and inside its bounds.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub fate: Fate,
    pub result: Value,
    /// Of the result's block: what kind of content it is, what was cut.
    pub metadata: Map<String, Value>,
    pub blobs: Vec<NewBlob>,
}

/// Bytes of a result that stand in no row.
#[derive(Debug, Clone)]
pub struct NewBlob {
    /// Hex.
    pub sha256: String,
    pub mime: String,
    pub bytes: Bytes,
}

/// A call that runs. Dropping it cancels it; what does not let go is ended behind the scenes.
pub struct Running {
    pub outcome: BoxFuture<'static, Outcome>,
    /// One line of how far it is ("3 of 10 · copying").
    pub progress: watch::Receiver<Option<String>>,
}

/// All tools that Turnleaf runs.
pub trait Toolbox: Send + Sync {
    /// Whether this call may run now: there is such a tool, it is on in the chat, its arguments are such as it takes, and
    /// nobody said otherwise. `granted` is the hash of what a person allowed ([`Ask::hash`]).
    fn gate<'a>(&'a self, call: &'a ToolCall, granted: Option<&'a str>) -> BoxFuture<'a, Gate>;

    fn run(&self, call: ToolCall) -> Running;

    /// What a new branch offers to its model, in an order that stays.
    fn offered<'a>(&'a self, owner: UserId, choice: &'a ToolChoice) -> BoxFuture<'a, Vec<OfferedTool>>;

    /// Ends everything that runs.
    fn shut_down(&self) -> BoxFuture<'_, ()>;
}
