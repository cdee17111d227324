//! Copies a path into a chat of its own, with its content and its raw response bytes, so that the next request is
//! assembled from the same bytes as in the original chat. No provider is asked.

use std::collections::HashMap;

use serde_json::json;

use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::chats::chat::shorten_title;
use turnleaf_domain::{
    AccountChange, BlockId, Branch, BranchId, BranchOrigin, Chat, ChatId, ExchangeId, GenerationId, InvalidField,
    MessageCode, Role, TurnId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_store::branches::{self, frozen};
use turnleaf_store::chats::copies::{
    CopiedBlock, CopiedExchange, CopiedTurn, CopyPlan, PathSkeleton, copy, path_skeleton,
};
use turnleaf_store::chats::{self, chat_tools};
use turnleaf_store::turns;

/// The suffix of a copied chat's title.
const MARK: &str = " (copy)";

/// A chat that is a copy of a path.
#[derive(Debug, Clone)]
pub struct CopiedChat {
    pub chat: Chat,
    /// The branch on which the copy continues.
    pub branch: Branch,
    pub leaf: TurnId,
}

/// The copies of a path's branches: one per consecutive stretch with one lock.
struct CopiedBranches {
    branches: Vec<Branch>,
    /// The source of each copy's prompt and tools: the newest branch of its stretch.
    sources: Vec<BranchId>,
    of_turn: Vec<BranchId>,
}

impl Service {
    /// Copies the path from the root to this reply into a new chat. Turns, exchanges, blocks and raw bytes are
    /// copied, each stretch with one lock onto a branch with that lock; token counts, costs and requests are not,
    /// because no provider was asked.
    pub async fn copy_chat(
        &self,
        owner: UserId,
        id: ChatId,
        turn: TurnId,
        client_request_id: Option<&str>,
    ) -> Result<Created<CopiedChat>, ServiceError> {
        let request = json!({ "new": "copy", "chat": id, "turn": turn });
        if let Some(made) = self.find_created(owner, client_request_id, &request).await? {
            return self.earlier_copy(owner, &made).await;
        }
        let source = self.chat(owner, id).await?;
        let leaf = self.turn_in_chat(owner, id, "turn_id", turn).await?;
        if leaf.role != Role::Assistant {
            return Err(InvalidField::new("turn_id", MessageCode::CopyMustEndWithReply).into());
        }
        if !leaf.status.is_terminal() {
            return Err(ServiceError::conflict("turn_running", MessageCode::ReplyRunning));
        }
        let path = path_skeleton(self.db(), owner, turn).await?;
        let now = self.clock().now();
        let mut chat = Chat {
            id: ids::mint_for_copy(source.id.uuid()),
            title: copy_title(&source.title),
            default_branch_id: None,
            last_viewed_turn_id: None,
            copied_from_turn_id: Some(turn),
            pinned_at: None,
            archived_at: None,
            rev: 0,
            created_at: now,
            updated_at: now,
            ..source
        };
        let new_turns: HashMap<TurnId, TurnId> =
            path.turns.iter().map(|turn| (turn.id, ids::mint_for_copy(turn.id.uuid()))).collect();
        let stretches = self.copied_branches(owner, (id, chat.id), &path, &new_turns).await?;
        let copies = plan_copies(&path, &new_turns, &stretches.of_turn);
        let (Some(branch), Some(leaf)) = (stretches.branches.last().cloned(), new_turns.get(&turn).copied()) else {
            return Err(ServiceError::NotFound);
        };
        let growth = self.check_growth(owner, 0).await;
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, owner, client_request_id, request, chat.id).await? {
            tx.rollback().await?;
            return self.earlier_copy(owner, &made).await;
        }
        growth?;
        chats::insert(&mut tx, &chat).await?;
        for (branch, source) in stretches.branches.iter().zip(&stretches.sources) {
            let frozen = frozen(self.db(), *source).await?.unwrap_or_default();
            branches::insert(&mut tx, branch, &frozen).await?;
        }
        let choice = chat_tools::find(self.db(), owner, id).await?.unwrap_or_default();
        chat_tools::put(&mut tx, owner, chat.id, &choice).await?;
        copy(&mut tx, chat.id, &copies).await?;
        chats::set_default_branch(&mut tx, chat.id, branch.id).await?;
        chats::set_last_viewed(&mut tx, owner, chat.id, leaf).await?;
        branches::record_visit(&mut tx, branch.id, now).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::ChatListChanged);
        chat.default_branch_id = Some(branch.id);
        chat.last_viewed_turn_id = Some(leaf);
        Ok(Created::new(CopiedChat { chat, branch, leaf }))
    }

    /// Returns the copy that an earlier request with the same idempotency key created, in its present state.
    pub(crate) async fn earlier_copy(&self, owner: UserId, made: &str) -> Result<Created<CopiedChat>, ServiceError> {
        let chat = made.parse().map_err(|_| ServiceError::NotFound)?;
        let path = self.path(owner, chat, None, 1).await?;
        let leaf = path.turns.last().ok_or(ServiceError::NotFound)?.id;
        let branch = path.branch.ok_or(ServiceError::NotFound)?;
        Ok(Created::existing(CopiedChat { chat: path.chat, branch, leaf }))
    }

    /// Returns the chat and turn from which a chat was copied, if they still exist.
    pub async fn copy_origin(&self, owner: UserId, chat: &Chat) -> Result<Option<(Chat, TurnId)>, ServiceError> {
        let Some(turn) = chat.copied_from_turn_id else { return Ok(None) };
        let Some(turn) = turns::find(self.db(), owner, turn).await? else { return Ok(None) };
        Ok(chats::find(self.db(), owner, turn.chat_id).await?.map(|chat| (chat, turn.id)))
    }

    async fn copied_branches(
        &self,
        owner: UserId,
        (old_chat, new_chat): (ChatId, ChatId),
        path: &PathSkeleton,
        new_turns: &HashMap<TurnId, TurnId>,
    ) -> Result<CopiedBranches, ServiceError> {
        let known: HashMap<BranchId, Branch> =
            branches::list(self.db(), owner, old_chat).await?.into_iter().map(|branch| (branch.id, branch)).collect();
        let mut stretches = CopiedBranches { branches: Vec::new(), sources: Vec::new(), of_turn: Vec::new() };
        let mut before: Option<TurnId> = None;
        for turn in &path.turns {
            let source = known.get(&turn.branch_id).ok_or(ServiceError::NotFound)?;
            let new_turn = new_turns.get(&turn.id).copied();
            match stretches.branches.last_mut().filter(|last| last.lock == source.lock) {
                Some(last) => {
                    (last.policy, last.head_turn_id) = (source.policy, new_turn);
                    stretches.sources.pop();
                }
                None => {
                    let parent = stretches.branches.last().map(|branch| branch.id);
                    let branch = Branch {
                        id: ids::mint(),
                        chat_id: new_chat,
                        name: if parent.is_none() { "main".to_owned() } else { source.name.clone() },
                        parent_branch_id: parent,
                        fork_turn_id: before,
                        head_turn_id: new_turn,
                        origin: if parent.is_none() { BranchOrigin::Root } else { BranchOrigin::ModelSwitch },
                        label: None,
                        pinned: false,
                        created_at: self.clock().now(),
                        ..source.clone()
                    };
                    stretches.branches.push(branch);
                }
            }
            stretches.sources.push(source.id);
            stretches.of_turn.extend(stretches.branches.last().map(|branch| branch.id));
            before = new_turn;
        }
        Ok(stretches)
    }
}

/// Returns the title with the suffix, cut to the title bound.
fn copy_title(title: &str) -> String {
    if title.is_empty() {
        return String::new();
    }
    let room = limits::TITLE_CHARS - MARK.chars().count();
    shorten_title(title, room) + MARK
}

/// Plans the new ids of all rows of a path. `branch_of` is the new branch of each turn.
fn plan_copies(path: &PathSkeleton, turns: &HashMap<TurnId, TurnId>, branch_of: &[BranchId]) -> CopyPlan {
    let ords: HashMap<TurnId, i64> = path.turns.iter().map(|turn| turn.id).zip(1..).collect();
    let exchanges: HashMap<ExchangeId, ExchangeId> =
        path.exchanges.iter().map(|(exchange, _)| (*exchange, ids::mint())).collect();
    let generations: HashMap<GenerationId, GenerationId> =
        path.generations.iter().map(|(generation, _)| (*generation, ids::mint())).collect();
    let blocks: HashMap<BlockId, BlockId> = path.blocks.iter().map(|block| (block.id, ids::mint())).collect();
    let mut branch_of_exchange: HashMap<ExchangeId, BranchId> = HashMap::new();
    let mut copies = CopyPlan::default();
    let mut prev = None;
    for ((turn, branch_id), ord) in path.turns.iter().zip(branch_of).zip(1..) {
        branch_of_exchange.entry(turn.exchange_id).or_insert(*branch_id);
        let (Some(new), Some(exchange)) = (turns.get(&turn.id), exchanges.get(&turn.exchange_id)) else { continue };
        let (branch_id, exchange_id) = (*branch_id, *exchange);
        copies.turns.push(CopiedTurn { old: turn.id, new: *new, prev, branch_id, exchange_id, ord });
        prev = Some(*new);
    }
    copies.exchanges.extend(path.exchanges.iter().filter_map(|(old, message)| {
        let user_turn_id = message.and_then(|message| turns.get(&message).copied());
        let (new, branch_id) = (*exchanges.get(old)?, *branch_of_exchange.get(old)?);
        Some(CopiedExchange { old: *old, new, branch_id, user_turn_id })
    }));
    copies.generations.extend(
        path.generations.iter().filter_map(|(old, turn)| Some((*old, *generations.get(old)?, *turns.get(turn)?))),
    );
    copies.blocks.extend(path.blocks.iter().filter_map(|block| {
        let seq = u32::try_from(block.seq).ok()?;
        Some(CopiedBlock {
            old: block.id,
            new: *blocks.get(&block.id)?,
            turn_id: *turns.get(&block.turn_id)?,
            parent_block_id: block.parent_block_id.and_then(|parent| blocks.get(&parent).copied()),
            generation_id: block.generation_id.and_then(|generation| generations.get(&generation).copied()),
            chat_seq: chat_seq(*ords.get(&block.turn_id)?, seq),
            attaches_to: block.attaches_to.and_then(|old| Some((old, *blocks.get(&old)?))),
        })
    }));
    copies
}
