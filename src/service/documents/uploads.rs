//! Uploaded files. The type of a file is detected from its bytes. An image is stored re-encoded, without hidden
//! metadata; every other file is stored as it is, and only [`FileReader`](turnleaf_convert::FileReader) parses it.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use crate::error::UnfitReason;
use crate::{Service, ServiceError};
use turnleaf_convert::{ConversionError, ConvertedPicture, EncodedImage};
use turnleaf_domain::documents::file_name;
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{MessageCode, UserId, limits};
use turnleaf_platform::hex::hex;
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_store::Tx;
use turnleaf_store::documents::blobs::{self, ImageForm, ImageFormKind};
use turnleaf_store::documents::uploads::{self, NewUpload};

pub use turnleaf_store::documents::blobs::StoredBlob;
pub use turnleaf_store::documents::uploads::{Upload, UploadKind};

/// A stored upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedUpload {
    /// The hash of the stored bytes; for an image it differs from that of the uploaded bytes.
    pub sha256: String,
    pub mime: String,
    pub byte_count: u64,
    /// The display name.
    pub name: String,
    pub kind: UploadKind,
    /// The size of an image, in pixels.
    pub size: Option<(u32, u32)>,
    /// The sha256 of an image's thumbnail, if it has one.
    pub thumbnail: Option<String>,
}

/// A file that is ready to be stored, with its bytes.
pub(crate) struct PreparedUpload {
    pub uploaded: CompletedUpload,
    pub bytes: Bytes,
    forms: Vec<(ImageForm, EncodedImage)>,
}

impl PreparedUpload {
    /// Returns the bytes of the file and all image forms.
    pub fn byte_count(&self) -> u64 {
        (self.bytes.len() + self.forms.iter().map(|(_, form)| form.bytes.len()).sum::<usize>()) as u64
    }
}

impl Service {
    /// Waits for a permit that bounds concurrent processing of uploads. It is acquired after the upload has arrived
    /// completely.
    pub async fn upload_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(self.upload_permits()).acquire_owned().await.ok()
    }

    /// Stores a file. Unless a message, a draft or a document references it within a day, it is deleted.
    pub async fn upload_file(&self, owner: UserId, name: &str, bytes: Bytes) -> Result<CompletedUpload, ServiceError> {
        let prepared = self.prepare_upload(name, bytes).await?;
        self.check_file_room(owner, &prepared.uploaded.sha256, prepared.byte_count()).await?;
        let bytes = prepared.byte_count();
        self.check_growth(owner, bytes).await?;
        let kept = self.store_upload(owner, prepared).await?;
        self.note_growth(owner, bytes).await;
        Ok(kept)
    }

    /// Prepares a file for storage without storing it.
    pub(crate) async fn prepare_upload(&self, name: &str, bytes: Bytes) -> Result<PreparedUpload, ServiceError> {
        let name = file_name::sanitize(name)?;
        if bytes.len() > limits::UPLOAD_BYTES {
            return Err(file_too_large());
        }
        let kind = self.reader().sniff(&name, &bytes).map_err(file_refusal)?;
        if !kind.is_image() {
            let uploaded = CompletedUpload {
                sha256: hash(bytes.clone()).await?,
                mime: kind.mime().to_owned(),
                byte_count: bytes.len() as u64,
                name,
                kind: UploadKind::File,
                size: None,
                thumbnail: None,
            };
            return Ok(PreparedUpload { uploaded, bytes, forms: Vec::new() });
        }
        let ConvertedPicture { image, thumbnail, for_models } =
            self.reader().read_picture(kind, bytes).await.map_err(file_refusal)?;
        let forms = image_forms(thumbnail, for_models).await?;
        let thumbnail = forms.iter().find(|(form, _)| form.kind == ImageFormKind::Thumbnail);
        let uploaded = CompletedUpload {
            sha256: hash(image.bytes.clone()).await?,
            mime: image.mime.to_owned(),
            byte_count: image.bytes.len() as u64,
            name,
            kind: UploadKind::Image,
            size: Some((image.width, image.height)),
            thumbnail: thumbnail.map(|(form, _)| form.sha256.clone()),
        };
        Ok(PreparedUpload { uploaded, bytes: image.bytes, forms })
    }

    /// Stores a prepared file. The caller has checked the quota.
    pub(crate) async fn store_upload(
        &self,
        owner: UserId,
        prepared: PreparedUpload,
    ) -> Result<CompletedUpload, ServiceError> {
        let PreparedUpload { uploaded, bytes, forms } = prepared;
        let now = self.clock().now();
        let mut tx = self.db().begin().await?;
        blobs::insert_unreferenced(&mut tx, &uploaded.sha256, &uploaded.mime, &bytes, now).await?;
        store_image_forms(&mut tx, &uploaded.sha256, &forms, now).await?;
        uploads::put(&mut tx, &new_upload(owner, &uploaded), now).await?;
        tx.commit().await?;
        Ok(uploaded)
    }

    /// Returns the newest upload of these bytes. Uploads expire although their bytes may still be referenced.
    pub async fn newest_upload(&self, owner: UserId, sha256: &str) -> Result<Option<Upload>, ServiceError> {
        Ok(uploads::find(self.db(), owner, sha256).await?)
    }

    /// Returns the bytes with this hash (64 lower-case hex digits), as long as a turn of the owner that is not
    /// deleted references them.
    pub async fn blob(&self, owner: UserId, sha256: &str) -> Result<StoredBlob, ServiceError> {
        if !is_sha256(sha256) {
            return Err(ServiceError::NotFound);
        }
        blobs::find(self.db(), owner, sha256).await?.ok_or(ServiceError::NotFound)
    }

    /// Checks the quota for a file. Bytes that are already stored take no more room.
    pub(crate) async fn check_file_room(&self, owner: UserId, sha256: &str, bytes: u64) -> Result<(), ServiceError> {
        if blobs::find_type_and_size(self.db(), owner, sha256).await?.is_some() {
            return Ok(());
        }
        self.check_quota(owner, bytes).await
    }

    /// Checks the quota of a person's files and documents.
    pub(crate) async fn check_quota(&self, owner: UserId, bytes: u64) -> Result<(), ServiceError> {
        let used = uploads::used_bytes(self.db(), owner).await?;
        if used.saturating_add(bytes) <= limits::PERSON_UPLOAD_BYTES {
            return Ok(());
        }
        let message = MessageCode::FileStorageFull.with("limit", ByteSize(limits::PERSON_UPLOAD_BYTES));
        Err(ServiceError::unfit(UnfitReason::Room, "quota_reached", "body", message))
    }
}

/// Returns the other forms of an image with their hashes.
pub(crate) async fn image_forms(
    thumbnail: Option<EncodedImage>,
    for_models: Option<EncodedImage>,
) -> Result<Vec<(ImageForm, EncodedImage)>, ServiceError> {
    let mut forms = Vec::new();
    for (kind, form) in [(ImageFormKind::Thumbnail, thumbnail), (ImageFormKind::Model, for_models)] {
        if let Some(form) = form {
            let is_in = hash(form.bytes.clone()).await?;
            forms.push((ImageForm { kind, sha256: is_in, size: (form.width, form.height) }, form));
        }
    }
    Ok(forms)
}

/// Stores the other forms of an image. The image itself must be stored earlier in the same transaction.
pub(crate) async fn store_image_forms(
    tx: &mut Tx,
    sha256: &str,
    forms: &[(ImageForm, EncodedImage)],
    now: DateTime<Utc>,
) -> Result<(), ServiceError> {
    for (named, form) in forms {
        blobs::insert_unreferenced(tx, &named.sha256, form.mime, &form.bytes, now).await?;
        blobs::add_image_form(tx, sha256, named).await?;
    }
    Ok(())
}

fn new_upload(owner_id: UserId, uploaded: &CompletedUpload) -> NewUpload<'_> {
    let CompletedUpload { sha256, name, kind, size, .. } = uploaded;
    NewUpload { id: ids::mint(), owner_id, sha256, name, kind: *kind, size: *size }
}

/// Returns the refusal of a file beyond the size bound.
pub fn file_too_large() -> ServiceError {
    let limit = MessageCode::SizeLimit.with("limit", ByteSize::from_usize(limits::UPLOAD_BYTES));
    ServiceError::TooLarge { field: "file", limit }
}

/// Converts a conversion error into a refusal.
pub(crate) fn file_refusal(error: ConversionError) -> ServiceError {
    let (reason, code, message) = match error {
        ConversionError::Empty => (UnfitReason::Content, "empty_file", MessageCode::FileEmpty.into()),
        ConversionError::Unsupported(kind) => {
            (UnfitReason::Kind, "unsupported_file", MessageCode::FileUnsupported.with("kind", kind))
        }
        ConversionError::ImageTooLarge(limit) => {
            (UnfitReason::Content, "image_too_large", MessageCode::ImageTooLarge.with("limit", limit))
        }
        ConversionError::Encoding(choices) => {
            return ServiceError::Unfit {
                reason: UnfitReason::Content,
                code: "encoding",
                field: "encoding",
                message: MessageCode::EncodingUnknown.into(),
                extra: Some(Box::new(json!({ "choices": choices }))),
            };
        }
        ConversionError::Bomb(limit) => {
            (UnfitReason::Content, "unpacks_too_large", MessageCode::UnpackedTooLarge.with("limit", limit))
        }
        ConversionError::TooLong(limit) => {
            (UnfitReason::Size, "too_large", MessageCode::TextTooLong.with("limit", limit))
        }
        ConversionError::Damaged(reason) => {
            (UnfitReason::Content, "damaged_file", MessageCode::FileDamaged.with("reason", reason))
        }
        ConversionError::NoText => (UnfitReason::Content, "no_text", MessageCode::FileHasNoText.into()),
        ConversionError::OutOfBounds => (UnfitReason::Content, "unreadable_file", MessageCode::FileTookTooLong.into()),
    };
    ServiceError::unfit(reason, code, "file", message)
}

/// Returns whether a text of a client is the name of a blob.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Hashes off the request's task, because 32 MiB take a while.
async fn hash(bytes: Bytes) -> Result<String, ServiceError> {
    let hashed = tasks::spawn_blocking(move || hex(Sha256::digest(&bytes)));
    hashed.await.map_err(|error| {
        tracing::error!(%error, "a file could not be hashed");
        ServiceError::unfit(UnfitReason::Content, "unreadable_file", "file", MessageCode::FileUnreadable)
    })
}
