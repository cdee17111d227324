//! Exports a chat as a bare git repository, so that people can read its history with git: a turn is a commit, a
//! branch is a ref, and files next to them record the provider and the model that a branch is locked to.
//! The same repositories are imported again. `docs/GIT.md` describes the layout.
//!
//! The export is deterministic and append-only: the same chat yields the same commits, and a continued chat only adds
//! commits. Everything that may change later (titles, branch names, the time of the export) stays out of commits. The
//! repository is no archive: provider bytes are left out.
//!
//! No git library is used, because packing objects once and hashing them takes two hundred lines, and reading them
//! little more; the tests verify the output with git itself.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::rc::Rc;

use serde::Serialize;

use super::markdown::{self, ExportDetail, ExportedTurn, MarkdownOptions};
use crate::domain::text::excerpt::first_line;
use crate::domain::{BranchId, Turn, TurnId};
pub use folder::RepositoryFolder;
pub use import::{is_folder, read_folder};
pub(crate) use import::{is_repository, is_stream, read};
pub use metadata::{BranchManifest, ChatRecord};
use metadata::{LOCKS_FILE, METADATA_FILE, RepositoryMetadata, branch_locks};
use object::{Commit, ObjectId, ObjectKind, TreeEntry, encode_tree};
use pack::ObjectPack;
use refs::BranchRefNames;
pub use refs::to_ref_name;
pub use repository_files::FileOpener;
pub use sink::{RepositorySink, ZipSink};
use turn_files::{BRANCH_FILE, TURN_FILE, TURN_TEXT, TURNS_FOLDER, image_name, images_of};

mod chat_rows;
mod commit_message;
mod commit_stream;
mod folder;
mod history;
mod import;
mod metadata;
mod object;
mod object_store;
mod pack;
mod pack_reader;
mod ref_reader;
mod refs;
mod repository_files;
mod sink;
mod turn_files;

/// Number of turns per folder, because each new turn rewrites the tree of its folder.
const TURNS_PER_FOLDER: i64 = 100;
/// The configuration file of the bare repository.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

/// A turn that has a commit in the repository.
struct CommittedTurn {
    commit: ObjectId,
    /// The tree of the turn.
    folder: TreeEntry,
    parent: Option<TurnId>,
    depth: i64,
    /// The complete folders before the one that contains the turn.
    before: Rc<Vec<TreeEntry>>,
}

/// A repository under construction: first images and branches, then turns, each after its parent.
pub struct Repository<S> {
    pack: ObjectPack<S>,
    images: HashMap<String, ObjectId>,
    branches: HashMap<BranchId, ObjectId>,
    turns: HashMap<TurnId, CommittedTurn>,
    heads: HashMap<BranchId, TurnId>,
}

impl<S: Read + Write + Seek> Repository<S> {
    /// Creates a repository; `spool` is empty and holds the packed objects until they are written.
    pub fn new(spool: S) -> Self {
        let (images, branches) = (HashMap::new(), HashMap::new());
        Self { pack: ObjectPack::new(spool), images, branches, turns: HashMap::new(), heads: HashMap::new() }
    }

    /// Adds an image that turns reference.
    pub fn add_image(&mut self, sha256: &str, bytes: &[u8]) -> io::Result<()> {
        let id = self.pack.add(ObjectKind::Blob, bytes)?;
        self.images.insert(sha256.to_owned(), id);
        Ok(())
    }

    /// Adds a branch that turns belong to.
    pub fn add_branch(&mut self, id: BranchId, locked: &BranchManifest) -> io::Result<()> {
        let text = json(locked)?;
        let blob = self.pack.add(ObjectKind::Blob, &text)?;
        self.branches.insert(id, blob);
        Ok(())
    }

    /// Adds a finished turn; the flag tells whether its reasoning is shown.
    pub fn add_turn(&mut self, turn: &Turn, is_thinking_mode: bool) -> io::Result<()> {
        let folder = self.turn_folder(turn, is_thinking_mode)?;
        let parent = turn.prev_turn_id.filter(|parent| self.turns.contains_key(parent));
        let before = self.preceding_folders(turn, parent)?;
        let entry = self.containing_folder(turn, parent, &folder)?;
        let mut groups = before.as_ref().clone();
        groups.push(entry);
        let turns = self.pack.add(ObjectKind::Tree, &encode_tree(groups))?;
        let mut root = vec![TreeEntry { name: TURNS_FOLDER.into(), is_tree: true, id: turns }];
        root.extend(self.branches.get(&turn.branch_id).map(|id| file_entry(BRANCH_FILE, *id)));
        let root = self.pack.add(ObjectKind::Tree, &encode_tree(root))?;
        let commit = Commit {
            tree: root,
            parent: parent.and_then(|parent| self.turns.get(&parent)).map(|node| node.commit),
            author: &commit_message::author(turn),
            written_at: turn.created_at,
            committed_at: turn.completed_at.unwrap_or(turn.created_at),
            message: &commit_message::message(turn),
        };
        let commit = self.pack.add(ObjectKind::Commit, &commit.body())?;
        self.turns.insert(turn.id, CommittedTurn { commit, folder, parent, depth: turn.depth, before });
        self.heads.insert(turn.branch_id, turn.id);
        Ok(())
    }

    /// Writes everything. `HEAD` is written last, because git recognizes no repository without it.
    pub fn write(self, record: &ChatRecord, place: &mut dyn RepositorySink) -> io::Result<()> {
        let ChatRecord { chat, branches, .. } = record;
        let mut assigned = BranchRefNames::default();
        let names: Vec<String> = branches.iter().map(|branch| assigned.assign(&branch.name)).collect();
        let commits: Vec<Option<ObjectId>> = branches
            .iter()
            .map(|branch| {
                // A branch without own turns points to its fork.
                let head = self.heads.get(&branch.id).copied().or(branch.fork_turn_id);
                head.and_then(|turn| self.turns.get(&turn)).map(|node| node.commit)
            })
            .collect();
        let shown = chat.last_viewed_turn_id.and_then(|turn| {
            let commit = self.turns.get(&turn)?.commit;
            commits.iter().position(|at| *at == Some(commit))
        });
        let shown = shown.or_else(|| branches.iter().position(|branch| Some(branch.id) == chat.default_branch_id));
        let head = names.get(shown.unwrap_or(0)).map_or("main", |name| name);
        let head = format!("ref: refs/heads/{head}\n");
        let metadata = json(&RepositoryMetadata::new(record, &names))?;
        let locks = json(&branch_locks(branches, &names))?;
        let mut packed: Vec<String> =
            names.iter().zip(commits).filter_map(|(name, at)| Some(format!("{} refs/heads/{name}\n", at?))).collect();
        packed.sort_by(|one, other| one[41..].cmp(&other[41..]));
        let packed = format!("# pack-refs with: peeled fully-peeled sorted \n{}", packed.concat());
        let title = first_line(&chat.title, commit_message::SUBJECT_CHARS);
        self.pack.write(place)?;
        for folder in ["objects/info/", "objects/pack/", "refs/heads/", "refs/tags/"] {
            place.create_folder(folder)?;
        }
        for (path, text) in [
            ("config", CONFIG.as_bytes()),
            ("description", format!("{title}\n").as_bytes()),
            (METADATA_FILE, &metadata),
            (LOCKS_FILE, &locks),
            ("packed-refs", packed.as_bytes()),
            ("HEAD", head.as_bytes()),
        ] {
            place.write_file(path, text.len() as u64, &mut &*text)?;
        }
        Ok(())
    }

    /// Builds the folder of a turn: Markdown for people, JSON for programs, and its images.
    fn turn_folder(&mut self, turn: &Turn, is_thinking_mode: bool) -> io::Result<TreeEntry> {
        let (reasoning, tools) = (ExportDetail::Folded, ExportDetail::Folded);
        let options = MarkdownOptions { reasoning, tools, image: &image_name };
        let mut text = Vec::new();
        markdown::write_turn(&mut text, &ExportedTurn { turn, is_thinking_mode, other_versions: 0 }, &options)?;
        let mut entries = vec![
            file_entry(TURN_TEXT, self.pack.add(ObjectKind::Blob, &text)?),
            file_entry(TURN_FILE, self.pack.add(ObjectKind::Blob, &json(turn)?)?),
        ];
        for (sha256, mime) in images_of(turn) {
            let name = image_name(&sha256, &mime);
            if let Some(id) = self.images.get(&sha256)
                && entries.iter().all(|entry| entry.name != name)
            {
                entries.push(file_entry(&name, *id));
            }
        }
        let name = format!("{:05}-{}", turn.depth + 1, turn.role.as_str());
        Ok(TreeEntry { name, is_tree: true, id: self.pack.add(ObjectKind::Tree, &encode_tree(entries))? })
    }

    /// Returns the complete folders before the one that contains a turn.
    fn preceding_folders(&mut self, turn: &Turn, parent: Option<TurnId>) -> io::Result<Rc<Vec<TreeEntry>>> {
        let Some(node) = parent.and_then(|parent| self.turns.get(&parent)) else { return Ok(Rc::default()) };
        let before = node.before.clone();
        if node.depth / TURNS_PER_FOLDER == turn.depth / TURNS_PER_FOLDER {
            return Ok(before);
        }
        let mut longer = before.as_ref().clone();
        let full = self.entries_above(parent, node.depth / TURNS_PER_FOLDER);
        let id = self.pack.add(ObjectKind::Tree, &encode_tree(full))?;
        longer.push(TreeEntry { name: folder_name(turn.depth - 1), is_tree: true, id });
        Ok(longer.into())
    }

    /// Builds the folder that contains a turn together with the earlier turns in it.
    fn containing_folder(&mut self, turn: &Turn, parent: Option<TurnId>, folder: &TreeEntry) -> io::Result<TreeEntry> {
        let mut entries = self.entries_above(parent, turn.depth / TURNS_PER_FOLDER);
        entries.push(folder.clone());
        Ok(TreeEntry {
            name: folder_name(turn.depth),
            is_tree: true,
            id: self.pack.add(ObjectKind::Tree, &encode_tree(entries))?,
        })
    }

    /// Returns the entries of a turn and its ancestors that belong to this folder.
    fn entries_above(&self, from: Option<TurnId>, number: i64) -> Vec<TreeEntry> {
        let mut entries = Vec::new();
        let mut at = from;
        while let Some(node) = at.and_then(|at| self.turns.get(&at)) {
            if node.depth / TURNS_PER_FOLDER != number {
                break;
            }
            entries.push(node.folder.clone());
            at = node.parent;
        }
        entries
    }
}

fn file_entry(name: &str, id: ObjectId) -> TreeEntry {
    TreeEntry { name: name.to_owned(), is_tree: false, id }
}

/// Returns the folder name for a depth: `00001-00100`.
fn folder_name(depth: i64) -> String {
    let first = depth / TURNS_PER_FOLDER * TURNS_PER_FOLDER + 1;
    format!("{first:05}-{:05}", first + TURNS_PER_FOLDER - 1)
}

/// Formats JSON with one value per line, so that diffs are short.
fn json(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(of)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests;
