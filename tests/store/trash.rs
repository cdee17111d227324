//! Soft deletion, restore and purge: by example, and as a property test over sequences of actions. After each action
//! `fsck` finds nothing, exactly the expected rows are deleted, and a restore undoes its deletion.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::databases::{TestDatabase, test_databases};
use crate::domain_fixtures::{branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::walkthrough;
use chrono::TimeDelta;
use proptest::prelude::*;
use turnleaf::domain::*;
use turnleaf_run::purge::{purge_expired, purge_scheduled};
use turnleaf_store::accounts::users;
use turnleaf_store::deletions::{self, DeletedItem, DeletionOutcome, DeletionRoot, NewDeletion, RestoreOutcome, purge};
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::turns::{self, TurnProgress, exchanges};
use turnleaf_store::{Db, StoreError, branches, chats};
use uuid::Uuid;

/// The columns of a turn that describe the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TurnRow {
    id: Uuid,
    prev_turn_id: Option<Uuid>,
    branch_id: Uuid,
    deletion_id: Option<Uuid>,
}

/// The columns of a branch that describe the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BranchRow {
    id: Uuid,
    fork_turn_id: Option<Uuid>,
    head_turn_id: Option<Uuid>,
    deletion_id: Option<Uuid>,
}

/// All state that a deletion may change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeSnapshot {
    turns: BTreeMap<Uuid, TurnRow>,
    branches: BTreeMap<Uuid, BranchRow>,
    default_branch: Option<BranchId>,
    last_viewed: Option<TurnId>,
}

macro_rules! query_rows {
    ($db:expr, $text:expr) => {
        match $db {
            Db::Sqlite { readers, .. } => sqlx::query_as($text).fetch_all(readers).await.unwrap(),
            Db::Postgres { readers, .. } => sqlx::query_as($text).fetch_all(readers).await.unwrap(),
        }
    };
}

/// One chat of one owner, with the actions on it.
struct TrashTree<'a> {
    db: &'a Db,
    owner: UserId,
    chat: ChatId,
}

impl<'a> TrashTree<'a> {
    async fn plant_chat(db: &'a Db) -> Self {
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        let chat = chat(owner);
        let branch = branch(chat.id);
        chats::insert(&mut tx, &chat).await.unwrap();
        branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
        chats::set_default_branch(&mut tx, chat.id, branch.id).await.unwrap();
        tx.commit().await.unwrap();
        Self { db, owner, chat: chat.id }
    }

    async fn snapshot(&self) -> TreeSnapshot {
        type TurnColumns = (Uuid, Option<Uuid>, Uuid, Option<Uuid>);
        let turns: Vec<TurnColumns> =
            query_rows!(self.db, "SELECT id, prev_turn_id, branch_id, deletion_id FROM turns ORDER BY ord");
        let turn = |(id, prev_turn_id, branch_id, deletion_id)| TurnRow { id, prev_turn_id, branch_id, deletion_id };
        type BranchColumns = (Uuid, Option<Uuid>, Option<Uuid>, Option<Uuid>);
        let branches: Vec<BranchColumns> =
            query_rows!(self.db, "SELECT id, fork_turn_id, head_turn_id, deletion_id FROM branches ORDER BY id");
        let branch =
            |(id, fork_turn_id, head_turn_id, deletion_id)| BranchRow { id, fork_turn_id, head_turn_id, deletion_id };
        let chat = chats::find(self.db, self.owner, self.chat).await.unwrap();
        TreeSnapshot {
            turns: turns.into_iter().map(turn).map(|turn| (turn.id, turn)).collect(),
            branches: branches.into_iter().map(branch).map(|branch| (branch.id, branch)).collect(),
            default_branch: chat.as_ref().and_then(|chat| chat.default_branch_id),
            last_viewed: chat.and_then(|chat| chat.last_viewed_turn_id),
        }
    }

    /// Adds an exchange below this reply, or at the root: on the reply's branch where that may continue, else on a
    /// new one, as the service does.
    async fn append_exchange(&self, under: Option<Uuid>) -> TurnId {
        let parent = match under {
            Some(id) => Some(turns::find(self.db, self.owner, id.into()).await.unwrap().unwrap()),
            None => None,
        };
        let mut tx = self.db.begin().await.unwrap();
        let all = branches::list(self.db, self.owner, self.chat).await.unwrap();
        let source = match &parent {
            Some(turn) => all.iter().find(|branch| branch.id == turn.branch_id).unwrap(),
            None => &all[0],
        };
        let at = parent.as_ref().map(|turn| turn.id);
        let end = source.head_turn_id.or(source.fork_turn_id);
        let goes_on = at == end && !deletions::has_deleted_turns(&mut tx, source.id).await.unwrap();
        let mut on = source.clone();
        if !goes_on {
            on = Branch { parent_branch_id: Some(source.id), fork_turn_id: at, ..branch(self.chat) };
            branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
        }
        let ord = chats::allocate_ord(&mut tx, self.owner, self.chat, next_time()).await.unwrap().unwrap();
        let mut question = turn(&on, next_id(), parent.as_ref(), ord, Role::User);
        let exchange = exchange(&on, question.id, None);
        question.exchange_id = exchange.id;
        exchanges::insert(&mut tx, self.owner, &exchange, None).await.unwrap();
        turns::insert(&mut tx, &question).await.unwrap();
        let ord = chats::allocate_ord(&mut tx, self.owner, self.chat, next_time()).await.unwrap().unwrap();
        let mut reply = turn(&on, exchange.id, Some(&question), ord, Role::Assistant);
        (reply.status, reply.completed_at) = (TurnStatus::Cancelled, Some(next_time()));
        turns::insert(&mut tx, &reply).await.unwrap();
        assert!(branches::set_head(&mut tx, on.id, on.head_turn_id, reply.id).await.unwrap());
        chats::set_last_viewed(&mut tx, self.owner, self.chat, reply.id).await.unwrap();
        tx.commit().await.unwrap();
        reply.id
    }

    async fn empty_branch(&self, from: Option<Uuid>) -> BranchId {
        let mut tx = self.db.begin().await.unwrap();
        let new = Branch { fork_turn_id: from.map(TurnId::from), ..branch(self.chat) };
        branches::insert(&mut tx, &new, &frozen_settings()).await.unwrap();
        tx.commit().await.unwrap();
        new.id
    }

    async fn mark(&self, root: DeletionRoot) -> (DeletionId, DeletionOutcome) {
        let id = next_id();
        let new = NewDeletion { id, owner_id: self.owner, chat_id: self.chat, root, at: next_time() };
        let mut tx = self.db.begin().await.unwrap();
        let marked = deletions::soft_delete(&mut tx, &new).await.unwrap();
        match marked {
            DeletionOutcome::Done { .. } => tx.commit().await.unwrap(),
            _ => tx.rollback().await.unwrap(),
        }
        (id, marked)
    }

    async fn delete(&self, root: DeletionRoot) -> DeletionId {
        let (id, marked) = self.mark(root).await;
        assert!(matches!(marked, DeletionOutcome::Done { .. }), "{root:?}: {marked:?}");
        id
    }

    async fn unmark(&self, deletion: DeletionId) -> RestoreOutcome {
        let mut tx = self.db.begin().await.unwrap();
        let unmarked = deletions::restore(&mut tx, self.owner, deletion).await.unwrap();
        match unmarked {
            RestoreOutcome::Done { .. } => tx.commit().await.unwrap(),
            _ => tx.rollback().await.unwrap(),
        }
        unmarked
    }

    async fn restore(&self, deletion: DeletionId) {
        let unmarked = self.unmark(deletion).await;
        assert!(matches!(unmarked, RestoreOutcome::Done { .. }), "{unmarked:?}");
    }

    async fn purge(&self, deletion: DeletionId) {
        let mut tx = self.db.begin().await.unwrap();
        assert!(purge::schedule_purge(&mut tx, self.owner, deletion, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(self.unmark(deletion).await, RestoreOutcome::Gone, "what is doomed cannot come back");
        purge_scheduled(self.db, next_time()).await.unwrap();
    }

    async fn trash(&self) -> Vec<deletions::Deletion> {
        deletions::list(self.db, self.owner, None, 100).await.unwrap()
    }

    async fn check(&self) {
        let findings = fsck::check(self.db, CheckMode::Stopped).await.unwrap();
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

impl TreeSnapshot {
    fn live(&self) -> Vec<Uuid> {
        self.turns.values().filter(|turn| turn.deletion_id.is_none()).map(|turn| turn.id).collect()
    }

    /// Returns the replies that are not deleted; a message can follow them.
    fn replies(&self) -> Vec<Uuid> {
        let answers = |turn: &&TurnRow| turn.prev_turn_id.is_some_and(|prev| self.is_question(prev));
        let live = self.turns.values().filter(|turn| turn.deletion_id.is_none());
        live.filter(answers).map(|turn| turn.id).collect()
    }

    /// Returns whether a turn is a user's message, by its depth: roles alternate from the root on.
    fn is_question(&self, turn: Uuid) -> bool {
        let mut above = 0;
        let mut at = self.turns[&turn].prev_turn_id;
        while let Some(prev) = at {
            above += 1;
            at = self.turns[&prev].prev_turn_id;
        }
        above % 2 == 0
    }

    /// Returns the turn and all its descendants, deleted or not.
    fn turns_below(&self, root: Uuid) -> BTreeSet<Uuid> {
        let mut found = BTreeSet::from([root]);
        loop {
            let more = self.turns.values().filter(|turn| turn.prev_turn_id.is_some_and(|prev| found.contains(&prev)));
            let more: Vec<Uuid> = more.map(|turn| turn.id).filter(|id| !found.contains(id)).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    fn turns_above(&self, turn: Uuid) -> BTreeSet<Uuid> {
        let mut found = BTreeSet::from([turn]);
        let mut at = self.turns[&turn].prev_turn_id;
        while let Some(prev) = at {
            found.insert(prev);
            at = self.turns[&prev].prev_turn_id;
        }
        found
    }

    /// Returns the turns that a deletion with this root covers.
    fn turns_taken_by(&self, root: DeletionRoot) -> BTreeSet<Uuid> {
        let of = match root {
            DeletionRoot::Chat => self.turns.keys().copied().collect(),
            DeletionRoot::Turn(turn) => self.turns_below(turn.uuid()),
            DeletionRoot::Branch(branch) => {
                let mut of_branch = self.turns.values().filter(|turn| {
                    turn.branch_id == branch.uuid()
                        && turn.deletion_id.is_none()
                        && turn.prev_turn_id.is_none_or(|prev| self.turns[&prev].branch_id != branch.uuid())
                });
                of_branch.next().map(|first| self.turns_below(first.id)).unwrap_or_default()
            }
            DeletionRoot::AllBut(turn) => {
                let kept: BTreeSet<Uuid> =
                    self.turns_above(turn.uuid()).union(&self.turns_below(turn.uuid())).copied().collect();
                self.turns.keys().copied().filter(|id| !kept.contains(id)).collect()
            }
        };
        of.into_iter().filter(|id| self.turns[id].deletion_id.is_none()).collect()
    }
}

fn pick_by<T: Copy>(from: &[T], by: u16) -> Option<T> {
    (!from.is_empty()).then(|| from[usize::from(by) % from.len()])
}

/// Deletes and asserts that exactly the expected turns are deleted.
async fn delete_and_compare(tree: &TrashTree<'_>, root: DeletionRoot) -> Option<DeletionId> {
    let before = tree.snapshot().await;
    let expected = before.turns_taken_by(root);
    let (deletion, marked) = tree.mark(root).await;
    let after = tree.snapshot().await;
    let DeletionOutcome::Done { turns, .. } = marked else {
        assert_eq!(before, after, "{marked:?} changes nothing");
        return None;
    };
    let deleted: BTreeSet<Uuid> =
        after.turns.values().filter(|turn| turn.deletion_id == Some(deletion.uuid())).map(|turn| turn.id).collect();
    assert_eq!((deleted.len() as u64, &deleted), (turns, &expected), "{root:?}");
    for (id, turn) in &before.turns {
        if !expected.contains(id) {
            assert_eq!(&after.turns[id], turn, "what is not below stays");
        }
    }
    Some(deletion)
}

/// Applies one action of a sequence.
async fn apply_action(tree: &TrashTree<'_>, action: u8, by: u16) {
    let before = tree.snapshot().await;
    let live = before.live();
    let live_branches: Vec<Uuid> =
        before.branches.values().filter(|branch| branch.deletion_id.is_none()).map(|branch| branch.id).collect();
    let root = match action % 4 {
        0 | 1 => pick_by(&live, by).map(|turn| DeletionRoot::Turn(turn.into())),
        2 => pick_by(&live_branches, by).map(|branch| DeletionRoot::Branch(branch.into())),
        _ => pick_by(&live, by).map(|turn| DeletionRoot::AllBut(turn.into())),
    };
    match action {
        // Additions: below a reply, a new root, an empty branch.
        0..=4 => drop(tree.append_exchange(pick_by(&before.replies(), by)).await),
        5 => drop(tree.append_exchange(None).await),
        6 => drop(tree.empty_branch(pick_by(&before.replies(), by)).await),
        7..=10 => {
            if let Some(root) = root {
                delete_and_compare(tree, root).await;
            }
        }
        // An immediate restore gives back the same state.
        11..=14 => {
            let root = if action == 14 { Some(DeletionRoot::Chat) } else { root };
            if let Some(deletion) = delete_and_compare(tree, root.unwrap_or(DeletionRoot::Chat)).await {
                tree.check().await;
                tree.restore(deletion).await;
                assert_eq!(tree.snapshot().await, before);
            }
        }
        15 | 16 => {
            let trash = tree.trash().await;
            let Some(deletion) = pick_by(&trash.iter().map(|deletion| deletion.id).collect::<Vec<_>>(), by) else {
                return;
            };
            let unmarked = tree.unmark(deletion).await;
            let after = tree.snapshot().await;
            match unmarked {
                RestoreOutcome::Done { .. } => {
                    for (id, turn) in &before.turns {
                        let was_its = turn.deletion_id == Some(deletion.uuid());
                        let expected = if was_its { None } else { turn.deletion_id };
                        assert_eq!(after.turns[id].deletion_id, expected);
                    }
                }
                RestoreOutcome::BlockedBy(other) => {
                    assert!(trash.iter().any(|deletion| deletion.id == other), "it names one that can come back");
                    assert_eq!(after, before);
                }
                RestoreOutcome::Gone => panic!("it was listed"),
            }
        }
        _ => {
            let trash = tree.trash().await;
            let Some(deletion) = pick_by(&trash.iter().map(|deletion| deletion.id).collect::<Vec<_>>(), by) else {
                return;
            };
            let roots = before.turns.values().filter(|turn| turn.deletion_id == Some(deletion.uuid()));
            let gone: BTreeSet<Uuid> = roots.flat_map(|turn| before.turns_below(turn.id)).collect();
            tree.purge(deletion).await;
            let after = tree.snapshot().await;
            let left: BTreeSet<Uuid> = before.turns.keys().copied().filter(|id| !gone.contains(id)).collect();
            assert_eq!(after.turns.keys().copied().collect::<BTreeSet<_>>(), left);
            assert_eq!(after.live(), before.live());
        }
    }
}

/// Applies a sequence, then restores everything, newest deletion first.
async fn run_actions(fresh: &TestDatabase, deeds: &[(u8, u16)]) {
    let tree = TrashTree::plant_chat(&fresh.db).await;
    for (action, by) in deeds {
        apply_action(&tree, *action, *by).await;
        tree.check().await;
    }
    let trash = tree.trash().await;
    let (back, away) = trash.split_at(trash.len() / 2);
    for deletion in back {
        tree.restore(deletion.id).await;
        tree.check().await;
    }
    let before = tree.snapshot().await;
    if !away.is_empty() {
        let mut tx = tree.db.begin().await.unwrap();
        assert_eq!(purge::schedule_purge_of_trash(&mut tx, tree.owner, next_time()).await.unwrap(), away.len() as u64);
        tx.commit().await.unwrap();
        tree.check().await;
        purge_scheduled(tree.db, next_time()).await.unwrap();
    }
    tree.check().await;
    let after = tree.snapshot().await;
    assert_eq!(after.live(), before.live());
    assert!(after.turns.values().all(|turn| turn.deletion_id.is_none()));
    assert!(after.branches.values().all(|branch| branch.deletion_id.is_none()));
    assert_eq!(tree.trash().await, []);
}

#[test]
fn any_action_sequence_leaves_sound_tree_and_restores_what_was_deleted() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // The whole tree is checked after each of up to 36 actions, on two databases: a case takes ten seconds and more.
    let config = ProptestConfig { cases: 4, failure_persistence: None, max_shrink_iters: 60, ..Default::default() };
    proptest!(config, |(deeds in prop::collection::vec((0u8..19, any::<u16>()), 10..36))| {
        runtime.block_on(async {
            for fresh in test_databases().await {
                run_actions(&fresh, &deeds).await;
                fresh.close().await;
            }
        });
    });
}

#[tokio::test]
async fn no_turn_is_appended_to_branch_of_deleted_turns() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let second = tree.append_exchange(Some(first.uuid())).await;
        let question = tree.snapshot().await.turns[&second.uuid()].prev_turn_id.unwrap();
        let deletion = tree.delete(DeletionRoot::Turn(question.into())).await;
        let other = tree.append_exchange(Some(first.uuid())).await;
        let now = tree.snapshot().await;
        assert_ne!(now.turns[&other.uuid()].branch_id, now.turns[&second.uuid()].branch_id);
        tree.restore(deletion).await;
        tree.check().await;
        let now = tree.snapshot().await;
        let of_main = &now.branches[&now.turns[&first.uuid()].branch_id];
        assert_eq!(of_main.head_turn_id, Some(second.uuid()), "the branch ends where it ended");
        fresh.close().await;
    }
}

#[tokio::test]
async fn dependent_deletion_is_restored_after_later_one() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let second = tree.append_exchange(Some(first.uuid())).await;
        let inner = tree.delete(DeletionRoot::Turn(second)).await;
        let outer = tree.delete(DeletionRoot::Turn(first)).await;
        let whole = tree.delete(DeletionRoot::Chat).await;
        assert_eq!(tree.unmark(inner).await, RestoreOutcome::BlockedBy(whole));
        assert_eq!(chats::find(tree.db, tree.owner, tree.chat).await.unwrap(), None);
        assert!(deletions::find(tree.db, tree.owner, inner).await.unwrap().unwrap().chat_is_deleted);
        tree.restore(whole).await;
        assert_eq!(tree.unmark(inner).await, RestoreOutcome::BlockedBy(outer));
        tree.check().await;
        tree.restore(outer).await;
        tree.restore(inner).await;
        assert_eq!(tree.snapshot().await.live().len(), 4);
        tree.check().await;
        // The inner deletion is purged with its parent.
        let inner = tree.delete(DeletionRoot::Turn(second)).await;
        let outer = tree.delete(DeletionRoot::Turn(first)).await;
        tree.purge(outer).await;
        tree.check().await;
        assert_eq!(deletions::find(tree.db, tree.owner, inner).await.unwrap(), None);
        assert_eq!((tree.snapshot().await.turns.len(), tree.trash().await), (1, Vec::new()));
        fresh.close().await;
    }
}

#[tokio::test]
async fn chat_without_turns_can_continue() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let begun = tree.snapshot().await;
        let question = begun.turns[&first.uuid()].prev_turn_id.unwrap();
        let main = begun.turns[&first.uuid()].branch_id;
        let (_, marked) = tree.mark(DeletionRoot::Branch(main.into())).await;
        assert_eq!(marked, DeletionOutcome::LastBranch);
        let (_, marked) = tree.mark(DeletionRoot::AllBut(first)).await;
        assert_eq!(marked, DeletionOutcome::Nothing);
        assert_eq!(tree.snapshot().await, begun);
        let deletion = tree.delete(DeletionRoot::Turn(question.into())).await;
        let now = tree.snapshot().await;
        assert_eq!((now.default_branch, now.last_viewed), (Some(main.into()), None));
        assert_eq!(now.branches[&main].head_turn_id, None);
        let other = tree.append_exchange(None).await;
        tree.check().await;
        // The first branch, empty now, can be deleted by itself; then it must be restored before its turns.
        let alone = tree.delete(DeletionRoot::Branch(main.into())).await;
        assert_eq!(tree.unmark(deletion).await, RestoreOutcome::BlockedBy(alone));
        tree.purge(alone).await;
        tree.check().await;
        tree.restore(deletion).await;
        tree.check().await;
        let now = tree.snapshot().await;
        assert_eq!((now.live().len(), now.last_viewed), (4, Some(first)));
        assert_ne!(now.turns[&other.uuid()].branch_id, main);
        fresh.close().await;
    }
}

#[tokio::test]
async fn last_read_position_moves_to_nearest_ancestor_and_back() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let second = tree.append_exchange(Some(first.uuid())).await;
        let third = tree.append_exchange(Some(second.uuid())).await;
        let question = tree.snapshot().await.turns[&second.uuid()].prev_turn_id.unwrap();
        let deletion = tree.delete(DeletionRoot::Turn(question.into())).await;
        assert_eq!(tree.snapshot().await.last_viewed, Some(first));
        tree.restore(deletion).await;
        assert_eq!(tree.snapshot().await.last_viewed, Some(third));
        fresh.close().await;
    }
}

#[tokio::test]
async fn reading_position_is_not_stored_on_turn_being_deleted() {
    for fresh in test_databases().await {
        // SQLite has one writer: the deletion is over before the reader starts.
        let Db::Postgres { readers, .. } = &fresh.db else { continue };
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let second = tree.append_exchange(Some(first.uuid())).await;
        let mut deleting = tree.db.begin().await.unwrap();
        let new = NewDeletion {
            id: next_id(),
            owner_id: tree.owner,
            chat_id: tree.chat,
            root: DeletionRoot::Turn(second),
            at: next_time(),
        };
        assert!(matches!(deletions::soft_delete(&mut deleting, &new).await.unwrap(), DeletionOutcome::Done { .. }));
        let (db, owner, chat) = (fresh.db.clone(), tree.owner, tree.chat);
        let reading = tokio::spawn(async move {
            let mut tx = db.begin().await.unwrap();
            let is_there = chats::set_last_viewed(&mut tx, owner, chat, second).await.unwrap();
            tx.commit().await.unwrap();
            is_there
        });
        let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
            AND wait_event_type = 'Lock'";
        while sqlx::query_scalar::<_, i64>(waits).fetch_one(readers).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        deleting.commit().await.unwrap();
        assert!(!reading.await.unwrap());
        assert_ne!(tree.snapshot().await.last_viewed, Some(second));
        fresh.close().await;
    }
}

#[tokio::test]
async fn unfinished_reply_is_not_deleted() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let mut tx = tree.db.begin().await.unwrap();
        let on = branches::list(tree.db, tree.owner, tree.chat).await.unwrap().remove(0);
        let parent = turns::find(tree.db, tree.owner, first).await.unwrap().unwrap();
        let ord = chats::allocate_ord(&mut tx, tree.owner, tree.chat, next_time()).await.unwrap().unwrap();
        let mut question = turn(&on, next_id(), Some(&parent), ord, Role::User);
        let sent = exchange(&on, question.id, None);
        question.exchange_id = sent.id;
        exchanges::insert(&mut tx, tree.owner, &sent, None).await.unwrap();
        turns::insert(&mut tx, &question).await.unwrap();
        let ord = chats::allocate_ord(&mut tx, tree.owner, tree.chat, next_time()).await.unwrap().unwrap();
        let reply = turn(&on, sent.id, Some(&question), ord, Role::Assistant);
        turns::insert(&mut tx, &reply).await.unwrap();
        assert!(branches::set_head(&mut tx, on.id, on.head_turn_id, reply.id).await.unwrap());
        tx.commit().await.unwrap();
        let before = tree.snapshot().await;
        for root in [DeletionRoot::Turn(first), DeletionRoot::Branch(on.id), DeletionRoot::Chat] {
            assert_eq!(tree.mark(root).await.1, DeletionOutcome::Running(vec![reply.id]));
            assert_eq!(tree.snapshot().await, before);
        }
        if let Db::Postgres { .. } = &fresh.db {
            // The journal is writing the row, and may need the rows of other replies for its transaction.
            let mut journal = tree.db.begin().await.unwrap();
            let progress = TurnProgress {
                turn_id: reply.id,
                status: TurnStatus::Streaming,
                last_event_seq: 0,
                provider_used: None,
                model_used: None,
                started_at: Some(next_time()),
            };
            let stored = turns::defer_progress(&mut journal, &progress).await.unwrap();
            assert_eq!(journal.rows_affected(stored).await.unwrap(), 1);
            let marked = tokio::time::timeout(Duration::from_secs(10), tree.mark(DeletionRoot::Chat)).await;
            assert_eq!(
                marked.expect("no wait for the row of a running reply").1,
                DeletionOutcome::Running(vec![reply.id])
            );
            journal.rollback().await.unwrap();
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn nothing_new_is_attached_to_deleted_turn() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let parent = turns::find(tree.db, tree.owner, first).await.unwrap().unwrap();
        let on = branches::list(tree.db, tree.owner, tree.chat).await.unwrap().remove(0);
        tree.delete(DeletionRoot::Turn(first)).await;
        // A writer that read the branch before it was deleted.
        let mut tx = tree.db.begin().await.unwrap();
        let ord = chats::allocate_ord(&mut tx, tree.owner, tree.chat, next_time()).await.unwrap().unwrap();
        let late = turn(&on, parent.exchange_id, Some(&parent), ord, Role::User);
        let error = turns::insert(&mut tx, &late).await.unwrap_err();
        assert!(matches!(error, StoreError::Deleted(_)), "{error:?}");
        let late = Branch { fork_turn_id: Some(first), ..branch(tree.chat) };
        let error = branches::insert(&mut tx, &late, &frozen_settings()).await.unwrap_err();
        assert!(matches!(error, StoreError::Deleted(_)), "{error:?}");
        tx.rollback().await.unwrap();
        tree.delete(DeletionRoot::Chat).await;
        let mut tx = tree.db.begin().await.unwrap();
        let error = branches::insert(&mut tx, &branch(tree.chat), &frozen_settings()).await.unwrap_err();
        assert!(matches!(error, StoreError::Deleted(_)), "{error:?}");
        tx.rollback().await.unwrap();
        fresh.close().await;
    }
}

#[tokio::test]
async fn foreign_users_can_neither_delete_see_nor_restore() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let stranger = TrashTree { owner: next_id(), ..tree };
        for root in [DeletionRoot::Turn(first), DeletionRoot::Chat, DeletionRoot::AllBut(first)] {
            assert_eq!(stranger.mark(root).await.1, DeletionOutcome::Gone);
        }
        assert_eq!(tree.mark(DeletionRoot::Turn(next_id())).await.1, DeletionOutcome::Gone);
        assert_eq!(tree.mark(DeletionRoot::Branch(next_id())).await.1, DeletionOutcome::Gone);
        let of_branch = branches::list(tree.db, tree.owner, tree.chat).await.unwrap()[0].id;
        assert_eq!(deletions::count_below(tree.db, tree.owner, first).await.unwrap(), 1);
        assert_eq!(deletions::count_below(tree.db, stranger.owner, first).await.unwrap(), 0);
        let question = tree.snapshot().await.turns[&first.uuid()].prev_turn_id.unwrap();
        assert_eq!(deletions::count_below(tree.db, tree.owner, question.into()).await.unwrap(), 2);
        let first_of = deletions::first_turn_of_branch(tree.db, tree.owner, of_branch).await.unwrap();
        assert_eq!(first_of, Some(question.into()));
        assert_eq!(deletions::first_turn_of_branch(tree.db, stranger.owner, of_branch).await.unwrap(), None);

        let deletion = tree.delete(DeletionRoot::Turn(first)).await;
        let near = |owner, chat, turn| deletions::nearest_remaining(tree.db, owner, chat, turn);
        assert_eq!(near(tree.owner, tree.chat, first).await.unwrap(), Some(Some(question.into())));
        assert_eq!(near(tree.owner, tree.chat, question.into()).await.unwrap(), Some(Some(question.into())));
        assert_eq!(near(stranger.owner, tree.chat, first).await.unwrap(), None);
        assert_eq!(near(tree.owner, next_id(), first).await.unwrap(), None);
        let of = |owner, thing| deletions::find_by_target(tree.db, owner, thing);
        assert_eq!(of(tree.owner, DeletedItem::Turn(first)).await.unwrap(), Some(deletion));
        assert_eq!(of(stranger.owner, DeletedItem::Turn(first)).await.unwrap(), None);
        assert_eq!(of(tree.owner, DeletedItem::Turn(question.into())).await.unwrap(), None);
        assert_eq!(of(tree.owner, DeletedItem::Branch(of_branch)).await.unwrap(), None);
        assert_eq!(of(tree.owner, DeletedItem::Chat(tree.chat)).await.unwrap(), None);
        assert_eq!(deletions::find(tree.db, stranger.owner, deletion).await.unwrap(), None);
        assert_eq!(stranger.trash().await, []);
        assert_eq!(stranger.unmark(deletion).await, RestoreOutcome::Gone);
        let mut tx = tree.db.begin().await.unwrap();
        assert!(!purge::schedule_purge(&mut tx, stranger.owner, deletion, next_time()).await.unwrap());
        assert_eq!(purge::schedule_purge_of_trash(&mut tx, stranger.owner, next_time()).await.unwrap(), 0);
        tx.commit().await.unwrap();
        let listed = tree.trash().await.remove(0);
        assert_eq!((listed.kind, listed.turns, listed.branches), (DeletionKind::Turn, 1, 0));
        assert_eq!((listed.role, listed.root_turn(), listed.root_branch()), (Some(Role::Assistant), Some(first), None));
        assert_eq!((listed.chat_title.as_str(), listed.chat_is_deleted), ("Trees", false));
        assert_eq!(deletions::list(tree.db, tree.owner, Some(deletion), 9).await.unwrap(), []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn trash_is_purged_after_thirty_days() {
    for fresh in test_databases().await {
        // A chat with blocks, generations, a journal, raw bytes and drafts.
        walkthrough::start_walkthrough(&fresh.db).await;
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        let chat = chats::list(db, owner, 9).await.unwrap()[0].id;
        let at = next_time();
        let new = NewDeletion { id: next_id(), owner_id: owner, chat_id: chat, root: DeletionRoot::Chat, at };
        assert!(matches!(
            deletions::soft_delete(&mut tx, &new).await.unwrap(),
            DeletionOutcome::Done { turns: 8, branches: 5 }
        ));
        tx.commit().await.unwrap();
        purge_expired(db, at + limits::TRASH_KEPT - TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(deletions::list(db, owner, None, 9).await.unwrap().len(), 1);
        let mut tx = db.begin().await.unwrap();
        assert_eq!(
            purge::schedule_purge_of_old(&mut tx, at, next_time()).await.unwrap(),
            0,
            "not what is just old enough"
        );
        tx.rollback().await.unwrap();
        purge_expired(db, at + limits::TRASH_KEPT + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(deletions::list(db, owner, None, 9).await.unwrap(), []);
        assert_eq!(purge::list_due(db, next_time()).await.unwrap(), []);
        let left: Vec<(i64,)> = query_rows!(
            db,
            "SELECT (SELECT COUNT(*) FROM chats) + (SELECT COUNT(*) FROM branches) + (SELECT COUNT(*) FROM turns) \
             + (SELECT COUNT(*) FROM exchanges) + (SELECT COUNT(*) FROM turn_blocks) \
             + (SELECT COUNT(*) FROM turn_events) + (SELECT COUNT(*) FROM generations) \
             + (SELECT COUNT(*) FROM generation_requests) \
             + (SELECT COUNT(*) FROM drafts WHERE chat_id IS NOT NULL) + (SELECT COUNT(*) FROM deletions)"
        );
        assert_eq!(left, [(0,)]);
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}

#[tokio::test]
async fn version_that_is_purged_takes_its_exchange_and_leaves_message() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let parent = tree.snapshot().await.turns[&first.uuid()].prev_turn_id.unwrap();
        // A second reply to the same message, as Try again creates it.
        let question = turns::find(tree.db, tree.owner, parent.into()).await.unwrap().unwrap();
        let mut tx = tree.db.begin().await.unwrap();
        let on = Branch { fork_turn_id: Some(question.id), ..branch(tree.chat) };
        branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
        let again = Exchange { kind: ExchangeKind::Regenerate, ..exchange(&on, question.id, Some("again")) };
        exchanges::insert(&mut tx, tree.owner, &again, None).await.unwrap();
        let ord = chats::allocate_ord(&mut tx, tree.owner, tree.chat, next_time()).await.unwrap().unwrap();
        let mut reply = turn(&on, again.id, Some(&question), ord, Role::Assistant);
        (reply.status, reply.completed_at) = (TurnStatus::Cancelled, Some(next_time()));
        turns::insert(&mut tx, &reply).await.unwrap();
        assert!(branches::set_head(&mut tx, on.id, None, reply.id).await.unwrap());
        tx.commit().await.unwrap();
        let deletion = tree.delete(DeletionRoot::Turn(reply.id)).await;
        tree.purge(deletion).await;
        tree.check().await;
        assert_eq!(exchanges::find(tree.db, tree.owner, again.id).await.unwrap(), None);
        assert_eq!((tree.snapshot().await.live().len(), tree.snapshot().await.branches.len()), (2, 1));
        fresh.close().await;
    }
}

#[tokio::test]
async fn blobs_are_deleted_when_unreferenced() {
    for fresh in test_databases().await {
        let tree = TrashTree::plant_chat(&fresh.db).await;
        let first = tree.append_exchange(None).await;
        let hash = |n: u8| format!("{n:02x}").repeat(32);
        let question = tree.snapshot().await.turns[&first.uuid()].prev_turn_id.unwrap();
        let image = serde_json::json!({"type": "image", "blob": hash(1), "mime": "image/png", "alt": ""});
        let is_sqlite = tree.db.path().is_some();
        let hex = |id: Uuid| if is_sqlite { format!("X'{}'", id.simple()) } else { format!("'{id}'") };
        let bytes = if is_sqlite { "X'00'" } else { "'\\x00'" };
        let day = "'2026-03-01T00:00:00+00:00'";
        let mut text = format!(
            "INSERT INTO turn_blocks (id, turn_id, chat_id, seq, chat_seq, block_type, author, state, content, metadata, \
             created_at, updated_at) VALUES ({}, {}, {}, 0, 1048576, 'image', 'user', 'done', '{image}', 'null', {day}, {day});",
            hex(next_id::<BlockId>().uuid()),
            hex(question),
            hex(tree.chat.uuid()),
        );
        for n in [1, 2] {
            text += &format!(
                "INSERT INTO blobs (sha256, mime, byte_count, bytes, created_at) VALUES ('{}', 'image/png', 1, {bytes}, {day});",
                hash(n)
            );
        }
        match tree.db {
            Db::Sqlite { writer, .. } => {
                sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(writer).await.unwrap();
            }
            Db::Postgres { writer, .. } => {
                sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(writer).await.unwrap();
            }
        }
        let left = || async {
            let rows: Vec<(String,)> = query_rows!(tree.db, "SELECT sha256 FROM blobs ORDER BY sha256");
            rows.into_iter().map(|(hash,)| hash).collect::<Vec<_>>()
        };
        let day: chrono::DateTime<chrono::Utc> = "2026-03-01T00:00:00Z".parse().unwrap();
        purge_scheduled(tree.db, day + limits::BLOB_KEPT).await.unwrap();
        assert_eq!(left().await.len(), 2, "what was uploaded a moment ago is for a message that is being written");
        purge_scheduled(tree.db, day + limits::BLOB_KEPT + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(left().await, [hash(1)]);
        let deletion = tree.delete(DeletionRoot::Turn(question.into())).await;
        purge_scheduled(tree.db, day + TimeDelta::days(9)).await.unwrap();
        assert_eq!(left().await, [hash(1)], "it may come back");
        let mut tx = tree.db.begin().await.unwrap();
        assert!(purge::schedule_purge(&mut tx, tree.owner, deletion, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        purge_scheduled(tree.db, day + TimeDelta::days(9)).await.unwrap();
        assert_eq!(left().await, Vec::<String>::new());
        fresh.close().await;
    }
}
