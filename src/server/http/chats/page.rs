//! The page of all chats, and the form for bulk actions.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, InvalidField, MessageCode, ProjectId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::projects::pages::chosen_project;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::chats::{ChatsAction, ChatsPage};
use turnleaf_service::ServiceError;
use turnleaf_service::chats::{BrowseFilter, ChatChange};

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChatsPageQuery {
    archived: bool,
    q: String,
    /// Only the chats of this project.
    project: Option<ProjectId>,
    /// Shows the chats older than this one.
    behind: Option<ChatId>,
    /// True if all boxes are ticked.
    all: bool,
    /// The action that was done, and the number of chats.
    done: Option<String>,
    count: usize,
}

/// `GET /chats`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<ChatsPageQuery>,
) -> Result<Response, Problem> {
    let part: String = query.q.trim().chars().take(limits::TITLE_CHARS).collect();
    let projects = app.service().projects(principal.user).await?;
    if query.project.is_some_and(|id| projects.iter().all(|listed| listed.project.id != id)) {
        return Err(Problem::not_found());
    }
    let which =
        BrowseFilter { archived: query.archived, title_part: part, project: query.project, after: query.behind };
    // One more than a page holds, to find out whether there are older ones.
    let mut chats = app.service().browse_chats(principal.user, &which, limits::PAGE_MAX + 1).await?;
    let has_older = chats.len() > limits::PAGE_MAX as usize;
    chats.truncate(limits::PAGE_MAX as usize);
    let done = query.done.as_deref().and_then(ChatsAction::parse).map(|action| (action, query.count));
    let page = ChatsPage { filter: which, chats, projects, has_older, all_chosen: query.all, done };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `POST /forms/chats`.
pub async fn apply_action(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let action = fields.text("deed").as_deref().and_then(ChatsAction::parse);
    let action = action.ok_or_else(|| Problem::invalid(InvalidField::new("deed", MessageCode::IsRequired)))?;
    let project = chosen_project(&fields)?;
    if let (ChatsAction::Move, Some(project)) = (action, project) {
        app.service().project(principal.user, project).await?;
    }
    let mut count = 0_usize;
    for id in fields.values("chat").into_iter().take(limits::PAGE_MAX as usize) {
        let Ok(id) = id.parse() else { continue };
        match apply_action_to_chat(&app, principal, id, (action, project)).await {
            Ok(()) => count += 1,
            // Another tab deleted the chat meanwhile.
            Err(ServiceError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let back = fields.text("back").unwrap_or_else(|| PageSection::Chats.path().to_owned());
    let back = local_path(&back);
    // The page of a single chat only confirms the action, without a count.
    if !back.starts_with(PageSection::Chats.path()) {
        return Ok(see_other(&format!("{back}?saved=1")));
    }
    let more = if back.contains('?') { "&" } else { "?" };
    Ok(see_other(&format!("{back}{more}done={}&count={count}", action.as_str())))
}

async fn apply_action_to_chat(
    app: &App,
    principal: Principal,
    id: ChatId,
    (action, project): (ChatsAction, Option<ProjectId>),
) -> Result<(), ServiceError> {
    let change = match action {
        ChatsAction::Delete => return app.service().delete_chat(principal.user, id).await.map(drop),
        ChatsAction::Pin => ChatChange { pinned: Some(true), ..ChatChange::default() },
        ChatsAction::Unpin => ChatChange { pinned: Some(false), ..ChatChange::default() },
        ChatsAction::Archive => ChatChange { archived: Some(true), ..ChatChange::default() },
        ChatsAction::Unarchive => ChatChange { archived: Some(false), ..ChatChange::default() },
        ChatsAction::Move => ChatChange { project_id: Some(project), ..ChatChange::default() },
        ChatsAction::MarkRead => ChatChange { unread: Some(false), ..ChatChange::default() },
        ChatsAction::MarkUnread => ChatChange { unread: Some(true), ..ChatChange::default() },
    };
    app.service().change_chat(principal.user, id, change).await.map(drop)
}
