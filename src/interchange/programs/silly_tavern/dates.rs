//! Reads the dates of SillyTavern, most of which have no zone and no seconds.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::reading::fields::as_date;

/// A date as a message has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageDate {
    Exact(DateTime<Utc>),
    /// On the clock of the computer, to the minute or to the second.
    Local(NaiveDateTime),
}

/// Parses a date; `None` if it is none.
pub(super) fn message_date(value: &Value) -> Option<MessageDate> {
    if let Some(exact) = as_date(value).valid_time() {
        return Some(MessageDate::Exact(exact));
    }
    let text = value.as_str()?.trim();
    // The milliseconds of the oldest form have any number of digits.
    let text = if text.ends_with("ms") { text.rsplit_once(' ').map_or(text, |(start, _)| start) } else { text };
    const FORMS: [&str; 3] = ["%B %d, %Y %I:%M%p", "%Y-%m-%d@%Hh%Mm%Ss", "%Y-%m-%d @%Hh %Mm %Ss"];
    let local = FORMS.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    (2000..2200).contains(&local.year()).then_some(MessageDate::Local(local))
}

/// The offset of the computer's clock from UTC, inferred from the messages.
#[derive(Default)]
pub(super) struct ClockOffset(Option<TimeDelta>);

impl ClockOffset {
    /// Compares the local date of a reply with the end of its generation, which is exact.
    pub(super) fn observe(&mut self, sent: Option<MessageDate>, finished: Option<MessageDate>) {
        const STEP: i64 = 15 * 60;
        let (Some(MessageDate::Local(sent)), Some(MessageDate::Exact(finished))) = (sent, finished) else { return };
        let ahead = (sent - finished.naive_utc()).num_seconds();
        // Zones differ by quarters of an hour; a date without seconds is up to a minute early.
        let steps = (ahead + STEP / 2).div_euclid(STEP);
        if (-12 * 4..=14 * 4).contains(&steps) {
            self.0 = Some(TimeDelta::seconds(steps * STEP));
        }
    }

    /// Returns the time of a date. One without seconds is not before `above`, a time in the same minute.
    pub(super) fn time(&self, date: MessageDate, above: Option<DateTime<Utc>>) -> DateTime<Utc> {
        let local = match date {
            MessageDate::Exact(exact) => return exact,
            MessageDate::Local(local) => local,
        };
        let time = local.and_utc() - self.0.unwrap_or_default();
        let is_same_minute = |above: &DateTime<Utc>| (0..60).contains(&(*above - time).num_seconds());
        above.filter(is_same_minute).unwrap_or(time)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_date_is_read() {
        let local = |text: &str| Some(MessageDate::Local(text.parse().unwrap()));
        let exact = |text: &str| Some(MessageDate::Exact(text.parse().unwrap()));
        let table = [
            (json!("June 19, 2023 2:20pm"), local("2023-06-19T14:20:00")),
            (json!("January 1, 2024 12:05am"), local("2024-01-01T00:05:00")),
            (json!("2024-7-12@01h31m37s"), local("2024-07-12T01:31:37")),
            (json!("2024-6-5 @14h 56m 50s 682ms"), local("2024-06-05T14:56:50")),
            (json!("2025-02-03T04:05:06.789Z"), exact("2025-02-03T04:05:06.789Z")),
            (json!(1_700_000_000_000_i64), exact("2023-11-14T22:13:20Z")),
            (json!("yesterday"), None),
            (json!("June 19, 0023 2:20pm"), None),
            (json!(null), None),
        ];
        for (value, expected) in table {
            assert_eq!(message_date(&value), expected, "{value}");
        }
    }

    #[test]
    fn clock_offset_is_that_of_replies() {
        let at = |text: &str| message_date(&json!(text));
        let mut offset = ClockOffset::default();
        assert_eq!(offset.time(at("June 19, 2023 2:20pm").unwrap(), None).to_rfc3339(), "2023-06-19T14:20:00+00:00");
        offset.observe(at("June 19, 2023 2:20pm"), at("2023-06-19T08:50:31.000Z"));
        assert_eq!(offset.time(at("June 19, 2023 2:21pm").unwrap(), None).to_rfc3339(), "2023-06-19T08:51:00+00:00");
        offset.observe(at("June 19, 2023 2:20pm"), at("2021-01-01T00:00:00.000Z"));
        let above: DateTime<Utc> = "2023-06-19T08:51:42Z".parse().unwrap();
        assert_eq!(offset.time(at("June 19, 2023 2:21pm").unwrap(), Some(above)), above);
        assert_ne!(offset.time(at("June 19, 2023 2:22pm").unwrap(), Some(above)), above);
    }
}
