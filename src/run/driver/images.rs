//! Images sent to and received from a model: those of tool results, which are sent if the API has a place for them,
//! and those of replies, which are sent back unchanged. Their bytes are blobs.

use super::run::{HaltReason, TurnRun};
use turnleaf_domain::documents::attachment::{AttachmentRendering, ShownAttachment};
use turnleaf_domain::providers::repair::ProviderState;
use turnleaf_domain::tools::tool_output::{self, ToolImage};
use turnleaf_domain::turns::context::{ManifestEntry, ReplayMode};
use turnleaf_domain::usage::tokens::{IMAGE_TOKENS, approx_tokens};
use turnleaf_domain::{Block, BlockId, Content, Failure, FailureKind, Role, TurnId};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::builder::BlockBuilder;
use turnleaf_providers::pictures::{OmittedImage, omit_unsupported_images};
use turnleaf_providers::provider::{AttachmentContent, AttachmentsByBlock, HistoryTurn, InputImage};
use turnleaf_store::StoreError;
use turnleaf_store::documents::blobs;
use turnleaf_tools::toolbox::NewBlob;

impl TurnRun<'_> {
    /// Reads the images of earlier replies that are sent back unchanged, and images of the user that were not read in
    /// another form.
    pub(super) async fn read_images(&self, history: &mut [HistoryTurn]) -> Result<(), StoreError> {
        let mut room = self.job.capabilities.image_bounds.count;
        let sees = self.job.capabilities.images != Some(false);
        let has_pictures = |turn: &&mut HistoryTurn| match turn.role {
            Role::Assistant => !turn.raw.is_empty(),
            Role::User => sees,
            Role::System => false,
        };
        for turn in history.iter_mut().rev().filter(has_pictures) {
            let is_new = |block: &&Block| !turn.attached.contains_key(&block.id);
            let new: Vec<Block> = turn.blocks.iter().filter(is_new).cloned().collect();
            let read = self.read_block_images(&new, &mut room).await?;
            turn.attached.extend(read);
        }
        Ok(())
    }

    /// Reads the images of this reply's steps that were added since the last call.
    pub(super) async fn load_own_images(&mut self) -> Result<(), HaltReason> {
        let mut room = self.job.capabilities.image_bounds.count;
        let blocks = &self.recorder.turn().blocks;
        let new: Vec<Block> = blocks.iter().filter(|block| !self.images.contains_key(&block.id)).cloned().collect();
        let read = self.read_block_images(&new, &mut room).await.map_err(|error| {
            tracing::error!(turn = %self.job.turn.id, %error, "images of results could not be read");
            Failure::new(FailureKind::Internal, "")
        })?;
        self.images.extend(read);
        Ok(())
    }

    /// Returns the images of these blocks; of results at most `room`, the newest first. A missing image is described
    /// as text.
    async fn read_block_images(&self, blocks: &[Block], room: &mut usize) -> Result<AttachmentsByBlock, StoreError> {
        let (capabilities, model) = (&self.job.capabilities, &self.job.lock.model);
        // In chat completions these images come in a message of their own, which only vision models are sent.
        let is_chat = self.provider.api() == ProviderApi::OpenaiChat.as_str();
        let may_see = if is_chat { capabilities.images == Some(true) } else { capabilities.images != Some(false) };
        let shows_results = may_see && self.provider.accepts_tool_result_images(model);
        let mut attached = AttachmentsByBlock::default();
        for block in blocks.iter().rev() {
            let mut named = named_images(block);
            if !block.is_image() {
                named.truncate(if shows_results { *room } else { 0 });
                *room -= named.len();
            }
            let mut images = Vec::new();
            for ToolImage { blob, mime, alt } in named {
                if let Some(stored) = blobs::find(self.supervisor.db(), self.job.owner, &blob).await? {
                    images.push(InputImage { sha256: blob, mime, bytes: stored.bytes, alt });
                }
            }
            match images.len() {
                0 => {}
                1 if block.is_image() => {
                    attached.extend(images.pop().map(|image| (block.id, AttachmentContent::Image(image))))
                }
                _ => drop(attached.insert(block.id, AttachmentContent::Images(images))),
            }
        }
        Ok(attached)
    }

    /// Removes images that this model is not sent, and records in the manifest which are sent and which are not.
    pub(super) fn fit_images(
        &self,
        history: &mut [HistoryTurn],
        manifest: &mut [ManifestEntry],
        state: &ProviderState,
    ) {
        for turn in history.iter() {
            let results = turn.blocks.iter().filter(|block| matches!(block.content, Content::ToolResult { .. }));
            for (id, image) in results.flat_map(|block| images_of(turn, block)) {
                if let Some(entry) = entry_of(manifest, turn.turn_id) {
                    entry.attachments.push(shown_attachment(id, image));
                }
            }
        }
        let mut capabilities = self.job.capabilities.clone();
        let is_refused = self.repair.as_ref().is_some_and(|repaired| repaired.repair.describes_images());
        if is_refused || state.sees_no_images {
            capabilities.images = Some(false);
        }
        for left_out in omit_unsupported_images(history, &capabilities, state.images_told_until) {
            note_left_out(manifest, &left_out);
        }
    }

    /// Hands over the bytes of new images, to be stored with their blocks.
    pub(super) fn take_new_images(&mut self, builder: &mut BlockBuilder) {
        for (block, image) in builder.take_images() {
            let blob = NewBlob { sha256: image.sha256, mime: image.mime.to_owned(), bytes: image.bytes };
            self.recorder.push_blobs(block, vec![blob]);
        }
    }
}

/// Returns the images that a block references: those of a result, or the image itself. A failed call may have some,
/// too, such as the picture of the page on which a browser gave up.
fn named_images(block: &Block) -> Vec<ToolImage> {
    match &block.content {
        Content::ToolResult { metadata, .. } => tool_output::result_images(metadata),
        Content::Image { blob, mime, alt } => {
            vec![ToolImage { blob: blob.clone(), mime: mime.clone(), alt: alt.clone() }]
        }
        _ => Vec::new(),
    }
}

/// Returns the manifest entry of a turn that is sent.
fn entry_of(manifest: &mut [ManifestEntry], turn: TurnId) -> Option<&mut ManifestEntry> {
    manifest.iter_mut().rfind(|entry| entry.turn_id == turn && entry.mode != ReplayMode::Omitted)
}

fn images_of<'a>(turn: &'a HistoryTurn, block: &'a Block) -> impl Iterator<Item = (BlockId, &'a InputImage)> {
    turn.attached.get(&block.id).into_iter().flat_map(AttachmentContent::images).map(|image| (block.id, image))
}

fn shown_attachment(block_id: BlockId, image: &InputImage) -> ShownAttachment {
    ShownAttachment {
        block_id,
        ref_id: image.sha256.clone(),
        title: Some(image.alt.clone()),
        version_timestamp: None,
        selection: None,
        shown_as: AttachmentRendering::Image,
        sha256: Some(image.sha256.clone()),
        approx_tokens: IMAGE_TOKENS,
    }
}

/// Records that an image is sent as a text description.
fn note_left_out(manifest: &mut [ManifestEntry], left_out: &OmittedImage) {
    let Some(entry) = entry_of(manifest, left_out.turn_id) else { return };
    let is_it =
        |known: &&mut ShownAttachment| known.block_id == left_out.block_id && is_form_of(known, &left_out.sha256);
    let shown = ShownAttachment {
        block_id: left_out.block_id,
        ref_id: left_out.sha256.clone(),
        title: None,
        version_timestamp: None,
        selection: None,
        shown_as: AttachmentRendering::AltText,
        sha256: None,
        approx_tokens: approx_tokens(&left_out.alt),
    };
    match entry.attachments.iter_mut().find(is_it) {
        Some(known) => {
            let (ref_id, title) = (known.ref_id.clone(), known.title.take());
            *known = ShownAttachment { ref_id, title, ..shown };
        }
        None => entry.attachments.push(shown),
    }
}

/// Matches an image also in the re-encoded form that models are sent.
fn is_form_of(known: &ShownAttachment, sha256: &str) -> bool {
    known.ref_id == sha256 || known.sha256.as_deref() == Some(sha256)
}
