//! The path of a chat for readable exports. When rows on it cannot be read, the path is rebuilt from the export plan.

use std::collections::HashMap;

use super::damages::ExportDamages;
use super::redaction::{redact_chat, redact_source, redact_turn};
use super::tree::ReadTurn;
use crate::paths::ChatPath;
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, ImportDifference, ImportOrigin, TurnId, UserId, limits};
use turnleaf_store::chats::{self, chat_sources};
use turnleaf_store::transfer::archive::{self, salvage};
use turnleaf_store::{StoreError, branches};

/// A limit beyond the length of any path.
const ALL_TURNS: u32 = limits::TURNS_PER_CHAT as u32;

/// The number of newest turns and blocks that the export page checks for damages.
const LOOKED_AT: u32 = 1_000;

/// A path for a readable export.
pub struct ExportedPath {
    pub path: ChatPath,
    /// The origin of an imported chat.
    pub imported_from: Option<ImportOrigin>,
    /// The values that could not be read.
    pub damaged: Vec<ImportDifference>,
}

impl Service {
    /// Checks whether rows of a chat's tree cannot be read, judging by its newest turns. The export itself checks all
    /// of them.
    pub async fn is_chat_damaged(&self, owner: UserId, id: ChatId) -> Result<bool, ServiceError> {
        let mut unread = Vec::new();
        chats::find_with_damages(self.db(), owner, id, &mut unread).await?.ok_or(ServiceError::NotFound)?;
        branches::list_with_damages(self.db(), owner, id, &mut unread).await?;
        Ok(!unread.is_empty() || salvage::is_tree_broken(self.db(), id, LOOKED_AT).await?)
    }

    /// Returns the path to a leaf, or without one the path that is shown, with API keys redacted.
    ///
    /// # Errors
    /// `NotFound` when the chat does not exist or does not contain the leaf.
    pub async fn path_for_export(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<ExportedPath, ServiceError> {
        let (mut path, mut damages) = self.path_with_damages(owner, id, leaf).await?;
        // Redaction comes before rendering: an escaped or highlighted key would no longer match.
        let keys = self.supervisor().registry().known_keys();
        path.turns = path.turns.into_iter().map(|turn| redact_turn(&keys, turn)).collect();
        redact_chat(&keys, &mut path.chat);
        let mut unread = Vec::new();
        let mut imported_from = chat_sources::find_with_damages(self.db(), owner, id, &mut unread).await?;
        damages.note_unreadable(unread);
        imported_from.iter_mut().for_each(|source| redact_source(&keys, source));
        Ok(ExportedPath { path, imported_from, damaged: damages.into_differences() })
    }

    async fn path_with_damages(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<(ChatPath, ExportDamages), ServiceError> {
        let (mut of_chat, mut unread) = (ExportDamages::default(), Vec::new());
        let found = chats::find_with_damages(self.db(), owner, id, &mut unread).await?;
        let chat = found.ok_or(ServiceError::NotFound)?;
        of_chat.note_unreadable(unread.clone());
        let over = archive::finished_turn_ids(self.db(), owner, id).await?;
        let mut tree = self.plan_chat_tree(owner, id, &over).await?;
        if tree.damages.count() == 0 {
            match self.path(owner, id, leaf, ALL_TURNS).await {
                Err(ServiceError::Store(StoreError::BrokenPath(_) | StoreError::Inconsistent { .. })) => {}
                found => return found.map(|path| (path, of_chat)),
            }
        }
        tree.damages.note_unreadable(unread);
        let mut read = HashMap::new();
        while let Some(ReadTurn { turn, .. }) = self.next_export_turn(&mut tree).await? {
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
            None => tree.shown_turn(chat.last_viewed_turn_id).or_else(|| by_place.last().map(|(_, turn, _)| *turn)),
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
        let path = ChatPath {
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
