//! Lookups of turns that a request names, which must belong to its chat.

use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, InvalidField, MessageCode, Turn, TurnId, UserId};
use turnleaf_store::turns::{self, Ancestor};

impl Service {
    /// Returns the turn that a field names, which must belong to the chat.
    pub(crate) async fn turn_in_chat(
        &self,
        owner: UserId,
        chat: ChatId,
        field: &str,
        id: TurnId,
    ) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.filter(|turn| turn.chat_id == chat);
        Ok(turn.ok_or_else(|| InvalidField::new(field, MessageCode::NoSuchMessage))?)
    }

    /// Returns the path to the turn that a field names, which must belong to the chat.
    pub(crate) async fn lineage_in_chat(
        &self,
        owner: UserId,
        chat: ChatId,
        field: &str,
        leaf: TurnId,
    ) -> Result<Vec<Ancestor>, ServiceError> {
        let path = turns::lineage(self.db(), owner, leaf).await?;
        match path.last() {
            None => Err(ServiceError::NotFound),
            Some(end) if end.chat_id != chat => Err(InvalidField::new(field, MessageCode::OtherChat).into()),
            Some(_) => Ok(path),
        }
    }

    /// Returns the parent of a message, which must belong to the chat.
    pub(super) async fn parent_in_chat(&self, owner: UserId, chat: ChatId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if turn.chat_id != chat {
            return Err(InvalidField::new("prev_turn_id", MessageCode::OtherChat).into());
        }
        Ok(turn)
    }
}
