//! Chats: the whole tree's own row, and the rules of its title.

mod heading;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::excerpt::first_line;
use crate::exchange::ModelParams;
use crate::failure::InvalidField;
use crate::id::{BranchId, ChatId, TurnId, UserId};
use crate::limits;

pub use heading::ChatListHeading;

/// A chat without its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Chat {
    pub id: ChatId,
    #[serde(skip_serializing)]
    #[schema(ignore)]
    #[serde(default = "nobody")]
    pub owner_id: UserId,
    /// Empty until the first message names it.
    pub title: String,
    pub system_prompt: String,
    pub settings: ChatSettings,
    pub default_branch_id: Option<BranchId>,
    pub last_viewed_turn_id: Option<TurnId>,
    /// The reply of another chat up to which this one is a copy of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from_turn_id: Option<TurnId>,
    /// Since when it stands before the others in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_at: Option<DateTime<Utc>>,
    /// Since when the list leaves it out. A new message brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<DateTime<Utc>>,
    /// Rises with every change of the tree.
    pub rev: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

fn nobody() -> UserId {
    UserId::from_uuid(uuid::Uuid::nil())
}

/// What a chat asks of models unless a turn says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatSettings {
    #[serde(default)]
    pub params: ModelParams,
    /// Whether a person gave the title; then nothing automatic changes it (reliability.md F55).
    #[serde(default)]
    pub titled_by_user: bool,
}

/// Checks a title that a person wrote: trimmed, not longer than the bound, without control characters.
pub fn check_title(title: &str) -> Result<String, InvalidField> {
    let title = title.trim();
    if title.chars().count() > limits::TITLE_CHARS {
        return Err(InvalidField::new("title", format!("at most {} characters", limits::TITLE_CHARS)));
    }
    if title.chars().any(char::is_control) {
        return Err(InvalidField::new("title", "must not contain control characters"));
    }
    Ok(title.to_owned())
}

/// The title a first message gives its chat: its first line that says something, cut at a word.
pub fn derive_title(text: &str) -> String {
    first_line(text, 60)
}

#[cfg(test)]
mod tests;
