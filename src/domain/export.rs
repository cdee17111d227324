//! What can be chosen of an export.

use serde::{Deserialize, Serialize};

/// How much is written of reasoning or of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportDetail {
    /// All of it, below a line that a reader opens.
    #[default]
    Folded,
    Full,
    LeftOut,
}

/// How much of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportOptions {
    pub reasoning: ExportDetail,
    pub tools: ExportDetail,
}
