//! What an archive of our own brings besides its chats: blobs and documents, which were drawn and read again before.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::plant::new_id;
use super::{Import, ImportReport};
use crate::domain::DocumentId;
use crate::interchange::archive::{ArchivedBlob, ArchivedVersion, FiledDocument};
use crate::interchange::{Finding, Place, What};
use crate::server::convert::Picture;
use crate::server::platform::hex::hex;
use crate::server::platform::ids;
use crate::server::platform::tasks;
use crate::server::service::uploads::{UploadKind, forms_of, store_forms};
use crate::server::service::{Service, ServiceError};
use crate::server::store::documents::{self, write};
use crate::server::store::uploads::{self, NewUpload};
use crate::server::store::{StoreError, blobs};

/// What bytes are that say they are an image and are none.
const FILE: &str = "application/octet-stream";

impl Service {
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
        let hash = hex(Sha256::digest(&bytes));
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
        let is_here =
            report.tally.has_blob(&sha256) || blobs::measure(self.db(), import.owner, &sha256).await?.is_some();
        if is_here && (import.dry_run || name.is_empty()) {
            return Ok(());
        }
        if !is_here {
            let all = (bytes.len() + forms.iter().map(|(_, form)| form.bytes.len()).sum::<usize>()) as u64;
            match self.check_archived_room(import, all, report).await {
                Err(ServiceError::Store(error)) => return Err(error.into()),
                Err(refused) => {
                    report.tell(&Finding { what: What::Lost, place: place(), text: refused.to_string() });
                    return Ok(());
                }
                Ok(()) => {}
            }
            if import.dry_run {
                report.tally.add_blob(sha256, all);
                return Ok(());
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

    /// Whether there is room for so many bytes of a file or a document of an archive.
    async fn check_archived_room(
        &self,
        import: &Import,
        bytes: u64,
        report: &ImportReport,
    ) -> Result<(), ServiceError> {
        let bytes = report.tally.bytes() + bytes;
        self.check_quota(import.owner, bytes).await?;
        self.check_imported_growth(import.owner, bytes).await
    }

    /// Keeps a document of an archive with its versions, unless it is here.
    pub(super) async fn plant_document(
        &self,
        import: &Import,
        mut document: FiledDocument,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let id = DocumentId::from(new_id(import.owner, document.id.uuid()));
        for here in [document.id, id] {
            if report.tally.has_document(here) || documents::find(self.db(), import.owner, here).await?.is_some() {
                return Ok(());
            }
        }
        let bytes = document.bytes;
        match self.check_archived_room(import, bytes, report).await {
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
            report.tally.add_document(id, bytes);
            return Ok(());
        }
        let (title, kind) = (document.title.clone(), document.kind.clone());
        let (created_at, updated_at) = (document.created_at.min(now), document.updated_at.min(now));
        let stored = async {
            let mut tx = self.db().begin().await?;
            let new = write::NewDocument { id, owner_id: import.owner, title: &title, kind: &kind };
            let mut newest = None;
            loop {
                let version;
                (document, version) = next_version(document).await?;
                let Some(version) = version else { break };
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
            write::date(&mut tx, id, created_at, updated_at).await?;
            tx.commit().await
        };
        match stored.await {
            Ok(()) => Ok(()),
            Err(error) if error.is_of_a_value() => {
                let place = Place { conversation: title.clone(), ..Place::default() };
                let text = "the document could not be stored: something in it cannot be".to_owned();
                report.tell(&Finding { what: What::Lost, place, text });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The next version of a document, read where nobody waits for it but this one.
async fn next_version(mut document: FiledDocument) -> Result<(FiledDocument, Option<ArchivedVersion>), StoreError> {
    const GONE: StoreError = StoreError::Gone("a version of the document");
    let reading = tasks::spawn_blocking(move || {
        let version = document.version();
        (document, version)
    });
    let (document, version) = reading.await.map_err(|_| GONE)?;
    Ok((document, version.map_err(|_| GONE)?))
}
