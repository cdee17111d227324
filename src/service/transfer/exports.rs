//! Exports: chats as a streamed archive, a path as Markdown, a chat as a git repository ([`git`]). Exports send no
//! requests, and contain nothing of the installation: no keys, no drafts, no tool policies.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use crate::accounts::Actor;
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::{AuditVerb, ChatId, ImportOrigin, Role, TurnId, UserId};
use turnleaf_interchange::archive::{ArchiveHead, ArchiveWriter, ArchivedBlob, ArchivedBranch, ArchivedBytes as Kept};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_store::StoreError;
use turnleaf_store::chats::{self, chat_sources};
use turnleaf_store::documents::blobs;
use turnleaf_store::transfer::archive;

mod archive_output;
mod damages;
mod documents;
mod git;
mod markdown;
mod metadata;
mod path;
mod placeholders;
mod plan;
mod projects;
mod redaction;
mod tree;

pub use markdown::{LinkedImage, MarkdownExport};

use archive_output::{ArchiveOutput, unwritable};
use damages::ExportDamages;
use metadata::BlobPresence;
pub use path::ExportedPath;
use redaction::redact_chat;
use tree::{ChatTree, ReadTurn};

/// The scope of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportScope {
    Chat(ChatId),
    /// All chats and all documents of the owner.
    Everything,
}

/// Redacts API keys in bytes from before responses were redacted on arrival.
fn redact_blob(keys: &SecretSet, kept: Kept) -> Kept {
    if keys.is_empty() { kept } else { Kept(keys.redact_bytes(kept.0.into()).into()) }
}

impl Service {
    /// Redacts API keys in a standalone page.
    pub fn redact_keys(&self, page: String) -> String {
        let clean = self.supervisor().registry().redact_keys(page.into_bytes().into());
        String::from_utf8_lossy(&clean).into_owned()
    }

    /// Allows an export of everything to a person, and records it. The command line reads only, and is not recorded.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn permit_full_export(&self, actor: Actor) -> Result<(), ServiceError> {
        self.require_recent_password(actor).await?;
        match self.record_full_export(actor).await {
            // Whoever has to make room exports first.
            Err(StoreError::Full) => {
                tracing::warn!("a full disk keeps an export out of the audit log");
                Ok(())
            }
            recorded => Ok(recorded?),
        }
    }

    async fn record_full_export(&self, actor: Actor) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        self.record(&mut tx, actor, AuditVerb::ExportEverything, "").await?;
        tx.commit().await
    }

    /// Streams an archive into a channel, with backpressure from the reader. Ends without an error when the reader
    /// disconnects. Returns the number of stored values that could not be read; the archive names them.
    ///
    /// # Errors
    /// `NotFound` before anything is written, when the owner has no such chat.
    pub async fn export_archive(
        &self,
        owner: UserId,
        which: ExportScope,
        send: &Sender<Bytes>,
    ) -> Result<u64, ServiceError> {
        let (mut damages, mut unread) = (ExportDamages::default(), Vec::new());
        let chats = match which {
            ExportScope::Chat(chat) => vec![self.chat(owner, chat).await?.id],
            ExportScope::Everything => archive::chats(self.db(), owner, &mut unread).await?,
        };
        let (mut blobs, mut documents) = (BTreeSet::new(), BTreeSet::new());
        // Blobs stand before the chats in an archive, so the finished turns are listed first: the images of a turn
        // that is added or ends later would be missing.
        let mut finished_turns = Vec::with_capacity(chats.len());
        for chat in &chats {
            finished_turns.push(archive::finished_turn_ids(self.db(), owner, *chat).await?);
            let (of_blobs, of_documents) = archive::list_attached_ids(self.db(), owner, *chat, &mut unread).await?;
            blobs.extend(of_blobs);
            documents.extend(of_documents);
        }
        if which == ExportScope::Everything {
            documents.extend(archive::documents(self.db(), owner, &mut unread).await?);
        }
        for id in &documents {
            blobs.extend(self.document_origins(owner, *id, &mut unread).await?);
        }
        damages.note_unreadable(unread);
        let head = ArchiveHead::new(self.clock().now());
        let writer = ArchiveWriter::new(Vec::new(), &head).map_err(unwritable)?;
        let mut out = ArchiveOutput { writer, send, blobs: BlobPresence::new(), damages, damaged: 0 };
        if !self.write_blobs(owner, blobs, &mut out).await? {
            return Ok(0);
        }
        for id in documents {
            let written = self.write_document(owner, id, &mut out).await?;
            if !written {
                return Ok(0);
            }
        }
        self.write_projects(owner, which, &mut out).await?;
        for (chat, over) in chats.into_iter().zip(finished_turns) {
            if !self.write_chat(owner, chat, &over, &mut out).await? {
                return Ok(0);
            }
        }
        let damaged = out.damaged + out.damages.count();
        if damaged > 0 {
            tracing::warn!(damaged, "stored values could not be exported; the archive names them, and `turnleaf fsck`");
        }
        out.writer.set_damaged(out.damages.into_differences());
        let rest = out.writer.finish().map_err(unwritable)?;
        let _ = send.send(rest.into()).await;
        Ok(damaged)
    }

    /// Writes the blobs that exist, and records which are missing. Returns false when the reader has disconnected.
    async fn write_blobs(
        &self,
        owner: UserId,
        named: BTreeSet<String>,
        out: &mut ArchiveOutput<'_>,
    ) -> Result<bool, ServiceError> {
        for sha256 in named {
            let mut unread = Vec::new();
            let found = blobs::find_with_damages(self.db(), owner, &sha256, &mut unread).await;
            let found = out.damages.ok_unless_damaged(found)?;
            out.damages.note_unreadable(unread);
            let found = found.flatten();
            // Blocks that reference a missing blob are reported with their turn.
            out.blobs.insert(sha256.clone(), found.is_some());
            let Some(blob) = found else { continue };
            let bytes = Kept(blob.bytes.to_vec());
            let name = blob.name.filter(|name| !name.is_empty()).map(|name| self.redact_keys(name));
            out.writer.write_blob(&ArchivedBlob { sha256, mime: blob.mime, name, bytes }).map_err(unwritable)?;
            if !out.flush().await {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the finished turns of a chat, with a list of what could not be read. Returns false when the reader has
    /// disconnected. A chat that was deleted in between is skipped.
    async fn write_chat(
        &self,
        owner: UserId,
        id: ChatId,
        over: &HashSet<TurnId>,
        out: &mut ArchiveOutput<'_>,
    ) -> Result<bool, ServiceError> {
        let mut unread = Vec::new();
        let found = chats::find_with_damages(self.db(), owner, id, &mut unread).await;
        let Some(mut chat) = out.damages.ok_unless_damaged(found)?.flatten() else { return Ok(true) };
        // The reader may be slow while the chat continues: turns that begin after this point, and their descendants,
        // are not in the archive.
        let mut tree = self.plan_chat_tree(owner, id, over).await?;
        tree.damages.note_unreadable(unread);
        // The chat's row precedes its turns and references two objects that may not be exported.
        chat.last_viewed_turn_id = tree.shown_turn(chat.last_viewed_turn_id);
        // A deleted branch is not exported, although it may still be referenced.
        chat.default_branch_id =
            chat.default_branch_id.filter(|named| tree.branches.iter().any(|branch| branch.id == *named));
        chat.copied_from_turn_id = None;
        redact_chat(&self.supervisor().registry().known_keys(), &mut chat);
        let (source, tools) = self.tree_metadata(&mut tree).await?;
        out.writer.start_chat(&chat, source.as_ref(), tools.as_ref()).map_err(unwritable)?;
        let mut replies: Vec<TurnId> = Vec::new();
        while let Some(ReadTurn { turn, .. }) = self.next_export_turn(&mut tree).await? {
            if turn.role == Role::Assistant {
                replies.push(turn.id);
            }
            tree.note_missing_images(&turn, &out.blobs);
            out.writer.write_turn(&turn).map_err(unwritable)?;
            if !out.flush().await {
                return Ok(false);
            }
        }
        if !self.write_generations(owner, replies, &mut tree, out).await? {
            return Ok(false);
        }
        for exchange in tree.take_exchanges() {
            out.writer.write_exchange(&exchange).map_err(unwritable)?;
        }
        for branch in tree.take_branches() {
            let frozen = self.frozen_for_export(&mut tree, branch.id).await?;
            let PromptPrefix { system_prompt, tools, instructions: server_instructions } = frozen;
            let archived = ArchivedBranch { branch, system_prompt, tools, server_instructions };
            out.writer.write_branch(&archived).map_err(unwritable)?;
        }
        out.damaged += tree.damages.count();
        out.writer.set_damaged(tree.damages.into_differences());
        out.writer.end_chat().map_err(unwritable)?;
        Ok(out.flush().await)
    }

    /// Writes the requests and raw bytes of these replies. Returns false when the reader has disconnected.
    async fn write_generations(
        &self,
        owner: UserId,
        replies: Vec<TurnId>,
        tree: &mut ChatTree,
        out: &mut ArchiveOutput<'_>,
    ) -> Result<bool, ServiceError> {
        let keys = self.supervisor().registry().known_keys();
        for turn in replies {
            let mut unread = Vec::new();
            for mut generation in archive::generations(self.db(), owner, turn, &mut unread).await? {
                let raw = archive::raw_response(self.db(), owner, generation.id, &mut unread).await?;
                generation.raw = raw.map(|raw| redact_blob(&keys, raw));
                generation.request = redact_blob(&keys, generation.request);
                out.writer.write_generation(generation).map_err(unwritable)?;
                if !out.flush().await {
                    return Ok(false);
                }
            }
            tree.damages.note_unreadable(unread);
        }
        Ok(true)
    }

    /// Returns the origin of an imported chat.
    ///
    /// # Errors
    /// Database errors.
    pub async fn imported_from(&self, owner: UserId, id: ChatId) -> Result<Option<ImportOrigin>, ServiceError> {
        Ok(chat_sources::find(self.db(), owner, id).await?)
    }
}
