//! Imports a chat from a repository that [`super::Repository`] wrote, or from a clone of it. The chat is written as
//! an archive and read as one, so that every rule of an archive holds for it, too.
//!
//! Objects are read by this program and not by git, because git obeys the configuration of a repository: hooks,
//! filters and remotes of a stranger would take effect.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::chat_rows::{ChatSource, RestoredChatRows, TurnFacts};
use super::commit_stream::read_stream;
use super::history::{History, TurnObjects, read_history};
use super::metadata::{BranchManifest, LOCKS_FILE, METADATA_FILE, StoredLocks, StoredMetadata, VERSION};
use super::object::ObjectId;
use super::object_store::{BlobSource, ObjectStore};
use super::ref_reader::read_refs;
use super::repository_files::{DiskRepositoryFiles, FileOpener, PartFiles, RepositoryFiles, find_root, read_file};
use super::turn_files::{TURN_FILE, image_name, images_of};
use crate::archive::{self, ArchiveHead, ArchiveWriter, ArchivedBlob, ArchivedBytes, ScratchFile};
use crate::bounds;
use crate::domain::blocks::block::Content;
use crate::domain::chats::chat::derive_title;
use crate::domain::{BranchId, Role, Turn, TurnId};
use crate::input::{Input, InputParts};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

const WRONG_FORMAT: ImportError = ImportError::WrongFormat("a git repository that Turnleaf exported");
/// Git's description of a repository that nobody has described.
const UNNAMED: &str = "Unnamed repository";

/// Returns whether an archive contains a git repository.
pub(crate) fn is_repository(parts: &InputParts) -> bool {
    find_root(parts).is_some()
}

/// Returns whether a file begins like a stream of commits.
pub(crate) fn is_stream(start: &str) -> bool {
    ["blob\n", "commit refs/", "reset refs/", "feature done\n"].iter().any(|first| start.starts_with(first))
}

/// Returns whether a folder is a git repository, or the working copy of one.
pub fn is_folder(folder: &Path) -> bool {
    DiskRepositoryFiles::find(folder, &|_| Err(io::ErrorKind::Unsupported.into())).is_some()
}

/// Imports a repository that is packed as a ZIP, as the page exports it, or a stream of its commits.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    if let Some(mut files) = PartFiles::find(input) {
        return read_repository(&mut files, taker);
    }
    if !is_stream(&input.read_start(0)?) {
        return Err(WRONG_FORMAT);
    }
    let mut copy = taker.open_scratch().map_err(ImportError::Spool)?;
    input.copy_part(0, &mut copy)?;
    copy.rewind().map_err(ImportError::Spool)?;
    let (history, mut blobs) = read_stream(copy)?;
    let (metadata, locks) = (StoredMetadata::default(), StoredLocks::default());
    let written = write_archive(&history, None, &metadata, &locks, &mut blobs, taker)?;
    archive::read(&mut Input::open("", Box::new(written))?, taker)
}

/// Imports a repository in a folder: a bare one, or a working copy.
///
/// # Errors
/// As [`crate::read`].
pub fn read_folder(folder: &Path, open: FileOpener<'_>, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let mut files = DiskRepositoryFiles::find(folder, open).ok_or(WRONG_FORMAT)?;
    read_repository(&mut files, taker)
}

fn read_repository(files: &mut dyn RepositoryFiles, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let refs = read_refs(files, taker)?;
    let metadata: StoredMetadata = read_metadata(files, METADATA_FILE, taker)?;
    if metadata.version > VERSION {
        return Err(ImportError::NewerVersion(metadata.version));
    }
    let locks: StoredLocks = read_metadata(files, LOCKS_FILE, taker)?;
    let description = read_file(files, "description", bounds::GIT_NODE_BYTES, taker)?.unwrap_or_default();
    let description = String::from_utf8_lossy(&description).trim().to_owned();
    let mut store = ObjectStore::open(files, taker)?;
    let history = read_history(refs, &mut store, taker)?;
    let title = Some(description).filter(|title| !title.is_empty() && !title.starts_with(UNNAMED));
    let written = write_archive(&history, title, &metadata, &locks, &mut store, taker)?;
    archive::read(&mut Input::open("", Box::new(written))?, taker)
}

/// Reads a metadata file. One that cannot be read is reported and replaced by defaults.
fn read_metadata<T: DeserializeOwned + Default>(
    files: &mut dyn RepositoryFiles,
    name: &str,
    taker: &mut dyn ImportSink,
) -> Result<T, ImportError> {
    let Some(text) = read_file(files, name, bounds::GIT_FILE_BYTES, taker)? else { return Ok(T::default()) };
    match parse(&text) {
        Ok(read) => Ok(read),
        Err(why) => {
            let location = IssueLocation { file: name.to_owned(), ..IssueLocation::default() };
            let text = format!("it could not be read, and defaults were used: {why}");
            report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text })?;
            Ok(T::default())
        }
    }
}

/// Parses JSON of anybody: the number of values is bounded, because each takes a hundred times its text in memory.
fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    if archive::value_count(text).is_some_and(|values| values > bounds::ELEMENT_VALUES) {
        return Err(bounds::value_limit_text(bounds::ELEMENT_VALUES));
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

fn read_turn(
    committed: &TurnObjects,
    source: &mut dyn BlobSource,
    taker: &mut dyn ImportSink,
) -> Result<Turn, ImportError> {
    let text = source.read_blob(&committed.json, bounds::ELEMENT_BYTES, taker)?;
    parse(&text).map_err(|why| ImportError::Damaged(format!("{TURN_FILE} {}: {why}", committed.json)))
}

/// The findings of the first pass over the turns.
#[derive(Default)]
struct TurnSurvey {
    turns: Vec<TurnFacts>,
    /// The newest manifest of each branch, with the position of its turn.
    manifests: HashMap<BranchId, (i64, ObjectId)>,
    /// Images by hash, with their types.
    images: BTreeMap<String, (String, ObjectId)>,
    /// The first message.
    title: Option<(i64, String)>,
}

impl TurnSurvey {
    fn add(&mut self, turn: &Turn, committed: &TurnObjects) {
        let above = committed.parent.and_then(|parent| self.turns.get(parent));
        let (prev, depth) = (above.map(|above| above.id), above.map_or(0, |above| above.depth + 1));
        if let Some(branch) = committed.branch {
            let newest = self.manifests.entry(turn.branch_id).or_insert((turn.ord, branch));
            if newest.0 <= turn.ord {
                *newest = (turn.ord, branch);
            }
        }
        for (sha256, mime) in images_of(turn) {
            let name = image_name(&sha256, &mime);
            if let Some((_, id)) = committed.files.iter().find(|(file, _)| *file == name) {
                self.images.insert(sha256, (mime, *id));
            }
        }
        if turn.role == Role::User && self.title.as_ref().is_none_or(|(ord, _)| turn.ord < *ord) {
            self.title = Some((turn.ord, derive_title(&turn.content_text())));
        }
        self.turns.push(TurnFacts {
            id: turn.id,
            chat: turn.chat_id,
            ord: turn.ord,
            prev,
            depth,
            branch: turn.branch_id,
            exchange: turn.exchange_id,
            role: turn.role,
            has_reasoning: turn.blocks.iter().any(|block| matches!(block.content, Content::Thinking { .. })),
            created_at: turn.created_at,
            completed_at: turn.completed_at,
        });
    }

    /// Reads the manifests of the branches, as far as they can be read.
    fn read_manifests(
        &self,
        source: &mut dyn BlobSource,
        taker: &mut dyn ImportSink,
    ) -> Result<HashMap<BranchId, BranchManifest>, ImportError> {
        let mut manifests = HashMap::new();
        for (branch, (_, id)) in &self.manifests {
            let text = source.read_blob(id, bounds::GIT_NODE_BYTES, taker)?;
            if let Ok(manifest) = parse::<BranchManifest>(&text) {
                manifests.insert(*branch, manifest);
            }
        }
        Ok(manifests)
    }
}

/// Reports the branches of which the repository does not name the model, or the provider either.
fn report_default_locks(
    title: &str,
    without_lock: Vec<String>,
    without_model: Vec<String>,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    const NO_LOCK: &str = "the repository does not name the provider and model of this branch: defaults were used";
    const NO_MODEL: &str =
        "the repository does not name the model of this branch: the default of its provider was used";
    let issues = without_lock.into_iter().map(|name| (name, NO_LOCK));
    for (branch, text) in issues.chain(without_model.into_iter().map(|name| (name, NO_MODEL))) {
        let location = IssueLocation { conversation: title.to_owned(), message: branch, ..IssueLocation::default() };
        report_issue(taker, ImportIssue { kind: IssueKind::PutRight, location, text: text.to_owned() })?;
    }
    Ok(())
}

/// Writes the images. Damaged ones and those that are too large are reported.
fn write_images<W: Write>(
    writer: &mut ArchiveWriter<W>,
    images: BTreeMap<String, (String, ObjectId)>,
    source: &mut dyn BlobSource,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    for (sha256, (mime, id)) in images {
        match source.read_blob(&id, bounds::FILE_BYTES, taker) {
            Ok(bytes) => {
                let blob = ArchivedBlob { sha256, mime, name: None, bytes: ArchivedBytes(bytes) };
                writer.write_blob(&blob).map_err(ImportError::Spool)?;
            }
            Err(why @ (ImportError::Damaged(_) | ImportError::TooLarge(_))) => {
                let location = IssueLocation { file: sha256, ..IssueLocation::default() };
                report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text: why.to_string() })?;
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// Writes the chat as an archive: a first pass collects the facts that the rows need, a second one copies the turns.
fn write_archive(
    history: &History,
    title: Option<String>,
    metadata: &StoredMetadata,
    locks: &StoredLocks,
    source: &mut dyn BlobSource,
    taker: &mut dyn ImportSink,
) -> Result<Box<dyn ScratchFile>, ImportError> {
    let mut survey = TurnSurvey::default();
    for committed in &history.turns {
        survey.add(&read_turn(committed, source, taker)?, committed);
    }
    let manifests = survey.read_manifests(source, taker)?;
    let tips: Vec<(String, TurnId)> =
        history.tips.iter().filter_map(|(name, turn)| Some((name.clone(), survey.turns.get(*turn)?.id))).collect();
    let mut order: Vec<usize> = (0..survey.turns.len()).collect();
    order.sort_by_key(|number| survey.turns.get(*number).map(|turn| turn.ord));
    let turns: Vec<TurnFacts> = order.iter().filter_map(|number| survey.turns.get(*number).cloned()).collect();
    let rows = ChatSource {
        turns: &turns,
        tips: &tips,
        head: history.head.as_deref(),
        title: title.or(survey.title.take().map(|(_, title)| title)).unwrap_or_default(),
        manifests: &manifests,
        metadata,
        locks,
        default_lock: &taker.default_lock(),
        default_model: &|provider| taker.default_model(provider),
    };
    let RestoredChatRows { chat, branches, exchanges, without_lock, without_model } =
        rows.build_rows().ok_or(WRONG_FORMAT)?;
    report_default_locks(&chat.title, without_lock, without_model, taker)?;
    let out = BufWriter::new(taker.open_scratch().map_err(ImportError::Spool)?);
    let mut writer = ArchiveWriter::new(out, &ArchiveHead::new(chat.updated_at)).map_err(ImportError::Spool)?;
    write_images(&mut writer, survey.images, source, taker)?;
    writer.start_chat(&chat, metadata.imported_from.as_ref(), None).map_err(ImportError::Spool)?;
    for (number, facts) in order.iter().zip(&turns) {
        let Some(committed) = history.turns.get(*number) else { continue };
        let mut turn = read_turn(committed, source, taker)?;
        (turn.prev_turn_id, turn.depth) = (facts.prev, facts.depth);
        writer.write_turn(&turn).map_err(ImportError::Spool)?;
    }
    for exchange in &exchanges {
        writer.write_exchange(exchange).map_err(ImportError::Spool)?;
    }
    for branch in &branches {
        writer.write_branch(branch).map_err(ImportError::Spool)?;
    }
    writer.set_damaged(metadata.damaged.clone());
    writer.end_chat().map_err(ImportError::Spool)?;
    let out = writer.finish().map_err(ImportError::Spool)?;
    let mut written = out.into_inner().map_err(|error| ImportError::Spool(error.into_error()))?;
    written.rewind().map_err(ImportError::Spool)?;
    Ok(written)
}

#[cfg(test)]
mod tests;
