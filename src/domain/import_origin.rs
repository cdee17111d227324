//! The origin of an imported chat and its differences from the source, which an export of it therefore cannot
//! contain.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The model name of replies whose source does not name one.
pub const UNKNOWN_MODEL: &str = "unknown";

/// The source of an imported chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportOrigin {
    /// The name of the format, such as `chatgpt`.
    pub format: String,
    /// The name of the imported file.
    pub file: String,
    pub imported_at: DateTime<Utc>,
    /// The differences from the source. Empty if everything was imported.
    pub differences: Vec<ImportDifference>,
}

/// One difference from the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportDifference {
    pub kind: ImportDifferenceKind,
    /// File, conversation and message. Empty if the difference concerns the whole import.
    pub place: String,
    /// An English sentence.
    pub text: String,
}

/// The kind of a difference, by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportDifferenceKind {
    /// A conversation or message was skipped because it could not be read.
    LeftOut,
    /// A value was corrected: a cycle was cut, a date fixed, an id created.
    PutRight,
    /// Information was lost: Turnleaf cannot store it, or the source does not include it.
    Lost,
}

impl ImportDifferenceKind {
    /// Returns the name in reports and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeftOut => "left_out",
            Self::PutRight => "put_right",
            Self::Lost => "lost",
        }
    }

    /// Returns the English words for people, in exports and on the command line.
    pub fn label(self) -> &'static str {
        match self {
            Self::LeftOut => "not imported",
            Self::PutRight => "corrected",
            Self::Lost => "not preserved",
        }
    }
}
