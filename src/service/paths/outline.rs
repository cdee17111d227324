//! Outline of a chat's tree, and its branches with their fork points and usage.

use std::collections::{HashMap, HashSet};

use chrono::DateTime;

use crate::{Service, ServiceError};
use turnleaf_domain::branches::tree::outline::{TreeOutline, TurnSketch, turns_by_branch};
use turnleaf_domain::{Branch, BranchId, Chat, ChatId, InvalidField, TurnId, UserId, limits};
use turnleaf_store::usage::spending::{self, SpendingGrouping, SpendingSum};
use turnleaf_store::{branches, turns};

/// The tree with the details that its rows show.
pub struct ChatOutline {
    pub chat: Chat,
    pub outline: TreeOutline,
    pub branches: HashMap<BranchId, Branch>,
    /// The turns that contain the search text; `None` without a search.
    pub hits: Option<HashSet<TurnId>>,
}

/// A branch in the list of branches.
#[derive(Debug, Clone)]
pub struct ListedBranch {
    pub branch: Branch,
    /// The number of its own turns that are not deleted.
    pub turns: usize,
    /// The first and the last of its own turns.
    pub ends: Option<(TurnSketch, TurnSketch)>,
    /// The turn at which it forks.
    pub left_turn: Option<TurnSketch>,
    /// The version beside which it begins: the oldest other child of its first turn's parent.
    pub sibling: Option<TurnSketch>,
    /// The usage of its own turns, deleted ones included.
    pub usage: SpendingSum,
}

/// The effect of deleting, pruning and comparing a branch. Computing it walks the tree, so it is done only for the
/// branches that are shown.
#[derive(Debug, Clone, Copy)]
pub struct BranchImpact {
    /// The number of turns that its deletion removes: its own and their descendants.
    pub deleted_turns: usize,
    /// True when it has all turns of the chat: then the chat itself is deleted instead.
    pub is_all: bool,
    /// The number of turns that are neither ancestors nor descendants of its last turn.
    pub pruned_turns: usize,
    /// The end of the path that the chat opens at, if the branch leads to another end.
    pub current: Option<TurnId>,
}

/// All branches of a chat.
pub struct ListedBranches {
    pub chat: Chat,
    /// Pinned branches first, then by creation.
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
    /// Returns the outline of a chat. `at` is a turn of the path that is read, as in [`Service::path`]; `words` is
    /// the text that turns must contain to be hits, empty without a search.
    ///
    /// # Errors
    /// `NotFound` for a chat that does not exist; `InvalidField` for more words than [`limits::FIND_CHARS`] allow.
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

    /// Returns the branches of a chat.
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

    /// Returns the number of leaves of a chat's tree.
    pub async fn leaf_count(&self, owner: UserId, chat: ChatId) -> Result<u64, ServiceError> {
        Ok(turns::outline::count_leaves(self.db(), owner, chat).await?.unsigned_abs())
    }
}
