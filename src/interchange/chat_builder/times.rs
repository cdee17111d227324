//! Assigns the times of imported messages: those of the source, as far as they are plausible.

use chrono::{DateTime, Utc};

use crate::conversation::{Conversation, ImportedMessage};

/// The times of one conversation's messages, and which of them were corrected.
pub(super) struct MessageTimes {
    /// The earliest time of the conversation and its messages, or the current time if there is none. Nothing is
    /// older.
    pub started_at: DateTime<Utc>,
    now: DateTime<Utc>,
    /// The first message whose date was corrected, and their number.
    moved: Option<(String, u64)>,
}

impl MessageTimes {
    pub fn new(conversation: &Conversation, now: DateTime<Utc>) -> Self {
        let dates = conversation.messages.iter().map(|message| message.created_at);
        let begun =
            dates.chain([conversation.created_at]).filter_map(|at| time_not_in_future(at, now)).min().unwrap_or(now);
        Self { started_at: begun, now, moved: None }
    }

    /// Returns the time of a message: its own, unless that is in the future or before `above`, the time of its
    /// parent; then that of the parent. A child is never older than its parent, whatever the source's clocks recorded.
    pub fn time_of(&mut self, message: &ImportedMessage, above: Option<DateTime<Utc>>) -> DateTime<Utc> {
        let floor = above.unwrap_or(self.started_at);
        let own = time_not_in_future(message.created_at, self.now).filter(|own| *own >= floor);
        if own.is_none() && message.created_at.is_some() {
            self.moved.get_or_insert_with(|| (message.source_id.clone(), 0)).1 += 1;
        }
        own.unwrap_or(floor)
    }

    /// Returns an end or update time of the source, unless it is in the future.
    pub fn not_in_future(&self, at: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        time_not_in_future(at, self.now)
    }

    /// Returns the issue: its message and its text.
    pub fn into_notice(self) -> Option<(String, String)> {
        let (first, times) = self.moved?;
        let more = if times > 1 { format!(" ({times} times)") } else { String::new() };
        Some((
            first,
            format!(
                "its date is before that of the previous message, or in the future: it was \
            adjusted{more}"
            ),
        ))
    }
}

fn time_not_in_future(at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    at.filter(|at| *at <= now)
}
