//! Drafts: unsent text, one per chat and one for the new chat. Each has a revision (optimistic concurrency), so that
//! of two tabs the later one notices that it would overwrite a version it has not seen.

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{storable_text, to_json};
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_domain::documents::attachment::Attachment;
use turnleaf_domain::{ChatId, Thinking, UserId};

const TABLE: &str = "drafts";

sql! {
    FIND_OF_CHAT = "SELECT text, provider, model, thinking, attachments, rev FROM drafts WHERE owner_id = $1 AND chat_id = $2";
    FIND_OF_NEW_CHAT = "SELECT text, provider, model, thinking, attachments, rev FROM drafts \
        WHERE owner_id = $1 AND chat_id IS NULL";
    /// Only the revision is read, because pages ask for it often and a draft may be long.
    REV_OF_CHAT = "SELECT rev FROM drafts WHERE owner_id = $1 AND chat_id = $2";
    REV_OF_NEW_CHAT = "SELECT rev FROM drafts WHERE owner_id = $1 AND chat_id IS NULL";
    /// Nothing is inserted for a chat of another owner.
    INSERT_OF_CHAT = "INSERT INTO drafts (owner_id, chat_id, text, provider, model, thinking, attachments, rev, updated_at) \
        SELECT c.owner_id, c.id, $3, $4, $5, $6, COALESCE($7, '[]'), CAST(1 AS BIGINT), $8 FROM chats c \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL \
        ON CONFLICT DO NOTHING RETURNING rev";
    INSERT_OF_NEW_CHAT = "INSERT INTO drafts (owner_id, chat_id, text, provider, model, thinking, attachments, rev, \
        updated_at) VALUES ($1, NULL, $2, $3, $4, $5, COALESCE($6, '[]'), CAST(1 AS BIGINT), $7) ON CONFLICT DO NOTHING RETURNING rev";
    UPDATE_OF_CHAT = "UPDATE drafts SET text = $4, provider = $5, model = $6, thinking = $7, rev = rev + 1, \
        attachments = COALESCE($8, attachments), updated_at = $9 WHERE owner_id = $1 AND chat_id = $2 AND rev = $3 RETURNING rev";
    UPDATE_OF_NEW_CHAT = "UPDATE drafts SET text = $3, provider = $4, model = $5, thinking = $6, rev = rev + 1, \
        attachments = COALESCE($7, attachments), updated_at = $8 WHERE owner_id = $1 AND chat_id IS NULL AND rev = $2 RETURNING rev";
    CLEAR_OF_CHAT = "UPDATE drafts SET text = '', attachments = '[]', rev = rev + 1, updated_at = $3 \
        WHERE owner_id = $1 AND chat_id = $2";
    CLEAR_OF_NEW_CHAT = "UPDATE drafts SET text = '', attachments = '[]', rev = rev + 1, updated_at = $2 \
        WHERE owner_id = $1 AND chat_id IS NULL";
}

/// Unsent text with the model and thinking chosen for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    pub text: String,
    pub lock: Option<ModelLock>,
    pub thinking: Option<Thinking>,
    /// The attachments of the message. Saving `None` keeps the stored ones.
    pub attachments: Option<Vec<Attachment>>,
    /// The revision: it rises with every save; 0 before the first.
    pub rev: i64,
}

struct DraftRow {
    text: Lossy<String>,
    provider: Lossy<Option<String>>,
    model: Lossy<Option<String>>,
    thinking: Lossy<Option<Json<Thinking>>>,
    attachments: Lossy<String>,
    rev: i64,
}
from_row!(DraftRow { text, provider, model, thinking, attachments, rev });

impl DraftRow {
    /// Unreadable values count as unset, so that the rest of the draft and its chat stay usable.
    fn into_draft(self, chat: Option<ChatId>) -> Draft {
        let id = chat.map_or_else(Uuid::nil, ChatId::uuid);
        let provider = self.provider.unwrap_or_default(TABLE, "provider", id);
        let model = self.model.unwrap_or_default(TABLE, "model", id);
        let attachments = self.attachments.unwrap_or_default(TABLE, "attachments", id);
        Draft {
            text: self.text.unwrap_or_default(TABLE, "text", id),
            lock: provider.zip(model).map(|(provider, model)| ModelLock { provider, model }),
            thinking: self.thinking.unwrap_or_default(TABLE, "thinking", id).map(|Json(thinking)| thinking),
            // Attachments of a newer version must not cost the text.
            attachments: Some(serde_json::from_str(&attachments).unwrap_or_default()),
            rev: self.rev,
        }
    }
}

/// Returns only the revision of the draft of a chat, or of the new chat; 0 if there is none.
pub async fn rev(db: &Db, owner: UserId, chat: Option<ChatId>) -> Result<i64, StoreError> {
    let rev: Option<i64> = match chat {
        Some(chat) => with_pool!(db, |pool| {
            sqlx::query_scalar(REV_OF_CHAT).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?
        }),
        None => {
            with_pool!(db, |pool| sqlx::query_scalar(REV_OF_NEW_CHAT).bind(owner.uuid()).fetch_optional(pool).await?)
        }
    };
    Ok(rev.unwrap_or(0))
}

/// Returns the draft of a chat, or of the new chat.
pub async fn find(db: &Db, owner: UserId, chat: Option<ChatId>) -> Result<Option<Draft>, StoreError> {
    let row: Option<Readable<DraftRow>> = match chat {
        Some(chat) => with_pool!(db, |pool| {
            sqlx::query_as(FIND_OF_CHAT).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?
        }),
        None => with_pool!(db, |pool| sqlx::query_as(FIND_OF_NEW_CHAT).bind(owner.uuid()).fetch_optional(pool).await?),
    };
    Ok(keep_readable(row.into_iter().collect(), TABLE).pop().map(|row| row.into_draft(chat)))
}

/// Saves a draft by compare-and-swap of its `rev`, and returns the new revision. `None` if another revision was saved
/// meanwhile or the chat is deleted; nothing is changed then.
pub async fn put(
    tx: &mut Tx,
    owner: UserId,
    chat: Option<ChatId>,
    draft: &Draft,
    now: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    let text = storable_text(&draft.text, "the draft")?;
    let provider = draft.lock.as_ref().map(|lock| lock.provider.as_str());
    let model = draft.lock.as_ref().map(|lock| lock.model.as_str());
    let thinking = draft.thinking.map(Json);
    let attachments = draft.attachments.as_ref();
    let attachments = attachments.map(|attached| to_json(attached, "drafts", "attachments")).transpose()?;
    let chat = chat.map(ChatId::uuid);
    // Each statement has its own leading parameters; the stored values follow in one order.
    macro_rules! save {
        ($statement:expr, $($of:expr),*) => {
            in_tx!(tx, |conn| {
                let query = sqlx::query_scalar($statement).bind(owner.uuid())$(.bind($of))*;
                let query = query.bind(text).bind(provider).bind(model).bind(thinking).bind(attachments).bind(now);
                query.fetch_optional(conn).await?
            })
        };
    }
    Ok(match (chat, draft.rev) {
        (Some(chat), 0) => save!(INSERT_OF_CHAT, chat),
        (None, 0) => save!(INSERT_OF_NEW_CHAT,),
        (Some(chat), rev) => save!(UPDATE_OF_CHAT, chat, rev),
        (None, rev) => save!(UPDATE_OF_NEW_CHAT, rev),
    })
}

/// Clears a draft that was sent. Its revision rises even if nothing was ever saved, so that neither a late save of
/// another tab nor a browser's copy restores the sent text. These are deferred writes.
pub async fn clear(tx: &mut Tx, owner: UserId, chat: Option<ChatId>, now: DateTime<Utc>) -> Result<(), StoreError> {
    let cleared = match chat {
        Some(chat) => tx.defer(CLEAR_OF_CHAT).bind(owner.uuid()).bind(chat.uuid()).bind(now).run().await?,
        None => tx.defer(CLEAR_OF_NEW_CHAT).bind(owner.uuid()).bind(now).run().await?,
    };
    // An insert beside an existing draft changes nothing.
    if tx.known_rows_affected(cleared).is_none_or(|cleared| cleared == 0) {
        let insert = match chat {
            Some(chat) => tx.defer(INSERT_OF_CHAT).bind(owner.uuid()).bind(chat.uuid()),
            None => tx.defer(INSERT_OF_NEW_CHAT).bind(owner.uuid()),
        };
        let insert = insert.bind(String::new()).bind(None::<String>).bind(None::<String>);
        insert.bind(None::<Json<Thinking>>).bind(None::<String>).bind(now).run().await?;
    }
    Ok(())
}
