//! Tool policies: lasting approvals and refusals, for one chat or all chats; for a tool that reaches other hosts, for
//! one host.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{parse_word, storable_text, to_word};
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_domain::{ChatId, ToolPolicyId, UserId};
use turnleaf_platform::ids;

sql! {
    PUT_ALWAYS = "INSERT INTO tool_policies (id, owner_id, chat_id, server, tool, scope, policy, schema_hash, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (owner_id, server, tool, scope) WHERE chat_id IS NULL \
        DO UPDATE SET policy = excluded.policy, schema_hash = excluded.schema_hash, created_at = excluded.created_at";
    PUT_IN_CHAT = "INSERT INTO tool_policies (id, owner_id, chat_id, server, tool, scope, policy, schema_hash, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (chat_id, server, tool, scope) WHERE chat_id IS NOT NULL \
        DO UPDATE SET policy = excluded.policy, schema_hash = excluded.schema_hash, created_at = excluded.created_at";
    OF = "SELECT chat_id, server, tool, scope, policy, schema_hash FROM tool_policies \
        WHERE owner_id = $1 AND server = $3 AND tool = $4 AND (chat_id IS NULL OR chat_id = $2) ORDER BY created_at, id";
    LIST = "SELECT p.chat_id, p.server, p.tool, p.scope, p.policy, p.schema_hash FROM tool_policies p \
        LEFT JOIN chats c ON c.id = p.chat_id WHERE p.owner_id = $1 AND c.deleted_at IS NULL \
        ORDER BY p.server, p.tool, p.scope, p.created_at, p.id";
    DELETE_GRANTS = "DELETE FROM tool_policies WHERE owner_id = $1 AND server = $2 AND tool = $3 \
        AND (chat_id IS NOT NULL OR scope <> '')";
    DELETE_OF_HOST = "DELETE FROM tool_policies WHERE owner_id = $1 AND server = $2 AND tool = $3 AND scope = $4";
    DELETE_IN_CHAT = "DELETE FROM tool_policies WHERE owner_id = $1 AND chat_id = $2 AND server = $3 AND tool = $4 \
        AND scope = $5";
    DELETE_OF_TOOL = "DELETE FROM tool_policies WHERE owner_id = $1 AND server = $2 AND tool = $3 \
        AND chat_id IS NULL AND scope = ''";
    DELETE_OF_SERVER = "DELETE FROM tool_policies WHERE owner_id = $1 AND server = $2";
}

/// A lasting policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPolicy {
    /// The chat in which it applies; `None` means all of them.
    pub chat: Option<ChatId>,
    /// Empty for built-in tools.
    pub server: String,
    pub tool: String,
    /// The host to which it applies, for a tool that is approved per host; `None` means the tool as a whole.
    pub host: Option<String>,
    pub policy: ToolApprovalPolicy,
    /// The hash of the schema that was approved; `None` means any.
    pub schema_hash: Option<String>,
}

type ToolPolicyRow = (Option<Uuid>, String, String, String, String, Option<String>);

fn read((chat, server, tool, scope, policy, schema_hash): ToolPolicyRow) -> Result<StoredPolicy, StoreError> {
    let policy = parse_word(policy, "tool_policies", "policy", &tool)?;
    let host = Some(scope).filter(|scope| !scope.is_empty());
    Ok(StoredPolicy { chat: chat.map(ChatId::from), server, tool, host, policy, schema_hash })
}

/// Stores a policy and replaces the earlier one for the same tool, host and chat.
pub async fn put(tx: &mut Tx, owner: UserId, policy: &StoredPolicy, now: DateTime<Utc>) -> Result<(), StoreError> {
    let tool = storable_text(&policy.tool, "the tool")?;
    let scope = storable_text(policy.host.as_deref().unwrap_or_default(), "the host")?;
    let id: ToolPolicyId = ids::mint();
    in_tx!(tx, |conn| {
        sqlx::query(if policy.chat.is_some() { PUT_IN_CHAT } else { PUT_ALWAYS })
            .bind(id.uuid())
            .bind(owner.uuid())
            .bind(policy.chat.map(ChatId::uuid))
            .bind(policy.server.as_str())
            .bind(tool)
            .bind(scope)
            .bind(to_word(policy.policy))
            .bind(policy.schema_hash.as_deref())
            .bind(now)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns the policies of a tool: of this chat, and of all chats; for every host. An unreadable row counts as a
/// refusal (fail closed): it may have been one, and another row must not allow the call instead.
pub async fn list_for_tool(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    server: &str,
    tool: &str,
) -> Result<Vec<StoredPolicy>, StoreError> {
    let rows: Vec<Readable<ToolPolicyRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(OF).bind(owner.uuid()).bind(chat.uuid()).bind(server).bind(tool);
        query.fetch_all(pool).await?
    });
    let count = rows.len();
    let mut policies: Vec<StoredPolicy> =
        keep_decoded(keep_readable(rows, "tool_policies").into_iter().map(read), "tool_policies");
    if policies.len() < count {
        let (server, tool) = (server.to_owned(), tool.to_owned());
        policies.push(StoredPolicy {
            chat: None,
            server,
            tool,
            host: None,
            policy: ToolApprovalPolicy::Never,
            schema_hash: None,
        });
    }
    Ok(policies)
}

/// Returns all tool policies of an owner.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<StoredPolicy>, StoreError> {
    let rows: Vec<Readable<ToolPolicyRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_decoded(keep_readable(rows, "tool_policies").into_iter().map(read), "tool_policies"))
}

/// Deletes the policies of a tool for single chats and single hosts.
pub async fn delete_grants(tx: &mut Tx, owner: UserId, server: &str, tool: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_GRANTS).bind(owner.uuid()).bind(server).bind(tool).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the policies of a tool and a host, for all chats and for single ones.
pub async fn delete_of_host(
    tx: &mut Tx,
    owner: UserId,
    server: &str,
    tool: &str,
    host: &str,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(DELETE_OF_HOST).bind(owner.uuid()).bind(server).bind(tool);
        query.bind(host).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the policies of a tool, or of a tool and a host, in this chat.
pub async fn delete_in_chat(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    (server, tool, host): (&str, &str, Option<&str>),
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(DELETE_IN_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(server).bind(tool).bind(host.unwrap_or_default()).execute(conn).await?;
    });
    Ok(())
}

/// Deletes the policy of a tool for all chats and hosts.
pub async fn delete_of_tool(tx: &mut Tx, owner: UserId, server: &str, tool: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_OF_TOOL).bind(owner.uuid()).bind(server).bind(tool).execute(conn).await?;
    });
    Ok(())
}

/// Deletes all policies of the tools of a server.
pub async fn delete_of_server(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE_OF_SERVER).bind(owner.uuid()).bind(server).execute(conn).await?;
    });
    Ok(())
}
