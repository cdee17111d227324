//! Content of user messages in the two APIs of OpenAI, which differ only in the format of a part.

use serde_json::{Value, json};

use crate::history::UserPart;
use crate::provider::{HistoryTurn, InputImage};

/// The format of content parts in an API.
pub struct PartFormat {
    pub text: fn(&str) -> Value,
    pub image: fn(&InputImage) -> Value,
}

impl PartFormat {
    /// Returns the content of a user turn: a plain string if there is only text, because not every server accepts
    /// parts.
    pub fn user_content(&self, turn: &HistoryTurn) -> Value {
        let parts = turn.user_parts();
        match parts.as_slice() {
            [] => json!(""),
            [UserPart::Text(text)] => json!(text),
            _ => parts
                .iter()
                .map(|part| match part {
                    UserPart::Text(text) => (self.text)(text),
                    UserPart::Image(image) => (self.image)(image),
                })
                .collect(),
        }
    }

    /// Concatenates two contents.
    pub fn join_contents(&self, before: Value, more: Value) -> Value {
        let parts = |content: Value| match content {
            Value::Array(parts) => parts,
            Value::String(text) if text.is_empty() => Vec::new(),
            text => vec![(self.text)(text.as_str().unwrap_or_default())],
        };
        match (before, more) {
            (Value::String(before), Value::String(more)) => json!(format!("{before}\n\n{more}")),
            (before, more) => parts(before).into_iter().chain(parts(more)).collect(),
        }
    }
}
