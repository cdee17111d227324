//! Chats: their rows and lists, and what belongs to a chat as a whole.

pub mod chat;
pub mod chat_sources;
pub mod chat_tools;
pub mod copies;
pub mod drafts;
pub mod listing;
pub mod title_requests;
pub mod unread_replies;

pub use chat::{
    allocate_ord, allocate_ord_for_import, allocate_ords, defer_insert_with_turns, defer_last_viewed_of_locked,
    filter_existing, find, find_with_damages, insert, lock_and_find, lock_for_update, owner_of, purge_epoch, rename,
    set_archived, set_default_branch, set_last_viewed, set_params, set_pinned, set_system_prompt,
};
pub use listing::{BrowseFilter, ListedChat, browse, list, list_after, list_newest, list_pinned};
