//! The bounds of what belongs to chats: their projects, queued messages and requests for titles.

use std::time::Duration;

/// The projects of one person; a list has all of them.
pub const PROJECTS: usize = 200;
/// The projects that the list of chats shows: those with the newest chats.
pub const RECENT_PROJECTS: u32 = 5;
/// The messages that wait behind one reply, the messages that are sent in one round, and the pause before those that
/// could not be sent for a passing reason are tried again.
pub const QUEUED_MESSAGES: usize = 20;
pub const QUEUED_AT_ONCE: u32 = 100;
pub const QUEUE_RETRY: Duration = Duration::from_secs(10);
/// The requests for titles of one chat, which are stored as long as their reply.
pub const TITLE_REQUESTS: u64 = 100;
/// The requests that the settings of a chat list, the newest.
pub const TITLE_REQUESTS_LISTED: u32 = 5;
/// The time for a title, from the request to the end of the response.
pub const TITLE_TIME: Duration = Duration::from_secs(60);
/// The tokens of the response, and of one of a model that may reason before it answers.
pub const TITLE_TOKENS: u32 = 100;
pub const TITLE_TOKENS_WITH_REASONING: u32 = 4_000;
/// The size of the response.
pub const TITLE_RESPONSE_BYTES: usize = 1 << 20;
/// The length of a suggested title, which is cut at a word.
pub const SUGGESTED_TITLE_CHARS: usize = 80;
