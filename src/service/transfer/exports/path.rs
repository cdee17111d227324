//! The path of a chat for an export that people read. Where rows on it cannot be read, it is put together from the plan.

use std::collections::HashMap;

use super::clean::{clean_chat, clean_source, clean_turn};
use super::damages::Damages;
use super::tree::ReadTurn;
use crate::paths::Path;
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, Difference, ImportedFrom, TurnId, UserId, limits};
use turnleaf_store::archive::remains;
use turnleaf_store::{StoreError, archive, branches, chat_sources, chats};

/// More than any path has.
const ALL_TURNS: u32 = limits::TURNS_PER_CHAT as u32;

/// The newest turns and blocks of a chat that the page of exports looks at.
const LOOKED_AT: u32 = 1_000;

/// A path for people to read.
pub struct ExportedPath {
    pub path: Path,
    /// Where the chat came from, if it was taken in.
    pub imported_from: Option<ImportedFrom>,
    /// What of it could not be read.
    pub damaged: Vec<Difference>,
}

impl Service {
    /// Whether rows of a chat's tree cannot be read, as far as its newest turns tell: an export looks at all of them, and
    /// names what it finds.
    pub async fn is_damaged(&self, owner: UserId, id: ChatId) -> Result<bool, ServiceError> {
        let mut unread = Vec::new();
        chats::find_with_damages(self.db(), owner, id, &mut unread).await?.ok_or(ServiceError::NotFound)?;
        branches::list_with_damages(self.db(), owner, id, &mut unread).await?;
        Ok(!unread.is_empty() || remains::is_broken(self.db(), id, LOOKED_AT).await?)
    }

    /// The path to a leaf, to the one that is shown where none is said, without the keys in it.
    ///
    /// # Errors
    /// `NotFound` where there is no such chat, or the leaf is not in it.
    pub async fn path_for_export(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<ExportedPath, ServiceError> {
        let (mut path, mut damages) = self.path_with_damages(owner, id, leaf).await?;
        // Before anything draws them: a key that is escaped or coloured is not found any more.
        let keys = self.supervisor().registry().known_keys();
        path.turns = path.turns.into_iter().map(|turn| clean_turn(&keys, turn)).collect();
        clean_chat(&keys, &mut path.chat);
        let mut unread = Vec::new();
        let mut imported_from = chat_sources::find_with_damages(self.db(), owner, id, &mut unread).await?;
        damages.unreadable(unread);
        imported_from.iter_mut().for_each(|source| clean_source(&keys, source));
        Ok(ExportedPath { path, imported_from, damaged: damages.into_named() })
    }

    async fn path_with_damages(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<(Path, Damages), ServiceError> {
        let (mut of_chat, mut unread) = (Damages::default(), Vec::new());
        let found = chats::find_with_damages(self.db(), owner, id, &mut unread).await?;
        let chat = found.ok_or(ServiceError::NotFound)?;
        of_chat.unreadable(unread.clone());
        let over = archive::over(self.db(), owner, id).await?;
        let mut tree = self.chat_tree(owner, id, &over).await?;
        if tree.damages.count() == 0 {
            match self.path(owner, id, leaf, ALL_TURNS).await {
                Err(ServiceError::Store(StoreError::BrokenPath(_) | StoreError::Inconsistent { .. })) => {}
                found => return found.map(|path| (path, of_chat)),
            }
        }
        tree.damages.unreadable(unread);
        let mut read = HashMap::new();
        while let Some(ReadTurn { turn, .. }) = self.next_turn(&mut tree).await? {
            read.insert(turn.id, turn);
        }
        let mut siblings: HashMap<Option<TurnId>, Vec<TurnId>> = HashMap::new();
        let mut by_place: Vec<_> = read.values().map(|turn| (turn.ord, turn.id, turn.prev_turn_id)).collect();
        by_place.sort_unstable_by_key(|(ord, ..)| *ord);
        for (_, turn, prev) in &by_place {
            siblings.entry(*prev).or_default().push(*turn);
        }
        let mut end = match leaf {
            Some(leaf) => Some(leaf).filter(|leaf| read.contains_key(leaf)).ok_or(ServiceError::NotFound).map(Some)?,
            None => tree.shown(chat.last_viewed_turn_id).or_else(|| by_place.last().map(|(_, turn, _)| *turn)),
        };
        while let Some(newest) =
            siblings.get(&end).filter(|_| leaf.is_none() && end.is_some()).and_then(|all| all.last())
        {
            end = Some(*newest);
        }
        let mut turns = Vec::new();
        while let Some(turn) = end.and_then(|end| read.remove(&end)) {
            end = turn.prev_turn_id;
            turns.push(turn);
        }
        turns.reverse();
        let all_of = |prev: Option<TurnId>| siblings.get(&prev).cloned().unwrap_or_default();
        let path = Path {
            branch: None,
            has_more_before: false,
            has_more_after: false,
            exchanges: self.exchanges(owner, &turns).await?,
            siblings: turns.iter().map(|turn| (turn.id, all_of(turn.prev_turn_id))).collect(),
            switches: HashMap::new(),
            turns,
            chat,
        };
        Ok((path, tree.damages))
    }
}
