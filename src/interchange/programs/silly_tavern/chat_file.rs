//! The lines of one chat of SillyTavern.

use serde_json::Value;

use crate::input::json_lines::JsonLine;
use crate::reading::session_lines::SessionLines;

pub(super) fn is_header(value: &Value) -> bool {
    let is_text = |name: &str| value.get(name).is_some_and(Value::is_string);
    let has_names = is_text("user_name") && is_text("character_name");
    value.get("mes").is_none() && (has_names || value.get("chat_metadata").is_some_and(Value::is_object))
}

pub(super) fn is_message(value: &Value) -> bool {
    value.get("mes").is_some_and(Value::is_string) && value.get("is_user").is_some_and(Value::is_boolean)
}

/// The lines of one chat.
#[derive(Default)]
pub(super) struct ChatFile {
    /// Null if the file has none.
    pub(super) header: Value,
    pub(super) messages: SessionLines,
}

impl ChatFile {
    pub(super) fn add(&mut self, line: JsonLine) {
        if self.header.is_null() && self.messages.lines.is_empty() && is_header(&line.value) {
            self.header = line.value;
        } else {
            self.messages.add(line);
        }
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.messages.lines.iter().map(|line| &line.value)
    }

    pub(super) fn is_recognized(&self) -> bool {
        !self.header.is_null() || self.rows().any(is_message)
    }
}
