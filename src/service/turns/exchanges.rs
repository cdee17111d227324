//! The writes of one exchange: chat, user turn, pending reply and branch head, in one transaction that is durable
//! before the client gets a response.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::turns::messages::UserMessage;
use crate::turns::placement::TurnPlacement;
use crate::turns::tool_results::bind_results;
use crate::usage::calling_token::calling_token;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::block::{Block, BlockState};
use turnleaf_domain::blocks::derived_text::content_text;
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::chats::chat;
use turnleaf_domain::providers::params_resolution::{ResolvedParams, resolve_params};
use turnleaf_domain::turns::continued_text;
use turnleaf_domain::{
    AccountChange, Author, Branch, Capabilities, Chat, ChatId, Content, Event, Exchange, ExchangeId, ExchangeKind,
    InvalidField, MessageCode, ModelParams, QueuedMessageId, Role, Thinking, Turn, TurnId, TurnLocation, TurnStatus,
    UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_run::{BudgetReservation, ChatOpening, RunJob};
use turnleaf_store::chats::{self, drafts};
use turnleaf_store::database::db::Tx;
use turnleaf_store::turns::events::{self, EventRow};
use turnleaf_store::turns::{self, exchanges, queued_messages};
use turnleaf_store::usage::ledger;
use turnleaf_store::{StoreError, branches};

/// The time for which the outcome of a message's commit is queried.
const OUTCOME_TIME: Duration = Duration::from_secs(600);

/// The data of an exchange before it is stored.
pub(crate) struct NewExchange {
    pub id: ExchangeId,
    pub owner: UserId,
    pub kind: ExchangeKind,
    /// The parameters of the request itself, which the model must support.
    pub params: ModelParams,
    /// The parameters that apply where the request sets none: those of the replaced turn. The chat's defaults come
    /// last.
    pub base: ModelParams,
    /// The chat whose draft is sent; `Some(None)` is the draft of the new-chat page.
    pub sends_draft_of: Option<Option<ChatId>>,
    /// The reply that this exchange follows or replaces: messages that are queued behind it move behind the new reply.
    pub moves_queue_of: Option<TurnId>,
    /// The queued message that is sent.
    pub sends_queued: Option<QueuedMessageId>,
    /// True when the reader moves to the reply; requests that the server starts by itself leave the reader in place.
    pub moves_reader: bool,
    pub request_id: Option<String>,
    /// Present if this is the first message of a chat.
    pub opening: Option<NewChatOpening>,
    /// The text with which the reply begins, for its model to continue.
    pub begins_with: Option<String>,
    /// The reservation for the reply in the budgets of the owner.
    pub budget: Option<Arc<BudgetReservation>>,
    /// The hash of the request: the same idempotency key with another hash is a client error.
    pub fingerprint: Vec<u8>,
}

impl NewExchange {
    /// Creates an exchange whose reader moves to the reply, and which sends no draft and no queued message.
    pub fn new(id: ExchangeId, owner: UserId, kind: ExchangeKind, params: ModelParams, fingerprint: Vec<u8>) -> Self {
        Self {
            id,
            owner,
            kind,
            params,
            base: ModelParams::default(),
            sends_draft_of: None,
            moves_queue_of: None,
            sends_queued: None,
            moves_reader: true,
            request_id: None,
            opening: None,
            begins_with: None,
            budget: None,
            fingerprint,
        }
    }

    /// Resolves the parameters of the reply for its model.
    fn resolve_reply_params(
        &self,
        defaults: &ModelParams,
        capabilities: &Capabilities,
    ) -> Result<ResolvedParams, InvalidField> {
        if self.begins_with.is_some() && capabilities.thinking_levels.contains(&Thinking::Off) {
            // Reasoning would come before the text that is continued.
            let requested = ModelParams { thinking: Some(Thinking::Off), ..self.params.clone() };
            return resolve_params(&requested, defaults, capabilities);
        }
        resolve_params(&self.params, defaults, capabilities)
    }

    /// Stores the row of the exchange. Exchange and user turn reference each other; the first of the two references is
    /// checked at the commit.
    async fn insert(&self, tx: &mut Tx, exchange: &Exchange) -> Result<(), ServiceError> {
        match exchanges::insert(tx, self.owner, exchange, Some(&self.fingerprint)).await {
            Err(StoreError::NotUnique) => return Err(ServiceError::reused_request_id()),
            stored => stored?,
        }
        if let Some(token) = calling_token() {
            ledger::set_exchange_token(tx, self.owner, exchange.id, token).await?;
        }
        Ok(())
    }

    /// Updates the queued messages and the draft that the exchange sends or moves.
    async fn settle_queue_and_draft(
        &self,
        tx: &mut Tx,
        (message, reply): (TurnId, TurnId),
        now: DateTime<Utc>,
    ) -> Result<(), ServiceError> {
        if let Some(id) = self.sends_queued
            && !queued_messages::mark_sent(tx, self.owner, id, message, now).await?
        {
            return Err(ServiceError::queued_message_sent());
        }
        if let Some(before) = self.moves_queue_of {
            queued_messages::follow(tx, self.owner, before, reply).await?;
        }
        if let Some(draft_of) = self.sends_draft_of {
            drafts::clear(tx, self.owner, draft_of, now).await?;
        }
        Ok(())
    }
}

/// The beginning of a chat.
pub(crate) struct NewChatOpening {
    /// The prompt prefix of its branch.
    pub frozen: PromptPrefix,
    /// The id of the reply, if the same transaction has stored the chat: its rows point to the reply already.
    pub reply: Option<TurnId>,
}

/// The rows that were stored when a message was accepted. The reply runs independently of the request.
#[derive(Debug, Clone)]
pub struct AcceptedExchange {
    pub chat: Chat,
    pub exchange: Exchange,
    pub user_turn: Turn,
    pub assistant_turn: Turn,
    pub branch: Branch,
    /// False when an earlier request with the same key created it.
    pub is_new: bool,
}

/// Completes a new user turn with the written message.
pub(crate) fn complete_user_turn(turn: &mut Turn, message: UserMessage) {
    turn.status = TurnStatus::Complete;
    turn.completed_at = Some(turn.created_at);
    let block = |((content, block_metadata), seq)| Block {
        block_metadata,
        ..Block::new(ids::mint(), (turn.ord, seq), Author::User, content, turn.created_at)
    };
    turn.blocks = message.contents.into_iter().zip(message.metadata).zip(0..).map(block).collect();
}

/// Begins a new reply with the text of another version. Its block stays open, for the model to continue.
fn begin_with_text(turn: &mut Turn, text: &str) {
    turn.blocks = vec![Block {
        state: BlockState::Open,
        block_metadata: continued_text::began_with(text),
        ..Block::new(ids::mint(), (turn.ord, 0), Author::Assistant, Content::text(text), turn.created_at)
    }];
    turn.last_event_seq = 1;
}

/// Stores the event of the block with which a new reply begins, if it begins with one: the journal alone determines the
/// turn.
async fn append_beginning(tx: &mut Tx, turn: &Turn) -> Result<(), StoreError> {
    let Some(block) = turn.blocks.first() else { return Ok(()) };
    // Blocks hold strings, numbers and parsed JSON, so serialising cannot fail.
    let event = serde_json::to_string(&Event::BlockStart { block: block.clone() }).unwrap_or_default();
    events::append(tx, &[EventRow { turn_id: turn.id, seq: turn.last_event_seq, event: &event }]).await
}

/// Returns the title of a chat that begins with this message.
pub(crate) fn derived_title(message: &UserMessage) -> String {
    let words = content_text(&message.contents);
    chat::derive_title(if words.trim().is_empty() { message.first_title() } else { &words })
}

impl Service {
    /// Names an untitled chat after its first message.
    pub(crate) async fn name_chat(
        &self,
        tx: &mut Tx,
        owner: UserId,
        mut chat: Chat,
        message: &UserMessage,
    ) -> Result<Chat, ServiceError> {
        if chat.title.is_empty() && !chat.settings.titled_by_user {
            chat.title = derived_title(message);
            chats::rename(tx, owner, chat.id, &chat.title, false).await?;
        }
        Ok(chat)
    }

    /// Prepares the user turn, which [`Self::commit_exchange`] stores. Its reply has the position after it.
    pub(crate) async fn insert_user_turn(
        &self,
        tx: &mut Tx,
        chat: &Chat,
        place: &TurnPlacement,
        message: UserMessage,
        exchange: ExchangeId,
    ) -> Result<Turn, ServiceError> {
        let parent = place.parent.as_ref();
        let ord = match place.ord {
            Some(ord) => ord,
            None => self.allocate_ords(tx, chat, 2).await?,
        };
        let mut turn = self.new_turn(chat, &place.branch, (parent, ord), Role::User, exchange);
        if let Some(source) = message.copy_of {
            turn.id = ids::mint_for_copy(source.uuid());
        }
        complete_user_turn(&mut turn, message);
        bind_results(parent, &mut turn)?;
        Ok(turn)
    }

    /// Stores the exchange with its pending reply, commits the transaction, and starts the run.
    pub(crate) async fn commit_exchange(
        &self,
        mut tx: Tx,
        chat: Chat,
        mut branch: Branch,
        user_turn: Turn,
        of: NewExchange,
    ) -> Result<AcceptedExchange, ServiceError> {
        let is_new_message = matches!(of.kind, ExchangeKind::Send | ExchangeKind::Edit);
        let defaults = of.base.clone().with_defaults(&chat.settings.params);
        let capabilities = self.supervisor().registry().capabilities(of.owner, &branch.lock);
        let settled = of.resolve_reply_params(&defaults, &capabilities)?;
        let exchange = Exchange {
            id: of.id,
            chat_id: chat.id,
            branch_id: branch.id,
            user_turn_id: Some(user_turn.id),
            kind: of.kind,
            is_thinking_mode: settled.is_thinking_mode,
            params: of.params.clone().with_defaults(&defaults),
            not_sent: settled.not_sent.clone(),
            client_request_id: of.request_id.clone(),
            created_at: self.clock().now(),
        };
        of.insert(&mut tx, &exchange).await?;
        let ord = if is_new_message { user_turn.ord + 1 } else { self.allocate_ords(&mut tx, &chat, 1).await? };
        let mut assistant_turn = self.new_turn(&chat, &branch, (Some(&user_turn), ord), Role::Assistant, exchange.id);
        if let Some(text) = &of.begins_with {
            begin_with_text(&mut assistant_turn, text);
        }
        let moved_head = if let Some(reply) = of.opening.as_ref().and_then(|opening| opening.reply) {
            assistant_turn.id = reply;
            turns::insert_path(&mut tx, &[&user_turn, &assistant_turn]).await?;
            None
        } else {
            if is_new_message {
                turns::insert_path(&mut tx, &[&user_turn, &assistant_turn]).await?;
            } else {
                turns::insert_path(&mut tx, &[&assistant_turn]).await?;
            }
            let visited_at = of.moves_reader.then_some(exchange.created_at);
            let heads = (branch.head_turn_id, assistant_turn.id);
            let moved = branches::defer_visited_head(&mut tx, branch.id, heads, visited_at).await?;
            branch.head_turn_id = Some(assistant_turn.id);
            if of.moves_reader {
                chats::defer_last_viewed_of_locked(&mut tx, of.owner, chat.id, assistant_turn.id).await?;
            }
            Some(moved)
        };
        append_beginning(&mut tx, &assistant_turn).await?;
        of.settle_queue_and_draft(&mut tx, (user_turn.id, assistant_turn.id), exchange.created_at).await?;
        // Looked at last, so that all of these writes are one script.
        if let Some(moved) = moved_head
            && tx.rows_affected(moved).await? == 0
        {
            return Err(ServiceError::conflict("branch_moved", MessageCode::BranchMoved));
        }
        let job = RunJob {
            owner: of.owner,
            chat: chat.clone(),
            turn: assistant_turn.clone(),
            lock: branch.lock.clone(),
            resolved_params: settled,
            capabilities,
            is_thinking_undecided: exchange.is_thinking_undecided(),
            opening: of.opening.map(|opening| ChatOpening {
                message: user_turn.clone(),
                policy: branch.policy,
                frozen: opening.frozen,
            }),
            budget: of.budget,
        };
        self.commit_and_start(tx, job, of.sends_draft_of).await?;
        if is_new_message {
            // The text is stored as a block and as plain text, and sent once.
            self.note_growth(of.owner, 3 * user_turn.content_text().len() as u64).await;
        }
        Ok(AcceptedExchange { chat, exchange, user_turn, assistant_turn, branch, is_new: true })
    }

    /// Commits the exchange, with which a draft may have been sent, then starts the run of its reply.
    async fn commit_and_start(
        &self,
        mut tx: Tx,
        job: RunJob,
        sent_draft: Option<Option<ChatId>>,
    ) -> Result<(), ServiceError> {
        let supervisor = self.supervisor().clone();
        // Fencing: a process that has lost the claim must not start a reply.
        self.db().fence(&mut tx).await?;
        // The task is detached: the client may disconnect during the commit, and a stored message without a run would
        // stay pending. For the same reason it queries a lost acknowledgement longer than the client waits.
        let begun = tasks::spawn(async move {
            tx.commit_with_timeout(OUTCOME_TIME).await?;
            if let Some(chat_id) = sent_draft {
                supervisor.changes().publish(job.owner, AccountChange::DraftChanged { chat_id, rev: None });
            }
            supervisor.start_run(job);
            Ok::<_, StoreError>(())
        });
        let begun = tokio::time::timeout(limits::SEND_TIME, begun).await;
        let begun = begun.map_err(|_| StoreError::Unacknowledged("the run does not respond".into()))?;
        begun.map_err(|_| StoreError::Gone("the message"))??;
        Ok(())
    }

    /// Allocates the positions of this many turns in a row, and locks the chat; returns the first.
    pub(crate) async fn allocate_ords(&self, tx: &mut Tx, chat: &Chat, count: i64) -> Result<i64, ServiceError> {
        let now = self.clock().now();
        let ord = chats::allocate_ords(tx, chat.owner_id, chat.id, count, now).await?.ok_or(ServiceError::NotFound)?;
        if ord + count - 1 > limits::TURNS_PER_CHAT {
            let message = MessageCode::TooManyMessages.with("most", limits::TURNS_PER_CHAT);
            return Err(ServiceError::conflict("too_many_turns", message));
        }
        Ok(ord)
    }

    /// Returns a pending turn without blocks, after `parent` and at this position.
    pub(crate) fn new_turn(
        &self,
        chat: &Chat,
        branch: &Branch,
        (parent, ord): (Option<&Turn>, i64),
        role: Role,
        exchange: ExchangeId,
    ) -> Turn {
        let location = TurnLocation {
            chat_id: chat.id,
            ord,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            branch_id: branch.id,
            exchange_id: exchange,
            prev_turn_id: parent.map(|parent| parent.id),
        };
        Turn::new(ids::mint(), location, role, self.clock().now())
    }

    /// Returns the parameters of the turn's own exchange.
    pub(crate) async fn exchange_params(&self, owner: UserId, turn: &Turn) -> Result<ModelParams, ServiceError> {
        let exchange = exchanges::find(self.db(), owner, turn.exchange_id).await?;
        Ok(exchange.map(|exchange| exchange.params).unwrap_or_default())
    }
}
