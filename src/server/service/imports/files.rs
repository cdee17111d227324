//! What comes along with conversations: pictures, files, documents. Pictures are drawn again and files are read as if
//! somebody had uploaded them; what an archive of our own brings was that already and keeps its bytes.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::plant::new_id;
use super::{Import, ImportReport};
use crate::domain::attachment::DOCUMENT;
use crate::domain::{Content, DocumentId, Role, UserId, limits};
use crate::interchange::archive::{ArchivedBlob, ArchivedChat, ArchivedDocument, document_ids};
use crate::interchange::conversation::{Bytes as FileBytes, File};
use crate::interchange::{Body, Conversation, Finding, Place, What};
use crate::server::convert::Picture;
use crate::server::platform::ids;
use crate::server::service::documents::change::{NewDocument, Source};
use crate::server::service::uploads::{UploadKind, forms_of, store_forms};
use crate::server::service::{Service, ServiceError};
use crate::server::store::blobs;
use crate::server::store::documents::{self, write};
use crate::server::store::uploads::{self, NewUpload};

/// What a file became, or why it did not.
type Brought = Result<Content, String>;

impl Service {
    /// The content of each picture and file of a conversation, by message and piece. What could not be kept is told.
    pub(super) async fn files_of(
        &self,
        import: &Import,
        conversation: &Conversation,
        report: &mut ImportReport,
    ) -> Result<HashMap<(usize, usize), Content>, ServiceError> {
        let mut files = HashMap::new();
        for (at, message) in conversation.messages.iter().enumerate() {
            for (number, piece) in message.pieces.iter().enumerate() {
                let (file, alt) = match &piece.body {
                    Body::Picture { file, alt } => (file, Some(alt.as_str())),
                    Body::Attachment { file } => (file, None),
                    _ => continue,
                };
                let brought = match self.bring(import, file, alt, message.role).await {
                    Err(ServiceError::Store(error)) => return Err(error.into()),
                    Err(refused) => Err(refused.to_string()),
                    Ok(brought) => brought,
                };
                match brought {
                    Ok(content) => {
                        report.files += 1;
                        files.insert((at, number), content);
                    }
                    Err(why) => {
                        let place = Place {
                            file: file.name.clone(),
                            conversation: conversation.source_id.clone(),
                            message: message.source_id.clone(),
                        };
                        report.tell(&Finding { what: What::Lost, place, text: why });
                        // Its place stays, so that a reader knows that there was something.
                        files.insert((at, number), Content::text(format!("[{}]", file.name)));
                    }
                }
            }
        }
        Ok(files)
    }

    async fn bring(
        &self,
        import: &Import,
        file: &File,
        alt: Option<&str>,
        role: Role,
    ) -> Result<Brought, ServiceError> {
        let name = if file.name.trim().is_empty() { "file" } else { file.name.as_str() };
        let bytes = match &file.bytes {
            FileBytes::Inline(bytes) => bytes,
            FileBytes::TextOnly(text) if role != Role::User => return Ok(in_words(name, text.as_bytes())),
            FileBytes::TextOnly(text) if import.dry_run => return Ok(Ok(Content::text(text.as_str()))),
            FileBytes::TextOnly(text) => {
                return self.document_of(import, name, Source::Text(text.clone())).await.map(Ok);
            }
            FileBytes::Entry(at) | FileBytes::Absent(at) => {
                return Ok(Err(format!("the file did not come along ({at})")));
            }
        };
        if import.dry_run {
            return Ok(Ok(Content::text(name)));
        }
        // Only what a person says has documents, and what a system says has no pictures either.
        let is_picture = || self.reader().sniff(name, bytes).is_ok_and(|kind| kind.is_image());
        if role == Role::System || (role == Role::Assistant && !is_picture()) {
            return Ok(in_words(name, bytes));
        }
        let uploaded = self.upload(import.owner, name, Bytes::copy_from_slice(bytes)).await?;
        if uploaded.kind == UploadKind::Image {
            let alt = alt.unwrap_or_default().to_owned();
            return Ok(Ok(Content::Image { blob: uploaded.sha256, mime: uploaded.mime, alt }));
        }
        let source = Source::Blob { sha256: uploaded.sha256, encoding: None };
        self.document_of(import, name, source).await.map(Ok)
    }

    async fn document_of(&self, import: &Import, name: &str, source: Source) -> Result<Content, ServiceError> {
        let title = Some(name.chars().filter(|c| !c.is_control()).take(120).collect());
        let new = NewDocument { title, kind: None, source, client_request_id: None };
        let made = self.create_document(import.owner, new).await?.it;
        Ok(Content::Reference {
            ref_id: made.id.to_string(),
            ref_type: DOCUMENT.to_owned(),
            version_timestamp: Some(made.version.version_timestamp),
        })
    }

    /// Keeps a blob of an archive under its hash. Its bytes are what they say they are, or it is left out.
    pub(super) async fn plant_blob(
        &self,
        import: &Import,
        blob: ArchivedBlob,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let ArchivedBlob { sha256, mime, name, bytes } = blob;
        // What a model drew was never called anything.
        let name = name.unwrap_or_default();
        let bytes = Bytes::from(bytes.0);
        let place = || Place { file: name.clone(), conversation: sha256.clone(), message: String::new() };
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if hash != sha256 {
            let text = "its bytes are not those that its hash was taken of".to_owned();
            report.tell(&Finding { what: What::Lost, place: place(), text });
            return Ok(());
        }
        let mut forms = Vec::new();
        let (kind, size) = match self.reader().sniff(&name, &bytes) {
            Ok(kind) if kind.is_image() && kind.mime() == mime => {
                match self.reader().picture(kind, bytes.clone()).await {
                    Ok(Picture { image, thumbnail, for_models }) => {
                        forms = forms_of(thumbnail, for_models).await?;
                        (UploadKind::Image, Some((image.width, image.height)))
                    }
                    Err(why) => {
                        report.tell(&Finding { what: What::Lost, place: place(), text: why.to_string() });
                        return Ok(());
                    }
                }
            }
            // Bytes of other kinds are only ever handed out as they are, to be kept.
            _ => (UploadKind::File, None),
        };
        report.files += 1;
        let is_here = blobs::measure(self.db(), import.owner, &sha256).await?.is_some();
        if import.dry_run || (is_here && name.is_empty()) {
            return Ok(());
        }
        if !is_here {
            let all = bytes.len() + forms.iter().map(|(_, form)| form.bytes.len()).sum::<usize>();
            match self.check_quota(import.owner, all as u64).await {
                Err(ServiceError::Store(error)) => return Err(error.into()),
                Err(refused) => {
                    report.tell(&Finding { what: What::Lost, place: place(), text: refused.to_string() });
                    return Ok(());
                }
                Ok(()) => {}
            }
        }
        let mime = if kind == UploadKind::Image || !mime.starts_with("image/") { mime } else { FILE.to_owned() };
        let mut tx = self.db().begin().await?;
        blobs::store(&mut tx, &sha256, &mime, &bytes, now).await?;
        store_forms(&mut tx, &sha256, &forms, now).await?;
        let upload = NewUpload { id: ids::mint(), owner_id: import.owner, sha256: &sha256, name: &name, kind, size };
        uploads::put(&mut tx, &upload, now).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Keeps a document of an archive with its versions, unless it is here.
    pub(super) async fn plant_document(
        &self,
        import: &Import,
        document: ArchivedDocument,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let id = DocumentId::from(new_id(import.owner, document.id.uuid()));
        for here in [document.id, id] {
            if documents::find(self.db(), import.owner, here).await?.is_some() {
                return Ok(());
            }
        }
        let bytes: usize = document.versions.iter().map(|version| version.content.len()).sum();
        match self.check_quota(import.owner, bytes as u64).await {
            Err(ServiceError::Store(error)) => return Err(error.into()),
            Err(refused) => {
                let place = Place { conversation: document.title.clone(), ..Place::default() };
                report.tell(&Finding { what: What::Lost, place, text: refused.to_string() });
                return Ok(());
            }
            Ok(()) => {}
        }
        report.documents += 1;
        if import.dry_run {
            return Ok(());
        }
        let stored = async {
            let mut tx = self.db().begin().await?;
            let new = write::NewDocument { id, owner_id: import.owner, title: &document.title, kind: &document.kind };
            let mut newest = None;
            for version in &document.versions {
                let origin = match &version.origin {
                    Some(sha256) if blobs::measure(self.db(), import.owner, sha256).await?.is_some() => {
                        Some(sha256.clone())
                    }
                    _ => None,
                };
                let of = write::NewVersion {
                    content: &version.content,
                    origin: origin.as_deref(),
                    mime: &version.mime,
                    notes: &version.notes,
                };
                let at = version.version_timestamp.min(now);
                match newest {
                    None => {
                        write::insert(&mut tx, &new, &of, at).await?;
                        newest = Some(at);
                    }
                    Some(before) => newest = Some(write::add_version(&mut tx, id, &of, Some(before), at).await?),
                }
            }
            if newest.is_none() {
                return tx.rollback().await;
            }
            let (created_at, updated_at) = (document.created_at.min(now), document.updated_at.min(now));
            write::date(&mut tx, id, created_at, updated_at).await?;
            tx.commit().await
        };
        match stored.await {
            Ok(()) => Ok(()),
            Err(error) if error.is_of_a_value() => {
                let place = Place { conversation: document.title.clone(), ..Place::default() };
                let text = "the document could not be stored: something in it cannot be".to_owned();
                report.tell(&Finding { what: What::Lost, place, text });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Those of the documents that a chat of an archive names which are here under the ids that they have there.
    pub(super) async fn documents_here(
        &self,
        owner: UserId,
        chat: &ArchivedChat,
    ) -> Result<HashSet<Uuid>, ServiceError> {
        let contents = chat.turns.iter().flat_map(|turn| &turn.blocks).map(|block| &block.content);
        let mut here = HashSet::new();
        for id in document_ids(contents) {
            let other = DocumentId::from(new_id(owner, id.uuid()));
            if documents::find(self.db(), owner, other).await?.is_none()
                && documents::find(self.db(), owner, id).await?.is_some()
            {
                here.insert(id.uuid());
            }
        }
        Ok(here)
    }
}

/// A file where only words may stand: what it says, if it is a text.
fn in_words(name: &str, bytes: &[u8]) -> Brought {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') && text.len() <= limits::MESSAGE_CHARS => {
            Ok(Content::text(format!("{name}\n\n{text}")))
        }
        _ => Err("only a message of a person has files: its name stays".to_owned()),
    }
}

/// What bytes are that say they are an image and are none.
const FILE: &str = "application/octet-stream";
