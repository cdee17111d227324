//! What the one who plants a conversation brings to it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::domain::{Content, UserId};

/// What a conversation does not say about itself.
pub struct BuildContext<'s> {
    /// The owner of the chat.
    pub owner: UserId,
    /// Where times are missing.
    pub now: DateTime<Utc>,
    /// An id for a part of the conversation, the same each time it is asked for the same part.
    pub id: &'s dyn Fn(&str) -> Uuid,
    /// The provider where a message does not name one, such as `openai`.
    pub provider: &'s str,
    /// What the pictures and attachments became, by message and piece; what is missing here was told already.
    pub files: HashMap<(usize, usize), Content>,
}
