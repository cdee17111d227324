//! Access of the built-in tools to their owner's data: search in the chats, the hosts that may be fetched, and the
//! search engine.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use uuid::Uuid;

use super::grants::is_granted;
use super::search_engines::SearchEngines;
use turnleaf_domain::{Role, limits};
use turnleaf_platform::ids;
use turnleaf_platform::search_engine::SearchEngine;
use turnleaf_store::Db;
use turnleaf_store::search::{MatchedItem, SearchFilter, SearchKind, TextQuery, find_items};
use turnleaf_store::tools::tool_policies;
use turnleaf_tools::built_in::{self, ToolLibrary};
use turnleaf_tools::toolbox::ToolCaller;

/// The author of a hit that its owner wrote.
const BY_USER: &str = "user";

/// Returns true when a stored search result contains only messages that the owner wrote here. Replies may quote pages
/// and files, and an imported chat may contain anything. A truncated result cannot be parsed and counts as foreign
/// text.
pub(super) fn is_owners_text(result: &Value) -> bool {
    let is_local = |hit: &Value, field: &str| {
        let id = hit.get(field).and_then(Value::as_str).and_then(|id| id.parse::<Uuid>().ok());
        id.is_some_and(|id| !ids::is_imported(id))
    };
    let is_owners = |hit: &Value| {
        let is_by_user = hit.get("said_by").and_then(Value::as_str) == Some(BY_USER);
        is_by_user && is_local(hit, "turn_id") && is_local(hit, "chat_id")
    };
    result.get("found").and_then(Value::as_array).is_some_and(|found| found.iter().all(is_owners))
}

/// The chats of this database, and the search engines of this server.
pub(super) struct ChatLibrary {
    pub db: Db,
    pub search_engines: Arc<SearchEngines>,
}

impl ToolLibrary for ChatLibrary {
    fn search<'a>(
        &'a self,
        caller: &'a ToolCaller,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let query = TextQuery::new(query).map_err(|invalid| invalid.to_string())?;
            let filter = SearchFilter { not_chat: Some(caller.chat), ..SearchFilter::default() };
            let limit = u32::try_from(limit).unwrap_or(limits::PAGE_MAX).clamp(1, limits::PAGE_MAX);
            let request = (&query, &filter, &[SearchKind::Turn][..]);
            let found = find_items(&self.db, caller.owner, request, None, limit).await.map_err(|error| {
                tracing::error!(%error, "a tool could not search the chats");
                "the chats could not be searched".to_owned()
            })?;
            let found = found.map_err(|invalid| invalid.to_string())?;
            let hits =
                found.hits.iter().filter_map(|hit| if let MatchedItem::Turn(hit) = hit { Some(hit) } else { None });
            let hits: Vec<Value> = hits
                .map(|hit| {
                    json!({
                        "chat": hit.chat_title,
                        "chat_id": hit.chat_id,
                        "turn_id": hit.turn_id,
                        "said_by": if hit.role == Role::User { BY_USER } else { "assistant" },
                        "at": hit.created_at,
                        "text": hit.excerpt.text,
                    })
                })
                .collect();
            let mut result = json!({ "found": hits });
            if !found.is_whole || found.next.is_some() {
                result["note"] = json!("There may be more results: the search stopped before covering everything.");
            }
            Ok(result)
        })
    }

    fn may_fetch<'a>(&'a self, caller: &'a ToolCaller, host: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let described = built_in::describe_all().into_iter().find(|tool| tool.tool == built_in::PAGE_TOOL);
            let Some(hash) = described.map(|tool| tool.schema_hash()) else { return false };
            let policies =
                tool_policies::list_for_tool(&self.db, caller.owner, caller.chat, "", built_in::PAGE_TOOL).await;
            policies.map(|policies| is_granted(&policies, caller.chat, Some(host), &hash)).unwrap_or_else(|error| {
                tracing::error!(%error, "which hosts are allowed cannot be read");
                false
            })
        })
    }

    fn search_engine(&self, caller: &ToolCaller) -> Option<SearchEngine> {
        self.search_engines.find(caller.owner)
    }
}
