//! Policies for all tools of a server, for all chats. A policy of a single tool counts before them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{from_json, parse_word, to_json, to_word};
use turnleaf_domain::UserId;
use turnleaf_domain::tools::approval::ToolApprovalPolicy;

sql! {
    PUT = "INSERT INTO server_policies (owner_id, server, policy, seen, created_at) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (owner_id, server) DO UPDATE \
        SET policy = excluded.policy, seen = excluded.seen, created_at = excluded.created_at";
    ALL = "SELECT server, policy, seen FROM server_policies WHERE owner_id = $1 ORDER BY server";
    DELETE = "DELETE FROM server_policies WHERE owner_id = $1 AND server = $2";
}

const TABLE: &str = "server_policies";

/// The policy for all tools of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPolicy {
    /// Empty if it cannot be read, so that it may be any server's.
    pub server: String,
    /// `Never` if it cannot be read (fail closed): it may have been that.
    pub policy: ToolApprovalPolicy,
    /// With `Allow`, the hashes of the descriptions that were allowed, by tool. Another tool, and one that describes
    /// itself differently, is not allowed.
    pub seen: BTreeMap<String, String>,
}

impl ServerPolicy {
    /// Returns true if it allows a tool with this hash.
    pub fn allows(&self, tool: &str, hash: &str) -> bool {
        self.policy == ToolApprovalPolicy::Allow && self.seen.get(tool).is_some_and(|seen| seen == hash)
    }

    /// Returns the policy of a server. One that cannot be assigned to a server counts for each, and a refusal wins.
    pub fn of_server<'a>(policies: &'a [Self], server: &str) -> Option<&'a Self> {
        let counts = |policy: &&Self| policy.server == server || policy.server.is_empty();
        let is_refusal = |policy: &&Self| policy.policy == ToolApprovalPolicy::Never;
        policies.iter().filter(counts).find(is_refusal).or_else(|| policies.iter().find(counts))
    }
}

struct PolicyRow {
    server: Lossy<String>,
    policy: Lossy<String>,
    seen: Lossy<String>,
}
from_row!(PolicyRow { server, policy, seen });

impl PolicyRow {
    fn read(self) -> ServerPolicy {
        let text = |column, value: Lossy<String>| value.unwrap_or_default(TABLE, column, Uuid::nil());
        let server = text("server", self.server);
        let policy = parse_word(text("policy", self.policy), TABLE, "policy", &server).ok();
        let seen = from_json(&text("seen", self.seen), TABLE, "seen", &server).unwrap_or_default();
        let policy = policy.filter(|_| !server.is_empty()).unwrap_or(ToolApprovalPolicy::Never);
        ServerPolicy { server, policy, seen }
    }
}

/// Stores the policy of a server and replaces the earlier one.
pub async fn put(tx: &mut Tx, owner: UserId, policy: &ServerPolicy, now: DateTime<Utc>) -> Result<(), StoreError> {
    let seen = to_json(&policy.seen, TABLE, "seen")?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(PUT).bind(owner.uuid()).bind(policy.server.as_str()).bind(to_word(policy.policy));
        query.bind(seen).bind(now).execute(conn).await?;
    });
    Ok(())
}

/// Returns the policies of all servers.
pub async fn list(db: &Db, owner: UserId) -> Result<Vec<ServerPolicy>, StoreError> {
    let rows: Vec<Readable<PolicyRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(PolicyRow::read).collect())
}

/// Deletes the policy of a server.
pub async fn delete(tx: &mut Tx, owner: UserId, server: &str) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DELETE).bind(owner.uuid()).bind(server).execute(conn).await?;
    });
    Ok(())
}
