//! Finds the turns of an imported repository by walking its commits, parents first.

use std::collections::HashMap;

use super::object::{ObjectId, ObjectKind, TreeEntry, decode_commit, decode_tree};
use super::object_store::{ObjectStore, missing};
use super::ref_reader::RepositoryRefs;
use super::turn_files::{BRANCH_FILE, TURN_FILE, TURNS_FOLDER};
use crate::bounds;
use crate::domain::limits;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The files of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnObjects {
    pub json: ObjectId,
    /// The other files of its folder.
    pub files: Vec<(String, ObjectId)>,
    /// The lock of its branch.
    pub branch: Option<ObjectId>,
    /// An index of [`History::turns`], smaller than its own.
    pub parent: Option<usize>,
}

/// The turns of a repository, each after its parent.
#[derive(Debug, Default)]
pub(super) struct History {
    pub turns: Vec<TurnObjects>,
    /// The names of the branches with their last turns.
    pub tips: Vec<(String, usize)>,
    /// The name of the branch that was shown.
    pub head: Option<String>,
}

/// Walks the commits of all branches.
///
/// # Errors
/// An object is damaged or missing, except for the parents where a shallow clone ends.
pub(super) fn read_history(
    refs: RepositoryRefs,
    store: &mut ObjectStore<'_>,
    taker: &mut dyn ImportSink,
) -> Result<History, ImportError> {
    let mut walk = HistoryWalk { store, history: History::default(), turn_of: HashMap::new(), by_json: HashMap::new() };
    for (name, commit) in refs.branches {
        if let Some(turn) = walk.follow(commit, taker)? {
            walk.history.tips.push((name, turn));
        }
    }
    walk.history.head = refs.head;
    Ok(walk.history)
}

struct HistoryWalk<'s, 'f> {
    store: &'s mut ObjectStore<'f>,
    history: History,
    /// The turn of each known commit; `None` if neither it nor its ancestors have one.
    turn_of: HashMap<ObjectId, Option<usize>>,
    /// Turns by their files: a commit that adds no turn belongs to the turn before it.
    by_json: HashMap<ObjectId, usize>,
}

impl HistoryWalk<'_, '_> {
    /// Adds the turns up to a commit, and returns that of the commit.
    fn follow(&mut self, commit: ObjectId, taker: &mut dyn ImportSink) -> Result<Option<usize>, ImportError> {
        let mut chain = Vec::new();
        let mut next = Some(commit);
        let mut above = None;
        while let Some(commit) = next {
            if let Some(known) = self.turn_of.get(&commit) {
                above = *known;
                break;
            }
            if chain.len() as i64 > 2 * limits::TURNS_PER_CHAT {
                return Err(ImportError::TooLarge("the repository has too many commits".to_owned()));
            }
            let Some(body) = self.store.find(&commit, ObjectKind::Commit, bounds::GIT_NODE_BYTES, taker)? else {
                if chain.is_empty() {
                    return Err(missing(&commit));
                }
                let text = "the repository is a shallow clone: what precedes its first commits is missing".to_owned();
                let location = IssueLocation { message: commit.to_string(), ..IssueLocation::default() };
                report_issue(taker, ImportIssue { kind: IssueKind::Lost, location, text })?;
                break;
            };
            let (tree, parent) = decode_commit(&body)
                .ok_or_else(|| ImportError::Damaged(format!("the commit {commit} is not readable")))?;
            chain.push((commit, tree));
            next = parent;
        }
        for (commit, tree) in chain.into_iter().rev() {
            above = self.add_commit(&tree, above, taker)?;
            self.turn_of.insert(commit, above);
        }
        Ok(above)
    }

    /// Returns the turn of a commit: the last folder below `turns`.
    fn add_commit(
        &mut self,
        tree: &ObjectId,
        parent: Option<usize>,
        taker: &mut dyn ImportSink,
    ) -> Result<Option<usize>, ImportError> {
        let root = self.tree(tree, taker)?;
        let find = |name: &str, is_tree: bool| {
            root.iter().find(|entry| entry.name == name && entry.is_tree == is_tree).map(|entry| entry.id)
        };
        let Some(turns) = find(TURNS_FOLDER, true) else { return Ok(parent) };
        let Some(group) = last_folder(self.tree(&turns, taker)?) else { return Ok(parent) };
        let Some(turn) = last_folder(self.tree(&group, taker)?) else { return Ok(parent) };
        let files: Vec<(String, ObjectId)> = self
            .tree(&turn, taker)?
            .into_iter()
            .filter(|file| !file.is_tree)
            .map(|file| (file.name, file.id))
            .collect();
        let Some(json) = files.iter().find(|(name, _)| name == TURN_FILE).map(|(_, id)| *id) else {
            return Ok(parent);
        };
        if let Some(known) = self.by_json.get(&json) {
            return Ok(Some(*known));
        }
        let number = self.history.turns.len();
        if number as i64 == limits::TURNS_PER_CHAT {
            return Err(ImportError::TooLarge(format!("the repository has more than {number} messages")));
        }
        let branch = find(BRANCH_FILE, false);
        self.by_json.insert(json, number);
        self.history.turns.push(TurnObjects { json, files, branch, parent });
        Ok(Some(number))
    }

    fn tree(&mut self, id: &ObjectId, taker: &mut dyn ImportSink) -> Result<Vec<TreeEntry>, ImportError> {
        let body = self.store.find(id, ObjectKind::Tree, bounds::GIT_NODE_BYTES, taker)?.ok_or_else(|| missing(id))?;
        decode_tree(&body).ok_or_else(|| ImportError::Damaged(format!("the folder {id} is not readable")))
    }
}

/// Returns the folder whose name begins with the greatest number.
pub(super) fn last_folder(entries: Vec<TreeEntry>) -> Option<ObjectId> {
    let folders = entries.into_iter().filter(|entry| entry.is_tree);
    folders
        .max_by_key(|folder| leading_number(&folder.name))
        .filter(|folder| leading_number(&folder.name) > 0)
        .map(|folder| folder.id)
}

/// Returns the number at the beginning of a folder name; 0 if there is none.
pub(super) fn leading_number(name: &str) -> u64 {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    name[..digits].parse().unwrap_or_default()
}
