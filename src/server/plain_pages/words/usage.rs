//! The words of the page of what was spent.

use chrono::NaiveDate;

pub const FROM: &str = "From";
pub const TO: &str = "To";
pub const GROUP: &str = "Told apart by";
pub const SHOW: &str = "Show";
pub const BY_DAY: &str = "Day";
pub const BY_MODEL: &str = "Model";
pub const BY_PROVIDER: &str = "Provider";
pub const BY_CHAT: &str = "Chat";
pub const LAST_7: &str = "7 days";
pub const LAST_30: &str = "30 days";
pub const THIS_MONTH: &str = "This month";
pub const THIS_YEAR: &str = "This year";
pub const NOTHING: &str = "Nothing was asked of a model in this time.";
pub const TABLE: &str = "What was spent";
pub const CALLS: &str = "Calls";
pub const INPUT: &str = "Tokens in";
pub const CACHED: &str = "of it from cache";
pub const OUTPUT: &str = "Tokens out";
pub const REASONING: &str = "of it reasoning";
pub const COST: &str = "Cost, US dollars";
pub const TOTAL: &str = "Total";
pub const DELETED: &str = "Deleted chats";
pub const CSV: &str = "Download as CSV";
pub const ESTIMATED: &str = "≈ means estimated: computed from tokens and a list of prices. What your provider bills may \
                             differ. — means unknown; models on your own machine have no price.";
pub const WHAT_COUNTS: &str = "Every call of a provider counts, also those of stopped, failed and deleted replies, until Trash is emptied of them. Days are in UTC.";

pub fn caption(from: NaiveDate, to: NaiveDate) -> String {
    if from == to { format!("{from}") } else { format!("{from} to {to}") }
}

/// Beside a sum.
pub fn lacks(unknown: u64) -> String {
    format!(" + {unknown} unknown")
}

pub fn more(hidden: usize) -> String {
    format!("{hidden} more are in the CSV.")
}
