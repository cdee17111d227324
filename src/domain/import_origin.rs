//! Where a chat came from that was taken in from another program, and what of it is not as it was there: what an export of
//! it can therefore not have.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The model of replies whose source does not name it.
pub const UNKNOWN_MODEL: &str = "unknown";

/// The source of a chat that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportOrigin {
    /// The name of its format, such as `chatgpt`.
    pub format: String,
    /// The name of the file.
    pub file: String,
    pub imported_at: DateTime<Utc>,
    /// What the source had and this chat has not, or has otherwise; empty where everything came along.
    pub differences: Vec<ImportDifference>,
}

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportDifference {
    pub kind: ImportDifferenceKind,
    /// File, conversation and message; empty where it is about the whole.
    pub place: String,
    /// One English sentence.
    pub text: String,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportDifferenceKind {
    /// A conversation or a message was left out: it could not be read.
    LeftOut,
    /// Something was read otherwise than it stood there: a cycle was cut, a date put right, an id made.
    PutRight,
    /// Something is not kept: Turnleaf has no place for it, or the source does not bring it along.
    Lost,
}

impl ImportDifferenceKind {
    /// The word in reports and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeftOut => "left_out",
            Self::PutRight => "put_right",
            Self::Lost => "lost",
        }
    }
}
