//! Which chats have a reply that ended while nobody looked: kept in this browser, for all its tabs. Not for drawing the
//! dot: that is the list's.

use crate::browser::local_store;
use crate::domain::ChatId;

/// Where the browser keeps it.
const KEPT: &str = "unread-chats";

/// What is known of the chats in which replies run or ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// A reply was being written when it was looked at last.
    running: Vec<ChatId>,
    /// A reply ended, and the chat was not looked at since.
    pub unread: Vec<ChatId>,
}

impl Watched {
    /// As the browser keeps it.
    pub fn kept() -> Self {
        local_store::get(KEPT).map(|text| Self::read(&text)).unwrap_or_default()
    }

    /// Keeps it for the next page and for the other tabs.
    pub fn keep(&self) {
        if *self == Self::default() { local_store::remove(KEPT) } else { local_store::put(KEPT, &self.text()) }
    }

    fn read(text: &str) -> Self {
        let ids = |text: &str| text.split(',').filter_map(|id| id.parse().ok()).collect();
        let (running, unread) = text.split_once('|').unwrap_or_default();
        Self { running: ids(running), unread: ids(unread) }
    }

    fn text(&self) -> String {
        let ids = |ids: &[ChatId]| ids.iter().map(ChatId::to_string).collect::<Vec<_>>().join(",");
        format!("{}|{}", ids(&self.running), ids(&self.unread))
    }

    /// A reply began here: its end must be seen however short it is.
    pub fn began(&mut self, chat: ChatId) {
        if !self.running.contains(&chat) {
            self.running.push(chat);
        }
    }

    /// Somebody looks at the chat, in which no reply is being written.
    pub fn seen(&mut self, chat: ChatId) {
        self.running.retain(|other| *other != chat);
        self.unread.retain(|other| *other != chat);
    }

    /// Takes over which replies run now, while `looked_at` is on screen; gives the chats in which one has ended.
    pub fn take(&mut self, now: impl IntoIterator<Item = ChatId>, looked_at: Option<ChatId>) -> Vec<ChatId> {
        let now: Vec<ChatId> = now.into_iter().collect();
        let ended: Vec<ChatId> = self.running.iter().copied().filter(|chat| !now.contains(chat)).collect();
        self.unread.extend(ended.iter().copied());
        self.unread.sort_unstable();
        self.unread.dedup();
        // What is answered again says so itself.
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
    fn a_chat_is_unread_from_the_end_of_its_reply_until_it_is_looked_at() {
        let mut watched = Watched::default();
        assert_eq!(watched.take([id(1), id(2)], Some(id(1))), []);
        assert_eq!(watched.unread, []);
        // Both end; one is on screen.
        assert_eq!(watched.take([], Some(id(1))), [id(1), id(2)]);
        assert_eq!(watched.unread, [id(2)]);
        // It stays so, over a reload too, until it is opened.
        assert_eq!(watched.take([], None), []);
        let mut again = Watched::read(&watched.text());
        assert_eq!(again, watched);
        again.seen(id(2));
        assert_eq!(again, Watched::default());
        // Answered again, it is not unread but running.
        assert_eq!(watched.take([id(2)], None), []);
        assert_eq!(watched.unread, []);
    }

    #[test]
    fn a_reply_that_is_over_before_anybody_looks_is_not_missed() {
        let mut watched = Watched::default();
        watched.began(id(3));
        watched.began(id(3));
        assert_eq!(watched.take([], None), [id(3)]);
        assert_eq!(watched.unread, [id(3)]);
        // One whose end was seen is not unread afterwards.
        watched.began(id(4));
        watched.seen(id(4));
        assert_eq!(watched.take([], None), []);
    }

    #[test]
    fn nonsense_in_the_browsers_store_is_nothing() {
        for text in ["", "|", "x", "1,2|3", ",,|,,"] {
            assert_eq!(Watched::read(text), Watched::default(), "{text}");
        }
    }
}
