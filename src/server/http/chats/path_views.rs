//! Reading a path over HTTP: pages of turns, blocks, message groups, and the deprecated flat messages
//! (docs/reference/domain.md 4.9).

use std::collections::HashMap;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LINK;
use http::{HeaderName, HeaderValue};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::blocks::content_block::ContentBlock;
use crate::domain::blocks::group::MessageGroup;
use crate::domain::blocks::legacy_message::LegacyMessage;
use crate::domain::{ChatId, Turn, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, deserialize_flag, page_limit};
use crate::server::http::response::block_form::{BlockForm, TurnResponse};
use crate::server::http::response::problem::Problem;
use turnleaf_service::paths::window::{WindowDirection, WindowRequest};

/// The date since which `/messages` is deprecated: 2026-11-21, in the form of RFC 9745.
const DEPRECATED_SINCE: HeaderValue = HeaderValue::from_static("@1795219200");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");

/// A turn in a query: by its id, or by its position in the chat (`ord`), which the compact tree uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnReference {
    Id(TurnId),
    Ord(i64),
}

impl<'de> Deserialize<'de> for TurnReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Ord).map_err(D::Error::custom);
        }
        text.parse().map(Self::Id).map_err(|_| D::Error::custom("must be a turn id or its position in the chat"))
    }
}

impl TurnReference {
    async fn resolve(self, app: &App, viewer: UserId, chat: ChatId) -> Result<TurnId, Problem> {
        match self {
            Self::Id(id) => Ok(id),
            Self::Ord(ord) => Ok(app.service().turn_with_ord(viewer, chat, ord).await?),
        }
    }

    async fn resolve_optional(
        named: Option<Self>,
        app: &App,
        viewer: UserId,
        chat: ChatId,
    ) -> Result<Option<TurnId>, Problem> {
        match named {
            Some(named) => named.resolve(app, viewer, chat).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The side of the anchor that a page covers.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReadingDirection {
    Before,
    After,
    Both,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListTurnsQuery {
    /// The anchor of the page, by id or by `ord`. By default the last viewed turn if it is on the path, else the end of
    /// the path.
    #[param(value_type = Option<String>, pattern = "^([0-9]{1,9}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    from: Option<TurnReference>,
    /// A turn that the path leads to, by id or by `ord`. By default the path at which the chat opens.
    #[param(value_type = Option<String>, pattern = "^([0-9]{1,9}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    leaf: Option<TurnReference>,
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// Turns `before` or `after` the anchor, or `both` (default) with the anchor.
    #[param(inline)]
    direction: Option<ReadingDirection>,
    /// `1`: with `both`, an unused share of one side is not given to the other.
    #[serde(default, deserialize_with = "deserialize_flag")]
    #[param(value_type = Option<bool>)]
    strict: bool,
    /// Form of the turns: `native` (default), `seed` for blocks as `{"block_type", "content"}`, or `node` for
    /// `content`, `contentBlocks`, `rawResponse`, `modelUsed` and `createdOnBranch` instead of `blocks`.
    #[param(inline)]
    form: Option<BlockForm>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PathPageQuery {
    /// Number of items to skip from the root.
    skip: Option<u32>,
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// A turn that the path leads to, by id or by `ord`. By default the path at which the chat opens.
    #[param(value_type = Option<String>, pattern = "^([0-9]{1,9}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")]
    leaf: Option<TurnReference>,
}

/// A page of the turns of a path.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PathTurns {
    /// The turns, from the root.
    #[schema(value_type = Vec<Turn>)]
    turns: Vec<TurnResponse>,
    /// The turn around which the page was read. Null in an empty chat.
    anchor_id: Option<TurnId>,
    /// True if the path has turns before these.
    has_more_before: bool,
    /// True if the path has turns after these.
    has_more_after: bool,
    /// `from` of the page before, with `direction=before`. Null if there is none.
    before_cursor: Option<TurnId>,
    /// `from` of the page after, with `direction=after`. Null if there is none.
    after_cursor: Option<TurnId>,
    /// The versions of each turn, itself included, oldest first.
    siblings: HashMap<TurnId, Vec<TurnId>>,
    /// The revision of the chat, which rises with every change of its tree.
    chat_rev: i64,
}

/// A page of a path as messages with their replies.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PathGroups {
    /// The groups, from the root.
    groups: Vec<MessageGroup>,
    /// `skip` of the next page. Absent at the end of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_skip: Option<usize>,
}

/// A page of the blocks of a path.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PathBlocks {
    /// The blocks, by `sequence_number`.
    blocks: Vec<ContentBlock>,
    /// Number of blocks on the whole path.
    total: u64,
}

/// A page of a path as flat messages, for clients from before blocks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PathMessages {
    /// The messages, from the root.
    messages: Vec<LegacyMessage>,
    /// Number of messages on the whole path.
    total: u64,
}

/// `GET /api/chats/{id}/turns`: returns turns of one path before, after or around a turn.
pub async fn turns(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<ListTurnsQuery>,
) -> Result<ApiJson<PathTurns>, Problem> {
    let limit = page_limit(query.limit, limits::PAGE_DEFAULT, limits::PAGE_MAX)?;
    let window = WindowRequest {
        from: TurnReference::resolve_optional(query.from, &app, principal.user, chat).await?,
        leaf: TurnReference::resolve_optional(query.leaf, &app, principal.user, chat).await?,
        limit,
        direction: match query.direction {
            Some(ReadingDirection::Before) => WindowDirection::Before,
            Some(ReadingDirection::After) => WindowDirection::After,
            Some(ReadingDirection::Both) | None => WindowDirection::Both,
        },
        strict: query.strict,
    };
    let seen = app.service().window(principal.user, chat, window).await?;
    Ok(ApiJson(PathTurns {
        turns: TurnResponse::list(&app, seen.turns, query.form.unwrap_or_default()).await?,
        anchor_id: seen.anchor_id,
        has_more_before: seen.has_more_before,
        has_more_after: seen.has_more_after,
        before_cursor: seen.before_cursor,
        after_cursor: seen.after_cursor,
        siblings: seen.siblings,
        chat_rev: seen.chat.rev,
    }))
}

/// `GET /api/chats/{id}/groups`: returns the path as messages with their replies.
pub async fn groups(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<PathPageQuery>,
) -> Result<ApiJson<PathGroups>, Problem> {
    let limit = page_limit(query.limit, limits::GROUPS_PAGE, limits::GROUPS_PAGE)?;
    let leaf = TurnReference::resolve_optional(query.leaf, &app, principal.user, chat).await?;
    let page = app.service().groups(principal.user, chat, leaf, query.skip.unwrap_or(0), limit).await?;
    Ok(ApiJson(PathGroups { groups: page.groups, next_skip: page.next_skip }))
}

/// `GET /api/chats/{id}/blocks`: returns blocks of the path; `total` counts all of them.
pub async fn blocks(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<PathPageQuery>,
) -> Result<ApiJson<PathBlocks>, Problem> {
    let limit = page_limit(query.limit, limits::BLOCKS_PAGE, limits::BLOCKS_PAGE)?;
    let leaf = TurnReference::resolve_optional(query.leaf, &app, principal.user, chat).await?;
    let page = app.service().blocks(principal.user, chat, leaf, query.skip.unwrap_or(0), limit).await?;
    Ok(ApiJson(PathBlocks { blocks: page.items, total: page.total }))
}

/// `GET /api/chats/{id}/messages`: deprecated in favour of `/blocks`, which its headers announce.
pub async fn messages(
    State(app): State<App>,
    principal: Principal,
    PathId(chat): PathId<ChatId>,
    StrictQuery(query): StrictQuery<PathPageQuery>,
) -> Response {
    let answer = list_messages(&app, principal.user, chat, query).await.map_err(Problem::into_response);
    let mut response = answer.map_or_else(|problem| problem, IntoResponse::into_response);
    let headers = response.headers_mut();
    headers.insert(DEPRECATION, DEPRECATED_SINCE);
    let links = format!(
        "</api/chats/{chat}/blocks>; rel=\"successor-version\", </api/docs>; rel=\"deprecation\"; type=\"text/html\""
    );
    if let Ok(links) = HeaderValue::from_str(&links) {
        headers.insert(LINK, links);
    }
    response
}

async fn list_messages(
    app: &App,
    viewer: UserId,
    chat: ChatId,
    query: PathPageQuery,
) -> Result<ApiJson<PathMessages>, Problem> {
    let limit = page_limit(query.limit, limits::PAGE_DEFAULT, limits::PAGE_MAX)?;
    let leaf = TurnReference::resolve_optional(query.leaf, app, viewer, chat).await?;
    let page = app.service().messages(viewer, chat, leaf, query.skip.unwrap_or(0), limit).await?;
    Ok(ApiJson(PathMessages { messages: page.items, total: page.total }))
}
