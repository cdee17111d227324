//! A window onto one path of a chat: turns before a turn, after it, or around it (docs/reference/domain.md 4.9).

use std::collections::HashMap;

use crate::{Service, ServiceError};
use turnleaf_domain::{Chat, ChatId, InvalidField, MessageCode, Turn, TurnId, UserId, limits};
use turnleaf_store::turns;
use turnleaf_store::turns::TurnPosition;

/// The side of the anchor that a window covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WindowDirection {
    /// The turns before the anchor, without itself.
    Before,
    /// The turns after the anchor, without itself.
    After,
    /// Both sides, with the anchor: a quarter before it, the rest after it.
    #[default]
    Both,
}

/// The request for a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowRequest {
    /// The anchor; `None` is the last viewed turn if it is on the path, else the path's end.
    pub from: Option<TurnId>,
    /// The end of the path; `None` continues the path along the newest child.
    pub leaf: Option<TurnId>,
    /// The maximum number of turns.
    pub limit: u32,
    pub direction: WindowDirection,
    /// With `Both`: the unused share of one side is not given to the other.
    pub strict: bool,
}

impl Default for WindowRequest {
    fn default() -> Self {
        Self { from: None, leaf: None, limit: limits::PAGE_DEFAULT, direction: WindowDirection::Both, strict: false }
    }
}

/// The turns of a window.
#[derive(Debug, Clone)]
pub struct PathWindow {
    pub chat: Chat,
    /// Ordered from root to leaf, in their present state.
    pub turns: Vec<Turn>,
    /// The anchor of the window; `None` in a chat without turns.
    pub anchor_id: Option<TurnId>,
    /// True when the path has turns before the first of these; `has_more_after`: after the last.
    pub has_more_before: bool,
    pub has_more_after: bool,
    /// The cursors for `Before` and `After`, if there are more turns; for an empty window, the place where turns
    /// would be.
    pub before_cursor: Option<TurnId>,
    pub after_cursor: Option<TurnId>,
    /// The versions of each turn, itself included, oldest first.
    pub siblings: HashMap<TurnId, Vec<TurnId>>,
}

/// Returns the number of turns on each side of the anchor, given how many exist there.
fn shares(window: &WindowRequest, before: i64, after: i64) -> (i64, i64) {
    let limit = i64::from(window.limit);
    match window.direction {
        WindowDirection::Before => (limit.min(before), 0),
        WindowDirection::After => (0, limit.min(after)),
        WindowDirection::Both => {
            let quarter = limit / 4;
            let rest = limit - quarter - 1;
            let spare = |quota: i64, available: i64| if window.strict { 0 } else { (quota - available).max(0) };
            ((quarter + spare(rest, after)).min(before), (rest + spare(quarter, before)).min(after))
        }
    }
}

impl Service {
    /// Returns the turns of a window.
    ///
    /// # Errors
    /// `NotFound` for a turn that is deleted, of another owner or of another chat; `InvalidField` for a leaf that is
    /// not at or below the anchor.
    pub async fn window(&self, owner: UserId, chat: ChatId, window: WindowRequest) -> Result<PathWindow, ServiceError> {
        let chat = self.chat(owner, chat).await?;
        let leaf = match window.leaf {
            Some(leaf) => Some(self.turn_spot(owner, chat.id, leaf).await?),
            None => None,
        };
        let Some(anchor) = self.anchor(owner, &chat, window.from, leaf).await? else {
            return Ok(PathWindow::empty(chat));
        };
        // One turn beyond the limit shows whether there are more.
        let reach = i64::from(window.limit) + 1;
        let end = match (leaf, window.direction) {
            (Some(leaf), _) => leaf,
            (None, WindowDirection::Before) => anchor,
            (None, _) => {
                let below = turns::newest_below(self.db(), owner, anchor.id, reach).await?;
                self.turn_spot(owner, chat.id, below.ok_or(ServiceError::NotFound)?).await?
            }
        };
        let (before, after) = shares(&window, anchor.depth, end.depth - anchor.depth);
        let (first, last) = match window.direction {
            WindowDirection::Before => (anchor.depth - before, anchor.depth - 1),
            WindowDirection::After => (anchor.depth + 1, anchor.depth + after),
            WindowDirection::Both => (anchor.depth - before, anchor.depth + after),
        };
        let turns = self.turns_between(owner, &end, first, last).await?;
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        let siblings = turns::siblings(self.db(), owner, &ids).await?;
        let has_more_before = first > 0;
        let has_more_after = last < end.depth || window.direction == WindowDirection::Before;
        Ok(PathWindow {
            chat,
            anchor_id: Some(anchor.id),
            has_more_before,
            has_more_after,
            before_cursor: has_more_before.then(|| ids.first().copied().unwrap_or(anchor.id)),
            after_cursor: has_more_after.then(|| ids.last().copied().unwrap_or(anchor.id)),
            siblings,
            turns,
        })
    }

    /// Returns the position of a turn of this chat.
    pub(crate) async fn turn_spot(
        &self,
        owner: UserId,
        chat: ChatId,
        turn: TurnId,
    ) -> Result<TurnPosition, ServiceError> {
        let spot = turns::find_position(self.db(), owner, turn).await?.filter(|spot| spot.chat_id == chat);
        spot.ok_or(ServiceError::NotFound)
    }

    /// Returns the turn with this `ord` in the chat.
    pub async fn turn_with_ord(&self, owner: UserId, chat: ChatId, ord: i64) -> Result<TurnId, ServiceError> {
        let spot = turns::find_position_by_ord(self.db(), owner, chat, ord).await?;
        spot.map(|spot| spot.id).ok_or(ServiceError::NotFound)
    }

    /// Returns true when the path to `leaf` contains the turn.
    async fn is_on_path(&self, owner: UserId, turn: &TurnPosition, leaf: &TurnPosition) -> Result<bool, ServiceError> {
        let mut seen = self.db().snapshot().await?;
        let spans = turns::path_spans(&mut seen, owner, leaf.id, turn.depth, turn.depth).await?;
        seen.commit().await?;
        Ok(spans.iter().any(|span| span.contains(turn)))
    }

    async fn anchor(
        &self,
        owner: UserId,
        chat: &Chat,
        from: Option<TurnId>,
        leaf: Option<TurnPosition>,
    ) -> Result<Option<TurnPosition>, ServiceError> {
        if let Some(from) = from {
            let from = self.turn_spot(owner, chat.id, from).await?;
            if let Some(leaf) = leaf
                && !self.is_on_path(owner, &from, &leaf).await?
            {
                return Err(InvalidField::new("leaf", MessageCode::NotBelowStart).into());
            }
            return Ok(Some(from));
        }
        let viewed = match chat.last_viewed_turn_id {
            Some(viewed) => turns::find_position(self.db(), owner, viewed).await?,
            None => None,
        };
        match (viewed, leaf) {
            (Some(viewed), Some(leaf)) if !self.is_on_path(owner, &viewed, &leaf).await? => Ok(Some(leaf)),
            (Some(viewed), _) => Ok(Some(viewed)),
            (None, Some(leaf)) => Ok(Some(leaf)),
            (None, None) => match turns::leaf_of_chat(self.db(), owner, chat.id).await? {
                Some(leaf) => Ok(turns::find_position(self.db(), owner, leaf).await?),
                None => Ok(None),
            },
        }
    }
}

impl PathWindow {
    fn empty(chat: Chat) -> Self {
        Self {
            chat,
            turns: Vec::new(),
            anchor_id: None,
            has_more_before: false,
            has_more_after: false,
            before_cursor: None,
            after_cursor: None,
            siblings: HashMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(limit: u32, strict: bool, before: i64, after: i64) -> (i64, i64) {
        shares(&WindowRequest { limit, strict, ..WindowRequest::default() }, before, after)
    }

    #[test]
    fn both_sides_get_quarter_and_three_quarters() {
        assert_eq!(shared(50, false, 1000, 1000), (12, 37));
        assert_eq!(shared(4, false, 1000, 1000), (1, 2));
        assert_eq!(shared(1, false, 1000, 1000), (0, 0));
        assert_eq!(shared(200, false, 1000, 1000), (50, 149));
    }

    #[test]
    fn unneeded_share_goes_to_other_side_unless_strict() {
        assert_eq!(shared(50, false, 1000, 0), (49, 0));
        assert_eq!(shared(50, true, 1000, 0), (12, 0));
        assert_eq!(shared(50, false, 0, 1000), (0, 49));
        assert_eq!(shared(50, true, 0, 1000), (0, 37));
        assert_eq!(shared(50, false, 5, 10), (5, 10));
        assert_eq!(shared(50, false, 20, 30), (19, 30));
    }

    #[test]
    fn one_side_alone_gets_all() {
        let one = |direction| shares(&WindowRequest { direction, ..WindowRequest::default() }, 70, 60);
        assert_eq!((one(WindowDirection::Before), one(WindowDirection::After)), ((50, 0), (0, 50)));
    }
}
