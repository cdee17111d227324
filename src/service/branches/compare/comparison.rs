//! A comparison of two paths: its sides, and the exchanges at one place of both.

use std::collections::BTreeMap;

use serde::Serialize;

use super::text_diff::TextDiff;
use turnleaf_domain::{Branch, Chat, ChatId, Cost, Failure, ModelLock, TurnId, TurnStatus, Usage};
use turnleaf_providers::registry::models::display_name;
use turnleaf_store::turns::Ancestor;

/// Two paths of a chat, and one page of their exchanges.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct Comparison {
    #[serde(skip)]
    #[schema(ignore)]
    pub chat: Chat,
    pub chat_id: ChatId,
    /// The last turn that both paths share; null when they have different roots.
    pub common_turn_id: Option<TurnId>,
    /// How many turns they share.
    pub common_turns: usize,
    pub left: ComparedSide,
    pub right: ComparedSide,
    /// Pairs of exchanges behind the common turn, of which `pairs` are those from `skip` on.
    pub total: usize,
    pub skip: usize,
    pub limit: usize,
    /// The `skip` of the next page. A page ends before `limit` when its texts are very long.
    pub next_skip: Option<usize>,
    pub pairs: Vec<ComparedPair>,
}

/// One path, behind the common turn.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = ComparedSide)]
pub struct ComparedSide {
    pub leaf_turn_id: TurnId,
    /// The branch of the leaf, with its lock.
    pub branch: Branch,
    /// Every model that answers on this side, in the order of its first reply.
    pub locks: Vec<NamedLock>,
    /// The other path goes on from here: this side has nothing of its own.
    pub is_ancestor: bool,
    pub messages: usize,
    pub replies: usize,
    /// Replies that are not complete, by status.
    #[schema(value_type = BTreeMap<String, usize>)]
    pub unfinished: BTreeMap<&'static str, usize>,
    pub usage: Usage,
    /// Null where the cost of any reply is unknown.
    pub cost: Option<Cost>,
    /// From the message to the first words of its reply: the mean of the replies of which it is known, milliseconds.
    pub mean_first_token_ms: Option<u64>,
    /// From the message to the end of its reply: the sum of those that ended, milliseconds.
    pub total_ms: Option<u64>,
    pub tools: Vec<ToolCount>,
}

/// A lock with its model's name for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct NamedLock {
    #[serde(flatten)]
    pub lock: ModelLock,
    pub name: String,
}

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ToolCount {
    pub name: String,
    pub calls: usize,
}

/// The exchanges at one place of both paths.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedPair {
    /// From 1, counted behind the common turn.
    pub number: usize,
    pub left: Option<ComparedExchange>,
    pub right: Option<ComparedExchange>,
    /// The words of the messages; null where neither side has one.
    pub message: Option<TextDiff>,
    /// The words of the replies; null where neither side has one.
    pub reply: Option<TextDiff>,
}

/// One side of a pair.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedExchange {
    pub message: Option<ComparedMessage>,
    pub reply: Option<ComparedReply>,
}

#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedMessage {
    pub turn_id: TurnId,
    /// The types of its blocks that are no text, such as images.
    pub attachments: Vec<String>,
}

/// What answers a message; of several turns in a row, all of them together.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedReply {
    /// The last of the turns.
    pub turn_id: TurnId,
    pub model: NamedLock,
    /// The model as the provider names it.
    pub model_used: Option<String>,
    pub status: TurnStatus,
    pub failure: Option<Failure>,
    pub usage: Usage,
    pub cost: Option<Cost>,
    /// As in [`Side`].
    pub first_token_ms: Option<u64>,
    pub total_ms: Option<u64>,
    pub tools: Vec<ToolCount>,
}

/// A path while it is compared: its turns behind the common one.
pub(super) struct ComparedPath {
    pub own: Vec<Ancestor>,
    pub end: TurnId,
}

/// A lock with its model's name for people.
pub(super) fn named_lock(lock: &ModelLock) -> NamedLock {
    NamedLock { lock: lock.clone(), name: display_name(&lock.model) }
}
