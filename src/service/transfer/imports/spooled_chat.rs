//! Imports a chat of a Turnleaf archive a few parts at a time from its spool, because it may be larger than the
//! memory. It is imported completely, or skipped and reported.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::chunked_insert::ChunkedInsert;
use super::import_key::imported_id;
use super::persist;
use super::report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat};
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::resolve_lock;
use turnleaf_domain::text::plural::counted;
use turnleaf_domain::tools::server_instructions::fit_instructions;
use turnleaf_domain::{
    Branch, BranchId, Chat, DocumentId, ImportDifference, ImportOrigin, ModelLock, Turn, TurnId, UNKNOWN_MODEL, UserId,
    limits,
};
use turnleaf_interchange::archive::{ArchivedBranch, ChatPart, ReplaceIds, SpooledChat};
use turnleaf_interchange::report::message_count;
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};
use turnleaf_platform::endpoint::is_tool_server_id;
use turnleaf_platform::tasks;
use turnleaf_store::transfer::archive;
use turnleaf_store::{StoreError, documents};

/// Maps an id of the archive to its id here.
type IdRename = Arc<dyn Fn(Uuid) -> Uuid + Send + Sync>;

/// A chat during its import, with its parts in a spool.
struct IncomingChat<'i> {
    import: &'i ImportRequest,
    /// The chat under its new id.
    chat: &'i Chat,
    filed: SpooledChat,
    rename: IdRename,
}

/// The reason why a chat was not imported.
enum ChatRefusal {
    /// A part of it is invalid.
    Part(String),
    Store(StoreError),
}

impl From<StoreError> for ChatRefusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Service {
    pub(super) async fn import_spooled_chat(
        &self,
        import: &ImportRequest,
        filed: SpooledChat,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        // The chat exists under its original id: the archive was made from it.
        if self.existing_chat_outcome(import.owner, filed.chat.id).await? == Some(ImportOutcome::Known) {
            let turns = filed.turns.clone();
            return self.report_known_chat(import.owner, &filed.chat, turns, ImportOutcome::Known, report).await;
        }
        // Documents that exist under their original ids belong to this owner already.
        let existing_documents = self.existing_documents(import.owner, &filed.documents).await?;
        let owner = import.owner;
        let rename: IdRename =
            Arc::new(move |old| if existing_documents.contains(&old) { old } else { imported_id(owner, old) });
        let project_id = self.imported_project(owner, filed.chat.project_id).await?;
        let project_version = filed.chat.project_version.filter(|_| project_id.is_some());
        let chat = Chat { owner_id: owner, project_id, project_version, ..filed.chat.clone().replace_ids(&*rename) };
        if let Some(outcome) = self.existing_chat_outcome(owner, chat.id).await? {
            let turns = filed.turns.iter().map(|turn| rename(turn.uuid()).into()).collect();
            return self.report_known_chat(owner, &chat, turns, outcome, report).await;
        }
        let entry = ImportedChat {
            id: Some(chat.id).filter(|_| !import.dry_run),
            title: chat.title.clone(),
            turns: filed.turns.len() as u64,
            branches: filed.branches,
            outcome: ImportOutcome::Imported,
        };
        let bytes = filed.turns_byte_count();
        if !self.has_new_chat_room(owner, bytes, entry.clone(), report).await? {
            return Ok(());
        }
        let stored =
            match self.store_spooled_chat(IncomingChat { import, chat: &chat, filed, rename }, now, report).await {
                Ok(()) => Ok(()),
                Err(ChatRefusal::Store(error)) => Err(error),
                Err(ChatRefusal::Part(text)) => {
                    let place = IssueLocation { conversation: chat.title, ..IssueLocation::default() };
                    report.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text });
                    report.add_chat(ImportedChat { id: None, outcome: ImportOutcome::LeftOut, ..entry });
                    return Ok(());
                }
            };
        report.report_stored(entry, stored)?;
        self.count_imported(import, bytes, report).await;
        Ok(())
    }

    /// Reports an existing chat, and how many of its turns are missing here.
    async fn report_known_chat(
        &self,
        owner: UserId,
        chat: &Chat,
        turns: Vec<TurnId>,
        outcome: ImportOutcome,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        if outcome == ImportOutcome::Known {
            let mut seen = self.db().snapshot().await?;
            let existing = archive::turn_ids(&mut seen, owner, chat.id).await?;
            seen.commit().await?;
            report_newer_turns(turns.iter().filter(|turn| !existing.contains(*turn)).count(), &chat.title, report);
        }
        report.report_existing(chat.id, chat.title.clone(), outcome);
        Ok(())
    }

    /// Returns those of these documents that exist here under their ids in the archive.
    async fn existing_documents(
        &self,
        owner: UserId,
        named: &HashSet<DocumentId>,
    ) -> Result<HashSet<Uuid>, ServiceError> {
        let mut existing = HashSet::new();
        for id in named {
            let other = DocumentId::from(imported_id(owner, id.uuid()));
            if documents::read::find(self.db(), owner, other).await?.is_none()
                && documents::read::find(self.db(), owner, *id).await?.is_some()
            {
                existing.insert(id.uuid());
            }
        }
        Ok(existing)
    }

    async fn store_spooled_chat(
        &self,
        mut incoming: IncomingChat<'_>,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ChatRefusal> {
        let IncomingChat { import, chat, ref mut filed, .. } = incoming;
        let mut imported_from: Option<ImportOrigin> = filed.imported_from.take();
        let last_ord = filed.last_ord;
        for ImportDifference { kind, place, text, .. } in std::mem::take(&mut filed.damaged) {
            let place = IssueLocation { conversation: chat.title.clone(), message: place, ..IssueLocation::default() };
            report.add_finding(&ImportIssue {
                kind,
                location: place,
                text: format!("it was already damaged when exported: {text}"),
            });
        }
        let choice = match filed.tools.take() {
            Some(choice) => self.import_tool_choice(import.owner, &chat.title, choice, report).await?,
            None => None,
        };
        if import.dry_run {
            self.import_parts(incoming, report, None).await?;
            persist::keep_differences(import, &chat.title, &mut imported_from, now, report);
            return Ok(());
        }
        let tx = self.db().begin().await?;
        let mut arriving = ChunkedInsert::start(self, tx, (import.owner, chat), last_ord, false).await?;
        let mut stored = self.import_parts(incoming, report, Some(&mut arriving)).await;
        if stored.is_ok() {
            persist::keep_differences(import, &chat.title, &mut imported_from, now, report);
            let ended = arriving.finish((imported_from.as_ref(), choice.as_ref()), last_ord, report.recorded).await;
            stored = ended.map_err(ChatRefusal::from);
        }
        if stored.is_err() {
            arriving.abandon().await?;
        }
        stored
    }

    /// Reads the parts from the spool, corrects them, and stores them unless this is a dry run.
    async fn import_parts(
        &self,
        incoming: IncomingChat<'_>,
        report: &mut ImportReport,
        mut arriving: Option<&mut ChunkedInsert<'_>>,
    ) -> Result<(), ChatRefusal> {
        let IncomingChat { import, chat, mut filed, rename } = incoming;
        // The branches that had no lock, which come before their turns, and those turns, which come before their
        // generations.
        let (mut completed, mut unlocked) = (HashSet::<BranchId>::new(), HashSet::<TurnId>::new());
        let mut omitted_calls = 0;
        loop {
            let parts;
            (filed, parts) = next_parts(filed, rename.clone()).await?;
            if parts.is_empty() {
                report_omitted_calls(omitted_calls, &chat.title, report);
                return Ok(());
            }
            for part in parts {
                let mut part = report.redrawn.rename_in_part(part);
                match &mut part {
                    ChatPart::Turn(turn) => {
                        if completed.contains(&turn.branch_id) {
                            unlocked.insert(turn.id);
                            forget_provider(turn);
                        }
                        self.correct_turn_images(import.owner, &chat.title, turn, report).await?;
                    }
                    ChatPart::Branch(of) => {
                        if self.complete_lock((import.owner, &chat.title), &mut of.branch, report) {
                            completed.insert(of.branch.id);
                        }
                        check_instructions(&chat.title, of, report);
                    }
                    // Every generation of a branch was sent to its lock (docs/reference/domain.md I3).
                    ChatPart::Generation(call) if unlocked.contains(&call.turn_id) => {
                        omitted_calls += 1;
                        continue;
                    }
                    ChatPart::Exchange(_) | ChatPart::Generation(_) => {}
                }
                if let Some(arriving) = &mut arriving {
                    arriving.insert_part(part).await?;
                }
            }
        }
    }
}

impl Service {
    /// Completes the lock of a branch that has none: it gets the configured default, never one inferred from turns.
    /// Returns false if the lock was complete.
    fn complete_lock(&self, (owner, chat): (UserId, &str), branch: &mut Branch, report: &mut ImportReport) -> bool {
        let ModelLock { provider, model } = &branch.lock;
        if !provider.is_empty() && !model.is_empty() {
            return false;
        }
        let registry = self.supervisor().registry();
        let named = |name: &'_ String| Some(name.clone()).filter(|name| !name.is_empty());
        let lock = resolve_lock(
            named(provider).as_deref(),
            named(model).as_deref(),
            None,
            |provider| registry.default_model(owner, provider),
            &registry.default_lock(owner),
        );
        branch.lock = lock.unwrap_or_else(|| ModelLock::new(provider.clone(), UNKNOWN_MODEL));
        let place = IssueLocation { conversation: chat.to_owned(), ..IssueLocation::default() };
        let ModelLock { provider, model } = &branch.lock;
        let text = format!(
            "the branch {:?} had no provider and model: it uses {provider} / {model}, and its replies are sent as text",
            branch.name
        );
        report.add_finding(&ImportIssue { kind: IssueKind::PutRight, location: place, text });
        true
    }
}

/// Removes what a reply says about its provider: nobody knows whether it was that of the branch's new lock.
fn forget_provider(turn: &mut Turn) {
    turn.provider_used = None;
    turn.blocks.iter_mut().for_each(|block| block.generation_id = None);
}

/// Bounds the instructions of tool servers that a branch froze, as those of a server are, because later requests send
/// them.
fn check_instructions(chat: &str, of: &mut ArchivedBranch, report: &mut ImportReport) {
    let before = std::mem::take(&mut of.server_instructions);
    let usable = before.iter().filter(|one| is_tool_server_id(&one.server)).cloned().map(|mut one| {
        one.text.truncate(one.text.floor_char_boundary(limits::SERVER_INSTRUCTIONS_BYTES));
        one.text.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
        one.name = one.name.chars().filter(|c| !c.is_control()).take(limits::TITLE_CHARS).collect();
        one
    });
    of.server_instructions = fit_instructions(usable);
    if of.server_instructions != before {
        let place = IssueLocation { conversation: chat.to_owned(), ..IssueLocation::default() };
        let text = format!(
            "the instructions of tool servers of the branch {:?} were shortened or left out: they are too long, or name no server",
            of.branch.name
        );
        report.add_finding(&ImportIssue { kind: IssueKind::PutRight, location: place, text });
    }
}

/// Reports requests and raw responses of branches that had no lock: this server cannot tell to which model they belong.
fn report_omitted_calls(omitted: u64, chat: &str, report: &mut ImportReport) {
    if omitted > 0 {
        let place = IssueLocation { conversation: chat.to_owned(), ..IssueLocation::default() };
        let calls = counted(omitted, "request", "requests");
        let text = format!("{calls} with the raw responses were not imported: their branch had no provider and model");
        report.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
    }
}

/// Reads the next parts, with their new ids, on a blocking thread.
async fn next_parts(mut filed: SpooledChat, rename: IdRename) -> Result<(SpooledChat, Vec<ChatPart>), ChatRefusal> {
    let taking = tasks::spawn_blocking(move || {
        let parts = filed.next_parts();
        let parts = parts.map(|parts| parts.into_iter().map(|part| part.replace_ids(&*rename)).collect());
        (filed, parts)
    });
    match taking.await {
        Ok((filed, Ok(parts))) => Ok((filed, parts)),
        Ok((_, Err(reason))) => Err(ChatRefusal::Part(reason)),
        Err(_) => Err(ChatRefusal::Store(StoreError::Gone("the reader of the archive"))),
    }
}

/// Reports messages that the archive has of an existing chat and that are missing here, because the chat was
/// continued where the archive was made.
fn report_newer_turns(newer: usize, title: &str, report: &mut ImportReport) {
    if newer > 0 {
        let place = IssueLocation { conversation: title.to_owned(), ..IssueLocation::default() };
        let text =
            format!("the chat is already here: {} of the archive could not be added to it", message_count(newer));
        report.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text });
    }
}
