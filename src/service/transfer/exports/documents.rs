//! Exports documents version by version, because all versions together may exceed the memory. An unreadable value of
//! a document does not affect its other values.

use chrono::TimeDelta;

use super::archive_output::{ArchiveOutput, unwritable};
use super::redaction::redact_texts;
use crate::{Service, ServiceError};
use turnleaf_domain::{DocumentId, UserId};
use turnleaf_interchange::archive::{ArchivedDocument, ArchivedVersion};
use turnleaf_interchange::bounds;
use turnleaf_store::database::readable::Damage;
use turnleaf_store::documents::salvage;

/// The maximum number of exported versions; a document has fewer.
const VERSIONS: u64 = bounds::VERSIONS as u64;

/// Replaces the text of a document that has none.
const NO_TEXT: &str = "The text of this document is damaged in the database and could not be exported.";
/// The note of a version whose text contains replacement characters.
const MARKED: &str = "Some bytes of this version were damaged in the database and are shown as \u{FFFD}.";

impl Service {
    /// Returns the blobs from which the versions of a document were extracted.
    pub(super) async fn document_origins(
        &self,
        owner: UserId,
        id: DocumentId,
        unread: &mut Vec<Damage>,
    ) -> Result<impl Iterator<Item = String> + use<>, ServiceError> {
        let versions = salvage::list_version_heads(self.db(), owner, id, VERSIONS, unread).await?;
        Ok(versions.into_iter().filter_map(|version| version.origin))
    }

    /// Writes a document. Returns false when the reader has disconnected. A document that was deleted in between is
    /// skipped.
    pub(super) async fn write_document(
        &self,
        owner: UserId,
        id: DocumentId,
        out: &mut ArchiveOutput<'_>,
    ) -> Result<bool, ServiceError> {
        let mut unread = Vec::new();
        let Some(head) = salvage::find_head(self.db(), owner, id, &mut unread).await? else { return Ok(true) };
        let versions = salvage::list_version_heads(self.db(), owner, id, VERSIONS, &mut unread).await?;
        out.damages.note_unreadable(unread);
        let keys = self.supervisor().registry().known_keys();
        let title = keys.redact_known(head.title);
        let kind = head.kind.clone();
        let (created_at, updated_at) = (head.created_at, head.updated_at);
        let archived = ArchivedDocument { id, title, kind, created_at, updated_at, versions: Vec::new() };
        out.writer.start_document(&archived).map_err(unwritable)?;
        let has_none = versions.is_empty();
        let mut newest = None;
        for version in versions {
            let mut unread = Vec::new();
            let Some(mut content) = salvage::content(self.db(), owner, id, &version, &mut unread).await? else {
                continue;
            };
            let mut notes = version.notes;
            if !unread.is_empty() {
                notes.push(MARKED.to_owned());
            }
            out.damages.note_unreadable(unread);
            redact_texts(&keys, notes.iter_mut().chain([&mut content]));
            // A version with an unreadable timestamp is placed right after the one before it.
            let behind = newest.map_or(created_at, |newest| newest + TimeDelta::microseconds(1));
            let at = version.version_timestamp.unwrap_or(behind);
            newest = Some(at);
            if let Some(sha256) = version.origin.as_ref().filter(|origin| out.blobs.get(*origin) != Some(&true)) {
                out.damages.note_lost("blobs", sha256, format!("a file of document {id} is missing"));
            }
            let version =
                ArchivedVersion { version_timestamp: at, mime: version.mime, content, notes, origin: version.origin };
            out.writer.write_version(&version).map_err(unwritable)?;
            if !out.flush().await {
                return Ok(false);
            }
        }
        if has_none {
            out.damages.note_lost("document_versions", format_args!("of document {id}"), "they are missing".into());
            let version = ArchivedVersion {
                version_timestamp: created_at,
                mime: head.kind,
                content: NO_TEXT.to_owned(),
                notes: Vec::new(),
                origin: None,
            };
            out.writer.write_version(&version).map_err(unwritable)?;
        }
        out.writer.end_document().map_err(unwritable)?;
        Ok(true)
    }
}
