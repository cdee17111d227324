//! Fuzz targets of the bounds of stored JSON: bounded JSON stays valid JSON within the depth, and bounding is
//! idempotent. An accepted value is stored and read back unchanged.

use std::borrow::Cow;

use serde_json::Value;
use turnleaf::domain::encoding::json_bounds::{bounded_text, enforce, parse, parse_bounded};
use turnleaf::domain::{Event, fixtures, limits};

/// Reads the first byte as the depth and the rest as the text.
pub fn bounds_hold(input: &[u8]) {
    let Some((depth, text)) = input.split_first() else { return };
    let depth = usize::from(*depth) % (limits::JSON_TEXT_DEPTH + 1);
    let text = String::from_utf8_lossy(text);
    let held = bounded_text(&text, depth);
    if let Ok(value) = parse(&text) {
        let read: Value = serde_json::from_str(&held).unwrap();
        assert!(depth_of(&read) <= depth, "{held}");
        assert_eq!(read, parse(&held).unwrap(), "a name means something: {held}");
        assert!(matches!(bounded_text(&held, depth), Cow::Borrowed(_)), "bounded again: {held}");
        let mut stored = value.clone();
        let is_bounded = enforce(&mut stored);
        assert_eq!(is_bounded, parse_bounded(&text).is_err(), "one answer for texts and for values");
        assert!(is_bounded || stored == value);
        event_holds(fixtures::tool_result("call", "tool", stored));
    }
}

fn event_holds(content: turnleaf::domain::Content) {
    super::events::stored_event_is_read(&Event::BlockStart { block: fixtures::block(2, 0, content) });
}

fn depth_of(value: &Value) -> usize {
    let inside = match value {
        Value::Array(items) => items.iter().map(depth_of).max(),
        Value::Object(members) => members.values().map(depth_of).max(),
        _ => return 0,
    };
    1 + inside.unwrap_or_default()
}
