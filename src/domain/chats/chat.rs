//! Chats: the row of a whole tree, and the rules of its title.

mod heading;
mod suggested_title;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{BranchId, ChatId, ProjectId, TurnId, UserId};
use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;
use crate::text::excerpt::first_line;
use crate::turns::exchange::ModelParams;

pub use heading::ChatListHeading;
pub use suggested_title::clean_suggested_title;

/// A chat without its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Chat {
    pub id: ChatId,
    #[serde(skip_serializing)]
    #[schema(ignore)]
    #[serde(default = "nobody")]
    pub owner_id: UserId,
    /// The title. Empty until the first message sets it.
    pub title: String,
    pub system_prompt: String,
    pub settings: ChatSettings,
    pub default_branch_id: Option<BranchId>,
    pub last_viewed_turn_id: Option<TurnId>,
    /// The reply of another chat up to which this chat was copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from_turn_id: Option<TurnId>,
    /// When the chat was pinned to the top of the list. Absent if it is not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_at: Option<DateTime<Utc>>,
    /// When the chat was archived, which hides it from the list. A new message restores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<DateTime<Utc>>,
    /// The project of the chat. Absent if it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The version of the project whose instructions became the system prompt. Absent if they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_version: Option<i64>,
    /// The revision. It increases with every change of the tree.
    pub rev: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl Chat {
    /// Creates a chat without a title and without turns.
    pub fn new(id: ChatId, owner_id: UserId, created_at: DateTime<Utc>) -> Self {
        Self {
            id,
            owner_id,
            title: String::new(),
            system_prompt: String::new(),
            settings: ChatSettings::default(),
            default_branch_id: None,
            last_viewed_turn_id: None,
            copied_from_turn_id: None,
            pinned_at: None,
            archived_at: None,
            project_id: None,
            project_version: None,
            rev: 0,
            created_at,
            updated_at: created_at,
        }
    }
}

/// The owner of rows that were read from JSON, which has none.
pub(crate) fn nobody() -> UserId {
    UserId::from_uuid(uuid::Uuid::nil())
}

/// The default parameters of a chat, which a turn can override.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChatSettings {
    #[serde(default)]
    pub params: ModelParams,
    /// True if a person chose the title; then it is never changed automatically.
    #[serde(default)]
    pub titled_by_user: bool,
}

/// Validates a title that a person wrote and trims it: at most the length bound, no control characters.
pub fn check_title(title: &str) -> Result<String, InvalidField> {
    let title = title.trim();
    if title.chars().count() > limits::TITLE_CHARS {
        return Err(InvalidField::too_long("title", limits::TITLE_CHARS));
    }
    if title.chars().any(char::is_control) {
        return Err(InvalidField::new("title", MessageCode::HasControlCharacters));
    }
    Ok(title.to_owned())
}

/// Derives the title of a chat from its first message: the first line with words, cut at a word boundary.
pub fn derive_title(text: &str) -> String {
    first_line(text, 60)
}

/// Shortens a title to this many characters. A longer one is cut at a word in its second half, if there is one, and ends
/// with "…".
pub fn shorten_title(title: &str, chars: usize) -> String {
    if title.chars().count() <= chars {
        return title.to_owned();
    }
    let end = title.char_indices().nth(chars.saturating_sub(1)).map_or(title.len(), |(at, _)| at);
    let word = title[..end].rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", title[..word].trim_end())
}

#[cfg(test)]
mod tests;
