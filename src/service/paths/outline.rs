//! A chat's tree as a person looks over it: its outline, and its branches with where they left and what they took.

use std::collections::{HashMap, HashSet};

use chrono::DateTime;

use crate::{Service, ServiceError};
use turnleaf_domain::tree::outline::{TreeOutline, TurnSketch, turns_by_branch};
use turnleaf_domain::{Branch, BranchId, Chat, ChatId, InvalidField, TurnId, UserId, limits};
use turnleaf_store::spending::{SpendingGrouping, SpendingSum};
use turnleaf_store::{branches, spending, turns};

/// The tree with what its rows say beside it.
pub struct ChatOutline {
    pub chat: Chat,
    pub outline: TreeOutline,
    pub branches: HashMap<BranchId, Branch>,
    /// The turns that say the words that were looked for.
    pub hits: Option<HashSet<TurnId>>,
}

/// A branch in the list of them.
#[derive(Debug, Clone)]
pub struct ListedBranch {
    pub branch: Branch,
    /// Turns of its own that are not deleted.
    pub turns: usize,
    /// The first and the last of them.
    pub ends: Option<(TurnSketch, TurnSketch)>,
    /// The turn that it left.
    pub left_turn: Option<TurnSketch>,
    /// The version beside which it begins: the oldest other turn that hangs where its first one hangs.
    pub sibling: Option<TurnSketch>,
    /// What its own turns took, deleted ones included.
    pub usage: SpendingSum,
}

/// What deleting, pruning and comparing a branch would mean. Counting walks the tree: for the branches that are shown.
#[derive(Debug, Clone, Copy)]
pub struct BranchImpact {
    /// How many turns go when it is deleted: its own and what hangs on them.
    pub deleted_turns: usize,
    /// Whether that is all there is: then the chat is what can be deleted.
    pub is_all: bool,
    /// Turns that are neither on the way to its last one nor below that.
    pub pruned_turns: usize,
    /// The end of the path that the chat opens with, where that is another one than the branch leads to.
    pub current: Option<TurnId>,
}

/// All branches of a chat.
pub struct ListedBranches {
    pub chat: Chat,
    /// Pinned ones first, then by creation.
    pub branches: Vec<ListedBranch>,
    outline: TreeOutline,
}

impl ListedBranches {
    pub fn impact(&self, listed: &ListedBranch) -> BranchImpact {
        let ends = listed.ends.as_ref().map(|(first, last)| (first.node.id, last.node.id));
        let going = ends.map_or(0, |(first, _)| self.outline.count_below(first).0 + 1);
        let leaf = ends.and_then(|(_, last)| self.outline.leaf_below(last));
        BranchImpact {
            is_all: going > 0 && going == self.outline.sketches().len(),
            deleted_turns: going,
            pruned_turns: ends.map_or(0, |(_, last)| self.outline.count_others(last)),
            current: self.outline.leaf().filter(|current| leaf.is_some_and(|leaf| leaf != *current)),
        }
    }
}

impl Service {
    /// The outline of a chat. `at` is a turn of the path that is read, as in [`Service::path`]; `words` are what turns
    /// must say to be among the hits, none where nothing is looked for.
    ///
    /// # Errors
    /// `NotFound` for a chat that is not there; `InvalidField` for more words than [`limits::FIND_CHARS`] hold.
    pub async fn outline(
        &self,
        owner: UserId,
        id: ChatId,
        at: Option<TurnId>,
        words: &str,
    ) -> Result<ChatOutline, ServiceError> {
        if words.chars().count() > limits::FIND_CHARS {
            return Err(InvalidField::too_long("words", limits::FIND_CHARS).into());
        }
        let (chat, leaf) = self.chat_with_leaf(owner, id, at).await?;
        let sketches = turns::outline::sketches(self.db(), owner, id).await?;
        let branches = branches::list(self.db(), owner, id).await?;
        let words: Vec<String> = words.split_whitespace().take(limits::TREE_WORDS).map(str::to_owned).collect();
        let hits = match words.as_slice() {
            [] => None,
            words => Some(turns::outline::turns_containing(self.db(), owner, id, words).await?),
        };
        Ok(ChatOutline {
            chat,
            outline: TreeOutline::new(sketches, leaf),
            branches: branches.into_iter().map(|branch| (branch.id, branch)).collect(),
            hits,
        })
    }

    /// The branches of a chat.
    pub async fn listed_branches(&self, owner: UserId, id: ChatId) -> Result<ListedBranches, ServiceError> {
        let ChatOutline { chat, outline, branches, .. } = self.outline(owner, id, None, "").await?;
        let since_ever = (DateTime::UNIX_EPOCH, self.clock().now() + chrono::TimeDelta::days(1));
        let sums = spending::sums(self.db(), owner, since_ever, SpendingGrouping::Branch(id)).await?;
        let mut usage: HashMap<_, _> = sums.into_iter().filter_map(|sum| Some((sum.branch_id?, sum))).collect();
        let mut turns_of = turns_by_branch(outline.sketches());
        let mut listed: Vec<ListedBranch> = branches
            .into_values()
            .map(|branch| {
                let ends = turns_of.remove(&branch.id);
                ListedBranch {
                    turns: ends.map_or(0, |(count, ..)| count),
                    left_turn: branch.fork_turn_id.and_then(|left| outline.find(left)).cloned(),
                    sibling: ends.and_then(|(_, first, _)| outline.first_sibling(first.node.id)).cloned(),
                    ends: ends.map(|(_, first, last)| (first.clone(), last.clone())),
                    usage: usage.remove(&branch.id).unwrap_or_default(),
                    branch,
                }
            })
            .collect();
        listed.sort_by_key(|listed| (!listed.branch.pinned, listed.branch.created_at, listed.branch.id));
        Ok(ListedBranches { chat, branches: listed, outline })
    }

    /// How many ends the tree of a chat has.
    pub async fn leaf_count(&self, owner: UserId, chat: ChatId) -> Result<u64, ServiceError> {
        Ok(turns::outline::count_leaves(self.db(), owner, chat).await?.unsigned_abs())
    }
}
