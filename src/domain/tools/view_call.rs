//! Calls of tools by views of tool servers (MCP Apps). They belong to no reply: no model asks for them or gets their
//! results.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ViewCallId;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewCallOutcome {
    Done,
    /// The tool reported an error or was stopped.
    Failed,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewCallEnd {
    pub outcome: ViewCallOutcome,
    /// The result as a model would get it.
    pub result: String,
    pub at: DateTime<Utc>,
}

/// A call of a tool by a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewCall {
    pub id: ViewCallId,
    /// The tool's name at its server.
    pub tool: String,
    /// JSON.
    pub arguments: String,
    pub began_at: DateTime<Utc>,
    /// `None` while it runs, and if its end is unknown.
    pub end: Option<ViewCallEnd>,
}
