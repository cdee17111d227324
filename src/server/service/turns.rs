//! Sending, stopping, trying again.

use serde_json::json;

use super::exchanges::{ExchangeOf, check_request_id, hash};
use super::messages::{self, MessageBlock};
use super::placement::{Wanted, check_lock};
use super::{Service, ServiceError};
use crate::domain::{
    Branch, Chat, ChatId, Exchange, ExchangeKind, Invalid, Origin, Params, Role, Turn, TurnId, UserId, limits, withhold,
};
use crate::server::platform::ids;
use crate::server::run::StopOutcome;
use crate::server::store::{StoreError, branches, chats, exchanges, turns};

/// A message to send.
#[derive(Debug, Clone, Default)]
pub struct StartTurn {
    /// `None` begins a new chat.
    pub chat_id: Option<ChatId>,
    pub content: Vec<MessageBlock>,
    pub place: Wanted,
    pub params: Params,
    /// Made by the client: the same id never sends twice.
    pub client_request_id: Option<String>,
}

/// What was stored when a message was accepted. The reply runs by itself from here.
#[derive(Debug, Clone)]
pub struct Started {
    pub chat: Chat,
    pub exchange: Exchange,
    pub user_turn: Turn,
    pub assistant_turn: Turn,
    pub branch: Branch,
    /// False when the request had been made before.
    pub is_new: bool,
}

impl Service {
    /// Stores a message with its pending reply in one transaction, then lets the reply run.
    pub async fn start_turn(&self, owner: UserId, request: StartTurn) -> Result<Started, ServiceError> {
        request.params.validate()?;
        check_request_id(request.client_request_id.as_deref())?;
        let fingerprint = hash(json!({
            "chat": request.chat_id,
            "content": request.content,
            "prev": request.place.prev_turn_id,
            "branch": request.place.branch_id,
            "provider": request.place.provider,
            "model": request.place.model,
            "params": request.params,
        }));
        let contents = messages::check(request.content)?;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        // From here on nobody else writes (SQLite) or the key decides (PostgreSQL), so the look before the write holds.
        let mut tx = self.db().begin().await?;
        if let Some(earlier) = self.earlier(owner, request.client_request_id.as_deref()).await? {
            tx.rollback().await?;
            return self.repeated(owner, earlier, &fingerprint).await;
        }
        let (chat, place) = match request.chat_id {
            Some(id) => {
                let chat = chats::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
                let place = self.place(&mut tx, owner, &chat, &request.place).await?;
                (chat, place)
            }
            None => self.new_chat(&mut tx, owner, &request.place, String::new(), String::new()).await?,
        };
        let exchange = ExchangeOf {
            id: ids::mint(),
            owner,
            kind: ExchangeKind::Send,
            params: request.params,
            base: Params::default(),
            sends_draft_of: Some(request.chat_id),
            request_id: request.client_request_id,
            fingerprint,
        };
        let chat = self.name_chat(&mut tx, owner, chat, &contents).await?;
        let user_turn = self.user_turn(&mut tx, &chat, &place, contents, exchange.id).await?;
        self.answer(tx, chat, place.branch, user_turn, exchange).await
    }

    /// Another reply to the same message: a sibling on a branch of its own.
    pub async fn retry_turn(
        &self,
        owner: UserId,
        id: TurnId,
        place: Wanted,
        params: Params,
        client_request_id: Option<String>,
    ) -> Result<Started, ServiceError> {
        params.validate()?;
        check_request_id(client_request_id.as_deref())?;
        let fingerprint = hash(json!({ "retry": id, "params": params }));
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        // From here on nobody else writes (SQLite) or the key decides (PostgreSQL), so the look before the write holds.
        let mut tx = self.db().begin().await?;
        if let Some(earlier) = self.earlier(owner, client_request_id.as_deref()).await? {
            tx.rollback().await?;
            return self.repeated(owner, earlier, &fingerprint).await;
        }
        let old = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if old.role != Role::Assistant {
            return Err(Invalid::new("turn", "only a reply can be tried again").into());
        }
        let Some(user_id) = old.prev_turn_id else {
            return Err(ServiceError::conflict("no_message", "this reply answers no message"));
        };
        let user_turn = turns::find(self.db(), owner, user_id).await?.ok_or(ServiceError::NotFound)?;
        let chat = chats::find(self.db(), owner, old.chat_id).await?.ok_or(ServiceError::NotFound)?;
        let source = branches::find(self.db(), owner, old.branch_id).await?.ok_or(ServiceError::NotFound)?;
        check_lock(&source, &place, Some(&user_turn))?;
        if turns::count_children(&mut tx, chat.id, Some(user_id)).await? >= limits::SIBLINGS {
            let message = format!("a message has at most {} replies", limits::SIBLINGS);
            return Err(ServiceError::conflict("too_many_siblings", message));
        }
        let base = exchanges::find(self.db(), owner, old.exchange_id)
            .await?
            .map(|exchange| exchange.params)
            .unwrap_or_default();
        let branch = self.fork(&mut tx, owner, chat.id, &source, Some(user_id), Origin::Regenerate).await?;
        let exchange = ExchangeOf {
            id: ids::mint(),
            owner,
            kind: ExchangeKind::Regenerate,
            params,
            base,
            sends_draft_of: None,
            request_id: client_request_id,
            fingerprint,
        };
        self.answer(tx, chat, branch, user_turn, exchange).await
    }

    /// Stops a reply. When this returns, its ending is stored; a reply that is over stays as it is.
    pub async fn stop_turn(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if turn.status.is_terminal() {
            return Ok(withhold::turn(turn));
        }
        if self.supervisor().stop(id).await == StopOutcome::NotRunning {
            // It may have ended since it was looked at.
            let now = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
            if !now.status.is_terminal() {
                match self.supervisor().end_stray(now).await {
                    // Its own ending was first.
                    Ok(()) | Err(StoreError::NotUnique) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let stopped = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(withhold::turn(stopped))
    }

    /// One turn as of now; a running one as its followers see it. Without what is withheld from clients.
    pub async fn turn(&self, owner: UserId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(withhold::turn(self.supervisor().live(id).map_or(turn, |live| live.turn())))
    }
}
