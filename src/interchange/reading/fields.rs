//! Tolerant access to members of foreign JSON: a member of a wrong type counts as missing and never fails the whole.

use chrono::{DateTime, Datelike, NaiveDateTime, Utc};
use serde_json::Value;

/// Returns a non-empty string.
pub(crate) fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Returns the first non-empty string among several members.
pub(crate) fn first_text<'a>(of: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| text(of, name))
}

/// Returns an id: a non-empty string or an integer.
pub(crate) fn id(of: &Value, name: &str) -> Option<String> {
    as_id(of.get(name)?)
}

/// Converts a value to an id: a non-empty string or an integer.
pub(crate) fn as_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Returns whether the member is `true`.
pub(crate) fn is_set(of: &Value, name: &str) -> bool {
    of.get(name).and_then(Value::as_bool) == Some(true)
}

/// Returns the elements of an array; an empty slice if there is none.
pub(crate) fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns a non-negative integer, also if it was written as `3.0`.
pub(crate) fn count(of: &Value, name: &str) -> Option<u64> {
    let value = of.get(name)?;
    value.as_u64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n)).map(|n| n as u64))
}

/// Returns a duration in milliseconds from a number of seconds, which may be a string.
pub(crate) fn seconds_as_ms(of: &Value, name: &str) -> Option<u64> {
    let seconds = number(of.get(name)?)?;
    // The limit of a hundred years rejects values that cannot be durations.
    (0.0..=3.2e9).contains(&seconds).then(|| (seconds * 1000.0).round() as u64)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

/// A point in time as its source states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceDate {
    /// Missing; zero and empty strings count as missing, too.
    Absent,
    Valid(DateTime<Utc>),
    /// A value that is no plausible time of a chat.
    Implausible,
}

impl SourceDate {
    /// Returns the time if it is valid.
    pub(crate) fn valid_time(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Valid(at) => Some(at),
            Self::Absent | Self::Implausible => None,
        }
    }
}

/// Returns a date: RFC 3339, or a number since 1970 (also as a string) whose magnitude decides between seconds,
/// milliseconds, microseconds and nanoseconds.
pub(crate) fn date(of: &Value, name: &str) -> SourceDate {
    of.get(name).map_or(SourceDate::Absent, as_date)
}

/// Converts a value to a date as [`date`] does.
pub(crate) fn as_date(value: &Value) -> SourceDate {
    // MongoDB's extended JSON wraps a date once or twice: `{"$date": {"$numberLong": "1700000000000"}}`.
    let value = value.get("$date").unwrap_or(value);
    let value = value.get("$numberLong").unwrap_or(value);
    if value.is_null() {
        return SourceDate::Absent;
    }
    if value.as_str().is_some_and(|text| text.trim().is_empty()) || number(value) == Some(0.0) {
        return SourceDate::Absent;
    }
    let at = match (number(value), value.as_str()) {
        (Some(number), _) => date_from_number(number),
        (None, Some(text)) => date_from_text(text.trim()),
        (None, None) => None,
    };
    match at {
        Some(at) if (2000..2200).contains(&at.year()) => SourceDate::Valid(at),
        _ => SourceDate::Implausible,
    }
}

fn date_from_number(number: f64) -> Option<DateTime<Utc>> {
    let per_second = match number.abs() {
        ..1e11 => 1.0,
        ..1e14 => 1e3,
        ..1e17 => 1e6,
        _ => 1e9,
    };
    let microseconds = (number / per_second * 1e6).round();
    (microseconds.abs() < 9e18).then(|| DateTime::from_timestamp_micros(microseconds as i64)).flatten()
}

fn date_from_text(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.with_timezone(&Utc));
    }
    // Databases print times with a zone in this format.
    if let Ok(at) = DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z") {
        return Some(at.with_timezone(&Utc));
    }
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.fZ"];
    formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok()).map(|at| at.and_utc())
}

/// Derives an id from the content, so that importing the same content again yields the same id.
pub(crate) fn content_id(of: &Value) -> String {
    /// FNV-1a, because its result is stable across compiler versions.
    struct Fnv(u64);

    impl std::io::Write for Fnv {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Writing into the hasher cannot fail, and a value can always be serialized.
    let _ = serde_json::to_writer(&mut hash, of);
    format!("made-{:016x}", hash.0)
}

/// Returns the beginning of an untrusted text for a sentence: at most `length` characters, without control characters.
pub(crate) fn printable(text: &str, length: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(length).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dates_are_read_in_every_unit_and_implausible_ones_are_reported() {
        let right: DateTime<Utc> = "2024-05-06T07:08:09Z".parse().unwrap();
        let table = [
            (json!(1_714_979_289), SourceDate::Valid(right)),
            (json!(1_714_979_289.0), SourceDate::Valid(right)),
            (json!(1_714_979_289_000_i64), SourceDate::Valid(right)),
            (json!(1_714_979_289_000_000_i64), SourceDate::Valid(right)),
            (json!(1_714_979_289_000_000_000_i64), SourceDate::Valid(right)),
            (json!("1714979289"), SourceDate::Valid(right)),
            (json!({"$date": {"$numberLong": "1714979289000"}}), SourceDate::Valid(right)),
            (json!({"$date": "2024-05-06T07:08:09Z"}), SourceDate::Valid(right)),
            (json!("2024-05-06T07:08:09Z"), SourceDate::Valid(right)),
            (json!("2024-05-06T09:08:09+02:00"), SourceDate::Valid(right)),
            (json!("2024-05-06 07:08:09.000"), SourceDate::Valid(right)),
            (json!("2024-05-06T07:08:09"), SourceDate::Valid(right)),
            (json!("2024-05-06 09:08:09+02"), SourceDate::Valid(right)),
            (json!("2024-05-06 01:38:09.0000000-05:30"), SourceDate::Valid(right)),
            (json!("infinity"), SourceDate::Implausible),
            (json!("0001-01-01 00:00:00"), SourceDate::Implausible),
            (json!(null), SourceDate::Absent),
            (json!(0), SourceDate::Absent),
            (json!(" "), SourceDate::Absent),
            (json!(-1_714_979_289), SourceDate::Implausible),
            (json!("292277026596-12-04T15:30:07Z"), SourceDate::Implausible),
            (json!(i64::MAX), SourceDate::Implausible),
            (json!(1e300), SourceDate::Implausible),
            (json!("NaN"), SourceDate::Implausible),
            (json!("yesterday"), SourceDate::Implausible),
            (json!({}), SourceDate::Implausible),
            (json!({"$date": null}), SourceDate::Absent),
            (json!(true), SourceDate::Implausible),
        ];
        for (given, expected) in table {
            assert_eq!(date(&json!({ "at": given }), "at"), expected, "{given}");
        }
        assert_eq!(date(&json!([]), "at"), SourceDate::Absent);
    }

    #[test]
    fn wrong_type_reads_as_absent() {
        let of = json!({"a": 1, "b": "", "c": "x", "d": [1], "e": 3.0, "f": -1, "g": 2.5, "h": "4.25"});
        assert_eq!((text(&of, "a"), text(&of, "b"), text(&of, "c")), (None, None, Some("x")));
        assert_eq!((id(&of, "a"), id(&of, "d"), id(&of, "g")), (Some("1".into()), None, None));
        assert_eq!((list(&of, "d").len(), list(&of, "a").len()), (1, 0));
        assert_eq!((count(&of, "e"), count(&of, "f"), count(&of, "g")), (Some(3), None, None));
        assert_eq!((seconds_as_ms(&of, "h"), seconds_as_ms(&of, "f")), (Some(4250), None));
        assert!(!is_set(&of, "a"));
    }

    #[test]
    fn same_content_gets_same_id() {
        assert_eq!(content_id(&json!({"a": 1})), content_id(&json!({"a": 1})));
        assert_ne!(content_id(&json!({"a": 1})), content_id(&json!({"a": 2})));
        assert_eq!(content_id(&json!("a")), "made-d4272417d7c77eea", "it must not change from version to version");
    }
}
