//! Find in chat: as JSON, and as the page without script.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, Role, TextMatcher, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, page_limit};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::find_in_chat::FindPage;
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::search::chat_search::{TurnMatch, TurnMatches};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FindInChatQuery {
    /// The text to find. Case is ignored.
    #[param(min_length = 1, max_length = 256, pattern = r"\S")]
    q: String,
    /// The turn at which the path ends. Without it, the path at which the chat opens.
    leaf: Option<TurnId>,
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Matches on one path, ordered from the root.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct FindResults {
    /// Number of turns that match. `hits` are the newest of them.
    total: u32,
    /// False if the time limit ended the search before the whole chat was searched.
    complete: bool,
    hits: Vec<FindHit>,
}

/// A turn that contains the text.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct FindHit {
    turn_id: TurnId,
    role: Role,
    /// The distance from the root, which has 0.
    depth: i64,
    /// The text before the first match, the match as it is written, and the text after it.
    excerpt: [String; 3],
}

impl From<TurnMatches> for FindResults {
    fn from(found: TurnMatches) -> Self {
        let body =
            |hit: TurnMatch| FindHit { turn_id: hit.turn_id, role: hit.role, depth: hit.depth, excerpt: hit.excerpt };
        Self { total: found.total, complete: found.is_whole, hits: found.hits.into_iter().map(body).collect() }
    }
}

/// `GET /api/chats/{id}/find`: returns the turns of one path that contain the text, ignoring case.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<FindInChatQuery>,
) -> Result<ApiJson<FindResults>, Problem> {
    let limit = page_limit(query.limit, limits::FIND_DEFAULT, limits::FIND_MAX)?;
    TextMatcher::new(&query.q)?;
    let (_, found) = app.service().find_in_chat(principal.user, id, query.leaf, &query.q, limit).await?;
    Ok(ApiJson(found.into()))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindPageQuery {
    #[serde(default)]
    q: String,
    leaf: Option<TurnId>,
}

/// `GET /c/{id}/find`: shows a form, and the matches as links to their turns.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<FindPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let mut page = FindPage { chat: id, query: query.q, leaf: query.leaf, found: None, error: None };
    if !page.query.is_empty() {
        match TextMatcher::new(&page.query) {
            Ok(_) => {
                let search =
                    app.service().find_in_chat(principal.user, id, page.leaf, &page.query, limits::FIND_DEFAULT);
                page.found = Some(search.await?.1);
            }
            Err(invalid) => page.error = Some(coded_sentence(&invalid.reason)),
        }
    }
    let title = app.service().chat(principal.user, id).await?.title;
    let status = if page.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(context.respond(&app, status, page.draw(&title)))
}
