//! Exports a chat as a git repository: this task reads, and a thread of its own packs, because packing is CPU-bound
//! and blocks on the disk.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::archive_output::{PIECE_BYTES, unwritable};
use super::damages::ExportDamages;
use super::metadata::BlobPresence;
use super::redaction::redact_chat;
use super::tree::ReadTurn;
use crate::{Service, ServiceError};
use turnleaf_domain::{BranchId, Chat, ChatId, Turn, UserId};
use turnleaf_interchange::git::{
    BranchManifest, ChatRecord, Repository, RepositoryFolder, RepositorySink, ZipSink, to_ref_name,
};
use turnleaf_platform::tasks;
use turnleaf_store::chats;
use turnleaf_store::documents::blobs;
use turnleaf_store::transfer::archive;

/// The capacity of the channel to the packing thread.
const AHEAD: usize = 8;

/// The steps of packing, in this order.
enum PackStep {
    Image { sha256: String, bytes: Bytes },
    Branch(BranchId, BranchManifest),
    Turn(Box<Turn>, bool),
    End(Box<ChatRecord>),
}

impl Service {
    /// Returns the name of a chat's repository, for files and folders.
    pub fn repository_name(chat: &Chat) -> String {
        if chat.title.is_empty() { format!("{}.git", chat.id) } else { format!("{}.git", to_ref_name(&chat.title)) }
    }

    /// Streams a chat's repository as a ZIP into a channel. Ends without an error when the reader disconnects.
    ///
    /// # Errors
    /// `NotFound` when the owner has no such chat; nothing is written before all of it is read.
    pub async fn export_git(&self, owner: UserId, id: ChatId, send: Sender<Bytes>) -> Result<(), ServiceError> {
        let mut chat = self.chat(owner, id).await?;
        redact_chat(&self.supervisor().registry().known_keys(), &mut chat);
        let root = Self::repository_name(&chat);
        let write = move |steps, spool| {
            let mut zip = ZipSink::new(BufWriter::with_capacity(PIECE_BYTES, ChannelWriter(send)), &root);
            pack(steps, spool, &mut zip).and_then(|()| zip.finish()?.flush())
        };
        match self.export_git_by(owner, id, write).await? {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
            _ => Ok(()),
        }
    }

    /// Writes a chat's repository into a folder, which appears only once it is complete.
    ///
    /// # Errors
    /// The inner error: the folder is not empty, or the disk fails.
    pub async fn export_git_folder(
        &self,
        owner: UserId,
        id: ChatId,
        folder: &Path,
    ) -> Result<io::Result<()>, ServiceError> {
        self.chat(owner, id).await?;
        let folder = folder.to_owned();
        self.export_git_by(owner, id, move |steps, spool| {
            let mut place = RepositoryFolder::create(&folder)?;
            pack(steps, spool, &mut place)?;
            place.finish()
        })
        .await
    }

    /// Reads the chat while `write` packs it on a thread of its own.
    async fn export_git_by(
        &self,
        owner: UserId,
        id: ChatId,
        write: impl FnOnce(Receiver<PackStep>, File) -> io::Result<()> + Send + 'static,
    ) -> Result<io::Result<()>, ServiceError> {
        let (send, receive) = channel(AHEAD);
        let scratch = self.import_job_registry().scratch_files();
        let packing = tasks::spawn_blocking(move || write(receive, scratch.new_file()?));
        let read = self.read_for_git(owner, id, &send).await;
        drop(send);
        let packed = packing.await.unwrap_or_else(|_| Err(io::Error::other("the packing ended early")));
        read.map(|()| packed)
    }

    /// Reads the chat and sends the steps. A closed channel ends the read without an error, because the packing side
    /// reports its own.
    async fn read_for_git(&self, owner: UserId, id: ChatId, send: &Sender<PackStep>) -> Result<(), ServiceError> {
        let (mut damages, mut unread) = (ExportDamages::default(), Vec::new());
        let found = chats::find_with_damages(self.db(), owner, id, &mut unread).await?;
        let mut chat = found.ok_or(ServiceError::NotFound)?;
        redact_chat(&self.supervisor().registry().known_keys(), &mut chat);
        // Turns are listed before their images, so that no image of a listed turn is missing.
        let over = archive::finished_turn_ids(self.db(), owner, id).await?;
        let (named, _) = archive::list_attached_ids(self.db(), owner, id, &mut unread).await?;
        damages.note_unreadable(unread);
        let mut images = BlobPresence::new();
        for sha256 in named {
            let mut unread = Vec::new();
            let found = blobs::find_with_damages(self.db(), owner, &sha256, &mut unread).await;
            let found = damages.ok_unless_damaged(found)?.flatten();
            let is_of_unknown_type = unread.iter().any(|damage| damage.column == "mime");
            damages.note_unreadable(unread);
            // Blocks that reference a missing blob are reported with their turn.
            images.insert(sha256.clone(), found.is_some());
            let Some(blob) = found else { continue };
            let is_image = blob.mime.starts_with("image/") || is_of_unknown_type;
            if is_image && send.send(PackStep::Image { sha256, bytes: blob.bytes }).await.is_err() {
                return Ok(());
            }
        }
        let mut tree = self.plan_chat_tree(owner, id, &over).await?;
        tree.damages.append(damages);
        for (branch, lock) in tree.branches.iter().map(|branch| (branch.id, branch.lock.clone())).collect::<Vec<_>>() {
            let frozen = self.frozen_for_export(&mut tree, branch).await?;
            let locked = BranchManifest { lock, system_prompt: frozen.system_prompt };
            if send.send(PackStep::Branch(branch, locked)).await.is_err() {
                return Ok(());
            }
        }
        chat.last_viewed_turn_id = tree.shown_turn(chat.last_viewed_turn_id);
        while let Some(ReadTurn { turn, is_thinking_mode }) = self.next_export_turn(&mut tree).await? {
            tree.note_missing_images(&turn, &images);
            if send.send(PackStep::Turn(Box::new(turn), is_thinking_mode)).await.is_err() {
                return Ok(());
            }
        }
        let (imported_from, _) = self.tree_metadata(&mut tree).await?;
        let (exchanges, branches) = (tree.take_exchanges(), tree.take_branches());
        // Neither a deleted branch nor another chat is in the repository.
        chat.default_branch_id = chat.default_branch_id.filter(|named| branches.iter().any(|of| of.id == *named));
        chat.copied_from_turn_id = None;
        let damaged = tree.damages.into_differences();
        let record = ChatRecord { chat, imported_from, branches, exchanges, damaged };
        let _ = send.send(PackStep::End(Box::new(record))).await;
        Ok(())
    }
}

/// Packs the steps. Nothing is written unless the end step arrives.
fn pack(mut steps: Receiver<PackStep>, spool: File, place: &mut dyn RepositorySink) -> io::Result<()> {
    let mut repository = Repository::new(spool);
    while let Some(step) = steps.blocking_recv() {
        match step {
            PackStep::Image { sha256, bytes } => repository.add_image(&sha256, &bytes)?,
            PackStep::Branch(id, locked) => repository.add_branch(id, &locked)?,
            PackStep::Turn(turn, is_thinking_mode) => repository.add_turn(&turn, is_thinking_mode)?,
            PackStep::End(record) => return repository.write(&record, place),
        }
    }
    Err(io::Error::other("the chat could not be read to its end"))
}

/// A writer that sends into the channel of the reader.
pub(super) struct ChannelWriter(pub(super) Sender<Bytes>);

impl Write for ChannelWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.blocking_send(Bytes::copy_from_slice(bytes)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
