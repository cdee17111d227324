//! Imports the blobs and documents of a Turnleaf archive, which stand before its chats. Hashes are verified, and images
//! are re-encoded like uploads.

use std::borrow::Cow;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::import_key::imported_id;
use super::recording;
use super::report::{ImportReport, ImportRequest};
use crate::documents::uploads::{UploadKind, image_forms, store_image_forms};
use crate::{Service, ServiceError};
use turnleaf_convert::{ConversionError, ConvertedPicture, EncodedImage};
use turnleaf_domain::{DocumentId, UserId};
use turnleaf_interchange::archive::{ArchivedBlob, ArchivedVersion, SpooledDocument};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};
use turnleaf_platform::hex::hex;
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::StoreError;
use turnleaf_store::documents::blobs::{self, ImageForm};
use turnleaf_store::documents::uploads::{self, NewUpload};
use turnleaf_store::documents::{self, write};

/// The media type of bytes that claim to be an image but are not.
const FILE: &str = "application/octet-stream";

/// A blob of an archive in its stored form.
struct ImportedBlob {
    sha256: String,
    mime: Cow<'static, str>,
    bytes: Bytes,
    forms: Vec<(ImageForm, EncodedImage)>,
    kind: UploadKind,
    /// The size of an image, in pixels.
    size: Option<(u32, u32)>,
}

fn sha256_of(bytes: &Bytes) -> String {
    hex(Sha256::digest(bytes))
}

impl Service {
    /// Imports a blob of an archive. An image is re-encoded like an upload and gets the hash of the result; other
    /// files are stored unchanged. Bytes that do not match their hash are skipped.
    pub(super) async fn import_blob(
        &self,
        import: &ImportRequest,
        blob: ArchivedBlob,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let ArchivedBlob { sha256: archived_hash, mime, name, bytes } = blob;
        // Images that a model generated have no name.
        let name = name.unwrap_or_default();
        let bytes = Bytes::from(bytes.0);
        let place =
            || IssueLocation { file: name.clone(), conversation: archived_hash.clone(), message: String::new() };
        if sha256_of(&bytes) != archived_hash {
            let text = "its bytes do not match its hash".to_owned();
            report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place(), text });
            return Ok(());
        }
        // Existing bytes came in through their own import or upload and have the same hash, so nothing is stored.
        if name.is_empty() && blobs::find_type_and_size(self.db(), import.owner, &archived_hash).await?.is_some() {
            report.files += 1;
            return Ok(());
        }
        let planted = match self.prepare_blob(&name, mime, bytes).await? {
            Ok(planted) => planted,
            Err(reason) => {
                report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place(), text: reason.to_string() });
                return Ok(());
            }
        };
        let ImportedBlob { sha256, mime, bytes, forms, kind, size } = planted;
        report.files += 1;
        let is_here = report.tally.has_blob(&sha256)
            || blobs::find_type_and_size(self.db(), import.owner, &sha256).await?.is_some();
        if !is_here {
            let all = (bytes.len() + forms.iter().map(|(_, form)| form.bytes.len()).sum::<usize>()) as u64;
            match self.check_archived_room(import, all, report).await {
                Err(ServiceError::Store(error)) => return Err(error.into()),
                Err(refused) => {
                    report.add_finding(&ImportIssue {
                        kind: IssueKind::Lost,
                        location: place(),
                        text: refused.to_string(),
                    });
                    return Ok(());
                }
                Ok(()) => {}
            }
            if import.dry_run {
                report.tally.add_blob(sha256.clone(), all);
            }
        }
        if let (Cow::Borrowed(mime), true) = (&mime, sha256 != archived_hash) {
            report.redrawn.add(archived_hash, &sha256, mime, bytes.len());
        }
        if import.dry_run || is_here && name.is_empty() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        blobs::insert_unreferenced(&mut tx, &sha256, &mime, &bytes, now).await?;
        store_image_forms(&mut tx, &sha256, &forms, now).await?;
        let upload = NewUpload { id: ids::mint(), owner_id: import.owner, sha256: &sha256, name: &name, kind, size };
        uploads::put(&mut tx, &upload, now).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Prepares the bytes of an archived blob, or returns why they are not of their stated type.
    async fn prepare_blob(
        &self,
        name: &str,
        mime: String,
        bytes: Bytes,
    ) -> Result<Result<ImportedBlob, ConversionError>, ServiceError> {
        let picture = match self.reader().sniff(name, &bytes) {
            Ok(kind) if kind.is_image() => match self.reader().read_picture(kind, bytes.clone()).await {
                // A file of another type may begin like an image.
                Err(_) if kind.mime() != mime => None,
                Err(reason) => return Ok(Err(reason)),
                Ok(picture) => Some(picture),
            },
            _ => None,
        };
        Ok(Ok(match picture {
            Some(ConvertedPicture { image, thumbnail, for_models }) => ImportedBlob {
                sha256: sha256_of(&image.bytes),
                mime: Cow::Borrowed(image.mime),
                bytes: image.bytes,
                forms: image_forms(thumbnail, for_models).await?,
                kind: UploadKind::Image,
                size: Some((image.width, image.height)),
            },
            // Bytes of other types are stored unchanged and only served as downloads.
            None => ImportedBlob {
                sha256: sha256_of(&bytes),
                mime: if mime.starts_with("image/") { Cow::Borrowed(FILE) } else { Cow::Owned(mime) },
                bytes,
                forms: Vec::new(),
                kind: UploadKind::File,
                size: None,
            },
        }))
    }

    /// Checks the quota and storage bounds for the bytes of an archived file or document.
    async fn check_archived_room(
        &self,
        import: &ImportRequest,
        bytes: u64,
        report: &ImportReport,
    ) -> Result<(), ServiceError> {
        let bytes = report.tally.bytes() + bytes;
        self.check_quota(import.owner, bytes).await?;
        self.check_imported_growth(import.owner, bytes).await
    }

    /// Stores a document under this id, version by version as they are read, in one transaction.
    async fn store_document(
        &self,
        owner: UserId,
        id: DocumentId,
        mut document: SpooledDocument,
        now: DateTime<Utc>,
        report: &ImportReport,
    ) -> Result<(), StoreError> {
        let (title, kind) = (document.title.clone(), document.kind.clone());
        let (created_at, updated_at) = (document.created_at.min(now), document.updated_at.min(now));
        let mut tx = self.db().begin().await?;
        let new = write::NewDocument { id, owner_id: owner, title: &title, kind: &kind };
        let mut newest = None;
        loop {
            let version;
            (document, version) = next_version(document).await?;
            let Some(version) = version else { break };
            let origin = match version.origin.map(|archived| report.redrawn.local_name(archived)) {
                Some(sha256) if blobs::find_type_and_size(self.db(), owner, &sha256).await?.is_some() => Some(sha256),
                _ => None,
            };
            let of = write::NewDocumentVersion {
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
        write::set_dates(&mut tx, id, created_at, updated_at).await?;
        recording::record_document(&mut tx, owner, report.recorded, id).await?;
        tx.commit().await
    }

    /// Imports a document of an archive with its versions, unless it exists already.
    pub(super) async fn import_document(
        &self,
        import: &ImportRequest,
        document: SpooledDocument,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let id = DocumentId::from(imported_id(import.owner, document.id.uuid()));
        for local_id in [document.id, id] {
            if report.tally.has_document(local_id)
                || documents::read::find(self.db(), import.owner, local_id).await?.is_some()
            {
                return Ok(());
            }
        }
        let bytes = document.bytes;
        match self.check_archived_room(import, bytes, report).await {
            Err(ServiceError::Store(error)) => return Err(error.into()),
            Err(refused) => {
                let place = IssueLocation { conversation: document.title.clone(), ..IssueLocation::default() };
                report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text: refused.to_string() });
                return Ok(());
            }
            Ok(()) => {}
        }
        report.documents += 1;
        if import.dry_run {
            report.tally.add_document(id, bytes);
            return Ok(());
        }
        let title = document.title.clone();
        match self.store_document(import.owner, id, document, now, report).await {
            Ok(()) => Ok(()),
            Err(error) if error.is_value_error() => {
                let place = IssueLocation { conversation: title.clone(), ..IssueLocation::default() };
                let text = "the document could not be stored: it contains invalid data".to_owned();
                report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Reads the next version of a document on a blocking thread.
async fn next_version(mut document: SpooledDocument) -> Result<(SpooledDocument, Option<ArchivedVersion>), StoreError> {
    const GONE: StoreError = StoreError::Gone("a version of the document");
    let reading = tasks::spawn_blocking(move || {
        let version = document.next_version();
        (document, version)
    });
    let (document, version) = reading.await.map_err(|_| GONE)?;
    Ok((document, version.map_err(|_| GONE)?))
}
