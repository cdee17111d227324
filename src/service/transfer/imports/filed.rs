//! A chat of an archive of our own is stored as it is taken out of its file, a few parts at a time: it may be larger than
//! the memory. It becomes a whole chat, or is left out and told.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::arriving::Arriving;
use super::key::new_id;
use super::plant;
use super::report::{Import, ImportReport, ImportedChat, Outcome};
use crate::{Service, ServiceError};
use turnleaf_domain::{Chat, Difference, DocumentId, ImportedFrom, TurnId, UserId};
use turnleaf_interchange::archive::{FiledChat, Part, Renamed};
use turnleaf_interchange::report::messages;
use turnleaf_interchange::{Finding, Place, What};
use turnleaf_platform::tasks;
use turnleaf_store::{StoreError, archive, documents};

/// Another id for one of an archive.
type Rename = Arc<dyn Fn(Uuid) -> Uuid + Send + Sync>;

/// A chat on its way in, of which the parts lie in a file.
struct IncomingChat<'i> {
    import: &'i Import,
    /// Under its new id.
    chat: &'i Chat,
    filed: FiledChat,
    rename: Rename,
}

/// Why a chat did not come in.
enum Refused {
    /// A part of it is not what it should be.
    Part(String),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Service {
    pub(super) async fn import_filed(
        &self,
        import: &Import,
        filed: FiledChat,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        // The chat itself is here: the archive was made of it.
        if self.standing_of(import.owner, filed.chat.id).await? == Some(Outcome::Known) {
            let turns = filed.turns.clone();
            return self.tell_known(import.owner, &filed.chat, turns, Outcome::Known, report).await;
        }
        // Documents that are here under the ids that they have there are this owner's already.
        let here = self.documents_here(import.owner, &filed.documents).await?;
        let owner = import.owner;
        let rename: Rename = Arc::new(move |old| if here.contains(&old) { old } else { new_id(owner, old) });
        let chat = Chat { owner_id: owner, ..filed.chat.clone().renamed(&*rename) };
        if let Some(outcome) = self.standing_of(owner, chat.id).await? {
            let turns = filed.turns.iter().map(|turn| rename(turn.uuid()).into()).collect();
            return self.tell_known(owner, &chat, turns, outcome, report).await;
        }
        let told = ImportedChat {
            id: Some(chat.id).filter(|_| !import.dry_run),
            title: chat.title.clone(),
            turns: filed.turns.len() as u64,
            branches: filed.branches,
            outcome: Outcome::Imported,
        };
        let bytes = filed.turns_byte_count();
        if !self.new_chat_fits(owner, bytes, told.clone(), report).await? {
            return Ok(());
        }
        let stored = match self.store_filed(IncomingChat { import, chat: &chat, filed, rename }, now, report).await {
            Ok(()) => Ok(()),
            Err(Refused::Store(error)) => Err(error),
            Err(Refused::Part(text)) => {
                let place = Place { conversation: chat.title, ..Place::default() };
                report.tell(&Finding { what: What::LeftOut, place, text });
                report.add(ImportedChat { id: None, outcome: Outcome::LeftOut, ..told });
                return Ok(());
            }
        };
        report.settled(told, stored)?;
        self.came_in(import, bytes, report).await;
        Ok(())
    }

    /// Tells of a chat that is here, and how much of it is not.
    async fn tell_known(
        &self,
        owner: UserId,
        chat: &Chat,
        turns: Vec<TurnId>,
        outcome: Outcome,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        if outcome == Outcome::Known {
            let mut seen = self.db().snapshot().await?;
            let here = archive::turn_ids(&mut seen, owner, chat.id).await?;
            seen.commit().await?;
            tell_stay_behind(turns.iter().filter(|turn| !here.contains(*turn)).count(), &chat.title, report);
        }
        report.stood(chat.id, chat.title.clone(), outcome);
        Ok(())
    }

    /// Those of these documents that are here under the ids that they have in the archive.
    async fn documents_here(&self, owner: UserId, named: &HashSet<DocumentId>) -> Result<HashSet<Uuid>, ServiceError> {
        let mut here = HashSet::new();
        for id in named {
            let other = DocumentId::from(new_id(owner, id.uuid()));
            if documents::find(self.db(), owner, other).await?.is_none()
                && documents::find(self.db(), owner, *id).await?.is_some()
            {
                here.insert(id.uuid());
            }
        }
        Ok(here)
    }

    async fn store_filed(
        &self,
        mut incoming: IncomingChat<'_>,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), Refused> {
        let IncomingChat { import, chat, ref mut filed, .. } = incoming;
        let mut imported_from: Option<ImportedFrom> = filed.imported_from.take();
        let last_ord = filed.last_ord;
        for Difference { kind, place, text } in std::mem::take(&mut filed.damaged) {
            let place = Place { conversation: chat.title.clone(), message: place, ..Place::default() };
            report.tell(&Finding { what: kind, place, text: format!("it was damaged when it was exported: {text}") });
        }
        let choice = match filed.tools.take() {
            Some(choice) => self.choice_here(import.owner, &chat.title, choice, report).await?,
            None => None,
        };
        if import.dry_run {
            self.each_part(incoming, report, None).await?;
            plant::keep_differences(import, &chat.title, &mut imported_from, now, report);
            return Ok(());
        }
        let tx = self.db().begin().await?;
        let mut arriving = Arriving::begin(self, tx, (import.owner, chat), last_ord, false).await?;
        let mut stored = self.each_part(incoming, report, Some(&mut arriving)).await;
        if stored.is_ok() {
            plant::keep_differences(import, &chat.title, &mut imported_from, now, report);
            let ended = arriving.end(imported_from.as_ref(), choice.as_ref(), last_ord).await;
            stored = ended.map_err(Refused::from);
        }
        if stored.is_err() {
            arriving.abandon().await?;
        }
        stored
    }

    /// Takes the parts out of their file, puts them right, and stores them where there is something to store them in.
    async fn each_part(
        &self,
        incoming: IncomingChat<'_>,
        report: &mut ImportReport,
        mut arriving: Option<&mut Arriving<'_>>,
    ) -> Result<(), Refused> {
        let IncomingChat { import, chat, mut filed, rename } = incoming;
        loop {
            let parts;
            (filed, parts) = taken_out(filed, rename.clone()).await?;
            if parts.is_empty() {
                return Ok(());
            }
            for part in parts {
                let mut part = report.redrawn.put_right(part);
                if let Part::Turn(turn) = &mut part {
                    self.put_images_of_turn_right(import.owner, &chat.title, turn, report).await?;
                }
                if let Some(arriving) = &mut arriving {
                    arriving.put(part).await?;
                }
            }
        }
    }
}

/// The next parts, with their new ids. A file is read where nobody waits for it but this chat.
async fn taken_out(mut filed: FiledChat, rename: Rename) -> Result<(FiledChat, Vec<Part>), Refused> {
    let taking = tasks::spawn_blocking(move || {
        let parts = filed.some();
        let parts = parts.map(|parts| parts.into_iter().map(|part| part.renamed(&*rename)).collect());
        (filed, parts)
    });
    match taking.await {
        Ok((filed, Ok(parts))) => Ok((filed, parts)),
        Ok((_, Err(why))) => Err(Refused::Part(why)),
        Err(_) => Err(Refused::Store(StoreError::Gone("the reader of the archive"))),
    }
}

/// Tells of messages that an archive has of a chat that is here, and that are not here: it went on where the archive was
/// made.
fn tell_stay_behind(newer: usize, title: &str, report: &mut ImportReport) {
    if newer > 0 {
        let place = Place { conversation: title.to_owned(), ..Place::default() };
        let (messages, stay) = (messages(newer), if newer == 1 { "stays" } else { "stay" });
        let text = format!("the chat is here already: {messages} that it has there and not here {stay} behind");
        report.tell(&Finding { what: What::LeftOut, place, text });
    }
}
