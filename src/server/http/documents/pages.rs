//! The pages of documents: the list, one document, the editor, and the comparison of two versions.

use axum::extract::State;
use axum::response::{Redirect, Response};
use chrono::{DateTime, Utc};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::documents::document_prompt;
use crate::domain::{ChatId, DocumentId, TextMatcher, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::documents::editor::DocumentEditorPage;
use crate::server::server_pages::documents::version_comparison::VersionComparisonPage;
use crate::server::server_pages::documents::viewer::{DocumentPage, MarkedLines};
use crate::server::server_pages::documents::{DocumentsPage, FileUploadResult};
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::{ActionNotice, ServerPage};
use turnleaf_platform::ids;

/// Number of chats that are offered for quoting lines.
const CHATS: u32 = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentsPageQuery {
    /// Shows the documents that follow this one in the list.
    before: Option<DocumentId>,
    /// Shows the documents whose title contains this text.
    #[serde(default)]
    q: String,
    /// The document that a form has just deleted.
    deleted: Option<DocumentId>,
}

/// The query of short links to a document: the version and its lines.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentLinkQuery {
    v: Option<DateTime<Utc>>,
    sel: Option<String>,
}

/// The query of the page: the version and its lines.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentPageQuery {
    version: Option<DateTime<Utc>>,
    /// The lines to highlight, such as `10-42`.
    lines: Option<String>,
    /// The first line that is shown.
    from: Option<u64>,
    done: Option<DocumentFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentFormResult {
    Created,
    Saved,
    Restored,
    Version,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareVersionsPageQuery {
    left: DateTime<Utc>,
    right: DateTime<Utc>,
}

/// `GET /documents`.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<DocumentsPageQuery>,
) -> Result<Response, Problem> {
    let mut page = list_page(&app, principal.user, (query.before, &query.q), Vec::new()).await?;
    if let Some(id) = query.deleted {
        let deleted = app.service().deleted_documents(principal.user).await?;
        page.deleted = deleted.into_iter().find(|document| document.id == id);
    }
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// `GET /docs`: redirects to `/documents`.
pub async fn list_by_short_name() -> Redirect {
    Redirect::permanent("/documents")
}

/// `GET /docs/{id}?v=…&sel=10-42`: redirects to a document, its version and its lines.
pub async fn show_by_short_name(
    PathId(id): PathId<DocumentId>,
    StrictQuery(query): StrictQuery<DocumentLinkQuery>,
) -> Redirect {
    let version = query.v.map(|at| format!("version={}", document_prompt::format_version(at)));
    // Only digits and `-` are passed on.
    let lines = query.sel.filter(|lines| lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
    let parts: Vec<String> = version.into_iter().chain(lines.map(|lines| format!("lines={lines}"))).collect();
    let query_string = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
    Redirect::permanent(&format!("/documents/{id}{query_string}"))
}

/// `GET /documents/new`.
pub async fn new_document(State(app): State<App>, context: PageContext) -> Response {
    let page =
        DocumentEditorPage { request_id: ids::mint::<uuid::Uuid>().to_string(), ..DocumentEditorPage::default() };
    context.respond(&app, StatusCode::OK, page.draw(None))
}

/// `GET /documents/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    context: PageContext,
    StrictQuery(query): StrictQuery<DocumentPageQuery>,
) -> Result<Response, Problem> {
    let notice = query.done.map(|done| match done {
        DocumentFormResult::Created => ActionNotice::Done(words::created().into()),
        DocumentFormResult::Saved => ActionNotice::Done(words::unchanged_or_saved().into()),
        DocumentFormResult::Restored => ActionNotice::Done(words::restored().into()),
        DocumentFormResult::Version => ActionNotice::Done(words::version_restored().into()),
    });
    let marked = query.lines.as_deref().and_then(|lines| {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
    });
    let lines = MarkedLines { first: marked.map(|(first, _)| first), last: marked.map(|(_, last)| last), error: None };
    let page = show_page(&app, principal.user, (id, query.version), (query.from, lines), notice).await?;
    Ok(context.respond(&app, StatusCode::OK, page))
}

/// `GET /documents/{id}/edit`.
pub async fn edit(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let document = app.service().document(principal.user, id).await?;
    let (_, text) = app.service().document_text(principal.user, id, None).await?;
    // Percent-encoding turns three bytes into nine in the submitted form.
    if text.len() > limits::BODY_BYTES / 4 {
        let notice = Some(ActionNotice::Refused(words::too_long().into()));
        let page = show_page(&app, principal.user, (id, None), (None, MarkedLines::default()), notice).await?;
        return Ok(context.respond(&app, StatusCode::PAYLOAD_TOO_LARGE, page));
    }
    let page = DocumentEditorPage {
        document: Some((id, document.rev)),
        title: document.title,
        text,
        ..DocumentEditorPage::default()
    };
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// `GET /documents/{id}/compare`.
pub async fn compare(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    context: PageContext,
    StrictQuery(CompareVersionsPageQuery { left, right }): StrictQuery<CompareVersionsPageQuery>,
) -> Result<Response, Problem> {
    let document = app.service().document(principal.user, id).await?;
    let diff = app.service().compare_versions(principal.user, id, left, right).await?;
    let page = VersionComparisonPage { document: &document, left, right, diff: &diff };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// Builds the list that follows this document, of titles that contain a text, with the results of an upload.
pub async fn list_page(
    app: &App,
    viewer: UserId,
    (before, part): (Option<DocumentId>, &str),
    files: Vec<FileUploadResult>,
) -> Result<DocumentsPage, Problem> {
    let title_part: String = part.trim().chars().take(limits::TITLE_CHARS).collect();
    // An empty text filters nothing.
    let matcher = TextMatcher::new(&title_part).ok();
    let behind = match before {
        Some(id) => Some((app.service().document(viewer, id).await?.updated_at, id)),
        None => None,
    };
    // One more than a page holds, to find out whether there are older ones.
    let mut documents = app.service().documents(viewer, behind, matcher.as_ref(), limits::DOCUMENTS_PAGE + 1).await?;
    let has_older = documents.len() > limits::DOCUMENTS_PAGE as usize;
    documents.truncate(limits::DOCUMENTS_PAGE as usize);
    let (has_newer, now) = (before.is_some(), app.now());
    Ok(DocumentsPage { documents, has_older, has_newer, title_part, now, files, deleted: None })
}

/// Builds the page of one document at a version, with these lines highlighted.
pub async fn show_page(
    app: &App,
    viewer: UserId,
    (id, version): (DocumentId, Option<DateTime<Utc>>),
    (from, lines): (Option<u64>, MarkedLines),
    notice: Option<ActionNotice>,
) -> Result<ServerPage, Problem> {
    let service = app.service();
    let document = service.document(viewer, id).await?;
    let (version, text) = service.document_text(viewer, id, version).await?;
    let versions = service.document_versions(viewer, id).await?;
    let used_in = service.chats_of_document(viewer, id).await?;
    let chats = service.list_chats(viewer, CHATS).await?;
    let chats: Vec<(ChatId, String)> = chats.into_iter().map(|chat| (chat.id, chat.title)).collect();
    // A selection that is far down is shown from a few lines before it.
    let marked = lines.first.filter(|first| *first > limits::DOCUMENT_LINES_SHOWN / 2);
    let from = from.or(marked.map(|first| first.saturating_sub(20))).unwrap_or(1).clamp(1, version.line_count.max(1));
    let page = DocumentPage {
        document: &document,
        version: &version,
        text: &text,
        versions: &versions,
        used_in: &used_in,
        chats: &chats,
        first_line: from,
        marked_lines: lines,
        now: app.now(),
    };
    Ok(page.draw(notice))
}
