//! A session that the Gemini CLI recorded, put together from its lines.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::bounds;
use crate::reading::fields;
use crate::reading::session_lines::value_size;

/// A session with its messages; what was rewound is still there.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// The members of the session without its messages, each with its last value.
    pub meta: Map<String, Value>,
    /// In the order in which they were first recorded.
    pub messages: Vec<RecordedMessage>,
    index: HashMap<String, usize>,
    /// The last message of the current path.
    pub tip: Option<String>,
    bytes: usize,
    /// Number of messages that exceed a bound.
    pub left_out: u64,
}

#[derive(Debug, Hash)]
pub(super) struct RecordedMessage {
    pub id: String,
    pub parent: Option<String>,
    pub value: Value,
    /// The program put it in the place of earlier messages.
    pub is_replacement: bool,
}

/// Returns whether the value is a recorded session or a line of one.
pub(super) fn is_record(value: &Value) -> bool {
    Recording::begins_with(value)
        || is_message(value)
        || value.get("$set").is_some_and(Value::is_object)
        || fields::text(value, "$rewindTo").is_some()
}

fn is_message(value: &Value) -> bool {
    let kind = fields::text(value, "type");
    fields::id(value, "id").is_some()
        && fields::text(value, "timestamp").is_some()
        && matches!(kind, Some("user" | "gemini" | "info" | "error" | "warning"))
}

impl Recording {
    /// Returns whether a line begins a session. Other programs also have sessions with lists of messages.
    pub(super) fn begins_with(value: &Value) -> bool {
        let messages = value.get("messages").and_then(Value::as_array);
        let has_own = || messages.is_some_and(|list| list.first().is_none_or(is_message));
        fields::text(value, "sessionId").is_some() && (fields::text(value, "projectHash").is_some() || has_own())
    }

    /// Returns whether a line begins this session once more.
    pub(super) fn is_session(&self, value: &Value) -> bool {
        self.id().is_some() && self.id() == fields::id(value, "sessionId")
    }

    pub(super) fn id(&self) -> Option<String> {
        self.meta.get("sessionId").and_then(fields::as_id)
    }

    /// Adds a line.
    pub(super) fn add(&mut self, mut value: Value) {
        if let Some(to) = fields::id(&value, "$rewindTo") {
            return self.rewind(&to);
        }
        if let Some(Value::Object(set)) = value.get_mut("$set").map(Value::take) {
            return self.set(set);
        }
        match value {
            value if is_message(&value) => self.add_message(value, false),
            Value::Object(mut members) => {
                let messages = members.shift_remove("messages");
                self.meta.extend(members);
                if let Some(Value::Array(messages)) = messages {
                    messages.into_iter().for_each(|message| self.add_message(message, false));
                }
            }
            _ => {}
        }
    }

    /// Sets members of the session. A list of messages replaces the current path for the program; here only its new
    /// messages count, because the others are recorded as they were.
    fn set(&mut self, mut set: Map<String, Value>) {
        let messages = set.shift_remove("messages");
        self.meta.extend(set);
        let Some(Value::Array(messages)) = messages else { return };
        for message in messages {
            if fields::id(&message, "id").is_none_or(|id| !self.index.contains_key(&id)) {
                self.add_message(message, true);
            }
        }
    }

    /// Adds a message, or replaces one that is recorded again.
    fn add_message(&mut self, value: Value, is_replacement: bool) {
        let known = fields::id(&value, "id").and_then(|id| self.index.get(&id).copied());
        let before = known.map(|at| value_size(&self.messages[at].value)).unwrap_or_default();
        let bytes = self.bytes.saturating_sub(before).saturating_add(value_size(&value));
        if bytes > bounds::CONVERSATION_BYTES || (known.is_none() && self.messages.len() >= bounds::MESSAGES) {
            self.left_out += 1;
            return;
        }
        self.bytes = bytes;
        match known {
            Some(at) => self.messages[at].value = value,
            None => {
                let id = fields::id(&value, "id").unwrap_or_else(|| format!("message-{}", self.messages.len() + 1));
                self.index.insert(id.clone(), self.messages.len());
                let parent = self.tip.replace(id.clone());
                self.messages.push(RecordedMessage { id, parent, value, is_replacement });
            }
        }
    }

    /// Goes back to before a message; to the beginning if it is unknown, as the program does.
    fn rewind(&mut self, to: &str) {
        self.tip = self.index.get(to).and_then(|at| self.messages[*at].parent.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(id: &str, text: &str) -> Value {
        json!({"id": id, "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": text})
    }

    /// Returns `id<parent text` of each message.
    fn outline(recording: &Recording) -> Vec<String> {
        let line = |message: &RecordedMessage| {
            let parent = message.parent.as_deref().unwrap_or_default();
            let mark = if message.is_replacement { "!" } else { "" };
            format!("{mark}{}<{parent} {}", message.id, message.value["content"].as_str().unwrap_or_default())
        };
        recording.messages.iter().map(line).collect()
    }

    #[test]
    fn lines_replace_set_and_rewind_messages() {
        let mut session = Recording::default();
        session.add(json!({"sessionId": "s", "projectHash": "h", "startTime": "x"}));
        for line in [message("a", "A"), message("b", "B"), message("b", "B!"), message("c", "C")] {
            session.add(line);
        }
        session.add(json!({"$rewindTo": "b"}));
        session.add(message("d", "D"));
        session.add(json!({"$set": {"summary": "Sum", "messages": [message("e", "E"), message("a", "masked")]}}));
        session.add(json!({"$set": {"summary": "Summary"}}));
        session.add(message("f", "F"));
        assert_eq!(outline(&session), ["a< A", "b<a B!", "c<b C", "d<a D", "!e<d E", "f<e F"]);
        assert_eq!((session.meta["summary"].as_str(), session.id().as_deref()), (Some("Summary"), Some("s")));
        session.add(json!({"$rewindTo": "unknown"}));
        assert_eq!(session.tip, None);
        assert!(session.is_session(&json!({"sessionId": "s"})) && !session.is_session(&json!({"sessionId": "t"})));
    }

    #[test]
    fn session_of_another_program_is_not_recognized() {
        let with = |messages: Value| json!({"sessionId": "s", "messages": messages});
        assert!(is_record(&with(json!([]))) && is_record(&with(json!([message("a", "A")]))));
        assert!(!is_record(&with(json!([{"role": "user", "content": "A"}]))) && !is_record(&with(Value::Null)));
        assert!(is_record(&json!({"sessionId": "s", "projectHash": "h", "messages": [3]})));
    }

    #[test]
    fn size_of_replaced_messages_does_not_add_up() {
        let mut session = Recording::default();
        let third = "x".repeat(bounds::CONVERSATION_BYTES / 3);
        for _ in 0..6 {
            session.add(message("a", &third));
        }
        session.add(message("b", &third));
        session.add(message("c", &third));
        session.add(message("d", "D"));
        assert_eq!((session.messages.len(), session.left_out), (3, 1));
    }
}
