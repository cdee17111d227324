//! Assigns the branches of an imported chat: each is one chain with one lock.

use std::collections::HashMap;

use super::order::KeptMessages;
use crate::archive::ArchivedBranch;
use crate::conversation::Conversation;
use crate::domain::branches::branch::Branch;
use crate::domain::turns::turn::{Role, Turn};
use crate::domain::{BranchId, BranchOrigin, Chat, ModelLock, UNKNOWN_MODEL};
use crate::reading::fields::printable;

/// The branch of each message.
#[derive(Debug, Default)]
pub(super) struct BranchPlan {
    /// Maps a message to the index of its branch, from 0.
    pub branch_of: HashMap<usize, usize>,
    /// Maps a message to its lock.
    pub locks: HashMap<usize, ModelLock>,
    /// The messages of each branch in order; never empty.
    chains: Vec<Vec<usize>>,
}

/// Returns the lock of each message. A question takes that of its first reply, so that an exchange lies on one
/// branch. A reply that names no model takes that of the conversation.
fn locks(conversation: &Conversation, kept: &KeptMessages, provider: &str) -> HashMap<usize, ModelLock> {
    let messages = &conversation.messages;
    let own = |at: usize| {
        let model = messages[at].model.as_ref().or(conversation.model.as_ref());
        lock(messages[at].provider.as_deref(), model.map(String::as_str), provider)
    };
    let mut locks: HashMap<usize, ModelLock> = HashMap::with_capacity(kept.order.len());
    for &at in &kept.order {
        let inherited = kept.parent(at).and_then(|parent| locks.get(&parent)).cloned();
        let answered = kept.first_reply(at, messages).map(own);
        let lock = match messages[at].role {
            Role::Assistant => own(at),
            Role::User | Role::System => answered.or(inherited).unwrap_or_else(|| own(at)),
        };
        locks.insert(at, lock);
    }
    locks
}

/// Plans the branches: the first child with the same lock continues the branch, every other child starts a new one.
pub(super) fn plan(conversation: &Conversation, kept: &KeptMessages, provider: &str) -> BranchPlan {
    let mut plan = BranchPlan { locks: locks(conversation, kept, provider), ..BranchPlan::default() };
    let mut goes_on: HashMap<usize, usize> = HashMap::new();
    for &at in &kept.order {
        let parent = kept.parent(at);
        let number = parent
            .filter(|parent| goes_on.get(parent) == Some(&at))
            .and_then(|parent| plan.branch_of.get(&parent).copied());
        let number = number.unwrap_or_else(|| {
            plan.chains.push(Vec::new());
            plan.chains.len() - 1
        });
        plan.branch_of.insert(at, number);
        plan.chains[number].push(at);
        if let Some(next) = kept.children(Some(at)).iter().find(|child| plan.locks.get(child) == plan.locks.get(&at)) {
            goes_on.insert(at, *next);
        }
    }
    plan
}

/// Drops the branches above the limit with their messages; returns the first dropped message and the number of
/// dropped branches. No remaining message depends on a dropped one, because a branch has a higher index than its
/// parent.
pub(super) fn drop_excess_branches(
    plan: &mut BranchPlan,
    kept: &mut KeptMessages,
    most: usize,
) -> Option<(usize, usize)> {
    if plan.chains.len() <= most {
        return None;
    }
    let first = plan.chains[most].first().copied()?;
    plan.chains.truncate(most);
    let count = plan.branch_of.len();
    plan.branch_of.retain(|_, number| *number < most);
    kept.retain(|at| plan.branch_of.contains_key(&at));
    Some((first, count - plan.branch_of.len()))
}

/// Returns the branch rows in the order of their first messages.
pub(super) fn build_branches<'t>(
    plan: &BranchPlan,
    kept: &KeptMessages,
    chat: &Chat,
    turn: &dyn Fn(usize) -> Option<&'t Turn>,
    id: &dyn Fn(usize) -> BranchId,
) -> Vec<ArchivedBranch> {
    let row = |(number, chain): (usize, &Vec<usize>)| {
        let (first, last) = (chain.first()?, chain.last()?);
        let fork = kept.parent(*first);
        let name = if number == 0 { "main".to_owned() } else { format!("branch {}", number + 1) };
        let lock = plan.locks.get(first)?.clone();
        let branch = Branch {
            parent_branch_id: fork.and_then(|fork| plan.branch_of.get(&fork)).map(|parent| id(*parent)),
            fork_turn_id: fork.and_then(turn).map(|turn| turn.id),
            head_turn_id: turn(*last).map(|turn| turn.id),
            origin: BranchOrigin::Import,
            ..Branch::new(id(number), chat.id, name, lock, turn(*first)?.created_at)
        };
        Some(ArchivedBranch {
            branch,
            system_prompt: chat.system_prompt.clone(),
            tools: Some(Vec::new()),
            server_instructions: Vec::new(),
        })
    };
    plan.chains.iter().enumerate().filter_map(row).collect()
}

/// Returns a lock that satisfies the database constraints: names that are not empty and within the bound.
fn lock(provider: Option<&str>, model: Option<&str>, usual: &str) -> ModelLock {
    let word = |word: Option<&str>, other: &str| {
        let word = printable(word.unwrap_or_default().trim(), 200);
        if word.is_empty() { other.to_owned() } else { word }
    };
    ModelLock::new(word(provider, usual), word(model, UNKNOWN_MODEL))
}
