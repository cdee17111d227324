//! The shape of a chat's tree: the whole tree, the path to one turn, and the versions of one turn.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::domain::branches::tree::TurnNode;
use crate::domain::branches::tree::compact_tree::CompactTree;
use crate::domain::{ChatId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use turnleaf_service::paths::reading::TreeShape;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TreeQuery {
    /// `full` (default) for ids, or `compact` for positions (`ord`).
    #[param(inline)]
    format: Option<TreeFormat>,
}

/// The format of a tree.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum TreeFormat {
    Full,
    Compact,
}

/// The tree as ids only, which keeps a thousand turns below 100 KB.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct FullTurnTree {
    rev: i64,
    nodes: Vec<TreeNode>,
}

/// The position of a turn in the tree.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TreeNode {
    id: TurnId,
    /// The turn before it. Null for a root.
    prev_turn_id: Option<TurnId>,
}

/// The path from the root to a turn.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TurnPath {
    turn_id: TurnId,
    /// The turns from the root to the turn itself.
    path: Vec<TurnNode>,
}

/// The versions of a turn: the turns after the same turn.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TurnSiblings {
    turn_id: TurnId,
    /// All versions including the turn itself, oldest first.
    siblings: Vec<TurnId>,
}

/// `GET /api/chats/{id}/tree`: returns the tree by ids, or by positions (`ord`) with `format=compact`. The chat's
/// revision is the strong ETag.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<TreeQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = app.service().chat(principal.user, chat).await?.rev;
    if matches_etag(&headers, known) {
        return Ok(with_etag(StatusCode::NOT_MODIFIED.into_response(), known));
    }
    let TreeShape { rev, turns } = app.service().tree_shape(principal.user, chat).await?;
    let body = match query.format {
        None | Some(TreeFormat::Full) => {
            let nodes = turns.into_iter().map(|turn| TreeNode { id: turn.id, prev_turn_id: turn.prev }).collect();
            ApiJson(FullTurnTree { rev, nodes }).into_response()
        }
        Some(TreeFormat::Compact) => {
            let places: std::collections::HashMap<_, _> = turns.iter().map(|turn| (turn.id, turn.ord)).collect();
            let prev = |turn: Option<TurnId>| turn.and_then(|turn| places.get(&turn).copied());
            ApiJson(CompactTree::new(rev, turns.iter().map(|turn| (turn.ord, prev(turn.prev))))).into_response()
        }
    };
    Ok(with_etag(body, rev))
}

/// `GET /api/chats/{id}/path/{turn}`: returns the turns from the root to this one, without their blocks.
pub async fn path(
    State(app): State<App>,
    principal: Principal,
    PathIds(chat, turn_id): PathIds<ChatId, TurnId>,
) -> Result<ApiJson<TurnPath>, Problem> {
    let path = app.service().path_to(principal.user, chat, turn_id).await?;
    Ok(ApiJson(TurnPath { turn_id, path }))
}

/// `GET /api/turns/{id}/siblings`: returns the versions of a turn.
pub async fn siblings(
    State(app): State<App>,
    principal: Principal,
    PathId(turn_id): PathId<TurnId>,
) -> Result<ApiJson<TurnSiblings>, Problem> {
    let siblings = app.service().siblings(principal.user, turn_id).await?;
    Ok(ApiJson(TurnSiblings { turn_id, siblings }))
}

fn etag(rev: i64) -> String {
    format!("\"{rev}\"")
}

/// Returns whether `If-None-Match` names this revision, by weak comparison (RFC 9110 13.1.2).
fn matches_etag(headers: &HeaderMap, rev: i64) -> bool {
    let ours = etag(rev);
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag == ours
    })
}

/// Sets the revision as ETag. `no-cache` makes clients revalidate a stored response before they use it.
fn with_etag(mut response: Response, rev: i64) -> Response {
    if let Ok(tag) = HeaderValue::from_str(&etag(rev)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_accepts_every_header_form() {
        let known = |values: &'static [&'static str]| {
            let mut headers = HeaderMap::new();
            for line in values {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            matches_etag(&headers, 7)
        };
        for values in [&["\"7\""][..], &["W/\"7\""], &["\"6\", \"7\""], &["\"1\"", "\"7\""], &["*"]] {
            assert!(known(values), "{values:?}");
        }
        for values in [&[][..], &["\"8\""], &["7"], &["\"77\""], &[""]] {
            assert!(!known(values), "{values:?}");
        }
    }
}
