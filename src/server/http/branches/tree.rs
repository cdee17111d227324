//! The shape of a chat's tree over HTTP: all of it, the way to one turn, and what stands beside one.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::domain::tree::Node;
use crate::domain::tree::compact::Compact;
use crate::domain::{ChatId, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::json::Json;
use crate::server::http::request::path_id::{PathId, PathIds};
use crate::server::http::request::query::Query;
use crate::server::http::response::problem::Problem;
use turnleaf_service::paths::reading::Shape;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TreeQuery {
    #[param(inline)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    Full,
    Compact,
}

/// The default form: nothing but ids, so that a thousand turns stay below 100 KB.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TreeBody {
    rev: i64,
    nodes: Vec<TreeNode>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct TreeNode {
    id: TurnId,
    prev_turn_id: Option<TurnId>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PathBody {
    turn_id: TurnId,
    /// Root first, the turn itself last.
    path: Vec<Node>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SiblingsBody {
    turn_id: TurnId,
    /// Oldest first, the turn itself included.
    siblings: Vec<TurnId>,
}

/// `GET /api/chats/{id}/tree`: by ids, or with `format=compact` by places. The chat's revision is the strong ETag.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(chat): PathId<ChatId>,
    Query(query): Query<TreeQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let known = app.service().chat(viewer.0, chat).await?.rev;
    if is_known(&headers, known) {
        return Ok(tagged(StatusCode::NOT_MODIFIED.into_response(), known));
    }
    let Shape { rev, turns } = app.service().shape(viewer.0, chat).await?;
    let body = match query.format {
        None | Some(Format::Full) => {
            let nodes = turns.into_iter().map(|turn| TreeNode { id: turn.id, prev_turn_id: turn.prev }).collect();
            Json(TreeBody { rev, nodes }).into_response()
        }
        Some(Format::Compact) => {
            let places: std::collections::HashMap<_, _> = turns.iter().map(|turn| (turn.id, turn.ord)).collect();
            let prev = |turn: Option<TurnId>| turn.and_then(|turn| places.get(&turn).copied());
            Json(Compact::new(rev, turns.iter().map(|turn| (turn.ord, prev(turn.prev))))).into_response()
        }
    };
    Ok(tagged(body, rev))
}

/// `GET /api/chats/{id}/path/{turn}`: the places of the turns from the root to this one, without their blocks.
pub async fn path(
    State(app): State<App>,
    viewer: Viewer,
    PathIds(chat, turn_id): PathIds<ChatId, TurnId>,
) -> Result<Json<PathBody>, Problem> {
    let path = app.service().path_to(viewer.0, chat, turn_id).await?;
    Ok(Json(PathBody { turn_id, path }))
}

/// `GET /api/turns/{id}/siblings`: the versions of a turn.
pub async fn siblings(
    State(app): State<App>,
    viewer: Viewer,
    PathId(turn_id): PathId<TurnId>,
) -> Result<Json<SiblingsBody>, Problem> {
    let siblings = app.service().siblings(viewer.0, turn_id).await?;
    Ok(Json(SiblingsBody { turn_id, siblings }))
}

fn etag(rev: i64) -> String {
    format!("\"{rev}\"")
}

/// Whether the client says that it has this revision. The comparison of `If-None-Match` is the weak one (RFC 9110
/// 13.1.2).
fn is_known(headers: &HeaderMap, rev: i64) -> bool {
    let ours = etag(rev);
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag == ours
    })
}

/// The same with its revision, to be asked for again before it is used again.
fn tagged(mut response: Response, rev: i64) -> Response {
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
    fn a_client_names_what_it_has_in_any_form_of_the_header() {
        let known = |said: &'static [&'static str]| {
            let mut headers = HeaderMap::new();
            for line in said {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            is_known(&headers, 7)
        };
        for said in [&["\"7\""][..], &["W/\"7\""], &["\"6\", \"7\""], &["\"1\"", "\"7\""], &["*"]] {
            assert!(known(said), "{said:?}");
        }
        for said in [&[][..], &["\"8\""], &["7"], &["\"77\""], &[""]] {
            assert!(!known(said), "{said:?}");
        }
    }
}
