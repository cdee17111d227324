//! Turnleaf's own archive: one JSON document with everything that a chat is made of, so that a chat which is written and
//! read again is the same chat. `docs/ARCHIVE.md` describes it for those who read it with other programs.
//!
//! ```json
//! {"format": "turnleaf-archive", "version": 2, "program": "turnleaf 0.1.0", "exported_at": "…",
//!  "blobs": [ … ], "documents": [ … ], "chats": [ {"chat": …, "imported_from": …, "tools": …, "turns": [ … ],
//!  "generations": [ … ], "exchanges": [ … ], "branches": [ … ]}, … ]}
//! ```
//!
//! Not for what belongs to an installation: keys, providers, drafts, answers about tools, the journal of a running reply.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::tool::OfferedTool;
use crate::domain::{
    Branch, Chat, CostBasis, DocumentId, Exchange, Failure, GenerationId, ImportOrigin, Turn, TurnId, Usage,
};

mod branch_order;
mod bytes;
mod check;
mod id_replacement;
mod reader;
mod request_delta;
mod resume_points;
mod scan;
mod shape;
mod spool;
mod spool_writer;
mod spooled_chat;
mod writer;

pub use bytes::ArchivedBytes;
pub use check::check_chat;
pub use id_replacement::ReplaceIds;
pub(crate) use reader::{detect_version, read};
pub use spool::ScratchFile;
pub use spooled_chat::{ArchiveItem, ChatPart, SpooledChat, SpooledDocument};
pub use writer::ArchiveWriter;

/// What `format` says.
pub const FORMAT: &str = "turnleaf-archive";
/// Rises when an older Turnleaf could not read it any more. Since 2 a call may be written after another.
pub const VERSION: u32 = 2;

/// The lists of an archive, in the order in which they are taken.
const LISTS: [&str; 3] = ["blobs", "documents", "chats"];
const CHATS: usize = 2;

/// One chat with all of its branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedChat {
    pub chat: Chat,
    /// Where it came from before, with what did not come along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<ImportOrigin>,
    /// By `ord`: a turn stands behind the one that it hangs on. Only such as are over.
    pub turns: Vec<Turn>,
    /// By turn and step.
    pub generations: Vec<ArchivedGeneration>,
    pub exchanges: Vec<Exchange>,
    pub branches: Vec<ArchivedBranch>,
}

/// A branch with what it says to its model in every request the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedBranch {
    #[serde(flatten)]
    pub branch: Branch,
    pub system_prompt: String,
    /// `None` on branches from before tools were fixed with a branch.
    pub tools: Option<Vec<OfferedTool>>,
}

/// One call of a provider, with the bytes that went out and came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedGeneration {
    pub id: GenerationId,
    pub turn_id: TurnId,
    /// Place among the turn's calls, from 0.
    pub step: u32,
    pub provider: String,
    /// The API that `raw` is written in; none where it was not noted.
    pub api: Option<String>,
    pub model_requested: String,
    pub model_returned: Option<String>,
    /// The body as it was sent.
    pub request: ArchivedBytes,
    pub request_manifest: Value,
    /// `sse_events`, `chunks`, `stream_and_response`, `response` or `none`.
    pub raw_kind: String,
    /// Whether the response came to its own end.
    pub raw_complete: bool,
    pub raw: Option<ArchivedBytes>,
    /// `complete`, `on_cancel` or `error`.
    pub status: String,
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// Millionths of a US dollar.
    pub cost_micros: Option<u64>,
    pub cost_basis: Option<CostBasis>,
    pub price_version: Option<String>,
    pub error: Option<Failure>,
    pub first_token_at: Option<DateTime<Utc>>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// A picture or a file that a message or a document names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedBlob {
    /// Of the bytes, in lower-case hex.
    pub sha256: String,
    pub mime: String,
    /// The name that it came under, where it is known.
    pub name: Option<String>,
    pub bytes: ArchivedBytes,
}

/// A document with the versions that it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedDocument {
    pub id: DocumentId,
    pub title: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The oldest first.
    pub versions: Vec<ArchivedVersion>,
}

/// A version of a document, named by its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedVersion {
    pub version_timestamp: DateTime<Utc>,
    pub mime: String,
    pub content: String,
    pub notes: Vec<String>,
    /// The blob that it was read from.
    pub origin: Option<String>,
}

/// What stands before the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveHead {
    pub format: String,
    pub version: u32,
    pub program: String,
    pub exported_at: DateTime<Utc>,
}

impl ArchiveHead {
    /// The head of an archive that is written now.
    pub fn new(exported_at: DateTime<Utc>) -> Self {
        let program = concat!("turnleaf ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { format: FORMAT.to_owned(), version: VERSION, program, exported_at }
    }
}

#[cfg(test)]
mod tests;
