//! A chat that comes in gets its ids and is stored, whole or not at all.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::arriving::{Arriving, parts_of};
use super::differences::short;
use super::files::AttachedDocument;
use super::report::{Import, ImportReport, ImportedChat, Outcome};
use super::told::format_name;
use crate::{Service, ServiceError};
use turnleaf_domain::attachment::CARD;
use turnleaf_domain::{Content, ImportedFrom, Turn, UserId, limits};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::{Finding, Format, Place, What};
use turnleaf_store::blobs::FormKind;
use turnleaf_store::deletions::purge::COMING_IN;
use turnleaf_store::{StoreError, blobs};

/// The field of a card that names the small form of its image.
const THUMBNAIL: &str = "thumbnail";

/// What did not come along is kept with the chat. An archive of which everything came along says nothing new.
pub(super) fn keep_differences(
    import: &Import,
    title: &str,
    imported_from: &mut Option<ImportedFrom>,
    now: DateTime<Utc>,
    report: &mut ImportReport,
) {
    let more = report.apart.of(title);
    if imported_from.is_none() && !more.is_empty() {
        let (format, file) = (format_name(Format::Turnleaf).to_owned(), short(&import.name));
        *imported_from = Some(ImportedFrom { format, file, imported_at: now, differences: Vec::new() });
    }
    if let Some(source) = imported_from {
        let room = limits::DIFFERENCES.saturating_sub(source.differences.len());
        source.differences.extend(more.into_iter().filter(|one| !one.place.is_empty()).take(room));
    }
}

impl Service {
    /// Stores a chat with the documents of its attachments and tells of it. One that the database refuses is left out.
    pub(super) async fn plant(
        &self,
        import: &Import,
        mut chat: ArchivedChat,
        documents: &[AttachedDocument],
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        self.put_images_right(import.owner, &mut chat, report).await?;
        keep_differences(import, &chat.chat.title, &mut chat.imported_from, now, report);
        let stored = if import.dry_run { Ok(()) } else { self.store_chat(import.owner, &chat, documents).await };
        report.planted(&chat, stored, import.dry_run)?;
        Ok(())
    }

    async fn store_chat(
        &self,
        owner: UserId,
        chat: &ArchivedChat,
        documents: &[AttachedDocument],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        for document in documents {
            document.insert(&mut tx, owner).await?;
        }
        let last_ord = chat.turns.last().map_or(0, |turn| turn.ord);
        // Without its chat nothing names a document.
        let mut arriving = Arriving::begin(self, tx, (owner, &chat.chat), last_ord, !documents.is_empty()).await?;
        let stored = async {
            for part in parts_of(chat) {
                arriving.put(part).await?;
            }
            arriving.end(chat.imported_from.as_ref(), None, last_ord).await
        };
        let stored = stored.await;
        if stored.is_err() {
            arriving.abandon().await?;
        }
        stored
    }

    /// An image whose bytes did not come along is told, and its place is kept. One that did has its small form here.
    pub(super) async fn put_images_right(
        &self,
        owner: UserId,
        chat: &mut ArchivedChat,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        for turn in &mut chat.turns {
            self.put_images_of_turn_right(owner, &chat.chat.title, turn, report).await?;
        }
        Ok(())
    }

    /// The same for one turn of the chat of this title.
    pub(super) async fn put_images_of_turn_right(
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
            if blobs::measure(self.db(), owner, blob).await?.is_some() {
                let forms = blobs::forms(self.db(), blob).await?;
                let small = forms.into_iter().find(|form| form.kind == FormKind::Thumbnail);
                name_small_form(&mut block.block_metadata, small.map(|form| form.is_in));
                continue;
            }
            let place = Place { conversation: title.to_owned(), message: turn.id.to_string(), ..Place::default() };
            let text = format!("the bytes of an image ({mime}) did not come along");
            report.tell(&Finding { what: What::Lost, place, text });
            let words = if alt.is_empty() { "An image that did not come along." } else { alt.as_str() };
            block.content = Content::text(format!("[{words}]"));
        }
        Ok(())
    }
}

/// The small form of an image is not in an archive: its card names the one that was made here, or none.
fn name_small_form(metadata: &mut Value, small: Option<String>) {
    let Some(card) = metadata.get_mut(CARD).and_then(Value::as_object_mut) else { return };
    match small {
        Some(small) => card.insert(THUMBNAIL.to_owned(), small.into()),
        None => card.remove(THUMBNAIL),
    };
}

impl ImportReport {
    /// Tells what became of a chat that was to be stored.
    pub(super) fn planted(
        &mut self,
        chat: &ArchivedChat,
        stored: Result<(), StoreError>,
        dry_run: bool,
    ) -> Result<(), StoreError> {
        let told = ImportedChat {
            id: Some(chat.chat.id).filter(|_| !dry_run),
            title: chat.chat.title.clone(),
            turns: chat.turns.len() as u64,
            branches: chat.branches.len() as u64,
            outcome: Outcome::Imported,
        };
        self.settled(told, stored)
    }

    /// The same, as it is told where all goes well.
    pub(super) fn settled(&mut self, told: ImportedChat, stored: Result<(), StoreError>) -> Result<(), StoreError> {
        match stored {
            Ok(()) => self.add(told),
            // A value that cannot be stored is this chat's matter; a database that does not answer is everybody's.
            Err(error) if error.is_of_a_value() => {
                let place = Place { conversation: told.title.clone(), ..Place::default() };
                let text = match error {
                    StoreError::Gone(COMING_IN) => "its import was interrupted for too long: take the file in again",
                    _ => "it could not be stored: something in it cannot be",
                };
                let text = text.to_owned();
                self.tell(&Finding { what: What::LeftOut, place, text });
                self.add(ImportedChat { id: None, outcome: Outcome::LeftOut, ..told });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
