//! Reads the dates of AnythingLLM: those of JSON, and those that JavaScript prints into CSV.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::reading::fields::{SourceDate, as_date};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Returns the date of a row; an invalid one is reported and dropped.
pub(super) fn sent_at(row: &Value, message: &str, notes: &mut ConversationNotes) -> Option<DateTime<Utc>> {
    let value = row.get("sent_at")?;
    match (as_date(value), value.as_str().and_then(printed_date)) {
        (SourceDate::Valid(at), _) | (_, Some(at)) => Some(at),
        (SourceDate::Implausible, None) => {
            notes.add(IssueKind::PutRight, message, "an invalid date (sent_at) was skipped");
            None
        }
        (SourceDate::Absent, None) => None,
    }
}

/// Parses a date such as `Tue Nov 12 2024 10:00:00 GMT+0100 (Central European Standard Time)`.
fn printed_date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.split_once(" (").map_or(text, |(date, _)| date);
    let date = DateTime::parse_from_str(text.trim(), "%a %b %d %Y %H:%M:%S GMT%z").ok()?;
    as_date(&Value::from(date.timestamp())).valid_time()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::IssueLocation;

    #[test]
    fn dates_of_json_and_csv_are_the_same() {
        let mut notes = ConversationNotes::new(IssueLocation::default());
        let mut date = |value: Value| sent_at(&json!({ "sent_at": value }), "m", &mut notes).map(|at| at.to_rfc3339());
        let expected = Some("2024-11-12T09:00:00+00:00".to_owned());
        assert_eq!(date(json!("Tue Nov 12 2024 10:00:00 GMT+0100 (Central European Standard Time)")), expected);
        assert_eq!(date(json!("2024-11-12T09:00:00.000Z")), expected);
        assert_eq!([date(json!("")), date(json!("soon")), date(json!(null))], [None, None, None]);
        assert_eq!(notes.count(), 1);
    }
}
