//! What stands beside the tree of a chat: its source, its tools, what its branches say, the images of its turns. As far as
//! it can be read; the rest is named.

use std::collections::HashMap;

use super::redaction::{redact_frozen, redact_source};
use super::tree::ChatTree;
use crate::{Service, ServiceError};
use turnleaf_domain::branch::PromptPrefix;
use turnleaf_domain::tool::ToolChoice;
use turnleaf_domain::{BranchId, Content, ImportOrigin, Turn, limits, tool_output};
use turnleaf_store::{branches, chat_sources, chat_tools};

/// The hashes of the blobs that were named, with whether they are there.
pub(super) type BlobPresence = HashMap<String, bool>;

impl Service {
    /// What a branch says in every request, as far as that can be read, without keys.
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

    /// Where a chat came from and which tools it offers, as far as that can be read.
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
            // An import takes no longer ones.
            if word.chars().count() > limits::TITLE_CHARS {
                *word = word.chars().take(limits::TITLE_CHARS).collect();
                tree.damages.note_corrected("chat_sources", tree.id, "a name of its source is too long".into());
            }
        }
        Ok((source, tools))
    }
}

impl ChatTree {
    /// Names the images of a turn that are missing: those that it shows, and those of its tools that were looked for.
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
