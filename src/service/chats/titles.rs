//! Suggested titles: a person asks the model of a chat's branch for a title. The request is stored, counted and shown like
//! those of replies; it changes no title by itself.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};

use crate::idempotency::Created;
use crate::turns::generations::SentRequests;
use crate::usage::calling_token::calling_token;
use crate::{Service, ServiceError};
use turnleaf_domain::providers::params_resolution::{ResolvedParams, resolve_params};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::{
    Capabilities, Chat, ChatId, Failure, FailureKind, InvalidField, MessageCode, ModelParams, Role, Thinking,
    TitleRequestId, Turn, TurnId, Usage, UserId, limits,
};
use turnleaf_platform::{ids, tasks};
use turnleaf_run::{PreparedTitleRequest, RunJob};
use turnleaf_store::chats::title_requests::{self, TitleRequest};
use turnleaf_store::turns::generations::GenerationStatus;
use turnleaf_store::usage::ledger;
use turnleaf_store::{StoreError, branches, turns};

pub use turnleaf_store::chats::title_requests::ListedTitleRequest;

/// A suggested title, or the request for one.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TitleSuggestion {
    pub id: TitleRequestId,
    pub chat_id: ChatId,
    /// The reply at the end of the path that was sent.
    pub turn_id: TurnId,
    pub status: GenerationStatus,
    /// The title. Absent while the request runs, and if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub provider: String,
    pub model: String,
    pub usage: Usage,
    /// The cost in millionths of a US dollar; null if it is unknown.
    pub cost_micros: Option<u64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

impl From<TitleRequest> for TitleSuggestion {
    fn from(TitleRequest { id, chat_id, title, call }: TitleRequest) -> Self {
        Self {
            id,
            chat_id,
            turn_id: call.turn_id,
            status: call.status,
            title,
            provider: call.provider,
            model: call.model_requested,
            usage: call.usage,
            cost_micros: call.cost_micros,
            error: call.error,
            started_at: call.started_at,
            ended_at: call.ended_at,
        }
    }
}

/// A request for a title with what was sent and received, as far as a page shows it.
pub struct TitleRequestDetails {
    pub chat: Chat,
    pub suggestion: TitleSuggestion,
    /// The messages that were sent. Its turn is the reply at their end.
    pub sent: SentRequests,
    /// The body of the request.
    pub body: ByteExcerpt,
    /// The response; none if it was not kept, or has not ended.
    pub response: Option<ByteExcerpt>,
}

/// The beginning of stored bytes: at most [`limits::RAW_SHOWN_BYTES`].
pub struct ByteExcerpt {
    pub excerpt: Bytes,
    /// The length of all of them.
    pub length: usize,
}

impl ByteExcerpt {
    fn new(bytes: &Bytes) -> Self {
        Self { excerpt: bytes.slice(..bytes.len().min(limits::RAW_SHOWN_BYTES)), length: bytes.len() }
    }
}

impl Service {
    /// Asks the model of the branch on which the chat opens for a title, and waits for the answer. While a request of the
    /// chat runs, its answer is that one's.
    ///
    /// # Errors
    /// `title_needs_reply` for a chat without a reply, `turn_running` while its last reply runs, `model_unavailable`
    /// when the provider is gone, `too_many_titles` at the bound. A request that fails is no error.
    pub async fn suggest_title(
        &self,
        owner: UserId,
        chat: ChatId,
        client_request_id: Option<&str>,
    ) -> Result<Created<TitleSuggestion>, ServiceError> {
        let fields = json!({ "new": "title_suggestion", "chat": chat });
        if let Some(made) = self.find_created(owner, client_request_id, &fields).await? {
            return self.earlier_suggestion(owner, &made).await;
        }
        let (chat, reply) = self.last_complete_reply(owner, chat).await?;
        let id = ids::mint();
        let slot = match self.supervisor().reserve_title(chat.id, id) {
            Ok(slot) => slot,
            Err(running) => return self.join_suggestion(owner, client_request_id, fields, running).await,
        };
        self.check_growth(owner, 0).await?;
        if !self.supervisor().has_room() {
            return Err(ServiceError::TooManyRunning);
        }
        let budget = self.reserve_budget(owner).await?;
        // Nobody else adds one while this has the slot.
        if title_requests::count(self.db(), owner, chat.id).await? >= limits::TITLE_REQUESTS {
            let message = MessageCode::TooManyTitles.with("most", limits::TITLE_REQUESTS);
            return Err(ServiceError::conflict("too_many_titles", message));
        }
        let request = self.prepare_title(owner, &chat, &reply).await?;
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, owner, client_request_id, fields, id).await? {
            tx.rollback().await?;
            drop(slot);
            return self.earlier_suggestion(owner, &made).await;
        }
        self.lock_chat(&mut tx, owner, chat.id).await?;
        let now = self.clock().now();
        // Whoever has the slot is the only one that runs, so the end of another could not be stored.
        let failure = Failure::new(FailureKind::Internal, "");
        title_requests::interrupt_running_of_chat(&mut tx, owner, chat.id, &failure, now).await?;
        if !title_requests::insert(&mut tx, owner, &request.new_row(id, reply.id, now)).await? {
            return Err(ServiceError::NotFound);
        }
        if let Some(token) = calling_token() {
            ledger::set_title_token(&mut tx, owner, id, token).await?;
        }
        // A process that has lost the claim must not send a request.
        self.db().fence(&mut tx).await?;
        let stored_bytes = request.stored_bytes();
        // Detached: a client may disconnect during the commit, and a stored request that is not sent would never end.
        let begun = tasks::spawn(async move {
            tx.commit().await?;
            slot.start(owner, request, budget);
            Ok::<_, StoreError>(())
        });
        begun.await.map_err(|_| StoreError::Gone("the request for a title"))??;
        self.note_growth(owner, stored_bytes).await;
        Ok(Created::new(self.ended_suggestion(owner, id).await?))
    }

    /// Stops the request for a title of a chat, and returns it, if one runs. Its end is stored before this returns.
    ///
    /// # Errors
    /// `NotFound` for a chat in Trash, whose requests are stopped already.
    pub async fn stop_title_suggestion(
        &self,
        owner: UserId,
        chat: ChatId,
    ) -> Result<Option<TitleRequestId>, ServiceError> {
        // The running requests are known by their chats alone.
        let chat = self.chat(owner, chat).await?.id;
        let stopped = self.supervisor().stop_title(chat);
        if let Some(id) = stopped {
            self.supervisor().wait_for_title(id).await;
        }
        let open = title_requests::find_running(self.db(), owner, chat).await?;
        // Another one may run by now. If none does, the end of this one could not be stored when it came.
        let orphan = open.filter(|id| self.supervisor().running_title(chat) != Some(*id));
        if let Some(id) = orphan {
            self.supervisor().end_orphaned_title(owner, id).await?;
        }
        Ok(stopped.or(orphan))
    }

    /// Returns a suggestion of a chat that is not in Trash.
    pub async fn title_suggestion(&self, owner: UserId, id: TitleRequestId) -> Result<TitleSuggestion, ServiceError> {
        Ok(self.title_request(owner, id).await?.into())
    }

    /// Returns the last requests for a title of this chat, newest first.
    pub async fn title_requests(&self, owner: UserId, chat: ChatId) -> Result<Vec<ListedTitleRequest>, ServiceError> {
        Ok(title_requests::list(self.db(), owner, chat, limits::TITLE_REQUESTS_LISTED).await?)
    }

    /// Returns the body of a request as it was sent, without headers and so without an API key.
    pub async fn title_request_body(&self, owner: UserId, id: TitleRequestId) -> Result<Bytes, ServiceError> {
        let body = title_requests::find_body(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().registry().redact_keys(body.into()))
    }

    /// Returns the provider's response, with API keys redacted; `NotFound` when none was kept.
    pub async fn title_response(&self, owner: UserId, id: TitleRequestId) -> Result<Bytes, ServiceError> {
        let bytes = title_requests::find_raw(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().registry().redact_keys(bytes.into()))
    }

    /// Returns a request with what was sent and received.
    pub async fn title_request_details(
        &self,
        owner: UserId,
        id: TitleRequestId,
    ) -> Result<TitleRequestDetails, ServiceError> {
        let request = self.title_request(owner, id).await?;
        let (path, _) = turns::path(self.db(), owner, request.call.turn_id, SentRequests::MESSAGES as u32).await?;
        let reply = path.last().cloned().ok_or(ServiceError::NotFound)?;
        let frozen = branches::frozen(self.db(), reply.branch_id).await?.unwrap_or_default();
        let mut sent = SentRequests::new(vec![request.call.id], 0, Some(request.call.clone()), reply, path);
        sent.frozen = frozen;
        let response = match self.title_response(owner, id).await {
            Err(ServiceError::NotFound) => None,
            // Redacted before it is cut, because half a key would not match.
            response => Some(ByteExcerpt::new(&response?)),
        };
        Ok(TitleRequestDetails {
            chat: self.chat(owner, request.chat_id).await?,
            suggestion: request.into(),
            sent,
            body: ByteExcerpt::new(&self.title_request_body(owner, id).await?),
            response,
        })
    }

    async fn title_request(&self, owner: UserId, id: TitleRequestId) -> Result<TitleRequest, ServiceError> {
        title_requests::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns a suggestion once its request has ended.
    async fn ended_suggestion(&self, owner: UserId, id: TitleRequestId) -> Result<TitleSuggestion, ServiceError> {
        self.supervisor().wait_for_title(id).await;
        self.title_suggestion(owner, id).await
    }

    /// Returns the suggestion that an earlier request with the same idempotency key created.
    async fn earlier_suggestion(&self, owner: UserId, made: &str) -> Result<Created<TitleSuggestion>, ServiceError> {
        let made = made.parse().map_err(|_| ServiceError::NotFound)?;
        Ok(Created::existing(self.ended_suggestion(owner, made).await?))
    }

    /// Returns the suggestion of a running request, to which the idempotency key leads from now on.
    async fn join_suggestion(
        &self,
        owner: UserId,
        client_request_id: Option<&str>,
        fields: Value,
        running: TitleRequestId,
    ) -> Result<Created<TitleSuggestion>, ServiceError> {
        let suggestion = match self.ended_suggestion(owner, running).await {
            Err(ServiceError::NotFound) => {
                return Err(StoreError::Busy("the running request for a title was not stored".into()).into());
            }
            suggestion => suggestion?,
        };
        if client_request_id.is_some() {
            let mut tx = self.db().begin().await?;
            if let Some(made) = self.claim_request(&mut tx, owner, client_request_id, fields, running).await? {
                tx.rollback().await?;
                return self.earlier_suggestion(owner, &made).await;
            }
            tx.commit().await?;
        }
        Ok(Created::existing(suggestion))
    }

    /// Returns the chat, and the last reply of the path that it opens at.
    async fn last_complete_reply(&self, owner: UserId, chat: ChatId) -> Result<(Chat, Turn), ServiceError> {
        let path = self.path(owner, chat, None, 2).await?;
        let reply = path.turns.into_iter().rev().find(|turn| turn.role == Role::Assistant);
        let no_reply = || ServiceError::conflict("title_needs_reply", MessageCode::TitleNeedsReply);
        let reply = reply.ok_or_else(no_reply)?;
        if !reply.status.is_terminal() {
            return Err(ServiceError::conflict("turn_running", MessageCode::ReplyRunning));
        }
        Ok((path.chat, reply))
    }

    /// Builds the request, as that of a reply which follows `reply` on its branch.
    async fn prepare_title(
        &self,
        owner: UserId,
        chat: &Chat,
        reply: &Turn,
    ) -> Result<PreparedTitleRequest, ServiceError> {
        let branch = branches::find(self.db(), owner, reply.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.check_lock_available(owner, &branch.lock, Some(reply.id))?;
        let capabilities = self.supervisor().registry().capabilities(owner, &branch.lock);
        let job = RunJob {
            owner,
            chat: chat.clone(),
            turn: self.new_turn(chat, &branch, (Some(reply), reply.ord + 1), Role::Assistant, reply.exchange_id),
            lock: branch.lock,
            resolved_params: title_params(&capabilities)?,
            capabilities,
            is_thinking_undecided: false,
            opening: None,
            budget: None,
        };
        // The cause is in the log.
        let prepared = self.supervisor().prepare_title(job).await;
        prepared.map_err(|_| StoreError::Gone("the context of the request for a title").into())
    }
}

/// Returns the parameters of a request for a title: as little reasoning as the model can do, and room for one line.
fn title_params(model: &Capabilities) -> Result<ResolvedParams, InvalidField> {
    let least = model.thinking_levels.first().copied().unwrap_or(Thinking::Off);
    let is_off = model.reasoning == ReasoningSupport::Never || model.thinking_levels.contains(&Thinking::Off);
    let tokens = if is_off { limits::TITLE_TOKENS } else { limits::TITLE_TOKENS_WITH_REASONING };
    let max_tokens = model.max_tokens.most.map_or(tokens, |most| most.min(tokens));
    // As defaults, which are left out where the model refuses them.
    let defaults = ModelParams { thinking: Some(least), max_tokens: Some(max_tokens), ..ModelParams::default() };
    resolve_params(&ModelParams::default(), &defaults, model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_off_or_at_its_lowest_level_with_room_for_it() {
        let model = |reasoning, levels: &[Thinking]| Capabilities::default().with_thinking(reasoning, levels);
        for (model, thinking, tokens) in [
            (model(ReasoningSupport::Never, &[]), Thinking::Off, limits::TITLE_TOKENS),
            (model(ReasoningSupport::Optional, &[Thinking::Off, Thinking::High]), Thinking::Off, limits::TITLE_TOKENS),
            (
                model(ReasoningSupport::Always, &[Thinking::Low, Thinking::High]),
                Thinking::Low,
                limits::TITLE_TOKENS_WITH_REASONING,
            ),
            (Capabilities::default(), Thinking::Off, limits::TITLE_TOKENS_WITH_REASONING),
        ] {
            let resolved = title_params(&model).unwrap();
            assert_eq!((resolved.thinking, resolved.params.max_tokens), (thinking, Some(tokens)));
        }
    }
}
