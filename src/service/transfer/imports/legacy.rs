//! Chats of the databases of programs from before. All of them come in within one transaction, or none; what cannot be
//! taken in is left out and told, and does not keep the rest from coming in. Only the command line does this: it names a
//! file or an address, which nobody may do through a browser.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use futures::StreamExt;

use super::differences;
use super::incoming::IncomingConversation;
use super::key::Key;
use super::report::{ImportReport, ImportedChat, ImportedTable, Outcome, STOPPED};
use super::rows;
use super::standing;
use super::told::schema_name;
use crate::{Service, ServiceError};
use turnleaf_domain::{ImportedFrom, UserId};
use turnleaf_interchange::legacy::{Count, Gathered, Gathering, Kind, Schema, Table, find};
use turnleaf_interchange::{Conversation, Finding, Place, What};
use turnleaf_store::legacy::Legacy;
use turnleaf_store::{StoreError, Tx};

mod known;

pub use turnleaf_interchange::legacy::Schema as LegacySchema;
pub use turnleaf_store::legacy::{Source as LegacySource, is_sqlite};

/// The provider of replies whose source names none.
const PROVIDER: &str = "imported";

/// What is taken in.
#[derive(Debug, Clone)]
pub struct LegacyImport {
    pub owner: UserId,
    pub source: LegacySource,
    pub schema: Schema,
    /// How the source is called in what is told.
    pub name: String,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
}

/// Why it did not come to its end. Nothing is stored then.
enum Ended {
    /// The source could not be read on, or somebody said that it is enough.
    Early(String),
    Failed(ServiceError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<ServiceError> for Ended {
    fn from(error: ServiceError) -> Self {
        Self::Failed(error)
    }
}

/// Where chats go: into a transaction, or nowhere when somebody only looks.
struct Target<'t> {
    import: &'t LegacyImport,
    tx: Option<Tx>,
    now: DateTime<Utc>,
    /// About what came in so far.
    stored_bytes: u64,
}

impl Service {
    /// Takes a database in. `progress` is told after each conversation, and may say that it is enough.
    ///
    /// # Errors
    /// When our own database fails. What is wrong with the source stands in the report.
    pub async fn import_legacy(
        &self,
        import: LegacyImport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<ImportReport, ServiceError> {
        let (name, format) = (import.name.clone(), Some(schema_name(import.schema)));
        let mut report = ImportReport { name, format, dry_run: import.dry_run, ..ImportReport::default() };
        let (mut source, tables) = match opened(&import, &mut report).await {
            Ok(opened) => opened,
            Err(why) => {
                report.stopped = Some(why);
                return Ok(report);
            }
        };
        let tx = if import.dry_run { None } else { Some(self.db().begin().await?) };
        let mut target = Target { import: &import, tx, now: self.clock().now(), stored_bytes: 0 };
        let ended = self.take_in(&mut target, &mut source, &tables, &mut report, progress).await;
        // It was only looked at: whether it can say goodbye is no matter.
        let _ = source.close().await;
        match (ended, target.tx) {
            (Ok(()), Some(tx)) => tx.commit().await?,
            (Ok(()), None) => {}
            (Err(ended), tx) => {
                if let Some(tx) = tx {
                    tx.rollback().await?;
                }
                match ended {
                    Ended::Early(why) => report.undo(why),
                    Ended::Failed(error) => return Err(error),
                }
            }
        }
        Ok(report)
    }

    async fn take_in(
        &self,
        target: &mut Target<'_>,
        source: &mut Legacy,
        tables: &[Table],
        report: &mut ImportReport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<(), Ended> {
        let mut gathering = Gathering::new(target.import.schema);
        let mut rows = source.rows(tables);
        loop {
            let gathered = match rows.next().await {
                Some(Ok(row)) => gathering.add(row),
                Some(Err(why)) => return Err(Ended::Early(format!("the database cannot be read on: {why}"))),
                None => match gathering.end() {
                    Some(last) => {
                        self.take(target, last, tables, report).await?;
                        progress(report);
                        return Ok(());
                    }
                    None => return Ok(()),
                },
            };
            if let Some(gathered) = gathered {
                self.take(target, gathered, tables, report).await?;
                if !progress(report) {
                    return Err(Ended::Early(STOPPED.to_owned()));
                }
            }
        }
    }

    async fn take(
        &self,
        target: &mut Target<'_>,
        gathered: Gathered,
        tables: &[Table],
        report: &mut ImportReport,
    ) -> Result<(), Ended> {
        report.count(tables, &gathered.counts);
        gathered.findings.iter().for_each(|finding| report.tell(finding));
        report.conversations += gathered.left_out;
        report.left_out += gathered.left_out;
        match gathered.conversation {
            Some(conversation) => self.take_conversation(target, &conversation, report).await,
            None => Ok(()),
        }
    }

    async fn take_conversation(
        &self,
        target: &mut Target<'_>,
        conversation: &Conversation,
        report: &mut ImportReport,
    ) -> Result<(), Ended> {
        let LegacyImport { owner, schema, dry_run, .. } = *target.import;
        let key = Key::of(owner, schema_name(schema), &conversation.source_id);
        let id = key.id("chat").into();
        let standing = match &mut target.tx {
            Some(tx) => standing::standing(tx, owner, id).await?,
            None => self.standing_of(owner, id).await?,
        };
        let incoming = IncomingConversation { owner, key: &key, provider: PROVIDER, conversation, now: target.now };
        let mut findings = Vec::new();
        let mut chat = incoming.grow(HashMap::new(), &mut findings);
        if standing == Some(Outcome::Known) {
            return self.take_onward(target, (&key, conversation), &chat, &findings, report).await;
        }
        if let Some(outcome) = standing {
            let title = conversation.title.clone();
            report.stood(id, title, outcome);
            return Ok(());
        }
        let bytes = conversation.byte_count();
        let told = ImportedChat {
            id: None,
            title: conversation.title.clone(),
            turns: 0,
            branches: 0,
            outcome: Outcome::LeftOut,
        };
        // What the transaction has stored is not measured before its commit.
        if !self.new_chat_fits(owner, target.stored_bytes + bytes, told, report).await? {
            return match report.stopped.take() {
                Some(why) => Err(Ended::Early(why)),
                None => Ok(()),
            };
        }
        target.stored_bytes += bytes;
        findings.iter().for_each(|finding| report.tell(finding));
        chat.imported_from = Some(target.source(conversation, report));
        let stored = match &mut target.tx {
            None => Ok(()),
            Some(tx) => {
                tx.mark().await?;
                let stored = rows::insert(tx, owner, &chat).await;
                match &stored {
                    Ok(()) => tx.forget_mark().await?,
                    Err(error) if error.is_of_a_value() => tx.back_to_mark().await?,
                    // Everything is undone.
                    Err(_) => {}
                }
                stored
            }
        };
        Ok(report.planted(&chat, stored, dry_run)?)
    }
}

impl Target<'_> {
    /// Where a chat comes from, with what was told of it so far.
    fn source(&self, conversation: &Conversation, report: &mut ImportReport) -> ImportedFrom {
        ImportedFrom {
            format: schema_name(self.import.schema).to_owned(),
            file: differences::short(&self.import.name),
            imported_at: self.now,
            differences: report.apart.of(&conversation.source_id),
        }
    }
}

/// The source with its tables, or why there is nothing to read.
async fn opened(import: &LegacyImport, report: &mut ImportReport) -> Result<(Legacy, Vec<Table>), String> {
    let mut source = Legacy::open(&import.source).await.map_err(|why| match why {
        StoreError::NoFile => "this is not a database of SQLite".to_owned(),
        StoreError::Busy(why) => format!("the database cannot be opened: {why}"),
        why => format!("the database cannot be opened: {why}"),
    })?;
    let there = source.tables().await.map_err(|why| format!("its tables cannot be read: {why}"))?;
    let (tables, missing) = find(import.schema, &there).map_err(|why| why.to_string())?;
    let mut lost = |table: &str, text: String| {
        let place = Place { file: table.to_owned(), ..Place::default() };
        report.tell(&Finding { what: What::Lost, place, text });
    };
    for table in missing {
        lost(table, "there is no such table".to_owned());
    }
    for table in tables.iter().filter(|table| !table.unread.is_empty()) {
        lost(&table.name, format!("what stands in {} has no place here", table.unread.join(", ")));
    }
    Ok((source, tables))
}

impl ImportReport {
    fn count(&mut self, tables: &[Table], counts: &[Count; Kind::ALL.len()]) {
        if self.tables.is_empty() {
            let row = |table: &Table| ImportedTable { name: table.name.clone(), rows: 0, left_out: 0 };
            self.tables = tables.iter().map(row).collect();
        }
        for (told, table) in self.tables.iter_mut().zip(tables) {
            let count = counts[table.kind.number()];
            told.rows += count.read;
            told.left_out += count.left_out;
        }
    }

    /// Nothing of it is stored.
    fn undo(&mut self, why: String) {
        self.left_out += self.imported;
        (self.imported, self.turns, self.branches) = (0, 0, 0);
        for chat in &mut self.chats {
            match chat.outcome {
                Outcome::Imported => (chat.id, chat.outcome) = (None, Outcome::LeftOut),
                Outcome::Grown => (chat.turns, chat.branches, chat.outcome) = (0, 0, Outcome::Known),
                Outcome::Known | Outcome::InTrash | Outcome::LeftOut => {}
            }
        }
        self.stopped = Some(format!("{why}; nothing was stored"));
    }
}
