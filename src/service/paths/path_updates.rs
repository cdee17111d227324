//! Updates of a path for a follower of a chat: its initial tip, and the turns that were added since. A single growing
//! turn has a follower of its own, in `turnleaf_run`.

use crate::{Service, ServiceError};
use turnleaf_domain::blocks::{block, client_redaction};
use turnleaf_domain::{BranchId, ChatId, InvalidField, MessageCode, Role, Turn, TurnId, UserId, limits};
use turnleaf_store::{branches, turns};

/// The tip of a path: its last turn, on the branch that continues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathTip {
    pub branch: BranchId,
    pub turn: Option<TurnId>,
}

/// The changes of a path since a tip.
#[derive(Debug)]
pub struct PathUpdate {
    pub end: PathTip,
    /// Ordered from the root, redacted for clients.
    pub turns: Vec<Turn>,
    /// True when the tip that the follower had was deleted.
    pub is_cut: bool,
}

impl Service {
    /// Returns the tip of the path through `through`, or of `branch`, or of the path that the chat opens at.
    pub async fn path_tip(
        &self,
        owner: UserId,
        chat: ChatId,
        through: Option<TurnId>,
        branch: Option<BranchId>,
    ) -> Result<PathTip, ServiceError> {
        if let Some(branch) = branch {
            if through.is_some() {
                let reason = MessageCode::BothSet.with("one", "leaf").with("other", "branch_id");
                return Err(InvalidField::new("branch_id", reason).into());
            }
            self.chat(owner, chat).await?;
            let named = branches::find(self.db(), owner, branch).await?.filter(|branch| branch.chat_id == chat);
            let named = named.ok_or(ServiceError::NotFound)?;
            return Ok(PathTip { branch, turn: named.head_turn_id.or(named.fork_turn_id) });
        }
        let (chat, leaf) = match through {
            Some(turn) => {
                let known = turns::find(self.db(), owner, turn).await?.is_some_and(|turn| turn.chat_id == chat);
                if !known {
                    return Err(ServiceError::NotFound);
                }
                self.chat_with_leaf(owner, chat, through).await?
            }
            None => self.chat_with_leaf(owner, chat, None).await?,
        };
        let branch = match leaf {
            Some(leaf) => turns::find(self.db(), owner, leaf).await?.map(|turn| turn.branch_id),
            None => chat.default_branch_id,
        };
        Ok(PathTip { branch: branch.ok_or(ServiceError::NotFound)?, turn: leaf })
    }

    /// Returns the changes of a path since `from`: the turns that were added, at most [`limits::PAGE_MAX`], the
    /// newest; or what is left of it when its tip was deleted.
    ///
    /// # Errors
    /// `NotFound` when the chat was deleted.
    pub async fn path_update(&self, owner: UserId, chat: ChatId, from: PathTip) -> Result<PathUpdate, ServiceError> {
        let Some(branch) = branches::find(self.db(), owner, from.branch).await? else {
            let end = self.path_tip(owner, chat, None, None).await?;
            return Ok(PathUpdate { end, turns: Vec::new(), is_cut: true });
        };
        let end = PathTip { branch: branch.id, turn: branch.head_turn_id.or(branch.fork_turn_id) };
        let mut turns = match end.turn.filter(|end| Some(*end) != from.turn) {
            Some(leaf) => turns::path(self.db(), owner, leaf, limits::PAGE_MAX).await?.0,
            None => Vec::new(),
        };
        if let Some(had) = from.turn.filter(|_| end != from) {
            match turns.iter().position(|turn| turn.id == had) {
                Some(at) => drop(turns.drain(..=at)),
                // The follower already has the turns before a deleted one.
                None if turns::find_position(self.db(), owner, had).await?.is_none() => {
                    return Ok(PathUpdate { end, turns: Vec::new(), is_cut: true });
                }
                None => {}
            }
        }
        let turns = turns.into_iter().map(|turn| client_redaction::redact_turn(self.latest_turn(turn))).collect();
        Ok(PathUpdate { end, turns, is_cut: false })
    }

    /// Returns the turns of the path to this tip that hold blocks after this `chat_seq`, beginning with the reply
    /// that contains it, because that reply's end lies after it; the newest [`limits::PAGE_MAX`], and whether there
    /// are more.
    pub async fn path_turns_after(
        &self,
        owner: UserId,
        end: PathTip,
        chat_seq: i64,
    ) -> Result<(Vec<Turn>, bool), ServiceError> {
        let Some(leaf) = end.turn else { return Ok((Vec::new(), false)) };
        let (mut turns, has_older) = turns::path(self.db(), owner, leaf, limits::PAGE_MAX).await?;
        let is_news = |turn: &Turn| {
            let last = turn.blocks.last().map_or(block::chat_seq(turn.ord, 0), |block| block.chat_seq);
            let is_end_news = turn.role == Role::Assistant && last == chat_seq;
            !turn.status.is_terminal() || last > chat_seq || is_end_news
        };
        let known = turns.iter().rposition(|turn| !is_news(turn));
        if let Some(known) = known {
            turns.drain(..=known);
        }
        let turns = turns.into_iter().map(|turn| client_redaction::redact_turn(self.latest_turn(turn))).collect();
        Ok((turns, has_older && known.is_none()))
    }
}
