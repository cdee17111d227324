//! Chats of any shape, inserted at once as the product would have stored them, without a model.

use std::collections::HashMap;

use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use turnleaf::domain::*;
use turnleaf_store::accounts::users;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, branches, chats};

/// A chat with its turns in order of creation, and its owner.
pub struct TreeFixture {
    pub owner: UserId,
    pub chat: ChatId,
    pub turns: Vec<Turn>,
}

/// Inserts alternating messages and finished replies. Turn `n` is a child of turn `hangs_on(n)`: at the end of a
/// branch it continues that branch, elsewhere it starts a new one.
pub async fn plant_tree(
    db: &Db,
    lock: ModelLock,
    length: usize,
    hangs_on: impl Fn(usize) -> Option<usize>,
) -> TreeFixture {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    let chat = chat(owner);
    chats::insert(&mut tx, &chat).await.unwrap();
    let mut heads: HashMap<BranchId, TurnId> = HashMap::new();
    let mut grown: Vec<Turn> = Vec::new();
    for n in 0..length {
        let parent = hangs_on(n).map(|at| grown[at].clone());
        let ends = parent.as_ref().filter(|parent| heads.get(&parent.branch_id) == Some(&parent.id));
        let mut on = Branch { lock: lock.clone(), ..branch(chat.id) };
        match ends {
            Some(parent) => on.id = parent.branch_id,
            None => {
                on.fork_turn_id = parent.as_ref().map(|parent| parent.id);
                branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
            }
        }
        let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
        let role = match &parent {
            Some(parent) if parent.role == Role::User => Role::Assistant,
            _ => Role::User,
        };
        let mut next = turn(&on, next_id(), parent.as_ref(), ord, role);
        let mut of = exchange(&on, next.id, None);
        let author = if role == Role::User { Author::User } else { Author::Assistant };
        if role == Role::Assistant {
            next.status = TurnStatus::Complete;
            next.completed_at = Some(next_time());
            next.provider_used = Some(on.lock.provider.clone());
            (of.kind, of.user_turn_id) = (ExchangeKind::Regenerate, next.prev_turn_id);
        }
        next.exchange_id = of.id;
        let text = |seq| block(&next, seq, author, BlockState::Done, Content::text(format!("{n}.{seq}")));
        next.blocks = (0..=u32::try_from(n % 3).unwrap()).map(text).collect();
        exchanges::insert(&mut tx, owner, &of, None).await.unwrap();
        turns::insert(&mut tx, &next).await.unwrap();
        assert!(branches::set_head(&mut tx, on.id, heads.get(&on.id).copied(), next.id).await.unwrap());
        if heads.is_empty() {
            chats::set_default_branch(&mut tx, chat.id, on.id).await.unwrap();
        }
        heads.insert(on.id, next.id);
        grown.push(next);
    }
    tx.commit().await.unwrap();
    TreeFixture { owner, chat: chat.id, turns: grown }
}

/// Returns a pseudo-random parent: mostly the previous turn, sometimes an earlier one, sometimes none.
pub fn pseudo_random_parent(n: usize) -> Option<usize> {
    let dice = n.wrapping_mul(2_654_435_761) >> 7;
    match (n, dice % 11) {
        (0, _) | (_, 0) => None,
        (_, 1..=4) => Some(dice % n),
        _ => Some(n - 1),
    }
}

impl TreeFixture {
    /// Returns the path to a turn by walking from it to the root.
    pub fn walk_to_root(&self, leaf: &Turn) -> Vec<Turn> {
        let mut path = vec![leaf.clone()];
        while let Some(up) = path.last().unwrap().prev_turn_id {
            path.push(self.turns.iter().find(|turn| turn.id == up).unwrap().clone());
        }
        path.reverse();
        path
    }
}
