//! When the messages of a chat were said: as their source tells it, as far as that can be.

use chrono::{DateTime, Utc};

use crate::conversation::{Conversation, ImportedMessage};

/// The times of one conversation's messages, and which of them had to be moved.
pub(super) struct MessageTimes {
    /// The earliest time that the conversation or one of its messages tells; now where none does. Nothing is older.
    pub started_at: DateTime<Utc>,
    now: DateTime<Utc>,
    /// The first message whose date was moved, and how many there are.
    moved: Option<(String, u64)>,
}

impl MessageTimes {
    pub fn new(conversation: &Conversation, now: DateTime<Utc>) -> Self {
        let said = conversation.messages.iter().map(|message| message.created_at);
        let begun =
            said.chain([conversation.created_at]).filter_map(|at| time_not_in_future(at, now)).min().unwrap_or(now);
        Self { started_at: begun, now, moved: None }
    }

    /// The time of a message: its own, unless that is still to come or before `above`, the time of the message it
    /// stands on; then that one's. A child is not older than what it hangs on, whatever the clocks said.
    pub fn time_of(&mut self, message: &ImportedMessage, above: Option<DateTime<Utc>>) -> DateTime<Utc> {
        let floor = above.unwrap_or(self.started_at);
        let own = time_not_in_future(message.created_at, self.now).filter(|own| *own >= floor);
        if own.is_none() && message.created_at.is_some() {
            self.moved.get_or_insert_with(|| (message.source_id.clone(), 0)).1 += 1;
        }
        own.unwrap_or(floor)
    }

    /// A time that the source tells of something's end or change; none where that is still to come.
    pub fn not_in_future(&self, at: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        time_not_in_future(at, self.now)
    }

    /// What there is to tell: of which message, and the sentence.
    pub fn into_notice(self) -> Option<(String, String)> {
        let (first, times) = self.moved?;
        let more = if times > 1 { format!(" ({times} times)") } else { String::new() };
        Some((first, format!("its date is before that of the message above it, or still to come: it was moved{more}")))
    }
}

fn time_not_in_future(at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    at.filter(|at| *at <= now)
}
