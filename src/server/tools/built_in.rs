//! The tools that Turnleaf brings: the time, a calculator, a web page as text, search in one's own chats.

use futures::future::BoxFuture;
use serde_json::Value;

use super::toolbox::{Caller, Described, Running};

/// What a built-in tool needs that this room does not have: the store.
pub trait Library: Send + Sync {
    /// Chats of the caller that have the words, newest first: as JSON that a model reads. The chat that asks is left out.
    fn search<'a>(&'a self, caller: &'a Caller, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Value, String>>;
}

/// All of them, in an order that stays.
pub fn described() -> Vec<Described> {
    Vec::new()
}

/// Runs one; `None` when there is no such tool.
pub fn run(tool: &str, arguments: Value, caller: Caller, library: std::sync::Arc<dyn Library>) -> Option<Running> {
    let _ = (tool, arguments, caller, library);
    None
}
