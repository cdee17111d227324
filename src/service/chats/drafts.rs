//! Drafts: text and attachments that are not sent yet, per chat and for the chat that does not exist yet.

use serde_json::Value;

use crate::turns::messages::{self, MessageBlock};
use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::{Attachment, CARD_KEY};
use turnleaf_domain::{AccountChange, ChatId, Content, InvalidField, MessageCode, UserId, limits};
use turnleaf_store::chats::drafts::{self, Draft};

/// The attempts to change a draft while others change it at the same moment. With each round one writer succeeds.
const TRIES: usize = 64;

impl Service {
    /// Stores a draft and returns its new revision. The last write wins; other tabs notice by the revision.
    pub async fn save_draft(&self, owner: UserId, chat: Option<ChatId>, draft: Draft) -> Result<i64, ServiceError> {
        check(&draft)?;
        if let Some(chat) = chat {
            self.chat(owner, chat).await?;
        }
        let draft = Draft { text: draft.text.replace('\0', "\u{2400}"), ..draft };
        let mut tx = self.db().begin().await?;
        let now = self.clock().now();
        let mut rev = drafts::put(&mut tx, owner, chat, &draft, now).await?;
        if rev.is_none() {
            // Another tab wrote in between. The last write wins; that tab sees the new revision and tells its reader.
            let known = drafts::rev(self.db(), owner, chat).await?;
            rev = drafts::put(&mut tx, owner, chat, &Draft { rev: known, ..draft.clone() }, now).await?;
        }
        let rev = rev.ok_or_else(changed)?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::DraftChanged { chat_id: chat, rev: Some(rev) });
        Ok(rev)
    }

    /// Appends the files and documents that these blocks name to a draft's attachments and keeps its text. References
    /// are resolved first, so that only sendable content is attached. A whole document is attached once.
    pub async fn attach_to_draft(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
        blocks: Vec<MessageBlock>,
    ) -> Result<i64, ServiceError> {
        let new = self.attachments_of(owner, blocks).await?;
        let add = |attached: &mut Vec<Attachment>| {
            for one in &new {
                let is_whole = matches!(one.content, Content::Reference { .. });
                if !is_whole || attached.iter().all(|known| known.content != one.content) {
                    attached.push(one.clone());
                }
            }
        };
        self.change_attached(owner, chat, add).await
    }

    /// Returns the attachments that these blocks name, with their cards.
    pub(crate) async fn attachments_of(
        &self,
        owner: UserId,
        blocks: Vec<MessageBlock>,
    ) -> Result<Vec<Attachment>, ServiceError> {
        let is_text =
            |block: &MessageBlock| matches!(block, MessageBlock::Text { .. } | MessageBlock::ToolResult { .. });
        if blocks.is_empty() || blocks.iter().any(is_text) {
            return Err(InvalidField::new("content", MessageCode::NotADraftAttachment).into());
        }
        let message = self.resolve_references(owner, messages::check_blocks(blocks)?, &[]).await?;
        let of_block = |(content, metadata): (Content, Value)| {
            let card = serde_json::from_value(metadata[CARD_KEY].clone()).unwrap_or_default();
            Attachment { content, card }
        };
        Ok(message.contents.into_iter().zip(message.metadata).map(of_block).collect())
    }

    /// Removes the attachment with this key from a draft; does nothing when it is already gone.
    pub async fn detach_from_draft(&self, owner: UserId, chat: Option<ChatId>, key: &str) -> Result<(), ServiceError> {
        let leave_out = |attached: &mut Vec<Attachment>| {
            if let Some(at) = attached.iter().position(|one| one.dedup_key() == key) {
                attached.remove(at);
            }
        };
        self.change_attached(owner, chat, leave_out).await.map(drop)
    }

    /// Changes the attachments of a draft as [`Self::change_draft`] does.
    async fn change_attached(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
        change: impl Fn(&mut Vec<Attachment>),
    ) -> Result<i64, ServiceError> {
        let change = |draft: &mut Draft| {
            let attached = draft.attachments.get_or_insert_default();
            let before = attached.clone();
            change(attached);
            *attached != before
        };
        self.change_draft(owner, chat, change).await
    }

    /// Changes a draft and returns its revision. `change` returns whether it changed anything, and is repeated on the
    /// new state when another request stored the draft in between (optimistic concurrency).
    pub(crate) async fn change_draft(
        &self,
        owner: UserId,
        chat: Option<ChatId>,
        change: impl Fn(&mut Draft) -> bool,
    ) -> Result<i64, ServiceError> {
        if let Some(chat) = chat {
            self.chat(owner, chat).await?;
        }
        for _ in 0..TRIES {
            let mut draft = self.draft(owner, chat).await?.unwrap_or_default();
            if !change(&mut draft) {
                return Ok(draft.rev);
            }
            check(&draft)?;
            let mut tx = self.db().begin().await?;
            if let Some(rev) = drafts::put(&mut tx, owner, chat, &draft, self.clock().now()).await? {
                tx.commit().await?;
                self.publish_change(owner, AccountChange::DraftChanged { chat_id: chat, rev: Some(rev) });
                return Ok(rev);
            }
        }
        Err(changed())
    }

    pub async fn draft(&self, owner: UserId, chat: Option<ChatId>) -> Result<Option<Draft>, ServiceError> {
        Ok(drafts::find(self.db(), owner, chat).await?)
    }

    /// Returns only the revision of a draft; 0 when there is none.
    pub async fn draft_rev(&self, owner: UserId, chat: Option<ChatId>) -> Result<i64, ServiceError> {
        Ok(drafts::rev(self.db(), owner, chat).await?)
    }
}

/// Checks the bounds of a draft.
fn check(draft: &Draft) -> Result<(), ServiceError> {
    if draft.text.chars().count() > limits::DRAFT_CHARS {
        let limit = MessageCode::TooManyCharacters.with("most", limits::DRAFT_CHARS);
        return Err(ServiceError::TooLarge { field: "text", limit });
    }
    if draft.attachments.as_ref().is_some_and(|attached| attached.len() > limits::BLOCKS_PER_USER_TURN) {
        let reason = MessageCode::TooManyAttachments.with("most", limits::BLOCKS_PER_USER_TURN);
        return Err(InvalidField::new("attachments", reason).into());
    }
    Ok(())
}

fn changed() -> ServiceError {
    ServiceError::conflict("draft_changed", MessageCode::DraftChanged)
}
