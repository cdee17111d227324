//! Lasting answers about tools: what a person said about a tool in one chat, or in all of them.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::approval::Policy;
use crate::domain::{ChatId, UserId};
use crate::server::store::db::{Db, Tx};
use crate::server::store::error::StoreError;
use crate::server::store::rows::{parse_word, plain, word};

sql! {
    FORGET_ALWAYS = "DELETE FROM tool_policies WHERE owner_id = $1 AND chat_id IS NULL AND server = $2 AND tool = $3";
    FORGET_OF_CHAT = "DELETE FROM tool_policies WHERE owner_id = $1 AND server = $2 AND tool = $3 AND chat_id = $4";
    PUT = "INSERT INTO tool_policies (id, owner_id, chat_id, server, tool, policy, schema_hash, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    OF = "SELECT id, chat_id, server, tool, policy, schema_hash FROM tool_policies \
        WHERE owner_id = $1 AND server = $2 AND tool = $3 AND (chat_id IS NULL OR chat_id = $4) \
        ORDER BY created_at, id";
}

/// An answer that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPolicy {
    /// `None`: in every chat.
    pub chat: Option<ChatId>,
    /// The server's id; empty for what Turnleaf runs itself.
    pub server: String,
    pub tool: String,
    pub policy: Policy,
    /// The schema that it holds for; `None` is any.
    pub schema_hash: Option<String>,
}

#[derive(sqlx::FromRow)]
struct PolicyRow {
    id: Uuid,
    chat_id: Option<Uuid>,
    server: String,
    tool: String,
    policy: String,
    schema_hash: Option<String>,
}

/// Stores what was said about a tool, in the place of what was said about it there before. The caller has found the chat
/// by its owner.
#[expect(clippy::too_many_arguments, reason = "the columns of one row")]
pub async fn put(
    tx: &mut Tx,
    owner: UserId,
    chat: Option<ChatId>,
    server: &str,
    tool: &str,
    policy: Policy,
    schema_hash: Option<&str>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (server, tool) = (plain(server, "server")?, plain(tool, "tool")?);
    let id = id_of(owner, chat, server, tool);
    in_tx!(tx, |conn| {
        match chat {
            None => sqlx::query(FORGET_ALWAYS).bind(owner.uuid()).bind(server).bind(tool),
            Some(chat) => sqlx::query(FORGET_OF_CHAT).bind(owner.uuid()).bind(server).bind(tool).bind(chat.uuid()),
        }
        .execute(&mut *conn)
        .await?;
        sqlx::query(PUT)
            .bind(id)
            .bind(owner.uuid())
            .bind(chat.map(ChatId::uuid))
            .bind(server)
            .bind(tool)
            .bind(word(policy))
            .bind(schema_hash)
            .bind(now)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// The id of an answer: there is one about each tool, and nobody calls it by a name of its own.
fn id_of(owner: UserId, chat: Option<ChatId>, server: &str, tool: &str) -> Uuid {
    let mut digest = Sha256::new();
    digest.update(owner.uuid().as_bytes());
    digest.update(chat.map(ChatId::uuid).unwrap_or_default().as_bytes());
    digest.update((server.len() as u64).to_be_bytes());
    digest.update(server.as_bytes());
    digest.update(tool.as_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest.finalize()).for_each(|(byte, of)| *byte = of);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// What was said about a tool in every chat, and in this one.
pub async fn of(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    server: &str,
    tool: &str,
) -> Result<Vec<StoredPolicy>, StoreError> {
    let rows: Vec<PolicyRow> = on!(db, |pool| {
        sqlx::query_as(OF).bind(owner.uuid()).bind(server).bind(tool).bind(chat.uuid()).fetch_all(pool).await?
    });
    rows.into_iter()
        .map(|row| {
            Ok(StoredPolicy {
                chat: row.chat_id.map(ChatId::from),
                policy: parse_word(row.policy, "tool_policies", "policy", row.id)?,
                server: row.server,
                tool: row.tool,
                schema_hash: row.schema_hash,
            })
        })
        .collect()
}
