//! What was sent, apart from what is known of its call: it may be as long as its chat, and is written once.

use serde::Serialize;
use sqlx::types::Json;

use crate::domain::{GenerationId, UserId};
use crate::server::store::db::{Db, Tx};
use crate::server::store::error::StoreError;

sql! {
    INSERT = "INSERT INTO generation_requests (generation_id, body, manifest) VALUES ($1, $2, $3)";
    FIND = "SELECT q.body FROM generation_requests q JOIN generations g ON g.id = q.generation_id \
        JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND g.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
}

/// Stores what was sent, behind the row of its call, and what it was made of.
pub(in crate::server::store) async fn insert(
    tx: &mut Tx,
    id: GenerationId,
    body: &[u8],
    manifest: &(impl Serialize + Sync),
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| sqlx::query(INSERT)
        .bind(id.uuid())
        .bind(body)
        .bind(Json(manifest))
        .execute(conn)
        .await
        .map(drop))?;
    Ok(())
}

/// The request exactly as it was sent.
pub async fn find(db: &Db, owner: UserId, generation: GenerationId) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(on!(db, |pool| {
        sqlx::query_scalar(FIND).bind(owner.uuid()).bind(generation.uuid()).fetch_optional(pool).await?
    }))
}
