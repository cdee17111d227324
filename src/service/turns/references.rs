//! Resolves the references of a message: every image and document must belong to the sender, every version must
//! exist, and every selection must lie within it. The result is pinned in the block, with a card that describes it
//! wherever it is shown.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::error::UnfitReason;
use crate::turns::TurnRequest;
use crate::turns::messages::{self, CheckedBlock, MessageBlock, UserMessage};
use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::{
    AttachmentCard, DOCUMENT_REF_TYPE, WRAPPING_TOKENS, image_tokens, is_attached, is_reference,
};
use turnleaf_domain::documents::image_type::IMAGE_TYPES;
use turnleaf_domain::documents::{document_prompt, selection};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::usage::tokens::approx_tokens;
use turnleaf_domain::{Block, Content, DocumentId, InvalidField, MessageCode, Role, Turn, TurnId, UserId, limits};
use turnleaf_store::documents::blobs::{self, ImageFormKind};
use turnleaf_store::documents::read::{Document, StoredDocumentVersion};
use turnleaf_store::documents::{self, uploads};
use turnleaf_store::turns;

/// The document and version that a reference names.
struct NamedDocument {
    document: Document,
    version: StoredDocumentVersion,
}

/// The sizes of a message's attachments.
#[derive(Default)]
struct AttachmentSizes {
    texts: u64,
    images: u64,
    /// The largest text: bytes and title.
    biggest: (u64, String),
}

impl Service {
    /// Builds the message of a request, including the attachments of the chat's draft if requested.
    pub(crate) async fn message_to_send(
        &self,
        owner: UserId,
        request: &TurnRequest,
    ) -> Result<UserMessage, ServiceError> {
        let blocks = self.blocks_to_send(owner, request).await?;
        self.resolve_references(owner, messages::check_blocks(blocks)?, &[]).await
    }

    /// Returns the blocks of a request, including the attachments of the chat's draft if requested.
    pub(crate) async fn blocks_to_send(
        &self,
        owner: UserId,
        request: &TurnRequest,
    ) -> Result<Vec<MessageBlock>, ServiceError> {
        let mut blocks: Vec<MessageBlock> = Vec::new();
        if request.takes_attachments {
            let draft = self.draft(owner, request.chat_id).await?.unwrap_or_default();
            blocks.extend(draft.attachments.unwrap_or_default().into_iter().map(MessageBlock::from));
        }
        blocks.extend(request.content.iter().cloned());
        Ok(blocks)
    }

    /// Builds the message of an edit: includes the attachments of the old message if requested. References that the
    /// old message already had are kept as they are, even if their target was deleted since.
    pub(crate) async fn edited_message(
        &self,
        owner: UserId,
        old: TurnId,
        edit: &TurnRequest,
    ) -> Result<UserMessage, ServiceError> {
        let old = turns::find(self.db(), owner, old).await?.filter(|turn| turn.role == Role::User);
        let blocks = old.iter().flat_map(|turn| &turn.blocks);
        let attached: Vec<Block> = blocks.filter(|block| is_attached(&block.content)).cloned().collect();
        let kept = if edit.takes_attachments { UserMessage::from_blocks(&attached) } else { UserMessage::default() };
        if edit.content.is_empty() && !kept.contents.is_empty() {
            return Ok(kept);
        }
        // Attachments alone are a valid message.
        let has_content =
            |block: &MessageBlock| !matches!(block, MessageBlock::Text { text } if text.trim().is_empty());
        let contents = match kept.contents.is_empty() || edit.content.iter().any(has_content) {
            true => self.resolve_references(owner, messages::check_blocks(edit.content.clone())?, &attached).await?,
            false => UserMessage::default(),
        };
        Ok(kept.concat(contents))
    }

    /// Resolves the references of these blocks. A reference that equals one of the `known` blocks is copied from it.
    pub(crate) async fn resolve_references(
        &self,
        owner: UserId,
        pieces: Vec<CheckedBlock>,
        known: &[Block],
    ) -> Result<UserMessage, ServiceError> {
        let mut sums = AttachmentSizes::default();
        // Checks first what needs no text: 32 documents may have 256 MiB.
        let mut named: Vec<Option<NamedDocument>> = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            let found = match &piece.content {
                content if find_same_reference(content, known).is_some() => None,
                Content::Reference { ref_id, ref_type, version_timestamp } => {
                    let found = self.find_named_document(owner, ref_id, ref_type, *version_timestamp).await?;
                    sums.add_text(found.version.byte_count, &found.document.title)?;
                    Some(found)
                }
                Content::PartialReference { ref_id, ref_type, version_timestamp, .. } => {
                    Some(self.find_named_document(owner, ref_id, ref_type, *version_timestamp).await?)
                }
                _ => None,
            };
            named.push(found);
        }
        let mut message = UserMessage::default();
        for (piece, named) in pieces.into_iter().zip(named) {
            if let Some(block) = find_same_reference(&piece.content, known) {
                message.contents.push(block.content.clone());
                message.metadata.push(block.block_metadata.clone());
                continue;
            }
            match (piece.content, named) {
                (Content::Image { blob, alt, .. }, _) => {
                    let (content, card) = self.image(owner, blob, alt, &mut sums).await?;
                    message.push(content, Some(&card));
                }
                (content, Some(named)) => {
                    let (content, card) = self.reference_content(owner, content, piece.quote, named, &mut sums).await?;
                    message.push(content, Some(&card));
                }
                (content, None) => message.push(content, None),
            }
        }
        Ok(message)
    }

    async fn find_named_document(
        &self,
        owner: UserId,
        ref_id: &str,
        ref_type: &str,
        version: Option<DateTime<Utc>>,
    ) -> Result<NamedDocument, ServiceError> {
        if ref_type != DOCUMENT_REF_TYPE {
            return Err(InvalidField::new("content", MessageCode::UnknownReferenceType).into());
        }
        let id: DocumentId = ref_id.parse().map_err(|_| ServiceError::NotFound)?;
        let document =
            documents::read::find(self.db(), owner, id).await?.filter(|document| document.deleted_at.is_none());
        let document = document.ok_or(ServiceError::NotFound)?;
        let version = match version {
            None => document.version.clone(),
            Some(at) => documents::read::version(self.db(), owner, id, at).await?.ok_or_else(version_gone)?,
        };
        Ok(NamedDocument { document, version })
    }

    async fn reference_content(
        &self,
        owner: UserId,
        content: Content,
        quote: Option<String>,
        named: NamedDocument,
        sums: &mut AttachmentSizes,
    ) -> Result<(Content, AttachmentCard), ServiceError> {
        let NamedDocument { document, version } = named;
        let at = version.version_timestamp;
        let text = documents::read::content(self.db(), owner, document.id, at).await?.ok_or_else(version_gone)?;
        let Content::PartialReference { ref_id, ref_type, selection_start, selection_end, .. } = content else {
            let tokens = approx_tokens(&text) + WRAPPING_TOKENS;
            let card = AttachmentCard { title: document.title, tokens, ..AttachmentCard::default() };
            let (ref_id, ref_type) = (document.id.to_string(), DOCUMENT_REF_TYPE.to_owned());
            return Ok((Content::Reference { ref_id, ref_type, version_timestamp: Some(at) }, card));
        };
        let range = (selection_start, selection_end);
        let (card, selected) = AttachmentCard::from_selection(document.title, &text, range).ok_or_else(|| {
            let message = MessageCode::SelectionOutOfRange
                .with("start", selection_start)
                .with("end", selection_end)
                .with("length", version.char_count);
            ServiceError::Unfit {
                reason: UnfitReason::Content,
                code: "out_of_range",
                field: "content",
                message,
                extra: Some(Box::new(json!({ "length": version.char_count }))),
            }
        })?;
        if quote.is_some_and(|quote| quote != selected) {
            return Err(ServiceError::conflict("selection_mismatch", MessageCode::SelectionDiffers));
        }
        sums.add_text(selected.len() as u64, &card.title)?;
        let version_timestamp = Some(at);
        let content = Content::PartialReference { ref_id, ref_type, version_timestamp, selection_start, selection_end };
        Ok((content, card))
    }

    async fn image(
        &self,
        owner: UserId,
        blob: String,
        alt: String,
        sums: &mut AttachmentSizes,
    ) -> Result<(Content, AttachmentCard), ServiceError> {
        let (mime, length) = blobs::find_type_and_size(self.db(), owner, &blob).await?.ok_or(ServiceError::NotFound)?;
        if !IMAGE_TYPES.contains(&mime.as_str()) {
            return Err(InvalidField::new("content", MessageCode::NotAnImage).into());
        }
        sums.images += length;
        if sums.images > limits::TURN_UPLOAD_BYTES as u64 {
            let limit = MessageCode::ImagesLimit.with("limit", ByteSize::from_usize(limits::TURN_UPLOAD_BYTES));
            return Err(ServiceError::TooLarge { field: "content", limit });
        }
        let upload = uploads::find(self.db(), owner, &blob).await?;
        let size = upload.as_ref().and_then(|upload| upload.size);
        let title = upload.map(|upload| upload.name).unwrap_or_else(|| "image".to_owned());
        let alt = if alt.trim().is_empty() { title.clone() } else { alt };
        let forms = blobs::image_forms(self.db(), &blob).await?;
        let thumbnail = forms.into_iter().find(|form| form.kind == ImageFormKind::Thumbnail).map(|form| form.sha256);
        let card = AttachmentCard { title, size, tokens: image_tokens(size), thumbnail, ..AttachmentCard::default() };
        Ok((Content::Image { blob, mime, alt }, card))
    }

    /// Returns a turn as Markdown, with the full text and the source of what it quotes. For a reply, the references
    /// of its message are appended, because the reply cannot be understood without them.
    pub async fn turn_markdown(&self, owner: UserId, id: TurnId) -> Result<String, ServiceError> {
        let turn: Turn = self.turn(owner, id).await?;
        let markdown = self.markdown(owner, &turn.blocks).await?;
        let message = match turn.prev_turn_id.filter(|_| turn.role == Role::Assistant) {
            Some(message) => turns::find(self.db(), owner, message).await?.filter(|turn| turn.role == Role::User),
            None => None,
        };
        let mut named = message.map(|message| message.blocks).unwrap_or_default();
        named.retain(|block| is_reference(&block.content));
        let named = self.markdown(owner, &named).await?;
        Ok(if named.is_empty() { markdown } else { format!("{markdown}\n\n---\n\n{named}") })
    }

    async fn markdown(&self, owner: UserId, blocks: &[Block]) -> Result<String, ServiceError> {
        let mut selected = std::collections::HashMap::new();
        for block in blocks {
            let Content::PartialReference {
                ref_id, version_timestamp: Some(at), selection_start, selection_end, ..
            } = &block.content
            else {
                continue;
            };
            let Ok(document) = ref_id.parse::<DocumentId>() else { continue };
            if let Some(text) = documents::read::content(self.db(), owner, document, *at).await?
                && let Some(part) = selection::slice(&text, *selection_start, *selection_end)
            {
                selected.insert(block.id, part.to_owned());
            }
        }
        Ok(document_prompt::blocks_to_markdown(blocks, |block| selected.get(&block.id).cloned()))
    }
}

impl AttachmentSizes {
    fn add_text(&mut self, bytes: u64, title: &str) -> Result<(), ServiceError> {
        self.texts += bytes;
        if bytes > self.biggest.0 {
            self.biggest = (bytes, title.to_owned());
        }
        if self.texts <= limits::TURN_REFERENCE_BYTES as u64 {
            return Ok(());
        }
        let (bytes, title) = &self.biggest;
        let limit = MessageCode::ReferencesLimit
            .with("limit", ByteSize::from_usize(limits::TURN_REFERENCE_BYTES))
            .with("title", title)
            .with("size", ByteSize(*bytes).rounded());
        Err(ServiceError::TooLarge { field: "content", limit })
    }
}

/// Returns the known block with the same reference.
fn find_same_reference<'a>(content: &Content, known: &'a [Block]) -> Option<&'a Block> {
    known.iter().find(|block| match (content, &block.content) {
        (Content::Image { blob, alt, .. }, Content::Image { blob: known, alt: words, .. }) => {
            blob == known && (alt.is_empty() || alt == words)
        }
        (
            Content::Reference { ref_id, version_timestamp: at, .. },
            Content::Reference { ref_id: known, version_timestamp, .. },
        ) => ref_id == known && at.is_some() && at == version_timestamp,
        (Content::PartialReference { version_timestamp, .. }, known) => version_timestamp.is_some() && content == known,
        _ => false,
    })
}

fn version_gone() -> ServiceError {
    ServiceError::unfit(UnfitReason::Gone, "version_gone", "content", MessageCode::VersionGone)
}
