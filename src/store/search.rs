//! Search over titles of chats, turns of all branches, and documents: one interface over SQLite's FTS5 and
//! PostgreSQL's full text, which differ only in [`word_index`].
//!
//! One rule in [`query`] decides what matches, on text normalized by [`fold`]. The index holds [`keys`], which every
//! matching text has, and some others; so candidates come from the index, newest first, and each is verified. Matches
//! are ranked by that rule's score within the newest candidates, on both databases alike.
//!
//! In reading order: [`fold`], [`keys`], [`parts`], [`query`], [`excerpt`], [`index`] (writing), [`backfill`] (rows
//! that are older than the index), [`word_index`], [`retrieval`] (finding), [`cursor`] (pagination), [`hits`] (the
//! displayed data of matches). Deleted items are excluded when candidates are verified; permanently deleted ones
//! leave the index by triggers, in the same transaction.

pub mod backfill;
pub mod cursor;
pub mod excerpt;
pub mod fold;
pub mod hits;
pub mod index;
pub mod keys;
mod kind;
pub mod parts;
pub mod query;
pub mod queue;
pub mod retrieval;
pub(crate) mod word_index;

pub use cursor::SearchCursor;
pub use excerpt::HighlightedText;
pub use hits::MatchedItem;
pub use kind::SearchKind;
pub use query::TextQuery;
pub use retrieval::{MatchPage, SearchFilter, find_items};

pub(super) fn statements() -> [(&'static str, &'static [(&'static str, &'static str)]); 4] {
    [
        ("search/backfill", backfill::STATEMENTS),
        ("search/index", index::STATEMENTS),
        ("search/retrieval", retrieval::STATEMENTS),
        ("search/queue", queue::STATEMENTS),
    ]
}
