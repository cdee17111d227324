//! What a reader sees of a chat: the newest turns of one path, and what hangs beside them.

use std::collections::HashMap;

use super::{Service, ServiceError};
use crate::domain::{Branch, Chat, ChatId, Turn, TurnId, UserId, withhold};
use crate::server::store::{branches, exchanges, turns};

/// The end of a path, root side first.
pub struct Path {
    pub chat: Chat,
    /// The branch of the leaf; a chat without turns has its first branch.
    pub branch: Option<Branch>,
    pub turns: Vec<Turn>,
    pub has_more_before: bool,
    pub thinking: HashMap<TurnId, bool>,
    /// The versions of each turn, itself included, oldest first.
    pub siblings: HashMap<TurnId, Vec<TurnId>>,
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
                thinking: HashMap::new(),
                siblings: HashMap::new(),
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
        let thinking = self.thinking(owner, &turns).await?;
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        let siblings = turns::siblings(self.db(), owner, &ids).await?;
        Ok(Path { chat, branch, turns, has_more_before, thinking, siblings })
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
    pub async fn turn_with_siblings(
        &self,
        owner: UserId,
        id: TurnId,
    ) -> Result<(Turn, bool, Vec<TurnId>), ServiceError> {
        let turn = self.turn(owner, id).await?;
        let thinking = self.thinking(owner, std::slice::from_ref(&turn)).await?;
        let siblings = turns::siblings(self.db(), owner, &[id]).await?.remove(&id).unwrap_or_default();
        let is_thinking = thinking.get(&turn.id).copied().unwrap_or_default();
        Ok((turn, is_thinking, siblings))
    }

    /// A running turn is newer in memory than in the journal.
    fn as_running(&self, turn: Turn) -> Turn {
        if turn.status.is_terminal() {
            return turn;
        }
        self.supervisor().live(turn.id).map_or(turn, |live| live.turn())
    }

    async fn thinking(&self, owner: UserId, turns: &[Turn]) -> Result<HashMap<TurnId, bool>, ServiceError> {
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        let exchanges = exchanges::of_turns(self.db(), owner, &ids).await?;
        Ok(exchanges.into_iter().map(|(turn, exchange)| (turn, exchange.is_thinking_mode)).collect())
    }
}
