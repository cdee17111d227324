//! Versions: their list, their names, and the version of a reply that a person writes.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::turns::TurnRequest;
use crate::turns::exchanges::{AcceptedExchange, complete_user_turn};
use crate::turns::messages::UserMessage;
use crate::turns::placement::{BranchFork, PlacementRequest};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::text::excerpt::first_words;
use turnleaf_domain::{
    BranchOrigin, Chat, ChatId, Content, Exchange, ExchangeId, ExchangeKind, InvalidField, MessageCode, ModelParams,
    Role, Turn, TurnId, TurnStatus, UserId,
};
use turnleaf_platform::ids;
use turnleaf_store::database::db::Tx;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{branches, chats};

/// The number of characters of a version that the list shows.
const FIRST_WORDS: usize = 60;

/// A version in the list of a turn's versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    pub id: TurnId,
    pub status: TurnStatus,
    pub model_used: Option<String>,
    pub created_at: DateTime<Utc>,
    /// The first words of its text; empty while it runs.
    pub words: String,
    /// True for a reply that a person wrote.
    pub is_edited: bool,
    /// The number of turns after it on the path that selecting it shows.
    pub followed_by: u64,
}

/// The turns that are newer than the end of a path, on other branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewerTurns {
    pub newest: TurnId,
    pub turns: u64,
}

/// Returns the idempotency key of the retry form of a turn whose newest version has this position.
pub(crate) fn retry_id(turn: TurnId, newest_ord: i64) -> String {
    format!("retry-{turn}-{newest_ord}")
}

impl Service {
    /// Returns the versions of those turns that have more than one.
    pub async fn versions(
        &self,
        owner: UserId,
        chat: ChatId,
        siblings: &HashMap<TurnId, Vec<TurnId>>,
    ) -> Result<HashMap<TurnId, Vec<ListedVersion>>, ServiceError> {
        let several = || siblings.iter().filter(|(_, versions)| versions.len() > 1);
        let ids: Vec<TurnId> = several().flat_map(|(_, versions)| versions.iter().copied()).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let lineages = branches::lineages(self.db(), owner, chat).await?;
        let mut known: HashMap<TurnId, ListedVersion> = HashMap::with_capacity(ids.len());
        // A statement has a bounded number of parameters.
        for some in ids.chunks(1_000) {
            for version in turns::versions(self.db(), owner, some).await? {
                let end = lineages.leaf_below(version.branch_id, version.depth).map(|leaf| leaf.head_depth);
                let followed_by = end.map_or(0, |end| end.saturating_sub(version.depth));
                known.insert(
                    version.id,
                    ListedVersion {
                        id: version.id,
                        status: version.status,
                        model_used: version.model_used,
                        created_at: version.created_at,
                        words: first_words(&version.words, FIRST_WORDS),
                        is_edited: version.is_edited,
                        followed_by: u64::try_from(followed_by).unwrap_or(0),
                    },
                );
            }
        }
        let of = |versions: &[TurnId]| versions.iter().filter_map(|id| known.get(id).cloned()).collect();
        Ok(several().map(|(turn, versions)| (*turn, of(versions))).collect())
    }

    /// Returns the idempotency keys of the retry forms of these turns: each new version changes the key, and a key is
    /// never reused, whatever was deleted since.
    pub async fn retry_ids(&self, owner: UserId, tried: &[TurnId]) -> Result<HashMap<TurnId, String>, ServiceError> {
        let newest = turns::newest_versions(self.db(), owner, tried).await?;
        Ok(newest.into_iter().map(|(turn, ord)| (turn, retry_id(turn, ord))).collect())
    }

    /// Returns the turns that are newer than the end of the shown path.
    pub async fn newer_turns(&self, owner: UserId, leaf: &Turn) -> Result<Option<NewerTurns>, ServiceError> {
        let newer = turns::newest_after(self.db(), owner, leaf.chat_id, leaf.ord).await?;
        Ok(newer.map(|(newest, turns)| NewerTurns { newest, turns }))
    }

    /// Names the branch of a version, such as "retry 2 · What is it?": its number and the beginning of the message.
    pub(crate) async fn version_name(&self, tx: &mut Tx, word: &str, question: &Turn) -> Result<String, ServiceError> {
        let number = turns::count_children(tx, question.chat_id, Some(question.id)).await? + 1;
        let words = first_words(&question.content_text(), 24);
        Ok(if words.is_empty() { format!("{word} {number}") } else { format!("{word} {number} · {words}") })
    }

    /// Stores a version of a reply written by a person, on a branch of its own with the same lock. No provider is
    /// asked.
    pub(crate) async fn edit_reply(
        &self,
        mut tx: Tx,
        (chat, old): (Chat, Turn),
        edit: TurnRequest,
        message: UserMessage,
        (id, fingerprint): (ExchangeId, Vec<u8>),
    ) -> Result<AcceptedExchange, ServiceError> {
        let owner = chat.owner_id;
        let names = |content: &Content| matches!(content, Content::Reference { .. } | Content::PartialReference { .. });
        if message.contents.iter().any(names) {
            return Err(InvalidField::new("content", MessageCode::ReplyCannotReference).into());
        }
        let PlacementRequest { provider, model, .. } = &edit.place;
        for (field, is_given) in [
            ("provider", provider.is_some()),
            ("model", model.is_some()),
            ("params", edit.params != ModelParams::default()),
        ] {
            if is_given {
                return Err(InvalidField::new(field, MessageCode::OwnReplyHasNoModel).into());
            }
        }
        let question = match old.prev_turn_id {
            Some(id) => turns::find(self.db(), owner, id).await?.filter(|turn| turn.role == Role::User),
            None => None,
        };
        let question = question.ok_or_else(ServiceError::answers_no_message)?;
        let source = branches::find(self.db(), owner, old.branch_id).await?.ok_or(ServiceError::NotFound)?;
        self.check_sibling_room(&mut tx, chat.id, Some(question.id)).await?;
        let name = self.version_name(&mut tx, "edited", &question).await?;
        let (origin, lock) = (BranchOrigin::Edit, source.lock.clone());
        let leaving = BranchFork { id: ids::mint(), source: &source, from: Some(question.id), origin, lock, name };
        let mut branch = self.fork_branch(&mut tx, &chat, leaving).await?;
        let exchange = Exchange {
            id,
            chat_id: chat.id,
            branch_id: branch.id,
            user_turn_id: Some(question.id),
            kind: ExchangeKind::Edit,
            is_thinking_mode: false,
            params: ModelParams::default(),
            not_sent: Vec::new(),
            client_request_id: edit.client_request_id,
            created_at: self.clock().now(),
        };
        exchanges::insert(&mut tx, owner, &exchange, Some(&fingerprint)).await?;
        let ord = self.allocate_ords(&mut tx, &chat, 1).await?;
        let mut version = self.new_turn(&chat, &branch, (Some(&question), ord), Role::Assistant, exchange.id);
        complete_user_turn(&mut version, message);
        turns::insert(&mut tx, &version).await?;
        branches::set_head(&mut tx, branch.id, None, version.id).await?;
        branches::record_visit(&mut tx, branch.id, exchange.created_at).await?;
        chats::set_last_viewed(&mut tx, owner, chat.id, version.id).await?;
        tx.commit().await?;
        self.publish_listed_chat(owner, chat.id);
        branch.head_turn_id = Some(version.id);
        let user_turn = client_redaction::redact_turn(question);
        Ok(AcceptedExchange { chat, exchange, user_turn, assistant_turn: version, branch, is_new: true })
    }
}
