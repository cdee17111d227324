//! The lines of Codex's sessions in all versions of the format, each as a type with its payload.

use serde_json::{Value, json};

use super::keys;
use crate::input::json_lines::JsonLine;
use crate::reading::fields::{self, SourceDate};

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Record<'l> {
    /// The session itself, at the beginning of a file and wherever another one was continued.
    Meta(&'l Value),
    /// A message, reasoning, a call or a result.
    Item(&'l Value),
    Event(&'l Value),
    /// The settings of the turn that begins.
    TurnContext(&'l Value),
    /// The summary that replaces the items before it.
    Compacted(&'l Value),
    /// State of the program.
    Ignored,
    Unknown(&'l str),
}

impl<'l> Record<'l> {
    pub(super) fn of(line: &'l Value) -> Self {
        let kind = fields::text(line, "type").unwrap_or_default();
        let Some(payload) = line.get("payload") else { return Self::of_bare(line, kind) };
        match kind {
            "session_meta" => Self::Meta(payload),
            "response_item" => Self::Item(payload),
            "event_msg" => Self::Event(payload),
            "turn_context" => Self::TurnContext(payload),
            "compacted" => Self::Compacted(payload),
            "inter_agent_communication" => Self::Item(payload),
            "world_state" | "inter_agent_communication_metadata" => Self::Ignored,
            other => Self::Unknown(other),
        }
    }

    /// Returns the content of a line of the versions before September 2025.
    fn of_bare(line: &'l Value, kind: &'l str) -> Self {
        if line.get("record_type").is_some() {
            return Self::Ignored;
        }
        match kind {
            "" if fields::id(line, "id").is_some() => Self::Meta(line),
            "" => Self::Unknown("none"),
            "compacted" => Self::Compacted(line),
            _ => Self::Item(line),
        }
    }

    /// Returns whether nothing of the line is of use for a chat.
    pub(super) fn is_ignored(self) -> bool {
        match self {
            Self::Ignored => true,
            Self::Event(event) => fields::text(event, "type").is_some_and(|kind| keys::IGNORED_EVENTS.contains(&kind)),
            Self::Item(item) => fields::text(item, "type").is_some_and(|kind| keys::IGNORED_ITEMS.contains(&kind)),
            _ => false,
        }
    }
}

/// Returns whether the value is a line of a session, or a whole session of the first program.
pub(super) fn is_record(value: &Value) -> bool {
    let is_object = |name| value.get(name).is_some_and(Value::is_object);
    let kind = fields::text(value, "type").unwrap_or_default();
    if is_object("payload") {
        return keys::LINE_TYPES.contains(&kind);
    }
    let has = |name| fields::text(value, name).is_some();
    match kind {
        "" => {
            let is_meta = has("id") && has("timestamp") && value.get("instructions").is_some();
            let is_state = fields::text(value, "record_type") == Some("state");
            is_meta || is_state || (is_object("session") && value.get("items").is_some_and(Value::is_array))
        }
        "message" => {
            let is_part =
                |part: &Value| matches!(fields::text(part, "type"), Some("input_text" | "output_text" | "input_image"));
            has("role") && fields::list(value, "content").iter().any(is_part)
        }
        "function_call" => has("call_id") && has("name"),
        "function_call_output" => has("call_id"),
        _ => false,
    }
}

/// Splits a whole session of the first program into a line for the session and one for each item; any other line comes
/// back.
pub(super) fn whole_session(mut line: JsonLine) -> Result<Vec<JsonLine>, JsonLine> {
    let is_whole = line.value.get("session").is_some_and(Value::is_object);
    let items = line.value.get_mut("items").filter(|_| is_whole).map(Value::take);
    let Some(Value::Array(items)) = items else { return Err(line) };
    let session = line.value.get_mut("session").map(Value::take).unwrap_or_default();
    let meta = JsonLine { number: 0, value: json!({ "type": "session_meta", "payload": session }) };
    let items = (1..).zip(items).map(|(number, value)| JsonLine { number, value });
    Ok([meta].into_iter().chain(items).collect())
}

/// Returns the time of a line.
pub(super) fn time_of(line: &Value) -> SourceDate {
    // The time of a bare session is that of its beginning, not of a message.
    if line.get("payload").is_some() { fields::date(line, "timestamp") } else { SourceDate::Absent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions_are_told_apart() {
        let item = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]});
        let meta = json!({"id": "i", "timestamp": "2025-06-01T10:00:00Z", "instructions": null});
        let table = [
            (json!({"type": "response_item", "payload": item}), Record::Item(&item), true),
            (item.clone(), Record::Item(&item), true),
            (json!({"type": "session_meta", "payload": meta}), Record::Meta(&meta), true),
            (meta.clone(), Record::Meta(&meta), true),
            (json!({"record_type": "state"}), Record::Ignored, true),
            (json!({"type": "world_state", "payload": {"full": true}}), Record::Ignored, true),
            (json!({"type": "oracle", "payload": {}}), Record::Unknown("oracle"), false),
            (json!({"a": 1}), Record::Unknown("none"), false),
            (json!({"type": "message", "message": {"role": "user"}}), Record::Item(&Value::Null), false),
        ];
        for (line, expected, is_known) in &table {
            if *is_known || matches!(expected, Record::Unknown(_)) {
                assert_eq!(Record::of(line), *expected, "{line}");
            }
            assert_eq!(is_record(line), *is_known, "{line}");
        }
    }

    #[test]
    fn whole_session_is_split_into_items() {
        let line = |value| JsonLine { number: 1, value };
        let lines =
            whole_session(line(json!({"session": {"id": "i"}, "items": [{"type": "a"}, {"type": "b"}]}))).unwrap();
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        assert_eq!((numbers, &lines[2].value), (vec![0, 1, 2], &json!({"type": "b"})));
        assert!(whole_session(line(json!({"items": []}))).is_err());
    }
}
