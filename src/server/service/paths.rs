//! What a reader sees of a chat: the newest turns of one path, and what hangs beside them.

use std::collections::HashMap;

use super::{Service, ServiceError};
use crate::domain::{Branch, Chat, ChatId, Exchange, Turn, TurnId, UserId, withhold};
use crate::server::outbound::registry::models::display_name;
use crate::server::store::{branches, exchanges, turns};

/// The end of a path, root side first.
pub struct Path {
    pub chat: Chat,
    /// The branch of the leaf; a chat without turns has its first branch.
    pub branch: Option<Branch>,
    pub turns: Vec<Turn>,
    pub has_more_before: bool,
    pub exchanges: HashMap<TurnId, Exchange>,
    /// The versions of each turn, itself included, oldest first.
    pub siblings: HashMap<TurnId, Vec<TurnId>>,
    /// The turns with which the path goes over to another model, and that model's name.
    pub switches: HashMap<TurnId, String>,
}

/// A turn with what hangs beside it.
pub struct Drawn {
    pub turn: Turn,
    pub exchange: Option<Exchange>,
    /// As in [`Path`].
    pub siblings: Vec<TurnId>,
    pub switched_to: Option<String>,
}

impl Service {
    /// The path that a chat opens at: below `at` where given, else below what was viewed last, else the default
    /// branch's head. At most `limit` turns, the newest.
    pub async fn path(&self, owner: UserId, id: ChatId, at: Option<TurnId>, limit: u32) -> Result<Path, ServiceError> {
        let chat = self.chat(owner, id).await?;
        let Some(leaf) = self.leaf_to_show(owner, &chat, at).await? else {
            let branch = self.default_branch(owner, &chat).await?;
            return Ok(Path {
                chat,
                branch,
                turns: Vec::new(),
                has_more_before: false,
                exchanges: HashMap::new(),
                siblings: HashMap::new(),
                switches: HashMap::new(),
            });
        };
        let (stored, has_more_before) = turns::path(self.db(), owner, leaf, limit).await?;
        if stored.first().is_none_or(|turn| turn.chat_id != id) {
            return Err(ServiceError::NotFound);
        }
        let turns: Vec<Turn> = stored.into_iter().map(|turn| withhold::turn(self.as_running(turn))).collect();
        let branch = match turns.last() {
            Some(last) => branches::find(self.db(), owner, last.branch_id).await?,
            None => None,
        };
        let exchanges = self.exchanges(owner, &turns).await?;
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        let siblings = turns::siblings(self.db(), owner, &ids).await?;
        let switches = self.switches(owner, &chat, &turns).await?;
        Ok(Path { chat, branch, turns, has_more_before, exchanges, siblings, switches })
    }

    /// The chat and the end of the path through `at`; of the path that it opens at when that turn is gone or not given.
    pub async fn chat_with_leaf(
        &self,
        owner: UserId,
        id: ChatId,
        at: Option<TurnId>,
    ) -> Result<(Chat, Option<TurnId>), ServiceError> {
        let chat = self.chat(owner, id).await?;
        let leaf = match self.leaf_to_show(owner, &chat, at).await {
            Err(ServiceError::NotFound) => self.leaf_to_show(owner, &chat, None).await?,
            leaf => leaf?,
        };
        Ok((chat, leaf))
    }

    /// Where a path ends: below `at` where given, else below what was viewed last, else at the default branch's head.
    async fn leaf_to_show(
        &self,
        owner: UserId,
        chat: &Chat,
        at: Option<TurnId>,
    ) -> Result<Option<TurnId>, ServiceError> {
        let leaf = match at.or(chat.last_viewed_turn_id) {
            Some(turn) => turns::leaf_below(self.db(), owner, turn).await?,
            None => None,
        };
        match leaf {
            Some(leaf) => Ok(Some(leaf)),
            None if at.is_some() => Err(ServiceError::NotFound),
            None => Ok(self.default_branch(owner, chat).await?.and_then(|branch| branch.head_turn_id)),
        }
    }

    async fn default_branch(&self, owner: UserId, chat: &Chat) -> Result<Option<Branch>, ServiceError> {
        match chat.default_branch_id {
            Some(branch) => Ok(branches::find(self.db(), owner, branch).await?),
            None => Ok(None),
        }
    }

    /// One turn with what hangs beside it.
    pub async fn turn_with_siblings(&self, owner: UserId, id: TurnId) -> Result<Drawn, ServiceError> {
        let turn = self.turn(owner, id).await?;
        let exchange = self.exchanges(owner, std::slice::from_ref(&turn)).await?.remove(&id);
        let siblings = turns::siblings(self.db(), owner, &[id]).await?.remove(&id).unwrap_or_default();
        let before = match turn.prev_turn_id {
            Some(before) => turns::find(self.db(), owner, before).await?,
            None => None,
        };
        let switched_to = match before {
            Some(before) if before.branch_id != turn.branch_id => {
                let was = branches::find(self.db(), owner, before.branch_id).await?.map(|branch| branch.lock);
                let is = branches::find(self.db(), owner, turn.branch_id).await?.map(|branch| branch.lock);
                is.filter(|is| was.is_some_and(|was| was != *is)).map(|is| display_name(&is.model))
            }
            _ => None,
        };
        Ok(Drawn { turn, exchange, siblings, switched_to })
    }

    async fn switches(
        &self,
        owner: UserId,
        chat: &Chat,
        turns: &[Turn],
    ) -> Result<HashMap<TurnId, String>, ServiceError> {
        // Most paths are one branch.
        if turns.windows(2).all(|pair| pair[0].branch_id == pair[1].branch_id) {
            return Ok(HashMap::new());
        }
        let branches = branches::list(self.db(), owner, chat.id).await?;
        let lock = |turn: &Turn| branches.iter().find(|branch| branch.id == turn.branch_id).map(|branch| &branch.lock);
        let switches = turns.windows(2).filter_map(|pair| {
            let (was, is) = (lock(&pair[0])?, lock(&pair[1])?);
            (was != is).then(|| (pair[1].id, display_name(&is.model)))
        });
        Ok(switches.collect())
    }

    /// A running turn is newer in memory than in the journal.
    pub(super) fn as_running(&self, turn: Turn) -> Turn {
        if turn.status.is_terminal() {
            return turn;
        }
        self.supervisor().live(turn.id).map_or(turn, |live| live.turn())
    }

    async fn exchanges(&self, owner: UserId, turns: &[Turn]) -> Result<HashMap<TurnId, Exchange>, ServiceError> {
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        Ok(exchanges::of_turns(self.db(), owner, &ids).await?)
    }
}
