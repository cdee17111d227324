//! The API of documents (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{DocumentId, InvalidField, MessageCode, TextMatcher, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::{StrictQuery, page_limit};
use crate::server::http::response::problem::Problem;
use turnleaf_service::branches::compare::text_diff::TextDiff;
use turnleaf_service::documents::{
    Document, DocumentChange, DocumentTextSource, NewDocumentRequest, StoredDocumentVersion,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListDocumentsQuery {
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// Only documents that follow this one in the list.
    before: Option<DocumentId>,
    /// Only documents whose title contains this text, ignoring case.
    #[param(max_length = 256)]
    title: Option<String>,
    /// `true` lists the documents in Trash instead of the others.
    #[serde(default)]
    deleted: bool,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DocumentVersionQuery {
    /// `version_timestamp` of the version. Without it, the newest.
    version: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CompareDocumentVersionsQuery {
    left: DateTime<Utc>,
    right: DateTime<Utc>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DeleteDocumentQuery {
    /// Deletes a document that is in Trash permanently.
    #[serde(default)]
    forever: bool,
}

/// A document to create from `content` or from an uploaded `blob`.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateDocumentRequest {
    /// Title. A document of a `blob` is called like its file by default.
    title: Option<String>,
    /// The text.
    content: Option<String>,
    /// `text/markdown`, `text/plain`, `text/html` or `text/csv`. A `blob` has its own type.
    kind: Option<String>,
    /// `sha256` of an uploaded file.
    blob: Option<String>,
    /// Character encoding of the `blob` if it cannot be detected: one of the `choices` of the error.
    encoding: Option<String>,
    /// Returns the document with this title whose newest version is this `blob`, if there is one, instead of creating
    /// another.
    #[serde(default)]
    reuse: bool,
    client_request_id: Option<String>,
}

/// Changes of a document. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateDocumentRequest {
    title: Option<String>,
    content: Option<String>,
    blob: Option<String>,
    encoding: Option<String>,
    /// The revision on which the change is based. A different current revision is refused.
    rev: Option<i64>,
}

/// Selects what to restore: an earlier version as the newest, or, without it, the document from Trash.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreDocumentRequest {
    version_timestamp: Option<DateTime<Utc>>,
}

/// A version of a document, without its text.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentVersionDetails {
    /// Time of the version, which identifies it.
    version_timestamp: DateTime<Utc>,
    mime: String,
    bytes: u64,
    /// Length in Unicode scalar values, the unit of selections.
    chars: u64,
    lines: u64,
    /// Notes from reading the file.
    notes: Vec<String>,
    /// SHA-256 of the file that this version was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

/// A document with its newest version, or with the requested one.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct DocumentDetails {
    id: DocumentId,
    title: String,
    /// Media type of the source.
    kind: String,
    /// Revision, which rises with every change.
    rev: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<DateTime<Utc>>,
    /// After this time the document cannot be restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    purged_at: Option<DateTime<Utc>>,
    /// Number of chats in which a message refers to the document.
    used_in: u64,
    #[serde(flatten)]
    version: DocumentVersionDetails,
    /// The text. Lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl From<StoredDocumentVersion> for DocumentVersionDetails {
    fn from(version: StoredDocumentVersion) -> Self {
        Self {
            version_timestamp: version.version_timestamp,
            mime: version.mime,
            bytes: version.byte_count,
            chars: version.char_count,
            lines: version.line_count,
            notes: version.notes,
            origin: version.origin,
        }
    }
}

impl From<Document> for DocumentDetails {
    fn from(document: Document) -> Self {
        Self {
            id: document.id,
            title: document.title,
            kind: document.kind,
            rev: document.rev,
            created_at: document.created_at,
            updated_at: document.updated_at,
            deleted_at: document.deleted_at,
            purged_at: document.deleted_at.map(|at| at + limits::TRASH_KEPT),
            used_in: document.used_in,
            version: document.version.into(),
            content: None,
        }
    }
}

/// `GET /api/documents`: lists the documents, most recently changed first.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ListDocumentsQuery>,
) -> Result<ApiJson<Vec<DocumentDetails>>, Problem> {
    let limit = page_limit(query.limit, limits::DOCUMENTS_PAGE, limits::PAGE_MAX)?;
    let title = query.title.filter(|title| !title.trim().is_empty());
    let title = title
        .map(|title| TextMatcher::new(&title).map_err(|error| InvalidField::new("title", error.reason)))
        .transpose()?;
    let documents = if query.deleted {
        let mut deleted = app.service().deleted_documents(principal.user).await?;
        deleted.retain(|document| title.as_ref().is_none_or(|title| title.is_match(&document.title)));
        deleted
    } else {
        let behind = match query.before {
            Some(id) => Some((app.service().document(principal.user, id).await?.updated_at, id)),
            None => None,
        };
        app.service().documents(principal.user, behind, title.as_ref(), limit).await?
    };
    Ok(ApiJson(documents.into_iter().map(DocumentDetails::from).collect()))
}

/// `POST /api/documents`: creates a document. 201, or 200 for a repeated idempotency key or a reused document.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateDocumentRequest>,
) -> Result<Response, Problem> {
    let reuse = new.reuse;
    let source = source(new.content, new.blob, new.encoding)?;
    let source = source.ok_or_else(|| InvalidField::new("content", MessageCode::NeedsContentOrBlob))?;
    let client_request_id = client_request_id(new.client_request_id, &headers)?;
    let new = NewDocumentRequest { title: new.title, kind: new.kind, source, client_request_id };
    let made = if reuse {
        app.service().find_or_create_document(principal.user, new).await?
    } else {
        app.service().create_document(principal.user, new).await?
    };
    Ok((created_status(made.is_new), ApiJson(DocumentDetails::from(made.value))).into_response())
}

/// `GET /api/documents/{id}`: returns a document with the text of its newest or of the requested version.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    StrictQuery(query): StrictQuery<DocumentVersionQuery>,
) -> Result<ApiJson<DocumentDetails>, Problem> {
    let document = app.service().document(principal.user, id).await?;
    let (version, text) = app.service().document_text(principal.user, id, query.version).await?;
    Ok(ApiJson(DocumentDetails { version: version.into(), content: Some(text), ..document.into() }))
}

/// `PUT /api/documents/{id}`: changes a document. A changed text adds a version.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    ApiJson(change): ApiJson<UpdateDocumentRequest>,
) -> Result<ApiJson<DocumentDetails>, Problem> {
    let source = source(change.content, change.blob, change.encoding)?;
    if source.is_none() && change.title.is_none() {
        return Err(InvalidField::new("content", MessageCode::NeedsDocumentChange).into());
    }
    let change = DocumentChange { title: change.title, source, rev: change.rev };
    Ok(ApiJson(app.service().change_document(principal.user, id, change).await?.into()))
}

/// `DELETE /api/documents/{id}`: moves a document to Trash, or deletes it from there permanently.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    StrictQuery(query): StrictQuery<DeleteDocumentQuery>,
) -> Result<StatusCode, Problem> {
    if query.forever {
        app.service().purge_document(principal.user, id).await?;
    } else {
        app.service().delete_document(principal.user, id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/documents/{id}/restore`.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    body: Option<ApiJson<RestoreDocumentRequest>>,
) -> Result<ApiJson<DocumentDetails>, Problem> {
    let ApiJson(body) = body.unwrap_or(ApiJson(RestoreDocumentRequest::default()));
    let document = match body.version_timestamp {
        Some(version) => app.service().restore_version(principal.user, id, version).await?,
        None => app.service().restore_document(principal.user, id).await?,
    };
    Ok(ApiJson(document.into()))
}

/// `GET /api/documents/{id}/versions`: lists the versions, the newest first.
pub async fn versions(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
) -> Result<ApiJson<Vec<DocumentVersionDetails>>, Problem> {
    let versions = app.service().document_versions(principal.user, id).await?;
    Ok(ApiJson(versions.into_iter().map(DocumentVersionDetails::from).collect()))
}

/// `GET /api/documents/{id}/compare`.
pub async fn compare(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<DocumentId>,
    StrictQuery(query): StrictQuery<CompareDocumentVersionsQuery>,
) -> Result<ApiJson<TextDiff>, Problem> {
    Ok(ApiJson(app.service().compare_versions(principal.user, id, query.left, query.right).await?))
}

fn source(
    content: Option<String>,
    blob: Option<String>,
    encoding: Option<String>,
) -> Result<Option<DocumentTextSource>, InvalidField> {
    match (content, blob) {
        (Some(_), Some(_)) => {
            let reason = MessageCode::BothSet.with("one", "content").with("other", "blob");
            Err(InvalidField::new("blob", reason))
        }
        (_, None) if encoding.is_some() => {
            Err(InvalidField::new("encoding", MessageCode::OnlyWith.with("other", "blob")))
        }
        (Some(text), None) => Ok(Some(DocumentTextSource::Text(text))),
        (None, Some(sha256)) => Ok(Some(DocumentTextSource::Blob { sha256, encoding })),
        (None, None) => Ok(None),
    }
}
