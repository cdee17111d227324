//! Searching everything that was said and written: titles of chats, turns of all branches, documents. One interface over
//! SQLite's FTS5 and PostgreSQL's full text, which differ in [`words`] alone.
//!
//! What a query finds is one rule, [`query`]'s, of text as [`fold`] sees it. The index holds [`keys`], which every text
//! that the rule finds has, and some that it does not find; so candidates come from the index, newest first, and each is
//! looked at. What is found is ordered by that rule's points, within the newest candidates, on both databases alike.
//!
//! In reading order: [`fold`], [`keys`], [`parts`], [`query`], [`excerpt`], [`index`] (writing), [`catch_up`] (rows that are older
//! than the index), [`words`], [`look`] (finding), [`cursor`] (where a page ended), [`hits`] (what is shown of what was found).
//! Deleted things are left out when they are looked at; what is deleted for ever leaves the index by triggers, in the
//! same transaction, whoever deletes it.

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
pub mod retrieval;
pub(crate) mod word_index;

pub use cursor::SearchCursor;
pub use excerpt::HighlightedText;
pub use hits::MatchedItem;
pub use kind::SearchKind;
pub use query::TextQuery;
pub use retrieval::{MatchPage, SearchFilter, find_items};

pub(super) fn statements() -> [(&'static str, &'static [(&'static str, &'static str)]); 3] {
    [
        ("search/catch_up", backfill::STATEMENTS),
        ("search/index", index::STATEMENTS),
        ("search/look", retrieval::STATEMENTS),
    ]
}
