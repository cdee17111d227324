//! Deleting a chat and bringing it back: everything it took along carries one deletion's id (domain.md I13).

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::id::DeletionId;
use crate::domain::{ChatId, UserId};
use crate::server::store::db::Tx;
use crate::server::store::error::StoreError;

sql! {
    DELETE_CHAT = "UPDATE chats SET deleted_at = $3, deletion_id = $4 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    DELETE_BRANCHES = "UPDATE branches SET deleted_at = $2, deletion_id = $3 WHERE chat_id = $1 AND deleted_at IS NULL";
    DELETE_TURNS = "UPDATE turns SET deleted_at = $2, deletion_id = $3 WHERE chat_id = $1 AND deleted_at IS NULL";
    DELETION_OF = "SELECT deletion_id FROM chats WHERE owner_id = $1 AND id = $2 AND deleted_at IS NOT NULL";
    RESTORE_CHAT = "UPDATE chats SET deleted_at = NULL, deletion_id = NULL WHERE id = $1 AND deletion_id = $2";
    RESTORE_BRANCHES = "UPDATE branches SET deleted_at = NULL, deletion_id = NULL WHERE chat_id = $1 AND deletion_id = $2";
    RESTORE_TURNS = "UPDATE turns SET deleted_at = NULL, deletion_id = NULL WHERE chat_id = $1 AND deletion_id = $2";
}

/// Deletes a chat with all that hangs on it, softly. False when there is none.
pub async fn soft_delete(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    deletion: DeletionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let (chat, deletion) = (chat.uuid(), deletion.uuid());
    Ok(in_tx!(tx, |conn| {
        let query = sqlx::query(DELETE_CHAT).bind(owner.uuid()).bind(chat).bind(now).bind(deletion);
        let found = query.execute(&mut *conn).await?.rows_affected() > 0;
        if found {
            sqlx::query(DELETE_BRANCHES).bind(chat).bind(now).bind(deletion).execute(&mut *conn).await?;
            sqlx::query(DELETE_TURNS).bind(chat).bind(now).bind(deletion).execute(&mut *conn).await?;
        }
        found
    }))
}

/// Brings a deleted chat back, with what its deletion took along and nothing that was deleted before. False when there
/// is none.
pub async fn restore(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<bool, StoreError> {
    let chat = chat.uuid();
    Ok(in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(DELETION_OF).bind(owner.uuid()).bind(chat);
        let deletion: Option<Uuid> = query.fetch_optional(&mut *conn).await?;
        if let Some(deletion) = deletion {
            sqlx::query(RESTORE_CHAT).bind(chat).bind(deletion).execute(&mut *conn).await?;
            sqlx::query(RESTORE_BRANCHES).bind(chat).bind(deletion).execute(&mut *conn).await?;
            sqlx::query(RESTORE_TURNS).bind(chat).bind(deletion).execute(&mut *conn).await?;
        }
        deletion.is_some()
    }))
}
