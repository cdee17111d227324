//! The page "Trash", and the forms that delete and restore. Each form performs one action and redirects with 303
//! (post/redirect/get).

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{BranchId, ChatId, DeletionId, DeletionSummary, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::messages::trash as words;
use crate::server::server_pages::trash::{PurgeConfirmation, TrashPage};
use crate::server::server_pages::turns::delete_page;
use crate::server::server_pages::{ActionNotice, PageSection};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrashPageQuery {
    /// Shows the deletions older than this one.
    before: Option<DeletionId>,
    /// The action that was done.
    done: Option<TrashFormResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TrashFormResult {
    Purged,
    Emptied,
    /// A chat was deleted; it is the first in the list.
    Chat,
}

/// `GET /trash`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<TrashPageQuery>,
) -> Result<Response, Problem> {
    let notice = query.done.map(|done| match done {
        TrashFormResult::Purged => ActionNotice::Done(words::purged().into()),
        TrashFormResult::Emptied => ActionNotice::Done(words::emptied().into()),
        TrashFormResult::Chat => ActionNotice::Done(words::chat_deleted().into()),
    });
    let page = TrashPage { before: query.before, ..trash_page(&app, principal.user, query.before).await? };
    Ok(context.respond(&app, StatusCode::OK, page.draw(notice)))
}

/// `POST /forms/delete-turn`: moves a turn and everything below it to Trash. A form that could not tell how many
/// turns that are sets `ask`; more than one turn then needs a confirmation here.
pub async fn delete_turn(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: TurnId = fields.required_id("turn_id")?;
    if fields.is_checked("ask") {
        let all = app.service().count_turns_below(principal.user, id).await?;
        if all > 1 {
            let turn = app.service().turn(principal.user, id).await?;
            return Ok(context.respond(&app, StatusCode::OK, delete_page(&turn, all)));
        }
    }
    Ok(redirect_to_remaining(&app.service().delete_turn(principal.user, id).await?))
}

/// `POST /forms/delete-branch`.
pub async fn delete_branch(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: BranchId = fields.required_id("branch_id")?;
    Ok(redirect_to_remaining(&app.service().delete_branch(principal.user, id).await?))
}

/// `POST /forms/delete-chat`: moves a chat to Trash and shows Trash, where it can be restored at once.
pub async fn delete_chat(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ChatId = fields.required_id("chat_id")?;
    app.service().delete_chat(principal.user, id).await?;
    Ok(redirect_to_trash("chat"))
}

/// `POST /forms/prune`.
pub async fn prune(State(app): State<App>, principal: Principal, fields: SubmittedFields) -> Result<Response, Problem> {
    let (chat, keep): (ChatId, TurnId) = (fields.required_id("chat_id")?, fields.required_id("keep")?);
    Ok(redirect_to_remaining(&app.service().prune_others(principal.user, chat, keep).await?))
}

/// `POST /forms/restore`: restores a deletion and returns to the chat, or to Trash with the reason of the refusal.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DeletionId = fields.required_id("deletion_id")?;
    match app.service().restore_deletion(principal.user, id).await {
        Ok(restored) => Ok(see_other(&match restored.leaf {
            Some(leaf) => format!("/c/{}?at={leaf}#latest", restored.chat_id),
            None => format!("/c/{}#latest", restored.chat_id),
        })),
        Err(error @ (ServiceError::Conflict { .. } | ServiceError::NotFound)) => {
            let (status, reason) = match error {
                ServiceError::Conflict { message, .. } => (StatusCode::CONFLICT, coded_sentence(&message)),
                // The deletion was restored or purged meanwhile; the list shows what is left.
                _ => (StatusCode::NOT_FOUND, words::not_there().to_owned()),
            };
            let page = trash_page(&app, principal.user, None).await?;
            Ok(context.respond(&app, status, page.draw(Some(ActionNotice::Refused(words::not_restored(&reason))))))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/purge`: deletes permanently, after a confirmation (`sure`).
pub async fn purge(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DeletionId = fields.required_id("deletion_id")?;
    if fields.is_checked("sure") {
        app.service().purge_deletion(principal.user, id).await?;
        return Ok(redirect_to_trash("purged"));
    }
    let deletion = app.service().deletion(principal.user, id).await?;
    let page = TrashPage {
        confirmation: Some(PurgeConfirmation::Deletion(deletion)),
        ..trash_page(&app, principal.user, None).await?
    };
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// `POST /forms/empty-trash`: deletes everything in Trash permanently, after a confirmation like `purge`.
pub async fn empty(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if fields.is_checked("sure") {
        app.service().empty_trash(principal.user).await?;
        return Ok(redirect_to_trash("emptied"));
    }
    let page = TrashPage {
        confirmation: Some(PurgeConfirmation::Everything),
        ..trash_page(&app, principal.user, None).await?
    };
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// Builds the page. It reads one entry more than it shows, to find out whether there are older ones.
pub async fn trash_page(app: &App, viewer: UserId, before: Option<DeletionId>) -> Result<TrashPage, Problem> {
    let mut deletions = app.service().list_trash(viewer, before, limits::PAGE_MAX + 1).await?;
    let has_older = deletions.len() > limits::PAGE_MAX as usize;
    deletions.truncate(limits::PAGE_MAX as usize);
    // Documents and imports are listed once, after the newest deletions.
    let documents = if before.is_none() { app.service().deleted_documents(viewer).await? } else { Vec::new() };
    let imports = if before.is_none() { app.service().list_undone_imports(viewer).await? } else { Vec::new() };
    Ok(TrashPage { deletions, documents, imports, has_older, before: None, now: app.now(), confirmation: None })
}

/// Redirects to the rest of the chat. The address names the deletion, so that the page can offer to undo it.
fn redirect_to_remaining(deleted: &DeletionSummary) -> Response {
    let DeletionSummary { chat_id, deletion_id, leaf, .. } = deleted;
    let at = leaf.map(|leaf| format!("at={leaf}&")).unwrap_or_default();
    see_other(&format!("/c/{chat_id}?{at}deleted={deletion_id}#latest"))
}

pub fn redirect_to_trash(done: &str) -> Response {
    see_other(&format!("{}?done={done}", PageSection::Trash.path()))
}
