//! Branches: chains of turns, each locked to one provider and model (`docs/reference/domain.md I3`,
//! `docs/reference/domain.md I4`).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{BranchId, ChatId, TurnId};
use crate::tools::server_instructions::{ServerInstructions, prompt_with_instructions};
use crate::tools::tool::OfferedTool;

/// The reason why a branch was created.
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

/// The provider and model that a branch keeps permanently.
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

/// Policy for sending earlier reasoning back to a model that signs its reasoning. No policy blanks reasoning that had
/// text, because the API refuses that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextPolicy {
    /// Reasoning is requested with its text and sent back unchanged.
    #[default]
    Exact,
    /// Reasoning is requested without its text; only its signatures are received and sent back.
    SignaturesOnly,
    /// Reasoning of completed exchanges is not sent back. For repairs only: with models that bind reasoning to the
    /// conversation before it, this invalidates the remaining reasoning.
    OmitCompleted,
}

/// The part of a branch's requests that stays identical byte for byte (`docs/reference/providers.md 3.7`), so that
/// providers can cache it. It is fixed with the branch's first turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptPrefix {
    /// The system prompt. Empty means none.
    pub system_prompt: String,
    /// The offered tools. `None` on branches older than this rule: they use the provider's configured tools.
    pub tools: Option<Vec<OfferedTool>>,
    /// The instructions of tool servers, which follow the system prompt.
    pub instructions: Vec<ServerInstructions>,
}

impl PromptPrefix {
    /// Returns the system prompt with the instructions of tool servers, as it is sent. `None` if both are empty.
    pub fn sent_prompt(&self) -> Option<String> {
        Some(prompt_with_instructions(&self.system_prompt, &self.instructions)).filter(|prompt| !prompt.is_empty())
    }
}

/// A chain of turns. Its provider and model never change.
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

impl Branch {
    /// Creates a root branch without turns.
    pub fn new(
        id: BranchId,
        chat_id: ChatId,
        name: impl Into<String>,
        lock: ModelLock,
        created_at: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            chat_id,
            name: name.into(),
            lock,
            parent_branch_id: None,
            fork_turn_id: None,
            head_turn_id: None,
            origin: BranchOrigin::Root,
            label: None,
            pinned: false,
            policy: ContextPolicy::default(),
            created_at,
        }
    }
}

/// Resolves the lock of a new branch (`docs/reference/domain.md 4.4`, branch config resolution).
///
/// `source` is the branch that it leaves, `provider_default` returns the default model of a provider, and
/// `configured` is the server's fallback. The lock is never inferred from turns.
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
