//! Under which heading of the list a chat stands: pinned, or by the day on which it changed last, where its reader is.

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// A heading of the list of chats, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub enum Heading {
    Pinned,
    Today,
    Yesterday,
    /// The seven days before yesterday's evening, and the thirty.
    Week,
    Month,
    /// A month, from 1, of a year.
    Of(u32, u32),
}

impl Heading {
    /// Of a chat that changed last at this moment, for a reader whose clock is so many minutes before that of UTC.
    pub fn of(changed: DateTime<Utc>, now: DateTime<Utc>, minutes: i32) -> Self {
        let day = |moment: DateTime<Utc>| (moment + TimeDelta::minutes(minutes.into())).date_naive();
        let changed = day(changed);
        match (day(now) - changed).num_days() {
            // A clock may have been put back meanwhile.
            ..=0 => Self::Today,
            1 => Self::Yesterday,
            2..=7 => Self::Week,
            8..=30 => Self::Month,
            _ => Self::Of(changed.year().unsigned_abs(), changed.month()),
        }
    }
}

/// As it goes to the page: small, and of months `YYYYMM`.
impl From<Heading> for u32 {
    fn from(heading: Heading) -> Self {
        match heading {
            Heading::Pinned => 0,
            Heading::Today => 1,
            Heading::Yesterday => 2,
            Heading::Week => 3,
            Heading::Month => 4,
            Heading::Of(year, month) => year * 100 + month,
        }
    }
}

impl From<u32> for Heading {
    fn from(number: u32) -> Self {
        match number {
            0 => Self::Pinned,
            1 => Self::Today,
            2 => Self::Yesterday,
            3 => Self::Week,
            4 => Self::Month,
            month => Self::Of(month / 100, month % 100),
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
    fn a_day_is_that_of_the_reader() {
        let now = at("2026-03-01T01:30:00Z");
        let table = [
            ("2026-03-01T01:00:00Z", 0, Heading::Today),
            ("2026-03-01T00:00:00Z", 0, Heading::Today),
            ("2026-02-28T23:59:59Z", 0, Heading::Yesterday),
            // It is still the 28th of February in New York, and the afternoon of the 1st in Kiritimati.
            ("2026-02-28T23:59:59Z", -300, Heading::Today),
            ("2026-02-28T04:59:59Z", -300, Heading::Yesterday),
            ("2026-02-28T10:00:00Z", 840, Heading::Today),
            ("2026-02-28T09:59:59Z", 840, Heading::Yesterday),
            ("2026-02-22T00:00:00Z", 0, Heading::Week),
            ("2026-02-21T23:59:59Z", 0, Heading::Month),
            ("2026-01-30T00:00:00Z", 0, Heading::Month),
            ("2026-01-29T23:59:59Z", 0, Heading::Of(2026, 1)),
            ("2025-12-31T23:59:59Z", 60, Heading::Of(2026, 1)),
            ("2025-12-31T23:59:59Z", 0, Heading::Of(2025, 12)),
            ("2026-03-05T00:00:00Z", 0, Heading::Today),
        ];
        for (changed, minutes, heading) in table {
            assert_eq!(Heading::of(at(changed), now, minutes), heading, "{changed} {minutes}");
        }
    }

    #[test]
    fn what_goes_to_the_page_is_what_was_meant() {
        use Heading::{Month, Of, Pinned, Today, Week, Yesterday};
        for heading in [Pinned, Today, Yesterday, Week, Month, Of(2026, 1), Of(1999, 12)] {
            let json = serde_json::to_string(&heading).expect("JSON");
            assert_eq!(serde_json::from_str::<Heading>(&json).expect("a heading"), heading, "{json}");
        }
    }
}
