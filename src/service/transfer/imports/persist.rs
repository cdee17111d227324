//! Persists an imported chat under its new ids, completely or not at all.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::chunked_insert::{ChunkedInsert, chat_parts};
use super::differences::shorten;
use super::files::AttachedDocument;
use super::format_names::format_name;
use super::report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat};
use super::rows;
use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::CARD_KEY;
use turnleaf_domain::{Content, ImportId, ImportOrigin, Turn, UserId, limits};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::{ImportFormat, ImportIssue, IssueKind, IssueLocation};
use turnleaf_store::StoreError;
use turnleaf_store::deletions::purge::INCOMING_CHAT;
use turnleaf_store::documents::blobs::{self, ImageFormKind};

/// The field of an attachment card that names the thumbnail.
const THUMBNAIL: &str = "thumbnail";

/// Adds the import's differences to the chat's origin. An archive that was imported completely adds nothing.
pub(super) fn keep_differences(
    import: &ImportRequest,
    title: &str,
    imported_from: &mut Option<ImportOrigin>,
    now: DateTime<Utc>,
    report: &mut ImportReport,
) {
    let more = report.apart.differences_of(title);
    if imported_from.is_none() && !more.is_empty() {
        let format = report.format.unwrap_or(format_name(ImportFormat::Turnleaf)).to_owned();
        let file = shorten(&import.name);
        *imported_from = Some(ImportOrigin { format, file, imported_at: now, differences: Vec::new() });
    }
    if let Some(source) = imported_from {
        let room = limits::DIFFERENCES.saturating_sub(source.differences.len());
        source.differences.extend(more.into_iter().filter(|one| !one.place.is_empty()).take(room));
    }
}

impl Service {
    /// Stores a chat with the documents of its attachments and reports it. A chat that the database refuses is
    /// skipped.
    pub(super) async fn persist_chat(
        &self,
        import: &ImportRequest,
        mut chat: ArchivedChat,
        documents: &[AttachedDocument],
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        self.correct_images(import.owner, &mut chat, report).await?;
        keep_differences(import, &chat.chat.title, &mut chat.imported_from, now, report);
        let stored = match import.dry_run {
            true => Ok(()),
            false => self.store_chat(import.owner, &chat, documents, report.recorded).await,
        };
        report.report_persisted(&chat, stored, import.dry_run)?;
        Ok(())
    }

    async fn store_chat(
        &self,
        owner: UserId,
        chat: &ArchivedChat,
        documents: &[AttachedDocument],
        recorded: Option<ImportId>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        for document in documents {
            document.insert(&mut tx, owner).await?;
            document.record(&mut tx, owner, recorded).await?;
        }
        let last_ord = rows::last_ord(chat);
        // Documents are referenced only by their chat, so both are stored in one transaction.
        let mut arriving = ChunkedInsert::start(self, tx, (owner, &chat.chat), last_ord, !documents.is_empty()).await?;
        let stored = async {
            for part in chat_parts(chat) {
                arriving.insert_part(part).await?;
            }
            arriving.finish((chat.imported_from.as_ref(), None), last_ord, recorded).await
        };
        let stored = stored.await;
        if stored.is_err() {
            arriving.abandon().await?;
        }
        stored
    }

    /// Replaces images whose bytes are missing by a text and reports them. Cards of the others get the thumbnail made
    /// here.
    pub(super) async fn correct_images(
        &self,
        owner: UserId,
        chat: &mut ArchivedChat,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        for turn in &mut chat.turns {
            self.correct_turn_images(owner, &chat.chat.title, turn, report).await?;
        }
        Ok(())
    }

    /// Corrects the images of one turn of the chat with this title.
    pub(super) async fn correct_turn_images(
        &self,
        owner: UserId,
        title: &str,
        turn: &mut Turn,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        for block in &mut turn.blocks {
            let Content::Image { blob, mime, alt } = &block.content else { continue };
            if report.tally.has_blob(blob) {
                continue;
            }
            if blobs::find_type_and_size(self.db(), owner, blob).await?.is_some() {
                let forms = blobs::image_forms(self.db(), blob).await?;
                let small = forms.into_iter().find(|form| form.kind == ImageFormKind::Thumbnail);
                set_thumbnail(&mut block.block_metadata, small.map(|form| form.sha256));
                continue;
            }
            let place = IssueLocation {
                conversation: title.to_owned(),
                message: turn.id.to_string(),
                ..IssueLocation::default()
            };
            let text = format!("an image ({mime}) is not in the export");
            report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
            let words = if alt.is_empty() { "Image missing from the export." } else { alt.as_str() };
            block.content = Content::text(format!("[{words}]"));
        }
        Ok(())
    }
}

/// Sets or removes the thumbnail of a card. Archives contain no thumbnails, so it is the one made here, if any.
fn set_thumbnail(metadata: &mut Value, small: Option<String>) {
    let Some(card) = metadata.get_mut(CARD_KEY).and_then(Value::as_object_mut) else { return };
    match small {
        Some(small) => card.insert(THUMBNAIL.to_owned(), small.into()),
        None => card.remove(THUMBNAIL),
    };
}

impl ImportReport {
    /// Reports the outcome of storing a chat.
    pub(super) fn report_persisted(
        &mut self,
        chat: &ArchivedChat,
        stored: Result<(), StoreError>,
        dry_run: bool,
    ) -> Result<(), StoreError> {
        let entry = ImportedChat {
            id: Some(chat.chat.id).filter(|_| !dry_run),
            title: chat.chat.title.clone(),
            turns: chat.turns.len() as u64,
            branches: chat.branches.len() as u64,
            outcome: ImportOutcome::Imported,
        };
        self.report_stored(entry, stored)
    }

    /// Reports the outcome of storing a chat; `entry` describes the chat in case of success.
    pub(super) fn report_stored(
        &mut self,
        entry: ImportedChat,
        stored: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match stored {
            Ok(()) => self.add_chat(entry),
            // An invalid value concerns only this chat; an unavailable database ends the import.
            Err(error) if error.is_value_error() => {
                let place = IssueLocation { conversation: entry.title.clone(), ..IssueLocation::default() };
                let text = match error {
                    StoreError::Gone(INCOMING_CHAT) => "its import was interrupted for too long: import the file again",
                    _ => "it could not be stored: it contains invalid data",
                };
                let text = text.to_owned();
                self.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text });
                self.add_chat(ImportedChat { id: None, outcome: ImportOutcome::LeftOut, ..entry });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
