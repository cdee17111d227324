//! The metadata files next to git's own files. They hold data that may change later, such as titles and branch names,
//! and the provider and model that each branch is locked to.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::{Branch, Chat, Exchange, ImportDifference, ImportOrigin, ModelLock};

/// Turnleaf's metadata file.
pub const METADATA_FILE: &str = "turnleaf.json";
/// The locks alone, by branch, under the name that other programs know.
pub const LOCKS_FILE: &str = "rt-branch-config.json";
const FORMAT: &str = "turnleaf-git";
/// Rises when older readers could no longer read the format.
pub const VERSION: u32 = 1;

/// The lock and the system prompt of a branch, as the tree of each of its turns contains them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BranchManifest {
    #[serde(flatten)]
    pub lock: ModelLock,
    #[serde(default)]
    pub system_prompt: String,
}

/// The data of a chat that a repository has outside of its commits.
pub struct ChatRecord {
    pub chat: Chat,
    pub imported_from: Option<ImportOrigin>,
    pub branches: Vec<Branch>,
    pub exchanges: Vec<Exchange>,
    /// The parts that could not be read during the export.
    pub damaged: Vec<ImportDifference>,
}

/// The content of the metadata file.
#[derive(Serialize)]
pub struct RepositoryMetadata<'r> {
    format: &'static str,
    version: u32,
    chat: &'r Chat,
    /// By ref names.
    branches: Map<String, Value>,
    exchanges: &'r [Exchange],
    #[serde(skip_serializing_if = "Option::is_none")]
    imported_from: Option<&'r ImportOrigin>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    damaged: &'r [ImportDifference],
}

impl<'r> RepositoryMetadata<'r> {
    /// Creates the metadata; `names` are the ref names of the branches.
    pub fn new(record: &'r ChatRecord, names: &[String]) -> Self {
        let branches = names.iter().zip(&record.branches);
        let branches = branches.filter_map(|(name, branch)| Some((name.clone(), serde_json::to_value(branch).ok()?)));
        Self {
            format: FORMAT,
            version: VERSION,
            chat: &record.chat,
            branches: branches.collect(),
            exchanges: &record.exchanges,
            imported_from: record.imported_from.as_ref(),
            damaged: &record.damaged,
        }
    }
}

/// Returns the content of the file with the locks.
pub fn branch_locks(branches: &[Branch], names: &[String]) -> Value {
    let locks = names.iter().zip(branches);
    json!(locks.map(|(name, branch)| (name.clone(), json!(branch.lock))).collect::<Map<String, Value>>())
}

/// The metadata as an import reads it. Older exports have less, and a clone has none.
#[derive(Default, Deserialize)]
pub struct StoredMetadata {
    #[serde(default)]
    pub version: u32,
    #[serde(default)]
    pub chat: Value,
    #[serde(default)]
    pub branches: Map<String, Value>,
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
    #[serde(default)]
    pub imported_from: Option<ImportOrigin>,
    #[serde(default)]
    pub damaged: Vec<ImportDifference>,
}

/// The locks by branch, as an import reads them. Entries of other kinds are skipped.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct StoredLocks(HashMap<String, Value>);

impl StoredLocks {
    /// Returns the lock of a branch. Its model is empty if the entry names only the provider.
    pub fn find(&self, name: &str) -> Option<ModelLock> {
        let entry = self.0.get(name)?;
        let word = |key: &str| entry.get(key).and_then(Value::as_str).filter(|word| !word.trim().is_empty());
        Some(ModelLock::new(word("provider")?, word("model").unwrap_or_default()))
    }
}
