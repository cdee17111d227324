//! Creates documents from text or from an uploaded file, and changes them by adding versions.

use bytes::Bytes;
use serde_json::json;

use crate::documents::uploads::{UploadKind, file_refusal};
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{DocumentId, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::documents::read::Document;
use turnleaf_store::documents::write::{self, NewDocumentVersion};
use turnleaf_store::documents::{self, uploads};

/// The media type of a written document.
const WRITTEN: &str = "text/markdown";
/// Media types that a person may choose for a text.
pub const TEXT_KINDS: [&str; 4] = [WRITTEN, "text/plain", "text/html", "text/csv"];

/// The source of a version's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentTextSource {
    Text(String),
    /// An uploaded file, with its encoding when a person chose one.
    Blob {
        sha256: String,
        encoding: Option<String>,
    },
}

#[derive(Debug, Clone)]
pub struct NewDocumentRequest {
    /// `None` takes the name of the file.
    pub title: Option<String>,
    /// One of [`TEXT_KINDS`]; a file brings its own.
    pub kind: Option<String>,
    pub source: DocumentTextSource,
    pub client_request_id: Option<String>,
}

/// A change of a document; `None` keeps a field.
#[derive(Debug, Clone, Default)]
pub struct DocumentChange {
    pub title: Option<String>,
    pub source: Option<DocumentTextSource>,
    /// The revision on which the change is based; `None` applies it to any revision.
    pub rev: Option<i64>,
}

/// The text of a version as it is stored.
pub(crate) struct DocumentText {
    pub text: String,
    /// The media type of the file; `None` for a written text.
    kind: Option<String>,
    origin: Option<String>,
    notes: Vec<String>,
    name: Option<String>,
}

impl Service {
    /// Creates a document. Supports idempotency keys.
    pub async fn create_document(
        &self,
        owner: UserId,
        new: NewDocumentRequest,
    ) -> Result<Created<Document>, ServiceError> {
        self.store_or_reuse_document(owner, new, false).await
    }

    /// Returns the document with this title whose newest version is this file, or creates one. Supports idempotency
    /// keys.
    pub async fn find_or_create_document(
        &self,
        owner: UserId,
        new: NewDocumentRequest,
    ) -> Result<Created<Document>, ServiceError> {
        self.store_or_reuse_document(owner, new, true).await
    }

    async fn store_or_reuse_document(
        &self,
        owner: UserId,
        new: NewDocumentRequest,
        reuse: bool,
    ) -> Result<Created<Document>, ServiceError> {
        let (text, blob) = match &new.source {
            DocumentTextSource::Text(text) => (Some(text), None),
            DocumentTextSource::Blob { sha256, encoding } => (None, Some((sha256, encoding))),
        };
        let request = json!({ "new": "document", "title": new.title, "kind": new.kind, "content": text, "blob": blob });
        let name = new.client_request_id.as_deref();
        if let Some(made) = self.find_created(owner, name, &request).await? {
            return Ok(Created::existing(self.created_document(owner, &made).await?));
        }
        let words = self.read_source_text(owner, new.source).await?;
        let kind = document_kind(new.kind.as_deref(), &words)?;
        let title = match (&new.title, &words.name) {
            (Some(title), _) => check_title(title)?,
            (None, Some(name)) => name.clone(),
            (None, None) => return Err(InvalidField::new("title", MessageCode::DocumentNeedsTitle).into()),
        };
        let same = if reuse { self.document_of_file(owner, &title, &words).await? } else { None };
        if same.is_none() {
            self.check_document_room(owner, &words).await?;
        }
        let id: DocumentId = same.as_ref().map_or_else(ids::mint, |same| same.id);
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, owner, name, request, id).await? {
            tx.rollback().await?;
            return Ok(Created::existing(self.created_document(owner, &made).await?));
        }
        if let Some(same) = same {
            // The key stays with this document, also when its text changes before the request is repeated.
            tx.commit().await?;
            return Ok(Created::existing(same));
        }
        let document = write::NewDocument { id, owner_id: owner, title: &title, kind: &kind };
        write::insert(&mut tx, &document, &words.new_version(&kind), self.clock().now()).await?;
        tx.commit().await?;
        Ok(Created::new(self.document(owner, id).await?))
    }

    /// Returns the document with this title whose newest version has this text of the same file.
    async fn document_of_file(
        &self,
        owner: UserId,
        title: &str,
        words: &DocumentText,
    ) -> Result<Option<Document>, ServiceError> {
        if words.origin.is_none() {
            return Ok(None);
        }
        let titled = self.documents_titled(owner, title).await?;
        let Some(found) = titled.into_iter().find(|document| document.version.origin == words.origin) else {
            return Ok(None);
        };
        // A file has another text in another encoding.
        let text = documents::read::content(self.db(), owner, found.id, found.version.version_timestamp).await?;
        Ok((text.as_ref() == Some(&words.text)).then_some(found))
    }

    /// Checks the quota and the storage bounds for another version with this text.
    async fn check_document_room(&self, owner: UserId, words: &DocumentText) -> Result<(), ServiceError> {
        let bytes = words.text.len() as u64;
        self.check_quota(owner, bytes).await?;
        self.check_growth(owner, bytes).await
    }

    async fn created_document(&self, owner: UserId, made: &str) -> Result<Document, ServiceError> {
        self.document(owner, made.parse().map_err(|_| ServiceError::NotFound)?).await
    }

    /// Changes the text, the title, or both. An equal text adds no version.
    ///
    /// # Errors
    /// `document_changed` with the present `rev` when the change was based on another revision.
    pub async fn change_document(
        &self,
        owner: UserId,
        id: DocumentId,
        change: DocumentChange,
    ) -> Result<Document, ServiceError> {
        let before = self.document(owner, id).await?;
        let title = change.title.as_deref().map(check_title).transpose()?;
        let words = match change.source {
            Some(source) => Some(self.read_source_text(owner, source).await?),
            None => None,
        };
        if let Some(words) = &words {
            self.check_document_room(owner, words).await?;
        }
        let now = self.clock().now();
        let mut tx = self.db().begin().await?;
        if write::lock_for_update(&mut tx, owner, id, change.rev, now).await?.is_none() {
            tx.rollback().await?;
            return Err(document_changed(self.document(owner, id).await?.rev));
        }
        let newest = write::newest_version(&mut tx, id).await?;
        let is_new = |words: &DocumentText| newest.as_ref().is_none_or(|(_, text)| *text != words.text);
        let added = words.filter(is_new);
        let title = title.filter(|title| *title != before.title);
        if added.is_none() && title.is_none() {
            tx.rollback().await?;
            return self.document(owner, id).await;
        }
        let mut kind = before.kind.clone();
        if let Some(words) = &added {
            if write::count_versions(&mut tx, id).await? >= limits::DOCUMENT_VERSIONS {
                let message = MessageCode::TooManyDocumentVersions.with("most", limits::DOCUMENT_VERSIONS);
                return Err(ServiceError::conflict("too_many_versions", message));
            }
            kind = words.kind.clone().unwrap_or(kind);
            write::add_version(&mut tx, id, &words.new_version(&kind), newest.map(|(at, _)| at), now).await?;
        }
        if title.is_some() || kind != before.kind {
            write::set_title_and_kind(&mut tx, id, title.as_deref().unwrap_or(&before.title), &kind).await?;
        }
        tx.commit().await?;
        self.document(owner, id).await
    }

    async fn read_source_text(&self, owner: UserId, source: DocumentTextSource) -> Result<DocumentText, ServiceError> {
        let (sha256, encoding) = match source {
            DocumentTextSource::Text(text) => return normalize_written(&text),
            DocumentTextSource::Blob { sha256, encoding } => (sha256, encoding),
        };
        let blob = self.blob(owner, &sha256).await?;
        let upload = uploads::find(self.db(), owner, &sha256).await?;
        if upload.as_ref().is_some_and(|upload| upload.kind == UploadKind::Image) {
            return Err(InvalidField::new("blob", MessageCode::ImageHasNoText).into());
        }
        let name = upload.map(|upload| upload.name).unwrap_or_default();
        self.read_file_text(name, sha256, blob.bytes, encoding.as_deref()).await
    }

    /// Extracts the text of a file with this name. The file need not be stored.
    pub(crate) async fn read_file_text(
        &self,
        name: String,
        sha256: String,
        bytes: Bytes,
        encoding: Option<&str>,
    ) -> Result<DocumentText, ServiceError> {
        let kind = self.reader().sniff(&name, &bytes).map_err(file_refusal)?;
        let converted = self.reader().read_text(kind, bytes, encoding).await.map_err(file_refusal)?;
        let kind = Some(kind.mime().to_owned());
        let name = Some(name).filter(|name| !name.is_empty());
        Ok(DocumentText { text: converted.text, kind, origin: Some(sha256), notes: converted.notes, name })
    }
}

impl DocumentText {
    /// Returns the text as that of a stored file.
    pub(crate) fn of_file(self, origin: Option<String>) -> Self {
        Self { origin, ..self }
    }

    pub fn new_version<'a>(&'a self, kind: &'a str) -> NewDocumentVersion<'a> {
        NewDocumentVersion { content: &self.text, origin: self.origin.as_deref(), mime: kind, notes: &self.notes }
    }
}

/// Normalizes a written text: CRLF becomes LF, and NUL becomes its visible symbol (U+2400). Nothing else changes.
pub(crate) fn normalize_written(text: &str) -> Result<DocumentText, ServiceError> {
    if text.len() > limits::DOCUMENT_BYTES {
        let limit = MessageCode::DocumentLimit.with("limit", ByteSize::from_usize(limits::DOCUMENT_BYTES));
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    let text = text.replace("\r\n", "\n").replace('\0', "\u{2400}");
    Ok(DocumentText { text, kind: None, origin: None, notes: Vec::new(), name: None })
}

/// Returns the media type of a document: that of its file, else the chosen one.
pub(crate) fn document_kind(chosen: Option<&str>, words: &DocumentText) -> Result<String, ServiceError> {
    match (chosen, &words.kind) {
        (_, Some(kind)) => Ok(kind.clone()),
        (None, None) => Ok(WRITTEN.to_owned()),
        (Some(chosen), None) if TEXT_KINDS.contains(&chosen) => Ok(chosen.to_owned()),
        _ => Err(InvalidField::new("kind", MessageCode::NotOneOf.with("choices", TEXT_KINDS.join(", "))).into()),
    }
}

/// Validates the title of a document.
pub(crate) fn check_title(title: &str) -> Result<String, ServiceError> {
    let title = title.trim();
    if title.is_empty() || title.chars().count() > limits::TITLE_CHARS || title.chars().any(char::is_control) {
        let reason = MessageCode::NotVisibleCharacters.with("most", limits::TITLE_CHARS);
        return Err(InvalidField::new("title", reason).into());
    }
    Ok(title.to_owned())
}

fn document_changed(rev: i64) -> ServiceError {
    ServiceError::Conflict {
        code: "document_changed",
        message: MessageCode::DocumentChanged.into(),
        extra: json!({ "rev": rev }),
    }
}
