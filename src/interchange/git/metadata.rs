//! The metadata file next to git's own files. It holds what may change later, such as titles and branch names, and
//! the provider and model that each branch is locked to.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::object::ObjectId;
use crate::domain::{Branch, Chat, ImportDifference, ImportOrigin};

const FORMAT: &str = "turnleaf-git";
/// Rises when older readers could no longer read the format.
const VERSION: u32 = 1;

/// The content of the file.
#[derive(Serialize)]
pub struct RepositoryMetadata<'b> {
    format: &'static str,
    version: u32,
    chat: ChatMetadata<'b>,
    branches: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported_from: Option<&'b ImportOrigin>,
    /// What could not be read during the export.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    damaged: &'b [ImportDifference],
}

#[derive(Serialize)]
struct ChatMetadata<'b> {
    id: String,
    title: &'b str,
    created_at: chrono::DateTime<chrono::Utc>,
    updated_at: chrono::DateTime<chrono::Utc>,
}

impl<'b> RepositoryMetadata<'b> {
    pub fn new(
        chat: &'b Chat,
        imported_from: Option<&'b ImportOrigin>,
        damaged: &'b [ImportDifference],
        refs: &[(String, Option<ObjectId>, &Branch)],
    ) -> Self {
        let branches = refs.iter().map(|(name, _, branch)| {
            let metadata = json!({
                "provider": branch.lock.provider,
                "model": branch.lock.model,
                "name": branch.name,
                "label": branch.label,
                "id": branch.id,
            });
            (name.clone(), metadata)
        });
        let chat = ChatMetadata {
            id: chat.id.to_string(),
            title: &chat.title,
            created_at: chat.created_at,
            updated_at: chat.updated_at,
        };
        Self { format: FORMAT, version: VERSION, chat, branches: branches.collect(), imported_from, damaged }
    }
}
