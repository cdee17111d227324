//! A chat as a bare git repository, for people who read history with git's tools: a turn is a commit, a branch is a ref,
//! and which provider and model a branch is locked to lies beside them. `docs/GIT.md` describes it.
//!
//! The same chat gives the same commits, and a chat that went on gives those it had and more: nothing that changes later
//! (titles, names of branches, the time of the export) is in a commit. It is no archive: what providers sent is left out.
//!
//! Written without a library for git. What is needed of it, packing objects once and naming them, is two hundred lines;
//! the tests let git itself read what comes out.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::rc::Rc;

use serde::Serialize;

use super::markdown::{self, Options, Part, Shown};
use crate::domain::branch::Lock;
use crate::domain::excerpt::first_line;
use crate::domain::{Branch, BranchId, Chat, Content, Difference, ImportedFrom, Turn, TurnId, told};
use crate::media;
use beside::Beside;
pub use folder::Folder;
use object::{Commit, Entry, Id, Kind, tree};
use pack::Pack;
pub use place::{Place, Zip};
use refs::Names;
pub use refs::fitted;

mod beside;
mod folder;
mod object;
mod pack;
mod place;
mod refs;
mod said;

/// Turns of one folder: a folder is written anew with each turn in it.
const IN_A_FOLDER: i64 = 100;
/// The file that lies beside git's own.
const BESIDE: &str = "turnleaf.json";
/// What git reads first.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

/// What a branch says to its model every time, as the tree of each of its turns has it.
#[derive(Debug, Clone, Serialize)]
pub struct Locked {
    #[serde(flatten)]
    pub lock: Lock,
    pub system_prompt: String,
}

/// A turn that is in the repository.
struct Node {
    commit: Id,
    /// The folder of the turn.
    folder: Entry,
    parent: Option<TurnId>,
    depth: i64,
    /// The folders before the one that the turn lies in.
    before: Rc<Vec<Entry>>,
}

/// A repository under way: images, then turns, each behind the one that it hangs on.
pub struct Repository<S> {
    pack: Pack<S>,
    images: HashMap<String, Id>,
    branches: HashMap<BranchId, Id>,
    turns: HashMap<TurnId, Node>,
    heads: HashMap<BranchId, TurnId>,
}

impl<S: Read + Write + Seek> Repository<S> {
    /// `spool` is empty and holds what is packed until it is written.
    pub fn new(spool: S) -> Self {
        let (images, branches) = (HashMap::new(), HashMap::new());
        Self { pack: Pack::new(spool), images, branches, turns: HashMap::new(), heads: HashMap::new() }
    }

    /// An image that turns name.
    pub fn image(&mut self, sha256: &str, bytes: &[u8]) -> io::Result<()> {
        let id = self.pack.add(Kind::Blob, bytes)?;
        self.images.insert(sha256.to_owned(), id);
        Ok(())
    }

    /// A branch that turns are on.
    pub fn branch(&mut self, id: BranchId, locked: &Locked) -> io::Result<()> {
        let text = json(locked)?;
        let blob = self.pack.add(Kind::Blob, &text)?;
        self.branches.insert(id, blob);
        Ok(())
    }

    /// A turn that is over, with what its exchange says of reasoning.
    pub fn turn(&mut self, turn: &Turn, is_thinking_mode: bool) -> io::Result<()> {
        let folder = self.folder(turn, is_thinking_mode)?;
        let parent = turn.prev_turn_id.filter(|parent| self.turns.contains_key(parent));
        let before = self.before(turn, parent)?;
        let here = self.lying_with(turn, parent, &folder)?;
        let mut groups = before.as_ref().clone();
        groups.push(here);
        let turns = self.pack.add(Kind::Tree, &tree(groups))?;
        let mut root = vec![Entry { name: "turns".into(), is_tree: true, id: turns }];
        root.extend(self.branches.get(&turn.branch_id).map(|id| file("branch.json", *id)));
        let root = self.pack.add(Kind::Tree, &tree(root))?;
        let commit = Commit {
            tree: root,
            parent: parent.and_then(|parent| self.turns.get(&parent)).map(|node| node.commit),
            author: &said::author(turn),
            written_at: turn.created_at,
            committed_at: turn.completed_at.unwrap_or(turn.created_at),
            message: &said::message(turn),
        };
        let commit = self.pack.add(Kind::Commit, &commit.body())?;
        self.turns.insert(turn.id, Node { commit, folder, parent, depth: turn.depth, before });
        self.heads.insert(turn.branch_id, turn.id);
        Ok(())
    }

    /// Writes everything. `HEAD` comes last: without it git sees no repository.
    pub fn write(
        self,
        chat: &Chat,
        imported_from: Option<&ImportedFrom>,
        branches: &[Branch],
        damaged: &[Difference],
        place: &mut dyn Place,
    ) -> io::Result<()> {
        let mut names = Names::default();
        let mut refs: Vec<(String, Option<Id>, &Branch)> = Vec::with_capacity(branches.len());
        for branch in branches {
            // A branch without turns of its own is where it was forked off.
            let head = self.heads.get(&branch.id).copied().or(branch.fork_turn_id);
            let commit = head.and_then(|turn| self.turns.get(&turn)).map(|node| node.commit);
            refs.push((names.name(&branch.name), commit, branch));
        }
        let shown = chat.last_viewed_turn_id.and_then(|turn| {
            let commit = self.turns.get(&turn)?.commit;
            refs.iter().find(|(_, at, _)| *at == Some(commit))
        });
        let shown = shown.or_else(|| refs.iter().find(|(_, _, branch)| Some(branch.id) == chat.default_branch_id));
        let head = shown.or(refs.first()).map_or("main", |(name, ..)| name);
        let head = format!("ref: refs/heads/{head}\n");
        let beside = json(&Beside::of(chat, imported_from, damaged, &refs))?;
        let mut packed: Vec<String> =
            refs.iter().filter_map(|(name, at, _)| Some(format!("{} refs/heads/{name}\n", (*at)?))).collect();
        packed.sort_by(|one, other| one[41..].cmp(&other[41..]));
        let packed = format!("# pack-refs with: peeled fully-peeled sorted \n{}", packed.concat());
        let title = first_line(&chat.title, said::SUBJECT);
        self.pack.write(place)?;
        for folder in ["objects/info/", "objects/pack/", "refs/heads/", "refs/tags/"] {
            place.folder(folder)?;
        }
        for (path, text) in [
            ("config", CONFIG.as_bytes()),
            ("description", format!("{title}\n").as_bytes()),
            (BESIDE, &beside),
            ("packed-refs", packed.as_bytes()),
            ("HEAD", head.as_bytes()),
        ] {
            place.file(path, text.len() as u64, &mut &*text)?;
        }
        Ok(())
    }

    /// The folder of a turn: what it is for people, what it is for programs, and its images.
    fn folder(&mut self, turn: &Turn, is_thinking_mode: bool) -> io::Result<Entry> {
        let named = |sha256: &str, mime: &str| format!("{sha256}.{}", media::ending(mime));
        let options = Options { reasoning: Part::Folded, tools: Part::Folded, image: &named };
        let mut text = Vec::new();
        markdown::write_turn(&mut text, &Shown { turn, is_thinking_mode, other_versions: 0 }, &options)?;
        let mut entries = vec![
            file("turn.md", self.pack.add(Kind::Blob, &text)?),
            file("turn.json", self.pack.add(Kind::Blob, &json(turn)?)?),
        ];
        for (sha256, mime) in images_of(turn) {
            let name = named(&sha256, &mime);
            if let Some(id) = self.images.get(&sha256)
                && entries.iter().all(|entry| entry.name != name)
            {
                entries.push(file(&name, *id));
            }
        }
        let name = format!("{:05}-{}", turn.depth + 1, turn.role.as_str());
        Ok(Entry { name, is_tree: true, id: self.pack.add(Kind::Tree, &tree(entries))? })
    }

    /// The folders before the one that a turn lies in.
    fn before(&mut self, turn: &Turn, parent: Option<TurnId>) -> io::Result<Rc<Vec<Entry>>> {
        let Some(node) = parent.and_then(|parent| self.turns.get(&parent)) else { return Ok(Rc::default()) };
        let before = node.before.clone();
        if node.depth / IN_A_FOLDER == turn.depth / IN_A_FOLDER {
            return Ok(before);
        }
        let mut longer = before.as_ref().clone();
        let full = self.entries_above(parent, node.depth / IN_A_FOLDER);
        let id = self.pack.add(Kind::Tree, &tree(full))?;
        longer.push(Entry { name: folder_name(turn.depth - 1), is_tree: true, id });
        Ok(longer.into())
    }

    /// The folder that a turn lies in, with the turns before it that lie there too.
    fn lying_with(&mut self, turn: &Turn, parent: Option<TurnId>, folder: &Entry) -> io::Result<Entry> {
        let mut entries = self.entries_above(parent, turn.depth / IN_A_FOLDER);
        entries.push(folder.clone());
        Ok(Entry { name: folder_name(turn.depth), is_tree: true, id: self.pack.add(Kind::Tree, &tree(entries))? })
    }

    /// The folders of a turn and of those before it, as far as they lie in this folder.
    fn entries_above(&self, from: Option<TurnId>, number: i64) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut at = from;
        while let Some(node) = at.and_then(|at| self.turns.get(&at)) {
            if node.depth / IN_A_FOLDER != number {
                break;
            }
            entries.push(node.folder.clone());
            at = node.parent;
        }
        entries
    }
}

fn file(name: &str, id: Id) -> Entry {
    Entry { name: name.to_owned(), is_tree: false, id }
}

/// Where a turn of this depth lies: `00001-00100`.
fn folder_name(depth: i64) -> String {
    let first = depth / IN_A_FOLDER * IN_A_FOLDER + 1;
    format!("{first:05}-{:05}", first + IN_A_FOLDER - 1)
}

/// JSON with one value a line, so that a difference is short.
fn json(of: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(of)?;
    text.push(b'\n');
    Ok(text)
}

/// The images that a turn shows: hashes and types.
fn images_of(turn: &Turn) -> Vec<(String, String)> {
    let of_block = |content: &Content| match content {
        Content::Image { blob, mime, .. } => vec![(blob.clone(), mime.clone())],
        Content::ToolResult { metadata, .. } => {
            told::images(metadata).into_iter().map(|image| (image.blob, image.mime)).collect()
        }
        _ => Vec::new(),
    };
    turn.blocks.iter().flat_map(|block| of_block(&block.content)).collect()
}

#[cfg(test)]
mod tests;
