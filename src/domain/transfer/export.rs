//! The options of an export.

use serde::{Deserialize, Serialize};

/// The level of detail for reasoning or tool calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportDetail {
    /// Complete, but collapsed behind a summary line.
    #[default]
    Folded,
    Full,
    LeftOut,
}

/// The detail of reasoning and of tool calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportOptions {
    pub reasoning: ExportDetail,
    pub tools: ExportDetail,
}
