//! Text search within a chat.

use crate::{Service, ServiceError};
use turnleaf_domain::{Chat, ChatId, InvalidField, TextMatcher, TurnId, UserId, limits};
use turnleaf_store::turns;

pub use turnleaf_store::turns::text_search::{TurnMatch, TurnMatches};

impl Service {
    /// Finds the turns of a path whose text contains `query`, case-insensitively. The path is the one to `leaf`;
    /// without it, the one that the chat opens at. Returns at most `limit` turns, the newest; [`TurnMatches::total`]
    /// is the count of all.
    ///
    /// # Errors
    /// `InvalidField` for a query or a limit out of bounds; `NotFound` for a chat or a leaf that does not exist.
    pub async fn find_in_chat(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        query: &str,
        limit: u32,
    ) -> Result<(Chat, TurnMatches), ServiceError> {
        let needle = TextMatcher::new(query)?;
        InvalidField::check_range("limit", limit, 1..=limits::FIND_MAX)?;
        let (chat, leaf) = match leaf {
            Some(leaf) => {
                let chat = self.chat(owner, id).await?;
                let turn = turns::find(self.db(), owner, leaf).await?.filter(|turn| turn.chat_id == id);
                (chat, Some(turn.ok_or(ServiceError::NotFound)?.id))
            }
            None => self.chat_with_leaf(owner, id, None).await?,
        };
        let found = match leaf {
            Some(leaf) => turns::text_search::find_on_path(self.db(), owner, leaf, &needle, limit).await?,
            None => TurnMatches { is_whole: true, ..TurnMatches::default() },
        };
        Ok((chat, found))
    }
}
