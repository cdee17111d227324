//! Imports chats from databases of earlier programs, in one transaction for all of them. Chats that cannot be
//! imported are skipped and reported. Only the command line offers this, because it names files and addresses on the
//! server, which a browser must not.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use futures::StreamExt;

use super::differences;
use super::existing_chat;
use super::format_names::schema_name;
use super::import_key::ImportKey;
use super::incoming::IncomingConversation;
use super::recording;
use super::report::{ImportOutcome, ImportReport, ImportedChat, ImportedTable};
use super::rows::{self, last_ord};
use crate::{Service, ServiceError};
use turnleaf_domain::{BranchOrigin, ChatId, CodedMessage, ImportOrigin, MessageCode, ModelLock, UserId};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::legacy::{
    ConversationGatherer, GatheredConversation, LegacyRowKind, LegacyTable, RowCount, find_tables,
};
use turnleaf_interchange::{Conversation, ImportIssue, IssueKind, IssueLocation};
use turnleaf_platform::ids;
use turnleaf_store::transfer::legacy::LegacyDatabase;
use turnleaf_store::{StoreError, Tx, branches};

mod extension;

pub use turnleaf_interchange::legacy::LegacySchema;
pub use turnleaf_store::transfer::legacy::{LegacySource, is_sqlite_file};

/// The provider of replies; the sources name none.
const PROVIDER: &str = "imported";

/// The request for a database import.
#[derive(Debug, Clone)]
pub struct LegacyImport {
    pub owner: UserId,
    pub source: LegacySource,
    pub schema: LegacySchema,
    /// The name of the source in the report.
    pub name: String,
    /// Dry run: report what would be imported and store nothing.
    pub dry_run: bool,
}

/// The reason why an import ended early. Nothing is stored then.
enum LegacyImportEnd {
    /// The source could not be read further, or the import was stopped.
    Early(CodedMessage),
    Failed(ServiceError),
}

impl From<StoreError> for LegacyImportEnd {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<ServiceError> for LegacyImportEnd {
    fn from(error: ServiceError) -> Self {
        Self::Failed(error)
    }
}

/// The target of the import: a transaction, or none in a dry run.
struct LegacyTarget<'t> {
    import: &'t LegacyImport,
    tx: Option<Tx>,
    now: DateTime<Utc>,
    /// The approximate size of what was stored so far.
    stored_bytes: u64,
}

impl Service {
    /// Imports a database. `progress` is called after each conversation, and returns false to stop.
    ///
    /// # Errors
    /// Errors of Turnleaf's own database. Problems of the source are in the report.
    pub async fn import_legacy(
        &self,
        import: LegacyImport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<ImportReport, ServiceError> {
        let (name, format) = (import.name.clone(), Some(schema_name(import.schema)));
        let mut report = ImportReport { name, format, dry_run: import.dry_run, ..ImportReport::default() };
        let (mut source, tables) = match open_source(&import, &mut report).await {
            Ok(opened) => opened,
            Err(reason) => {
                report.stop(reason);
                return Ok(report);
            }
        };
        let now = self.clock().now();
        let mut tx = if import.dry_run { None } else { Some(self.db().begin().await?) };
        if let Some(tx) = &mut tx {
            let id = ids::mint();
            recording::insert(tx, import.owner, id, &report, now).await?;
            report.recorded = Some(id);
        }
        let mut target = LegacyTarget { import: &import, tx, now, stored_bytes: 0 };
        let ended = self.import_source(&mut target, &mut source, &tables, &mut report, progress).await;
        // The source was only read, so an error on close does not matter.
        let _ = source.close().await;
        match (ended, target.tx) {
            (Ok(()), Some(mut tx)) => {
                recording::finish(&mut tx, import.owner, &report, self.clock().now()).await?;
                tx.commit().await?;
            }
            (Ok(()), None) => {}
            (Err(ended), tx) => {
                if let Some(tx) = tx {
                    tx.rollback().await?;
                }
                match ended {
                    LegacyImportEnd::Early(reason) => report.mark_undone(reason),
                    LegacyImportEnd::Failed(error) => return Err(error),
                }
            }
        }
        Ok(report)
    }

    async fn import_source(
        &self,
        target: &mut LegacyTarget<'_>,
        source: &mut LegacyDatabase,
        tables: &[LegacyTable],
        report: &mut ImportReport,
        progress: &mut (dyn FnMut(&ImportReport) -> bool + Send),
    ) -> Result<(), LegacyImportEnd> {
        let mut gathering = ConversationGatherer::new(target.import.schema);
        let mut rows = source.rows(tables);
        loop {
            let gathered = match rows.next().await {
                Some(Ok(row)) => gathering.add(row),
                Some(Err(error)) => {
                    return Err(LegacyImportEnd::Early(MessageCode::ImportDatabaseUnreadable.with("reason", error)));
                }
                None => match gathering.finish() {
                    Some(last) => {
                        self.import_gathered(target, last, tables, report).await?;
                        progress(report);
                        return Ok(());
                    }
                    None => return Ok(()),
                },
            };
            if let Some(gathered) = gathered {
                self.import_gathered(target, gathered, tables, report).await?;
                if !progress(report) {
                    return Err(LegacyImportEnd::Early(MessageCode::ImportStopped.into()));
                }
            }
        }
    }

    async fn import_gathered(
        &self,
        target: &mut LegacyTarget<'_>,
        gathered: GatheredConversation,
        tables: &[LegacyTable],
        report: &mut ImportReport,
    ) -> Result<(), LegacyImportEnd> {
        report.count(tables, &gathered.counts);
        gathered.findings.iter().for_each(|finding| report.add_finding(finding));
        report.conversations += gathered.left_out;
        report.left_out += gathered.left_out;
        match gathered.conversation {
            Some(conversation) => self.import_legacy_conversation(target, &conversation, report).await,
            None => Ok(()),
        }
    }

    async fn import_legacy_conversation(
        &self,
        target: &mut LegacyTarget<'_>,
        conversation: &Conversation,
        report: &mut ImportReport,
    ) -> Result<(), LegacyImportEnd> {
        let LegacyImport { owner, schema, dry_run, .. } = *target.import;
        let key = ImportKey::new(owner, schema_name(schema), &conversation.source_id);
        let id = key.part_id("chat").into();
        let existing_outcome = match &mut target.tx {
            Some(tx) => existing_chat::outcome_in_tx(tx, owner, id).await?,
            None => self.existing_chat_outcome(owner, id).await?,
        };
        let incoming = IncomingConversation { owner, key: &key, provider: PROVIDER, conversation, now: target.now };
        let mut findings = Vec::new();
        let mut chat = incoming.build_chat(HashMap::new(), &mut findings);
        lock_branches(&mut chat, &self.legacy_lock(owner, id).await?);
        if existing_outcome == Some(ImportOutcome::Known) {
            return self.extend_legacy_chat(target, (&key, conversation), &chat, &findings, report).await;
        }
        if let Some(outcome) = existing_outcome {
            let title = conversation.title.clone();
            report.report_existing(id, title, outcome);
            return Ok(());
        }
        let bytes = conversation.byte_count();
        let entry = ImportedChat {
            id: None,
            title: conversation.title.clone(),
            turns: 0,
            branches: 0,
            outcome: ImportOutcome::LeftOut,
        };
        // The transaction's own growth is not measured before its commit.
        if !self.has_new_chat_room(owner, target.stored_bytes + bytes, entry, report).await? {
            return match report.stop_reason() {
                Some(reason) => Err(LegacyImportEnd::Early(reason)),
                None => Ok(()),
            };
        }
        target.stored_bytes += bytes;
        findings.iter().for_each(|finding| report.add_finding(finding));
        chat.imported_from = Some(target.source(conversation, report));
        let stored = match &mut target.tx {
            None => Ok(()),
            Some(tx) => {
                tx.savepoint().await?;
                let stored = insert_recorded_chat(tx, owner, &chat, report).await;
                match &stored {
                    Ok(()) => tx.release_savepoint().await?,
                    Err(error) if error.is_value_error() => tx.rollback_to_savepoint().await?,
                    // The error ends the import, which rolls back everything.
                    Err(_) => {}
                }
                stored
            }
        };
        Ok(report.report_persisted(&chat, stored, dry_run)?)
    }

    /// Returns the lock of a chat whose source names no provider: that of its earlier import, so that additions
    /// continue its branches, else the configured default.
    async fn legacy_lock(&self, owner: UserId, chat: ChatId) -> Result<ModelLock, ServiceError> {
        let standing = branches::list(self.db(), owner, chat).await?;
        let imported = standing.into_iter().find(|branch| branch.origin == BranchOrigin::Import);
        Ok(imported.map_or_else(|| self.supervisor().registry().default_lock(owner), |branch| branch.lock))
    }
}

/// Stores a chat and assigns it to the record of the import.
async fn insert_recorded_chat(
    tx: &mut Tx,
    owner: UserId,
    chat: &ArchivedChat,
    report: &ImportReport,
) -> Result<(), StoreError> {
    rows::insert_chat(tx, owner, chat).await?;
    recording::record_new_chat(tx, owner, report.recorded, (chat.chat.id, last_ord(chat))).await
}

/// Gives the branches a lock with which they can be continued. It says nothing about who wrote the existing replies,
/// so they name no provider, and no generation claims that this one was asked.
fn lock_branches(chat: &mut ArchivedChat, lock: &ModelLock) {
    for of in chat.branches.iter_mut().filter(|of| of.branch.lock.provider == PROVIDER) {
        of.branch.lock = lock.clone();
    }
    if lock.provider != PROVIDER {
        chat.turns.iter_mut().for_each(|turn| turn.provider_used = None);
        chat.generations.clear();
    }
}

impl LegacyTarget<'_> {
    /// Returns the origin of a chat, with its differences so far.
    fn source(&self, conversation: &Conversation, report: &mut ImportReport) -> ImportOrigin {
        ImportOrigin {
            format: schema_name(self.import.schema).to_owned(),
            file: differences::shorten(&self.import.name),
            imported_at: self.now,
            differences: report.apart.differences_of(&conversation.source_id),
        }
    }
}

/// Opens the source with its tables, or returns why there is nothing to read.
async fn open_source(
    import: &LegacyImport,
    report: &mut ImportReport,
) -> Result<(LegacyDatabase, Vec<LegacyTable>), CodedMessage> {
    let mut source = LegacyDatabase::open(&import.source).await.map_err(|error| match error {
        StoreError::NoFile => MessageCode::ImportNotSqlite.into(),
        StoreError::Busy(error) => MessageCode::ImportDatabaseNotOpened.with("reason", error),
        error => MessageCode::ImportDatabaseNotOpened.with("reason", error),
    })?;
    let source_tables = source.tables().await;
    let source_tables = source_tables.map_err(|error| MessageCode::ImportTablesUnreadable.with("reason", error))?;
    let found = find_tables(import.schema, &source_tables);
    let (tables, missing) = found.map_err(|error| CodedMessage::uncoded(error.to_string()))?;
    let mut lost = |table: &str, text: String| {
        let place = IssueLocation { file: table.to_owned(), ..IssueLocation::default() };
        report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
    };
    for table in missing {
        lost(table, "this table does not exist".to_owned());
    }
    for table in tables.iter().filter(|table| !table.unread.is_empty()) {
        lost(&table.name, format!("content of {} cannot be imported", table.unread.join(", ")));
    }
    Ok((source, tables))
}

impl ImportReport {
    fn count(&mut self, tables: &[LegacyTable], counts: &[RowCount; LegacyRowKind::ALL.len()]) {
        if self.tables.is_empty() {
            let row = |table: &LegacyTable| ImportedTable { name: table.name.clone(), rows: 0, left_out: 0 };
            self.tables = tables.iter().map(row).collect();
        }
        for (imported, table) in self.tables.iter_mut().zip(tables) {
            let count = counts[table.kind.number()];
            imported.rows += count.read;
            imported.left_out += count.left_out;
        }
    }

    /// Marks everything as not stored.
    fn mark_undone(&mut self, reason: CodedMessage) {
        self.left_out += self.imported;
        (self.imported, self.turns, self.branches) = (0, 0, 0);
        for chat in &mut self.chats {
            match chat.outcome {
                ImportOutcome::Imported => (chat.id, chat.outcome) = (None, ImportOutcome::LeftOut),
                ImportOutcome::Grown => (chat.turns, chat.branches, chat.outcome) = (0, 0, ImportOutcome::Known),
                ImportOutcome::Known | ImportOutcome::InTrash | ImportOutcome::LeftOut => {}
            }
        }
        self.stop(CodedMessage::from(MessageCode::ImportRolledBack).with_cause(reason));
    }
}
