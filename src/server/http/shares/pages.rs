//! The pages on which a path is shared and shares are listed, and the forms of links.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{BranchReaders, ChatId, LiveParts, ShareAudience, ShareId, SharedParts, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, deserialize_flag};
use crate::server::http::request::used_origin::UsedOrigin;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::shares::api::{issue_share, share_url};
use crate::server::http::shares::snapshot::{SnapshotFrame, render_snapshot, snapshot_response};
use crate::server::http::site::assets::Site;
use crate::server::http::transfer::exports::export_permit;
use crate::server::server_pages::messages::shares as words;
use crate::server::server_pages::shares::branch_shares::{BranchShareForm, BranchShareLists};
use crate::server::server_pages::shares::{IssuedLinkPage, SharePage, SharedLinksPage};
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_platform::ids;
use turnleaf_service::shares::{IssuedShare, ShareRequest};

/// The query of the page and of its preview.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharePathQuery {
    /// The end of the path. Without it, the path at which the chat opens.
    leaf: Option<TurnId>,
    #[serde(default, deserialize_with = "deserialize_flag")]
    reasoning: bool,
    #[serde(default, deserialize_with = "deserialize_flag")]
    tools: bool,
    #[serde(default, deserialize_with = "deserialize_flag")]
    system_prompt: bool,
    #[serde(default, deserialize_with = "deserialize_flag")]
    documents: bool,
    days: Option<u32>,
}

impl SharePathQuery {
    fn parts(&self) -> SharedParts {
        let Self { reasoning, tools, system_prompt, documents, .. } = *self;
        SharedParts { reasoning, tools, system_prompt, documents }
    }
}

/// `GET /c/{id}/share`.
pub async fn share_page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<SharePathQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let days = query.days.unwrap_or(limits::SHARE_DAYS_DEFAULT);
    let page = path_page(&app, &principal, (id, query.leaf), query.parts(), days).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// Returns the page on which a path is shared. Where people sign in, its branch can be shared live.
pub(super) async fn path_page(
    app: &App,
    principal: &Principal,
    (id, leaf): (ChatId, Option<TurnId>),
    parts: SharedParts,
    days: u32,
) -> Result<SharePage, Problem> {
    let (chat, end) = app.service().shareable_path(principal.user, id, leaf).await?;
    let request_id = || ids::mint::<uuid::Uuid>().to_string();
    let live = match end.filter(|_| principal.has_account()) {
        Some((leaf, branch)) => {
            let (branch, _) = app.service().branch(principal.user, branch).await?;
            Some(BranchShareForm {
                chat: chat.id,
                leaf,
                branch: branch.id,
                branch_name: branch.name,
                parts: LiveParts::default(),
                readers: BranchReaders::default(),
                request_id: request_id(),
                error: None,
            })
        }
        None => None,
    };
    Ok(SharePage { chat, leaf: end.map(|(leaf, _)| leaf), parts, days, request_id: request_id(), live })
}

/// `GET /c/{id}/share/preview`: exactly what a link with these parts would show.
pub async fn preview(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    StrictQuery(query): StrictQuery<SharePathQuery>,
) -> Result<Response, Problem> {
    let _permit = export_permit(&app, principal.user)?;
    let snapshot = render_snapshot(&app, site.style(), principal.user, (id, query.leaf), query.parts()).await?;
    Ok(snapshot_response(&snapshot.html, "/api", SnapshotFrame::ThisServer))
}

/// `POST /forms/shares/create`: creates the link and shows it. This response alone has it, so there is no redirect; a
/// repeated form finds the share in the list.
pub async fn create(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    client: ClientIdentity,
    origin: UsedOrigin,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let parts = SharedParts {
        reasoning: fields.is_checked("reasoning"),
        tools: fields.is_checked("tools"),
        system_prompt: fields.is_checked("system_prompt"),
        documents: fields.is_checked("documents"),
    };
    let chat: ChatId = fields.subject_id("chat_id")?;
    let leaf: TurnId = fields.subject_id("leaf")?;
    let days = fields.text("days").and_then(|days| days.parse().ok()).unwrap_or_default();
    let request = ShareRequest {
        chat,
        leaf: Some(leaf),
        audience: ShareAudience::Link,
        parts,
        days,
        client_request_id: fields.text("client_request_id"),
    };
    match issue_share(&app, site.style(), (&principal, &client), request).await {
        Ok((_, IssuedShare { listed, token: Some(token) })) => {
            let page = IssuedLinkPage { listed, address: share_url(&origin, &token) };
            Ok(context.respond(&app, StatusCode::OK, page.draw()))
        }
        Ok(_) => Ok(redirect_to_list("known")),
        // A missing path is a page of its own; everything else is said above the form.
        Err(problem) if problem.status() == StatusCode::NOT_FOUND || problem.status().is_server_error() => Err(problem),
        Err(problem) => {
            let page = path_page(&app, &principal, (chat, Some(leaf)), parts, days).await?;
            let notice = ActionNotice::Refused(problem.sentence());
            Ok(context.respond(&app, problem.status(), page.draw(Some(notice))))
        }
    }
}

/// The query of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedLinksQuery {
    /// The action that a form has done.
    done: Option<SharedLinksResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SharedLinksResult {
    Revoked,
    /// The form was sent a second time.
    Known,
    /// A branch is shared live.
    Live,
    /// A live share has other readers.
    Readers,
    /// A live share has ended.
    Ended,
}

/// `GET /settings/shared-links`.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<SharedLinksQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let notice = query.done.map(|done| match done {
        SharedLinksResult::Revoked => ActionNotice::Done(words::link_revoked().to_owned()),
        SharedLinksResult::Known => ActionNotice::Warning(words::link_known().to_owned()),
        SharedLinksResult::Live => ActionNotice::Done(words::live_started().to_owned()),
        SharedLinksResult::Readers => ActionNotice::Done(words::readers_saved().to_owned()),
        SharedLinksResult::Ended => ActionNotice::Done(words::live_ended().to_owned()),
    });
    let page = list_page(&app, principal.user).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(notice)))
}

pub(super) async fn list_page(app: &App, viewer: UserId) -> Result<SharedLinksPage, Problem> {
    let service = app.service();
    let (own, received) = (service.branch_shares(viewer).await?, service.received_branches(viewer).await?);
    let branches = BranchShareLists { own, received };
    Ok(SharedLinksPage { shares: service.shares(viewer).await?, now: app.now(), branches })
}

/// `POST /forms/shares/revoke`.
pub async fn revoke(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ShareId = fields.subject_id("share_id")?;
    app.service().revoke_share(principal.user, actor(&principal, &client), id).await?;
    Ok(redirect_to_list("revoked"))
}

pub(super) fn redirect_to_list(done: &str) -> Response {
    see_other(&format!("{}?done={done}", PageSection::SharedLinks.path()))
}
