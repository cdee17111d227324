//! Chats as API clients read them: the shape of a tree, and one path as nodes, groups, blocks or messages.

use std::collections::HashSet;
use std::ops::Range;

use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::blocks::content_block::ContentBlock;
use turnleaf_domain::blocks::group::{self, MessageGroup};
use turnleaf_domain::blocks::legacy_message::LegacyMessage;
use turnleaf_domain::branches::tree::TurnNode;
use turnleaf_domain::{ChatId, MessageCode, Turn, TurnId, UserId, limits};
use turnleaf_store::turns::{self, ShapeTurn, TurnPosition, blocks};

/// The shape of a chat's tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeShape {
    /// The chat's revision, which rises with every change of the shape.
    pub rev: i64,
    /// Ordered by position in the chat, so a predecessor comes first.
    pub turns: Vec<ShapeTurn>,
}

/// A page of items of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPage<T> {
    pub items: Vec<T>,
    /// The number of items on the whole path.
    pub total: u64,
}

impl<T> PathPage<T> {
    /// Returns the page of a chat without turns.
    fn empty() -> Self {
        Self { items: Vec::new(), total: 0 }
    }
}

/// A page of the groups of a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupPage {
    pub groups: Vec<MessageGroup>,
    /// The `skip` of the next page. A page ends before its limit when its blocks are very long.
    pub next_skip: Option<usize>,
}

/// Returns how many of these sizes fit into a bound, and at least one: an item larger than a page is a page of its
/// own.
pub(crate) fn fitting_count(each: impl Iterator<Item = u64>, bound: u64) -> usize {
    let sums = each.scan(0, |sum: &mut u64, bytes| {
        *sum = sum.saturating_add(bytes);
        Some(*sum)
    });
    sums.enumerate().take_while(|(at, sum)| *at == 0 || *sum <= bound).count()
}

impl Service {
    /// Returns the shape of a chat's tree.
    ///
    /// # Errors
    /// `corrupt_tree` when the parent of a turn is not an older turn: the server never writes such a row, and no
    /// client could build a tree from it.
    pub async fn tree_shape(&self, owner: UserId, chat: ChatId) -> Result<TreeShape, ServiceError> {
        let (rev, turns) = turns::tree_shape(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        let mut seen = std::collections::HashSet::with_capacity(turns.len());
        for turn in &turns {
            if turn.prev.is_some_and(|prev| !seen.contains(&prev)) {
                let message = MessageCode::DamagedTree.with("turn", turn.id);
                return Err(ServiceError::conflict("corrupt_tree", message));
            }
            seen.insert(turn.id);
        }
        Ok(TreeShape { rev, turns })
    }

    /// Returns the nodes of all turns from the root to this one.
    pub async fn path_to(&self, owner: UserId, chat: ChatId, turn: TurnId) -> Result<Vec<TurnNode>, ServiceError> {
        let end = self.turn_spot(owner, chat, turn).await?;
        Ok(turns::nodes_between(self.db(), owner, &end, 0, end.depth).await?)
    }

    /// Returns the versions of a turn, itself included, oldest first.
    pub async fn siblings(&self, owner: UserId, turn: TurnId) -> Result<Vec<TurnId>, ServiceError> {
        turns::siblings(self.db(), owner, &[turn]).await?.remove(&turn).ok_or(ServiceError::NotFound)
    }

    /// Returns at most `limit` groups of the path to `leaf` after the first `skip`; without a leaf, of the path that
    /// the chat opens at.
    pub async fn groups(
        &self,
        owner: UserId,
        chat: ChatId,
        leaf: Option<TurnId>,
        skip: u32,
        limit: u32,
    ) -> Result<GroupPage, ServiceError> {
        let Some(end) = self.end_of_path(owner, chat, leaf).await? else { return Ok(GroupPage::default()) };
        let nodes = turns::nodes_between(self.db(), owner, &end, 0, end.depth).await?;
        let lengths =
            nodes.chunk_by(|before, turn| group::joins_previous_group(before.role, turn.role)).map(<[TurnNode]>::len);
        let mut runs: Vec<Range<usize>> = Vec::new();
        runs.extend(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end - length..*end)
        }));
        let skip = (skip as usize).min(runs.len());
        let page = &runs[skip..(skip + limit as usize).min(runs.len())];
        let Some(run) = page.first().zip(page.last()).map(|(first, last)| first.start..last.end) else {
            return Ok(GroupPage::default());
        };
        let bytes = self.bytes_between(owner, end.id, run.start, run.end).await?;
        let held = |run: &Range<usize>| bytes[run.start - page[0].start..run.end - page[0].start].iter().sum();
        let page = &page[..fitting_count(page.iter().map(held), limits::GROUPS_BYTES)];
        let last = page.last().map_or(run.end, |run| run.end);
        let path = self.turns_between(owner, &end, run.start as i64, last as i64 - 1).await?;
        if path.is_empty() {
            // The end was deleted in between.
            return Err(ServiceError::NotFound);
        }
        let exchanges = self.exchanges(owner, &path).await?;
        let is_thinking =
            |turn: &&Turn| exchanges.get(&turn.id).is_some_and(|known| known.is_thinking_with(&turn.blocks));
        let thinking: HashSet<TurnId> = path.iter().filter(is_thinking).map(|turn| turn.id).collect();
        let groups = group::message_groups(path, |turn| thinking.contains(&turn));
        let next = skip + page.len();
        Ok(GroupPage { groups, next_skip: (next < runs.len()).then_some(next) })
    }

    /// Returns the bytes of stored blocks for each turn of a path from depth `first` to before `end`.
    pub(crate) async fn bytes_between(
        &self,
        owner: UserId,
        leaf: TurnId,
        first: usize,
        end: usize,
    ) -> Result<Vec<u64>, ServiceError> {
        let mut seen = self.db().snapshot().await?;
        let spans = turns::path_spans(&mut seen, owner, leaf, first as i64, end as i64 - 1).await?;
        let held = blocks::bytes_on_path(&mut seen, owner, &spans).await?;
        seen.commit().await?;
        Ok((first..end).map(|depth| held.get(&(depth as i64)).copied().unwrap_or(0)).collect())
    }

    /// Returns at most `limit` blocks of a path after the first `skip`, by the same rule for `leaf` as
    /// [`Self::groups`].
    pub async fn blocks(
        &self,
        owner: UserId,
        chat: ChatId,
        leaf: Option<TurnId>,
        skip: u32,
        limit: u32,
    ) -> Result<PathPage<ContentBlock>, ServiceError> {
        let Some(end) = self.end_of_path(owner, chat, leaf).await? else { return Ok(PathPage::empty()) };
        // Only the last turn of a path can be running; its live state is ahead of its rows.
        let running = self.supervisor().live_turn(end.id).map(|live| client_redaction::redact_turn(live.turn()));
        let last = end.depth - i64::from(running.is_some());
        let mut seen = self.db().snapshot().await?;
        let spans = turns::path_spans(&mut seen, owner, end.id, 0, last).await?;
        let stored = blocks::count_on_path(&mut seen, owner, &spans).await?.unsigned_abs();
        let (skip, limit) = (u64::from(skip), limit as usize);
        let mut items = Vec::new();
        if skip < stored {
            let rows = blocks::slice_on_path(&mut seen, owner, &spans, skip.cast_signed(), limit as i64).await?;
            items.extend(rows.into_iter().map(|(turn, block)| {
                let block = client_redaction::redact_block(block);
                ContentBlock::new(chat, turn, &block)
            }));
        }
        seen.commit().await?;
        let growing = running.iter().flat_map(|turn| turn.blocks.iter().map(|b| ContentBlock::new(chat, turn.id, b)));
        let rest = limit.saturating_sub(items.len());
        items.extend(growing.skip(skip.saturating_sub(stored) as usize).take(rest));
        let total = stored + running.map_or(0, |turn| turn.blocks.len() as u64);
        Ok(PathPage { items, total })
    }

    /// Returns at most `limit` turns of a path after the first `skip`, in the message format from before blocks.
    pub async fn messages(
        &self,
        owner: UserId,
        chat: ChatId,
        leaf: Option<TurnId>,
        skip: u32,
        limit: u32,
    ) -> Result<PathPage<LegacyMessage>, ServiceError> {
        let Some(end) = self.end_of_path(owner, chat, leaf).await? else { return Ok(PathPage::empty()) };
        let first = i64::from(skip);
        let last = (first + i64::from(limit) - 1).min(end.depth);
        let turns = self.turns_between(owner, &end, first, last).await?;
        Ok(PathPage { items: turns.iter().map(LegacyMessage::from).collect(), total: end.depth.unsigned_abs() + 1 })
    }

    async fn end_of_path(
        &self,
        owner: UserId,
        chat: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<Option<TurnPosition>, ServiceError> {
        let chat = self.chat(owner, chat).await?;
        let leaf = match leaf {
            Some(leaf) => Some(leaf),
            None => self.shown_leaf(owner, &chat, None).await?,
        };
        match leaf {
            Some(leaf) => self.turn_spot(owner, chat.id, leaf).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the turns between two depths of a path in their present state, redacted for clients.
    pub(crate) async fn turns_between(
        &self,
        owner: UserId,
        end: &TurnPosition,
        first: i64,
        last: i64,
    ) -> Result<Vec<Turn>, ServiceError> {
        let stored = turns::turns_between(self.db(), owner, end, first, last).await?;
        Ok(stored.into_iter().map(|turn| client_redaction::redact_turn(self.latest_turn(turn))).collect())
    }
}
