//! What the list of chats is made of.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::ChatId;
use crate::domain::chat::Heading;

/// A chat in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatItem {
    pub id: ChatId,
    pub title: String,
    pub updated_at: DateTime<Utc>,
    /// Where it stands in the list.
    pub heading: Heading,
    /// Whether a reply is being written in it.
    pub running: bool,
    /// Whether that reply waits for the person.
    #[serde(default)]
    pub needs_you: bool,
    pub has_draft: bool,
}
