//! The headings of the chat list: pinned, or the day of the last change in the reader's time zone.

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// A heading of the chat list, in list order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub enum ChatListHeading {
    Pinned,
    Today,
    Yesterday,
    /// The days 2 to 7 before today; `Month` has the days 8 to 30.
    Week,
    Month,
    /// A year and a month, from 1.
    YearMonth(u32, u32),
}

impl ChatListHeading {
    /// Returns the heading of a chat that last changed at `changed`, for a reader whose UTC offset is `minutes`.
    pub fn from_change_time(changed: DateTime<Utc>, now: DateTime<Utc>, minutes: i32) -> Self {
        let day = |moment: DateTime<Utc>| (moment + TimeDelta::minutes(minutes.into())).date_naive();
        let changed = day(changed);
        match (day(now) - changed).num_days() {
            // A change may be in the future after the server's clock was set back.
            ..=0 => Self::Today,
            1 => Self::Yesterday,
            2..=7 => Self::Week,
            8..=30 => Self::Month,
            _ => Self::YearMonth(changed.year().unsigned_abs(), changed.month()),
        }
    }
}

/// Encodes the heading as a small number for the page; months become `YYYYMM`.
impl From<ChatListHeading> for u32 {
    fn from(heading: ChatListHeading) -> Self {
        match heading {
            ChatListHeading::Pinned => 0,
            ChatListHeading::Today => 1,
            ChatListHeading::Yesterday => 2,
            ChatListHeading::Week => 3,
            ChatListHeading::Month => 4,
            ChatListHeading::YearMonth(year, month) => year * 100 + month,
        }
    }
}

impl From<u32> for ChatListHeading {
    fn from(number: u32) -> Self {
        match number {
            0 => Self::Pinned,
            1 => Self::Today,
            2 => Self::Yesterday,
            3 => Self::Week,
            4 => Self::Month,
            month => Self::YearMonth(month / 100, month % 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().expect("a moment")
    }

    #[test]
    fn day_is_computed_in_reader_time_zone() {
        let now = at("2026-03-01T01:30:00Z");
        let table = [
            ("2026-03-01T01:00:00Z", 0, ChatListHeading::Today),
            ("2026-03-01T00:00:00Z", 0, ChatListHeading::Today),
            ("2026-02-28T23:59:59Z", 0, ChatListHeading::Yesterday),
            // At this moment it is still February 28 in New York, and the afternoon of March 1 in Kiritimati.
            ("2026-02-28T23:59:59Z", -300, ChatListHeading::Today),
            ("2026-02-28T04:59:59Z", -300, ChatListHeading::Yesterday),
            ("2026-02-28T10:00:00Z", 840, ChatListHeading::Today),
            ("2026-02-28T09:59:59Z", 840, ChatListHeading::Yesterday),
            ("2026-02-22T00:00:00Z", 0, ChatListHeading::Week),
            ("2026-02-21T23:59:59Z", 0, ChatListHeading::Month),
            ("2026-01-30T00:00:00Z", 0, ChatListHeading::Month),
            ("2026-01-29T23:59:59Z", 0, ChatListHeading::YearMonth(2026, 1)),
            ("2025-12-31T23:59:59Z", 60, ChatListHeading::YearMonth(2026, 1)),
            ("2025-12-31T23:59:59Z", 0, ChatListHeading::YearMonth(2025, 12)),
            ("2026-03-05T00:00:00Z", 0, ChatListHeading::Today),
        ];
        for (changed, minutes, heading) in table {
            assert_eq!(ChatListHeading::from_change_time(at(changed), now, minutes), heading, "{changed} {minutes}");
        }
    }

    #[test]
    fn heading_survives_number_encoding() {
        use ChatListHeading::{Month, Pinned, Today, Week, YearMonth, Yesterday};
        for heading in [Pinned, Today, Yesterday, Week, Month, YearMonth(2026, 1), YearMonth(1999, 12)] {
            let json = serde_json::to_string(&heading).expect("JSON");
            assert_eq!(serde_json::from_str::<ChatListHeading>(&json).expect("a heading"), heading, "{json}");
        }
    }
}
