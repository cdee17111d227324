//! The bounds of global search.

use std::time::Duration;

/// Global search: the length and words of a query, hits per page, candidates examined, turns per indexing step.
pub const SEARCH_CHARS: usize = 256;
pub const SEARCH_TERMS: usize = 16;
pub const SEARCH_PAGE: u32 = 20;
pub const SEARCH_CANDIDATES: u32 = 400;
pub const SEARCH_STEP: u32 = 200;
/// The length of a word in the index, the length from which the last word of a query matches as a prefix, and the
/// keys that a query word is looked up by.
pub const SEARCH_WORD_CHARS: usize = 40;
pub const SEARCH_PREFIX_CHARS: usize = 3;
pub const SEARCH_KEYS: usize = 32;
/// A long text is indexed in overlapping parts of this many characters: below the size of a PostgreSQL index row,
/// with an overlap longer than a query.
pub const SEARCH_PART_CHARS: usize = 50_000;
pub const SEARCH_OVERLAP_CHARS: usize = 512;
/// The searched parts of a text.
pub const SEARCH_PARTS: usize = 1_024;
/// The time after which a search returns the hits found so far, and the length of an excerpt.
pub const SEARCH_TIME: Duration = Duration::from_secs(5);
pub const SEARCH_EXCERPT: usize = 200;
