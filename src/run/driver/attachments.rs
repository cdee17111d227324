//! Attachments of the messages of a path, in the form this turn's model gets: the pinned version of a document,
//! wrapped; an image re-encoded for models; or its text description if the model does not accept images. Ownership is
//! checked again here, so that a row that names another user's document reveals nothing of it.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use turnleaf_domain::documents::attachment::{
    AttachmentCard, AttachmentRendering, DOCUMENT_REF_TYPE, ShownAttachment, image_tokens,
};
use turnleaf_domain::documents::{document_prompt, selection};
use turnleaf_domain::turns::context::{ManifestEntry, ReplayMode, record_attachments};
use turnleaf_domain::usage::tokens::approx_tokens;
use turnleaf_domain::{Block, Content, DocumentId, Role, Turn, TurnId, UserId};
use turnleaf_platform::hex::hex;
use turnleaf_providers::provider::{AttachmentContent, AttachmentsByBlock, InputImage};
use turnleaf_store::documents::blobs::{self, ImageFormKind};
use turnleaf_store::{Db, StoreError, documents};

/// The content sent for each attachment of a message, and the manifest entries about it.
#[derive(Debug, Default)]
struct TurnAttachments {
    attached: AttachmentsByBlock,
    shown: Vec<ShownAttachment>,
}

/// Reads the attachments of the messages of a path, by turn, and records those that are sent in the manifest.
pub(super) async fn read_path_attachments(
    db: &Db,
    owner: UserId,
    path: &[Arc<Turn>],
    manifest: &mut [ManifestEntry],
    sees: bool,
) -> Result<HashMap<TurnId, AttachmentsByBlock>, StoreError> {
    let mut attached = HashMap::new();
    for (turn, entry) in path.iter().zip(manifest).filter(|(_, entry)| entry.mode == ReplayMode::Canonical) {
        let of = read_message_attachments(db, owner, turn, sees).await?;
        if !of.shown.is_empty() {
            record_attachments(entry, turn, of.shown);
            attached.insert(turn.id, of.attached);
        }
    }
    Ok(attached)
}

/// Reads the attachments of one message. `sees` says whether images are sent.
async fn read_message_attachments(
    db: &Db,
    owner: UserId,
    message: &Turn,
    sees: bool,
) -> Result<TurnAttachments, StoreError> {
    let mut of = TurnAttachments::default();
    if message.role != Role::User {
        return Ok(of);
    }
    for block in &message.blocks {
        let card = AttachmentCard::from_block(block).unwrap_or_default();
        let line = match &block.content {
            Content::Image { blob, alt, .. } => {
                let (shown, line) = image(db, owner, block, (blob, alt), &card, sees).await?;
                of.attached.extend(shown.map(|image| (block.id, AttachmentContent::Image(image))));
                line
            }
            Content::Reference { .. } | Content::PartialReference { .. } => {
                let (text, line) = document(db, owner, block, &card).await?;
                of.attached.insert(block.id, AttachmentContent::Text(text));
                line
            }
            _ => continue,
        };
        of.shown.push(line);
    }
    Ok(of)
}

async fn image(
    db: &Db,
    owner: UserId,
    block: &Block,
    (blob, alt): (&str, &str),
    card: &AttachmentCard,
    sees: bool,
) -> Result<(Option<InputImage>, ShownAttachment), StoreError> {
    let mut line = ShownAttachment {
        block_id: block.id,
        ref_id: blob.to_owned(),
        title: Some(card.title.clone()).filter(|title| !title.is_empty()),
        version_timestamp: None,
        selection: None,
        shown_as: AttachmentRendering::AltText,
        sha256: None,
        approx_tokens: approx_tokens(alt),
    };
    if !sees {
        return Ok((None, line));
    }
    let forms = blobs::image_forms(db, blob).await?;
    let form = forms.into_iter().find(|form| form.kind == ImageFormKind::Model);
    let (sha256, size) = form.map_or((blob.to_owned(), card.size), |form| (form.sha256, Some(form.size)));
    let Some(stored) = blobs::find(db, owner, &sha256).await? else {
        tracing::warn!(block = %block.id, "an image of a message is missing or belongs to another user");
        return Ok((None, line));
    };
    (line.shown_as, line.sha256, line.approx_tokens) =
        (AttachmentRendering::Image, Some(sha256.clone()), image_tokens(size));
    Ok((Some(InputImage { sha256, mime: stored.mime, bytes: stored.bytes, alt: alt.to_owned() }), line))
}

async fn document(
    db: &Db,
    owner: UserId,
    block: &Block,
    card: &AttachmentCard,
) -> Result<(String, ShownAttachment), StoreError> {
    let (ref_id, ref_type, version, selected) = match &block.content {
        Content::Reference { ref_id, ref_type, version_timestamp } => (ref_id, ref_type, *version_timestamp, None),
        Content::PartialReference { ref_id, ref_type, version_timestamp, selection_start, selection_end } => {
            (ref_id, ref_type, *version_timestamp, Some((*selection_start, *selection_end)))
        }
        _ => return Err(StoreError::Gone("the document")),
    };
    let id = ref_id.parse::<DocumentId>().ok().filter(|_| ref_type == DOCUMENT_REF_TYPE);
    let content = match (id, version) {
        (Some(id), Some(version)) => documents::read::content(db, owner, id, version).await?,
        _ => None,
    };
    let part = content.as_deref().and_then(|content| match selected {
        Some((start, end)) => selection::slice(content, start, end),
        None => Some(content),
    });
    // The title is the one from the card, as it was when the message was written: renaming the document must not
    // change bytes of earlier requests.
    let (text, shown_as) = match part {
        Some(part) => (
            document_prompt::render_document(ref_id, &card.title, version, card.lines, part),
            AttachmentRendering::Text,
        ),
        None => {
            tracing::info!(block = %block.id, "a document of a message was deleted or belongs to another user");
            (document_prompt::render_deleted_document(ref_id, &card.title), AttachmentRendering::Deleted)
        }
    };
    let line = ShownAttachment {
        block_id: block.id,
        ref_id: ref_id.clone(),
        title: Some(card.title.clone()).filter(|title| !title.is_empty()),
        version_timestamp: version,
        selection: selected,
        shown_as,
        sha256: Some(hex(Sha256::digest(text.as_bytes()))),
        approx_tokens: approx_tokens(&text),
    };
    Ok((text, line))
}
