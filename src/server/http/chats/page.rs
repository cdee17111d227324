//! The page of all chats, and the form that does something with many of them.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, Invalid, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::http::turns::forms::local_path;
use crate::server::plain_pages::Section;
use crate::server::plain_pages::chats::{ChatsPage, Deed};
use turnleaf_service::ServiceError;
use turnleaf_service::chats::{Browsed, ChatChange};

/// What the page is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageQuery {
    archived: bool,
    q: String,
    /// What is older than this chat.
    behind: Option<ChatId>,
    /// Whether all boxes are ticked.
    all: bool,
    /// What was done, and with how many.
    done: Option<String>,
    count: usize,
}

/// `GET /chats`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let part: String = query.q.trim().chars().take(limits::TITLE_CHARS).collect();
    let which = Browsed { archived: query.archived, part, behind: query.behind };
    // One more than the page shows says whether there are older ones.
    let mut chats = app.service().browse_chats(viewer.0, &which, limits::PAGE_MAX + 1).await?;
    let has_older = chats.len() > limits::PAGE_MAX as usize;
    chats.truncate(limits::PAGE_MAX as usize);
    let done = query.done.as_deref().and_then(Deed::parse).map(|deed| (deed, query.count));
    let page = ChatsPage { which, chats, has_older, all_chosen: query.all, done };
    Ok(asked.answer(&app, StatusCode::OK, page.draw()))
}

/// `POST /forms/chats`.
pub async fn act(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let deed = fields.text("deed").as_deref().and_then(Deed::parse);
    let deed = deed.ok_or_else(|| Problem::invalid(Invalid::new("deed", "is missing")))?;
    let mut count = 0_usize;
    for id in fields.all("chat").into_iter().take(limits::PAGE_MAX as usize) {
        let Ok(id) = id.parse() else { continue };
        match one(&app, viewer, id, deed).await {
            Ok(()) => count += 1,
            // Deleted meanwhile, in another tab.
            Err(ServiceError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let back = fields.text("back").unwrap_or_else(|| Section::Chats.path().to_owned());
    let back = local_path(&back);
    // The page of one chat says only that it was done.
    if !back.starts_with(Section::Chats.path()) {
        return Ok(see_other(&format!("{back}?saved=1")));
    }
    let more = if back.contains('?') { "&" } else { "?" };
    Ok(see_other(&format!("{back}{more}done={}&count={count}", deed.as_str())))
}

async fn one(app: &App, viewer: Viewer, id: ChatId, deed: Deed) -> Result<(), ServiceError> {
    let change = match deed {
        Deed::Delete => return app.service().delete_chat(viewer.0, id).await.map(drop),
        Deed::Pin => ChatChange { pinned: Some(true), ..ChatChange::default() },
        Deed::Unpin => ChatChange { pinned: Some(false), ..ChatChange::default() },
        Deed::Archive => ChatChange { archived: Some(true), ..ChatChange::default() },
        Deed::BringBack => ChatChange { archived: Some(false), ..ChatChange::default() },
    };
    app.service().change_chat(viewer.0, id, change).await.map(drop)
}
