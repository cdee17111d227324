//! The wire types of a comparison of two paths: its sides, and the pairs of exchanges at the same position.

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
    /// The number of turns that both paths share.
    pub common_turns: usize,
    pub left: ComparedSide,
    pub right: ComparedSide,
    /// The number of pairs of exchanges after the common turn; `pairs` holds those from `skip` on.
    pub total: usize,
    pub skip: usize,
    pub limit: usize,
    /// The `skip` of the next page; null on the last page. A page ends before `limit` when its texts are very long.
    pub next_skip: Option<usize>,
    pub pairs: Vec<ComparedPair>,
}

/// One path, after the common turn.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = ComparedSide)]
pub struct ComparedSide {
    pub leaf_turn_id: TurnId,
    /// The branch of the last turn, with its lock.
    pub branch: Branch,
    /// All models that answer on this side, in the order of their first reply.
    pub locks: Vec<NamedLock>,
    /// True when the other path continues from the end of this one, so this side has no turns of its own.
    pub is_ancestor: bool,
    pub messages: usize,
    pub replies: usize,
    /// Replies that are not complete, by status.
    #[schema(value_type = BTreeMap<String, usize>)]
    pub unfinished: BTreeMap<&'static str, usize>,
    pub usage: Usage,
    /// Null when the cost of any reply is unknown.
    pub cost: Option<Cost>,
    /// Mean time from the message to the first content of its reply, in milliseconds, over the replies for which it
    /// is known.
    pub mean_first_token_ms: Option<u64>,
    /// Total time from the message to the end of its reply, in milliseconds, over the replies that ended.
    pub total_ms: Option<u64>,
    pub tools: Vec<ToolCount>,
}

/// A lock with the display name of its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct NamedLock {
    #[serde(flatten)]
    pub lock: ModelLock,
    pub name: String,
}

/// The number of calls of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ToolCount {
    pub name: String,
    pub calls: usize,
}

/// The exchanges at the same position of both paths.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedPair {
    /// Number of the pair after the common turn, from 1.
    pub number: usize,
    pub left: Option<ComparedExchange>,
    pub right: Option<ComparedExchange>,
    /// Text diff of the messages; null when neither side has one.
    pub message: Option<TextDiff>,
    /// Text diff of the replies; null when neither side has one.
    pub reply: Option<TextDiff>,
}

/// One exchange of a pair.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedExchange {
    pub message: Option<ComparedMessage>,
    pub reply: Option<ComparedReply>,
}

/// The message of an exchange.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedMessage {
    pub turn_id: TurnId,
    /// The types of its blocks other than text, such as images.
    pub attachments: Vec<String>,
}

/// The reply to a message; several turns in a row are combined.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct ComparedReply {
    /// The last of the combined turns.
    pub turn_id: TurnId,
    pub model: NamedLock,
    /// The model name that the provider reported.
    pub model_used: Option<String>,
    pub status: TurnStatus,
    pub failure: Option<Failure>,
    pub usage: Usage,
    pub cost: Option<Cost>,
    /// Time from the message to the first content, in milliseconds.
    pub first_token_ms: Option<u64>,
    pub total_ms: Option<u64>,
    pub tools: Vec<ToolCount>,
}

/// A path during the comparison: its turns after the common one.
pub(super) struct ComparedPath {
    pub own: Vec<Ancestor>,
    pub end: TurnId,
}

/// Returns a lock with the display name of its model.
pub(super) fn named_lock(lock: &ModelLock) -> NamedLock {
    NamedLock { lock: lock.clone(), name: display_name(&lock.model) }
}
