//! Files of imported conversations: images are re-encoded and files are extracted as if they were uploaded. A dry run
//! reports the same and stores nothing.

use std::collections::HashMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::import_key::ImportKey;
use super::incoming::IncomingConversation;
use super::recording;
use super::report::{ImportReport, ImportRequest};
use crate::documents::change::{DocumentText, check_title, document_kind, normalize_written};
use crate::documents::uploads::UploadKind;
use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf_domain::{Content, DocumentId, ImportId, Role, UserId, limits};
use turnleaf_interchange::conversation::{FileBytes, MessageFile};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation, PieceBody};
use turnleaf_store::documents::blobs;
use turnleaf_store::documents::{self, write};
use turnleaf_store::{StoreError, Tx};

/// The content of a file, or the reason why it was lost.
type FileContent = Result<Content, String>;

/// The contents of a conversation's files.
#[derive(Default)]
pub(super) struct ConversationFiles {
    /// Contents by message and piece.
    pub contents: HashMap<(usize, usize), Content>,
    /// Documents that are stored with the chat.
    pub documents: Vec<AttachedDocument>,
}

/// A document of an attachment, stored in the transaction of its chat.
pub(super) struct AttachedDocument {
    id: DocumentId,
    title: String,
    kind: String,
    words: DocumentText,
    now: DateTime<Utc>,
}

impl AttachedDocument {
    pub async fn insert(&self, tx: &mut Tx, owner_id: UserId) -> Result<(), StoreError> {
        let new = write::NewDocument { id: self.id, owner_id, title: &self.title, kind: &self.kind };
        write::insert(tx, &new, &self.words.new_version(&self.kind), self.now).await
    }

    /// Assigns the stored document to the record of its import.
    pub async fn record(&self, tx: &mut Tx, owner: UserId, recorded: Option<ImportId>) -> Result<(), StoreError> {
        recording::record_document(tx, owner, recorded, self.id).await
    }
}

impl Service {
    /// Returns the contents of all images and files of the wanted messages. Losses are reported.
    pub(super) async fn import_files(
        &self,
        import: &ImportRequest,
        incoming: &IncomingConversation<'_>,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
        report: &mut ImportReport,
    ) -> Result<ConversationFiles, ServiceError> {
        let IncomingConversation { key, conversation, now, .. } = *incoming;
        let mut files = ConversationFiles::default();
        for (at, message) in conversation.messages.iter().enumerate().filter(|(_, of)| is_wanted(&of.source_id)) {
            for (number, piece) in message.pieces.iter().enumerate() {
                let (file, alt) = match &piece.body {
                    PieceBody::Picture { file, alt } => (file, Some(alt.as_str())),
                    PieceBody::Attachment { file } => (file, None),
                    _ => continue,
                };
                let part = format!("document {} {number}", message.source_id);
                let mut bringing = FileImport {
                    service: self,
                    import,
                    key,
                    part,
                    now,
                    report,
                    documents: &mut files.documents,
                    is_extracted: false,
                };
                let brought = match bringing.import_file(file, alt, message.role).await {
                    Err(ServiceError::Store(error)) => return Err(error.into()),
                    Err(refused) => Err(refused.to_string()),
                    Ok(brought) => brought,
                };
                let is_extracted = bringing.is_extracted;
                let place = || IssueLocation {
                    file: file.name.clone(),
                    conversation: conversation.source_id.clone(),
                    message: message.source_id.clone(),
                };
                if is_extracted && brought.is_ok() {
                    let text = "the file cannot be read: the text that the source extracted from it is used".to_owned();
                    report.add_finding(&ImportIssue { kind: IssueKind::PutRight, location: place(), text });
                }
                match brought {
                    Ok(content) => {
                        report.files += 1;
                        files.contents.insert((at, number), content);
                    }
                    Err(reason) => {
                        report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place(), text: reason });
                        // A text with its name keeps the place, so that a reader knows that something was there.
                        files.contents.insert((at, number), Content::text(format!("[{}]", file.name)));
                    }
                }
            }
        }
        if import.dry_run {
            for document in files.documents.drain(..) {
                report.tally.add_document(document.id, document.words.text.len() as u64);
            }
        }
        Ok(files)
    }
}

/// The import of one file.
struct FileImport<'b> {
    service: &'b Service,
    import: &'b ImportRequest,
    key: &'b ImportKey,
    /// The part key from which its document's id is derived.
    part: String,
    now: DateTime<Utc>,
    report: &'b mut ImportReport,
    /// The documents of the conversation so far.
    documents: &'b mut Vec<AttachedDocument>,
    /// The text comes from the source, because the file cannot be read.
    is_extracted: bool,
}

impl FileImport<'_> {
    async fn import_file(
        &mut self,
        file: &MessageFile,
        alt: Option<&str>,
        role: Role,
    ) -> Result<FileContent, ServiceError> {
        let (service, owner) = (self.service, self.import.owner);
        let name = if file.name.trim().is_empty() { "file" } else { file.name.as_str() };
        let (bytes, extracted) = match &file.bytes {
            FileBytes::Inline(bytes) => (bytes, None),
            FileBytes::InlineWithText(bytes, text) => {
                (bytes, Some(text.as_str()).filter(|text| !text.trim().is_empty()))
            }
            FileBytes::TextOnly(text) if role != Role::User => return Ok(text_content(name, text.as_bytes())),
            FileBytes::TextOnly(text) => return self.document(name, normalize_written(text)?).await.map(Ok),
            FileBytes::Entry(at) | FileBytes::Absent(at) => {
                return Ok(Err(format!("the file is not in the export ({at})")));
            }
        };
        // Only user messages have documents, and system messages have no images either.
        let is_picture = || service.reader().sniff(name, bytes).is_ok_and(|kind| kind.is_image());
        if role == Role::System || (role == Role::Assistant && !is_picture()) {
            return Ok(text_content(name, extracted.map_or(&bytes[..], str::as_bytes)));
        }
        let prepared = match (service.prepare_upload(name, Bytes::copy_from_slice(bytes)).await, extracted) {
            (Err(ServiceError::Store(error)), _) => return Err(error.into()),
            (Err(_), Some(text)) => return self.extracted_document(name, text, None).await,
            (prepared, _) => prepared?,
        };
        let (uploaded, bytes) = (prepared.uploaded.clone(), prepared.bytes.clone());
        if !self.report.tally.has_blob(&uploaded.sha256) {
            let count = prepared.byte_count();
            service.check_file_room(owner, &uploaded.sha256, self.pending_bytes() + count).await?;
            service.check_imported_growth(owner, self.pending_bytes() + count).await?;
            if !self.import.dry_run {
                service.store_upload(owner, prepared).await?;
            } else if blobs::find_type_and_size(service.db(), owner, &uploaded.sha256).await?.is_none() {
                self.report.tally.add_blob(uploaded.sha256.clone(), count);
            }
        }
        if uploaded.kind == UploadKind::Image {
            let alt = alt.unwrap_or_default().to_owned();
            return Ok(Ok(Content::Image { blob: uploaded.sha256, mime: uploaded.mime, alt }));
        }
        let read = service.read_file_text(uploaded.name, uploaded.sha256.clone(), bytes, None).await;
        match (read, extracted) {
            (Err(ServiceError::Store(error)), _) => Err(error.into()),
            (Err(_), Some(text)) => self.extracted_document(name, text, Some(uploaded.sha256)).await,
            (Ok(words), Some(text)) if words.text.trim().is_empty() => {
                self.extracted_document(name, text, Some(uploaded.sha256)).await
            }
            (words, _) => self.document(name, words?).await.map(Ok),
        }
    }

    /// Creates the document of a file that cannot be read from the text that its source extracted.
    async fn extracted_document(
        &mut self,
        name: &str,
        text: &str,
        origin: Option<String>,
    ) -> Result<FileContent, ServiceError> {
        self.is_extracted = true;
        let words = normalize_written(text)?.of_file(origin);
        self.document(name, words).await.map(Ok)
    }

    /// Returns the bytes that are not stored yet, or would be stored without the dry run.
    fn pending_bytes(&self) -> u64 {
        let documents = self.documents.iter().map(|document| document.words.text.len() as u64);
        self.report.tally.bytes() + documents.sum::<u64>()
    }

    /// Creates a document with this text, or reuses the one that the same chat had in an earlier import.
    async fn document(&mut self, name: &str, words: DocumentText) -> Result<Content, ServiceError> {
        let (service, owner) = (self.service, self.import.owner);
        let title: String = name.chars().filter(|c| !c.is_control()).take(limits::TITLE_CHARS).collect();
        let title = check_title(&title)?;
        let kind = document_kind(None, &words)?;
        let mut part = self.part.clone();
        let (id, existing) = loop {
            let id = DocumentId::from(self.key.part_id(&part));
            match documents::read::find(service.db(), owner, id).await? {
                // A document that its owner deleted stays deleted; the next id is tried.
                Some(existing) if existing.deleted_at.is_some() => part.push('+'),
                existing => break (id, existing),
            }
        };
        let version_timestamp = if existing.is_some() {
            // References the imported version, whatever the document was changed to later.
            let all = documents::read::versions(service.db(), owner, id, u64::from(u32::MAX)).await?;
            all.last().map(|first| first.version_timestamp)
        } else {
            let bytes = self.pending_bytes() + words.text.len() as u64;
            service.check_quota(owner, bytes).await?;
            service.check_imported_growth(owner, bytes).await?;
            self.documents.push(AttachedDocument { id, title, kind, words, now: self.now });
            Some(self.now)
        };
        Ok(Content::Reference { ref_id: id.to_string(), ref_type: DOCUMENT_REF_TYPE.to_owned(), version_timestamp })
    }
}

/// Returns the text of a file for a message that cannot have files.
fn text_content(name: &str, bytes: &[u8]) -> FileContent {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') && text.len() <= limits::MESSAGE_CHARS => {
            Ok(Content::text(format!("{name}\n\n{text}")))
        }
        _ => Err("only user messages can have files: its name is kept".to_owned()),
    }
}
