//! The bounds of searching everything.

use std::time::Duration;

/// Searching everything: words of a query, hits of a page, candidates that are looked at, turns of one step of indexing.
pub const SEARCH_CHARS: usize = 256;
pub const SEARCH_TERMS: usize = 16;
pub const SEARCH_PAGE: u32 = 20;
pub const SEARCH_CANDIDATES: u32 = 400;
pub const SEARCH_STEP: u32 = 200;
/// A word of the index has so many characters at most; the last word of a query with so many may go on in a text; keys
/// that a word of a query is looked up by.
pub const SEARCH_WORD_CHARS: usize = 40;
pub const SEARCH_PREFIX_CHARS: usize = 3;
pub const SEARCH_KEYS: usize = 32;
/// A long text is searched in parts of so many characters, each of which has the end of the one before: below what
/// PostgreSQL lets one row of an index hold, and more than a query is long.
pub const SEARCH_PART_CHARS: usize = 50_000;
pub const SEARCH_OVERLAP_CHARS: usize = 512;
/// The parts of a text that are searched.
pub const SEARCH_PARTS: usize = 1_024;
/// How long a search may take before it gives what it has; the characters of an excerpt.
pub const SEARCH_TIME: Duration = Duration::from_secs(5);
pub const SEARCH_EXCERPT: usize = 200;
