//! The pages of documents: the list, one of them, the form that writes one, two versions side by side.

use axum::extract::State;
use axum::response::{Redirect, Response};
use chrono::{DateTime, Utc};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, DocumentId, UserId, limits, quoted};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::Asked;
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::documents::editor::EditorPage;
use crate::server::plain_pages::documents::versions::VersionsPage;
use crate::server::plain_pages::documents::viewer::{DocumentPage, Lines};
use crate::server::plain_pages::documents::{DocumentsPage, FileSaid};
use crate::server::plain_pages::words::documents as words;
use crate::server::plain_pages::{Page, Said};
use turnleaf_platform::ids;

/// Chats that lines can be quoted in.
const CHATS: u32 = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// What comes behind this document.
    before: Option<DocumentId>,
    /// What a form has just deleted.
    deleted: Option<DocumentId>,
}

/// The addresses of the design: which version, which of its lines.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortQuery {
    v: Option<DateTime<Utc>>,
    sel: Option<String>,
}

/// Which version, and which of its lines.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowQuery {
    version: Option<DateTime<Utc>>,
    /// `10-42`: marked.
    lines: Option<String>,
    /// The first line that is shown.
    from: Option<u64>,
    done: Option<Done>,
}

/// What a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    Created,
    Saved,
    Restored,
    Version,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareQuery {
    left: DateTime<Utc>,
    right: DateTime<Utc>,
}

/// `GET /documents`.
pub async fn list(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    Query(query): Query<ListQuery>,
) -> Result<Response, Problem> {
    let mut page = list_page(&app, viewer.0, query.before, Vec::new()).await?;
    if let Some(id) = query.deleted {
        let deleted = app.service().deleted_documents(viewer.0).await?;
        page.deleted = deleted.into_iter().find(|document| document.id == id);
    }
    Ok(asked.answer(&app, StatusCode::OK, page.draw(None)))
}

/// `GET /docs`, another name of `/documents`.
pub async fn list_by_short_name() -> Redirect {
    Redirect::permanent("/documents")
}

/// `GET /docs/{id}?v=…&sel=10-42`, another name of a document, its version and its lines.
pub async fn show_by_short_name(PathId(id): PathId<DocumentId>, Query(query): Query<ShortQuery>) -> Redirect {
    let version = query.v.map(|at| format!("version={}", quoted::stamp(at)));
    // Nothing but numbers is taken along.
    let lines = query.sel.filter(|lines| lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
    let parts: Vec<String> = version.into_iter().chain(lines.map(|lines| format!("lines={lines}"))).collect();
    let asked = if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) };
    Redirect::permanent(&format!("/documents/{id}{asked}"))
}

/// `GET /documents/new`.
pub async fn new(State(app): State<App>, asked: Asked) -> Response {
    let page = EditorPage { request_id: ids::mint::<uuid::Uuid>().to_string(), ..EditorPage::default() };
    asked.answer(&app, StatusCode::OK, page.draw(None))
}

/// `GET /documents/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<DocumentId>,
    asked: Asked,
    Query(query): Query<ShowQuery>,
) -> Result<Response, Problem> {
    let said = query.done.map(|done| match done {
        Done::Created => Said::Done(words::created().into()),
        Done::Saved => Said::Done(words::unchanged_or_saved().into()),
        Done::Restored => Said::Done(words::restored().into()),
        Done::Version => Said::Done(words::version_restored().into()),
    });
    let marked = query.lines.as_deref().and_then(|lines| {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
    });
    let lines = Lines { first: marked.map(|(first, _)| first), last: marked.map(|(_, last)| last), wrong: None };
    let page = show_page(&app, viewer.0, (id, query.version), (query.from, lines), said).await?;
    Ok(asked.answer(&app, StatusCode::OK, page))
}

/// `GET /documents/{id}/edit`.
pub async fn edit(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<DocumentId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let document = app.service().document(viewer.0, id).await?;
    let (_, text) = app.service().document_text(viewer.0, id, None).await?;
    // Three bytes may become nine on the way back.
    if text.len() > limits::BODY_BYTES / 4 {
        let said = Some(Said::Refused(words::too_long().into()));
        let page = show_page(&app, viewer.0, (id, None), (None, Lines::default()), said).await?;
        return Ok(asked.answer(&app, StatusCode::PAYLOAD_TOO_LARGE, page));
    }
    let page = EditorPage { of: Some((id, document.rev)), title: document.title, text, ..EditorPage::default() };
    Ok(asked.answer(&app, StatusCode::OK, page.draw(None)))
}

/// `GET /documents/{id}/compare`.
pub async fn compare(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<DocumentId>,
    asked: Asked,
    Query(CompareQuery { left, right }): Query<CompareQuery>,
) -> Result<Response, Problem> {
    let document = app.service().document(viewer.0, id).await?;
    let diff = app.service().compare_versions(viewer.0, id, left, right).await?;
    let page = VersionsPage { document: &document, left, right, diff: &diff };
    Ok(asked.answer(&app, StatusCode::OK, page.draw()))
}

/// The list behind this document, with what came of an upload.
pub async fn list_page(
    app: &App,
    viewer: UserId,
    before: Option<DocumentId>,
    files: Vec<FileSaid>,
) -> Result<DocumentsPage, Problem> {
    let behind = match before {
        Some(id) => Some((app.service().document(viewer, id).await?.updated_at, id)),
        None => None,
    };
    // One more than the page shows says whether there are older ones.
    let mut documents = app.service().documents(viewer, behind, None, limits::DOCUMENTS_PAGE + 1).await?;
    let has_older = documents.len() > limits::DOCUMENTS_PAGE as usize;
    documents.truncate(limits::DOCUMENTS_PAGE as usize);
    Ok(DocumentsPage { documents, has_older, is_later: before.is_some(), now: app.now(), files, deleted: None })
}

/// One document at a version, at these lines.
pub async fn show_page(
    app: &App,
    viewer: UserId,
    (id, version): (DocumentId, Option<DateTime<Utc>>),
    (from, lines): (Option<u64>, Lines),
    said: Option<Said>,
) -> Result<Page, Problem> {
    let service = app.service();
    let document = service.document(viewer, id).await?;
    let (version, text) = service.document_text(viewer, id, version).await?;
    let versions = service.document_versions(viewer, id).await?;
    let used_in = service.chats_of_document(viewer, id).await?;
    let chats = service.list_chats(viewer, CHATS).await?;
    let chats: Vec<(ChatId, String)> = chats.into_iter().map(|chat| (chat.id, chat.title)).collect();
    // A selection that is far down is shown from a little before it.
    let marked = lines.first.filter(|first| *first > limits::DOCUMENT_LINES_SHOWN / 2);
    let from = from.or(marked.map(|first| first.saturating_sub(20))).unwrap_or(1).clamp(1, version.line_count.max(1));
    let page = DocumentPage {
        document: &document,
        version: &version,
        text: &text,
        versions: &versions,
        used_in: &used_in,
        chats: &chats,
        from,
        lines,
        now: app.now(),
    };
    Ok(page.draw(said))
}
