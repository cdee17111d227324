//! Turnleaf's archive format: one JSON document with everything that makes up a chat, so that export and import are
//! lossless. `docs/ARCHIVE.md` specifies it for other programs.
//!
//! ```json
//! {"format": "turnleaf-archive", "version": 2, "program": "turnleaf 0.1.0", "exported_at": "…",
//!  "blobs": [ … ], "documents": [ … ], "projects": [ … ], "chats": [ {"chat": …, "imported_from": …, "tools": …,
//!  "turns": [ … ], "generations": [ … ], "exchanges": [ … ], "branches": [ … ]}, … ]}
//! ```
//!
//! Data of the installation is excluded: API keys, providers, drafts, tool grants, the journals of running replies.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::tools::server_instructions::ServerInstructions;
use crate::domain::tools::tool::OfferedTool;
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
pub(crate) use scan::value_count;
pub use spool::ScratchFile;
pub use spooled_chat::{ArchiveItem, ChatPart, SpooledChat, SpooledDocument};
pub use writer::ArchiveWriter;

/// The value of `format`.
pub const FORMAT: &str = "turnleaf-archive";
/// Rises when older versions of Turnleaf could no longer read the format. Since 2 a request may be stored as a delta.
pub const VERSION: u32 = 2;

/// The lists of an archive in the order in which they are imported.
const LISTS: [&str; 3] = ["blobs", "documents", "chats"];
const CHATS: usize = 2;

/// One chat with all of its branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedChat {
    pub chat: Chat,
    /// The origin of an earlier import, with the differences from its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<ImportOrigin>,
    /// In the order of `ord`: a turn follows its parent. Only finished turns.
    pub turns: Vec<Turn>,
    /// In the order of turn and step.
    pub generations: Vec<ArchivedGeneration>,
    pub exchanges: Vec<Exchange>,
    pub branches: Vec<ArchivedBranch>,
}

/// A branch with its system prompt and the tools that it offers in every request. `provider` and `model` may be null
/// or absent in an archive, for a branch from before branches had a lock; they are read as empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct ArchivedBranch {
    #[serde(flatten)]
    pub branch: Branch,
    pub system_prompt: String,
    /// `None` on branches that predate frozen tool lists.
    pub tools: Option<Vec<OfferedTool>>,
    /// The instructions of tool servers. Absent in archives of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_instructions: Vec<ServerInstructions>,
}

/// The members of an [`ArchivedBranch`] with a lock.
#[derive(Deserialize)]
struct LockedBranch {
    #[serde(flatten)]
    branch: Branch,
    system_prompt: String,
    tools: Option<Vec<OfferedTool>>,
    #[serde(default)]
    server_instructions: Vec<ServerInstructions>,
}

impl TryFrom<Map<String, Value>> for ArchivedBranch {
    type Error = serde_json::Error;

    fn try_from(mut members: Map<String, Value>) -> Result<Self, Self::Error> {
        for name in ["provider", "model"] {
            if members.get(name).is_none_or(Value::is_null) {
                members.insert(name.to_owned(), "".into());
            }
        }
        let LockedBranch { branch, system_prompt, tools, server_instructions } =
            serde_json::from_value(members.into())?;
        Ok(Self { branch, system_prompt, tools, server_instructions })
    }
}

/// One provider call with the exact bytes of request and response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedGeneration {
    pub id: GenerationId,
    pub turn_id: TurnId,
    /// Index among the generations of the turn, from 0.
    pub step: u32,
    pub provider: String,
    /// The API in whose format `raw` is written; `None` if it was not recorded.
    pub api: Option<String>,
    pub model_requested: String,
    pub model_returned: Option<String>,
    /// The request body as it was sent.
    pub request: ArchivedBytes,
    pub request_manifest: Value,
    /// `sse_events`, `chunks`, `stream_and_response`, `response` or `none`.
    pub raw_kind: String,
    /// True if the response is complete.
    pub raw_complete: bool,
    pub raw: Option<ArchivedBytes>,
    /// `complete`, `cancelled` or `error`.
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

/// An image or a file that a message or a document references.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedBlob {
    /// SHA-256 of the bytes, in lower-case hex.
    pub sha256: String,
    pub mime: String,
    /// The original file name, if it is known.
    pub name: Option<String>,
    pub bytes: ArchivedBytes,
}

/// A document with all of its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedDocument {
    pub id: DocumentId,
    pub title: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Oldest first.
    pub versions: Vec<ArchivedVersion>,
}

/// A version of a document, identified by its timestamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedVersion {
    pub version_timestamp: DateTime<Utc>,
    pub mime: String,
    pub content: String,
    pub notes: Vec<String>,
    /// The blob that the text was extracted from.
    pub origin: Option<String>,
}

/// The members before the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveHead {
    pub format: String,
    pub version: u32,
    pub program: String,
    pub exported_at: DateTime<Utc>,
}

impl ArchiveHead {
    /// Creates the head of a new archive.
    pub fn new(exported_at: DateTime<Utc>) -> Self {
        let program = concat!("turnleaf ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { format: FORMAT.to_owned(), version: VERSION, program, exported_at }
    }
}

#[cfg(test)]
mod tests;
