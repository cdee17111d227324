//! The caller's inputs for building a chat.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::{Content, UserId};

/// Data that a conversation does not contain.
pub struct BuildContext<'s> {
    /// The owner of the chat.
    pub owner: UserId,
    /// Used where times are missing.
    pub now: DateTime<Utc>,
    /// Derives an id for a part of the conversation; deterministic.
    pub id: &'s dyn Fn(&str) -> Uuid,
    /// The default provider of messages that name none, such as `openai`.
    pub provider: &'s str,
    /// The stored images and attachments, by message and piece; missing ones were already reported.
    pub files: HashMap<(usize, usize), Content>,
}
