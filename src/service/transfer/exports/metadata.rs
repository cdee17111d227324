//! Metadata of an exported chat: its origin, its tools, the prompts of its branches, the images of its turns.
//! Unreadable values are recorded as damages.

use std::collections::HashMap;

use super::redaction::{redact_frozen, redact_source};
use super::tree::ChatTree;
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::tools::tool_output;
use turnleaf_domain::{BranchId, Content, ImportOrigin, Turn, limits};
use turnleaf_store::branches;
use turnleaf_store::chats::{chat_sources, chat_tools};

/// The hashes of referenced blobs, with whether each exists.
pub(super) type BlobPresence = HashMap<String, bool>;

impl Service {
    /// Returns the prompt prefix of a branch, as far as it can be read, with API keys redacted.
    pub(super) async fn frozen_for_export(
        &self,
        tree: &mut ChatTree,
        branch: BranchId,
    ) -> Result<PromptPrefix, ServiceError> {
        let mut unread = Vec::new();
        let frozen = branches::frozen_with_damages(self.db(), branch, &mut unread).await?;
        tree.damages.note_unreadable(unread);
        let mut frozen = frozen.unwrap_or_default();
        redact_frozen(&self.supervisor().registry().known_keys(), &mut frozen);
        Ok(frozen)
    }

    /// Returns the origin and the tool choice of a chat, as far as they can be read.
    pub(super) async fn tree_metadata(
        &self,
        tree: &mut ChatTree,
    ) -> Result<(Option<ImportOrigin>, Option<ToolChoice>), ServiceError> {
        let mut unread = Vec::new();
        let mut source = chat_sources::find_with_damages(self.db(), tree.owner, tree.id, &mut unread).await?;
        let tools = chat_tools::find_with_damages(self.db(), tree.owner, tree.id, &mut unread).await?;
        tree.damages.note_unreadable(unread);
        let keys = self.supervisor().registry().known_keys();
        source.iter_mut().for_each(|source| redact_source(&keys, source));
        for word in source.iter_mut().flat_map(|source| [&mut source.format, &mut source.file]) {
            // An import rejects longer names.
            if word.chars().count() > limits::TITLE_CHARS {
                *word = word.chars().take(limits::TITLE_CHARS).collect();
                tree.damages.note_corrected("chat_sources", tree.id, "a name from its source is too long".into());
            }
        }
        Ok((source, tools))
    }
}

impl ChatTree {
    /// Records the missing images of a turn: those that it shows, and those of its tool results that were searched.
    pub fn note_missing_images(&mut self, turn: &Turn, blobs: &BlobPresence) {
        for block in &turn.blocks {
            let missing = match &block.content {
                Content::Image { blob, .. } if blobs.get(blob) != Some(&true) => vec![blob.clone()],
                Content::ToolResult { metadata, .. } => {
                    let images = tool_output::result_images(metadata).into_iter().map(|image| image.blob);
                    images.filter(|blob| blobs.get(blob) == Some(&false)).collect()
                }
                _ => continue,
            };
            for sha256 in missing {
                self.damages.note_lost("blobs", sha256, format!("an image of turn {} is missing", turn.id));
            }
        }
    }
}
