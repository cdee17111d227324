//! Unread state: the chats in which a reply ended unseen, kept in this browser for all its tabs. The list renders the
//! dot.

use crate::browser::local_store;
use crate::domain::ChatId;

/// The key in local storage.
const STORAGE_KEY: &str = "unread-chats";

/// Tracks the chats in which replies run or ended unseen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyTracker {
    /// Chats in which a reply ran at the last check.
    running: Vec<ChatId>,
    /// Chats in which a reply ended and that were not opened since.
    pub unread: Vec<ChatId>,
}

impl ReplyTracker {
    /// Loads the state from local storage.
    pub fn load() -> Self {
        local_store::get(STORAGE_KEY).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Stores the state for the next page and for the other tabs.
    pub fn save(&self) {
        if *self == Self::default() {
            local_store::remove(STORAGE_KEY)
        } else {
            local_store::put(STORAGE_KEY, &self.serialized())
        }
    }

    fn parse(text: &str) -> Self {
        let ids = |text: &str| text.split(',').filter_map(|id| id.parse().ok()).collect();
        let (running, unread) = text.split_once('|').unwrap_or_default();
        Self { running: ids(running), unread: ids(unread) }
    }

    fn serialized(&self) -> String {
        let ids = |ids: &[ChatId]| ids.iter().map(ChatId::to_string).collect::<Vec<_>>().join(",");
        format!("{}|{}", ids(&self.running), ids(&self.unread))
    }

    /// Records a reply that began here, so that its end is noticed however short it is.
    pub fn reply_started(&mut self, chat: ChatId) {
        if !self.running.contains(&chat) {
            self.running.push(chat);
        }
    }

    /// Marks a chat as seen: it is on screen, and no reply runs in it.
    pub fn mark_seen(&mut self, chat: ChatId) {
        self.running.retain(|other| *other != chat);
        self.unread.retain(|other| *other != chat);
    }

    /// Records which replies run now, while `looked_at` is on screen; returns the chats in which one has ended.
    pub fn update_running(&mut self, now: impl IntoIterator<Item = ChatId>, looked_at: Option<ChatId>) -> Vec<ChatId> {
        let now: Vec<ChatId> = now.into_iter().collect();
        let ended: Vec<ChatId> = self.running.iter().copied().filter(|chat| !now.contains(chat)).collect();
        self.unread.extend(ended.iter().copied());
        self.unread.sort_unstable();
        self.unread.dedup();
        // A chat that is being answered again shows so itself.
        self.unread.retain(|chat| !now.contains(chat) && Some(*chat) != looked_at);
        self.running = now;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> ChatId {
        uuid::Uuid::from_u128(number).into()
    }

    #[test]
    fn chat_is_unread_from_end_of_reply_until_it_is_seen() {
        let mut watched = ReplyTracker::default();
        assert_eq!(watched.update_running([id(1), id(2)], Some(id(1))), []);
        assert_eq!(watched.unread, []);
        // Both replies end; one chat is on screen.
        assert_eq!(watched.update_running([], Some(id(1))), [id(1), id(2)]);
        assert_eq!(watched.unread, [id(2)]);
        // The chat stays unread, also over a reload, until it is opened.
        assert_eq!(watched.update_running([], None), []);
        let mut again = ReplyTracker::parse(&watched.serialized());
        assert_eq!(again, watched);
        again.mark_seen(id(2));
        assert_eq!(again, ReplyTracker::default());
        // A chat that is being answered again is not unread but running.
        assert_eq!(watched.update_running([id(2)], None), []);
        assert_eq!(watched.unread, []);
    }

    #[test]
    fn reply_that_ends_before_first_poll_is_unread() {
        let mut watched = ReplyTracker::default();
        watched.reply_started(id(3));
        watched.reply_started(id(3));
        assert_eq!(watched.update_running([], None), [id(3)]);
        assert_eq!(watched.unread, [id(3)]);
        // A chat whose reply ended on screen is not unread afterwards.
        watched.reply_started(id(4));
        watched.mark_seen(id(4));
        assert_eq!(watched.update_running([], None), []);
    }

    #[test]
    fn invalid_stored_text_is_empty() {
        for text in ["", "|", "x", "1,2|3", ",,|,,"] {
            assert_eq!(ReplyTracker::parse(text), ReplyTracker::default(), "{text}");
        }
    }
}
