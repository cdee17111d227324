//! Branches: lineages locked to one provider and model (domain.md I3, I4).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{BranchId, ChatId, TurnId};
use crate::tool::OfferedTool;

/// Why a branch exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchOrigin {
    Root,
    Fork,
    Edit,
    Regenerate,
    ModelSwitch,
    Concurrent,
    Import,
}

/// The provider and model that a branch keeps for life.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ModelLock {
    pub provider: String,
    pub model: String,
}

impl ModelLock {
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

/// How earlier reasoning goes back to a model that signs it (providers.md 3.6). None of them blanks reasoning that had
/// text: the API refuses that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextPolicy {
    /// Reasoning is asked for with its text and goes back unchanged.
    #[default]
    Exact,
    /// Reasoning is asked for without its text: only the signatures come, and only they go back.
    SignaturesOnly,
    /// Reasoning of completed exchanges stays behind. Repair only: on models that bind reasoning to the conversation
    /// before it, it invalidates what is left.
    OmitCompleted,
}

/// What a branch says to its model in every request the same way, byte for byte (providers.md 3.7). Fixed with the
/// branch's first turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptPrefix {
    /// Empty means none.
    pub system_prompt: String,
    /// `None` on branches older than this rule: the provider's own tools.
    pub tools: Option<Vec<OfferedTool>>,
}

/// A lineage of turns. Its lock never changes after it is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Branch {
    pub id: BranchId,
    pub chat_id: ChatId,
    pub name: String,
    #[serde(flatten)]
    pub lock: ModelLock,
    pub parent_branch_id: Option<BranchId>,
    pub fork_turn_id: Option<TurnId>,
    pub head_turn_id: Option<TurnId>,
    pub origin: BranchOrigin,
    pub label: Option<String>,
    pub pinned: bool,
    #[serde(default)]
    pub policy: ContextPolicy,
    pub created_at: DateTime<Utc>,
}

/// Which lock a new branch gets (domain.md "Branch config resolution").
///
/// `source` is the branch it leaves, `provider_default` gives a provider's default model, `configured` is what the
/// server falls back to; the lock is never inferred from turns.
pub fn resolve_lock(
    provider: Option<&str>,
    model: Option<&str>,
    source: Option<&ModelLock>,
    provider_default: impl Fn(&str) -> Option<String>,
    configured: &ModelLock,
) -> Option<ModelLock> {
    match (provider, model) {
        (Some(provider), Some(model)) => Some(ModelLock::new(provider, model)),
        (Some(provider), None) => match source {
            Some(source) if source.provider == provider => Some(source.clone()),
            _ => provider_default(provider).map(|model| ModelLock::new(provider, model)),
        },
        (None, Some(model)) => {
            let base = source.unwrap_or(configured);
            Some(ModelLock::new(base.provider.clone(), model))
        }
        (None, None) => Some(source.unwrap_or(configured).clone()),
    }
}

#[cfg(test)]
mod tests;
