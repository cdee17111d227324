//! The tool that returns the current time.

use chrono::{DateTime, FixedOffset, Local, TimeZone, Utc};
use serde_json::{Map, Value, json};

use crate::result::{CallOutcome, CallResult, build_result};
use turnleaf_platform::clock::{Clock, SystemClock};

/// Returns the current time in UTC, in the server's time zone and, if given, at this offset.
pub fn current_time(offset: Option<&str>) -> CallResult {
    let now = SystemClock.now();
    let server = *now.with_timezone(&Local).offset();
    build_result(
        CallOutcome::Done,
        Vec::new(),
        Some(describe_time(now, server, offset.and_then(|offset| offset.parse().ok()))),
    )
}

fn describe_time(now: DateTime<Utc>, server: FixedOffset, requested: Option<FixedOffset>) -> Value {
    let at = |offset: FixedOffset| {
        let time = offset.from_utc_datetime(&now.naive_utc());
        json!({"time": time.format("%Y-%m-%dT%H:%M:%S%:z").to_string(), "weekday": time.format("%A").to_string()})
    };
    let mut description = Map::new();
    description.insert("utc".into(), json!(now.format("%Y-%m-%dT%H:%M:%SZ").to_string()));
    description.insert("weekday".into(), json!(now.format("%A").to_string()));
    description.insert("server".into(), at(server));
    if let Some(requested) = requested {
        description.insert("asked".into(), at(requested));
    }
    Value::Object(description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_given_in_each_time_zone() {
        let now = DateTime::from_timestamp(1_795_305_600, 0).unwrap();
        let offset = |text: &str| text.parse::<FixedOffset>().unwrap();
        assert_eq!(
            describe_time(now, offset("+01:00"), Some(offset("-05:30"))),
            json!({
                "utc": "2026-11-22T00:00:00Z", "weekday": "Sunday",
                "server": {"time": "2026-11-22T01:00:00+01:00", "weekday": "Sunday"},
                "asked": {"time": "2026-11-21T18:30:00-05:30", "weekday": "Saturday"},
            })
        );
    }
}
