//! Reads the persisted store of Cherry Studio: the names of chats, and the assistants that they belong to. It is JSON
//! within strings within JSON.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::fields::{id, list};
use crate::input::Input;
use crate::sink::ImportError;

const PATH: [&str; 2] = ["localStorage", "persist:cherry-studio"];

/// What the store knows of the chats.
#[derive(Default)]
pub(super) struct PersistedStore {
    /// Without their topics.
    assistants: Vec<Value>,
    /// The topics by id, each with the index of its assistant.
    topics: HashMap<String, (usize, Value)>,
}

impl PersistedStore {
    /// Reads the store of a backup; `None` if it is missing, too large or damaged.
    pub(super) fn read(input: &mut Input, part: usize) -> Result<Option<Self>, ImportError> {
        let text = match input.read_member(part, &PATH, bounds::CONVERSATION_BYTES) {
            Ok(text) => text.unwrap_or_default(),
            // The tables before the damage are read.
            Err(ImportError::Damaged(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        Ok(Self::parse(&text))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let store: String = serde_json::from_slice(text).ok()?;
        let store: Value = serde_json::from_str(&store).ok()?;
        let state = match store.get("assistants")? {
            Value::String(text) => serde_json::from_str(text).ok()?,
            state => state.clone(),
        };
        let mut known = Self::default();
        for assistant in list(&state, "assistants").iter().chain(state.get("defaultAssistant")) {
            let number = known.assistants.len();
            for topic in list(assistant, "topics") {
                if let Some(id) = id(topic, "id") {
                    known.topics.entry(id).or_insert_with(|| (number, topic.clone()));
                }
            }
            let mut assistant = assistant.clone();
            if let Value::Object(members) = &mut assistant {
                members.shift_remove("topics");
            }
            known.assistants.push(assistant);
        }
        Some(known)
    }

    /// Returns the row of a topic and that of its assistant; null if the store does not know them.
    pub(super) fn topic(&self, id: &str) -> (&Value, &Value) {
        match self.topics.get(id) {
            Some((number, topic)) => (topic, self.assistants.get(*number).unwrap_or(&Value::Null)),
            None => (&Value::Null, &Value::Null),
        }
    }

    /// Returns an assistant by its id, for topics that the store does not know.
    pub(super) fn assistant(&self, wanted: &str) -> &Value {
        let is_wanted = |assistant: &&Value| id(assistant, "id").as_deref() == Some(wanted);
        self.assistants.iter().find(is_wanted).unwrap_or(&Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_store_is_none() {
        for text in ["", "1", "\"\"", "\"{}\"", r#""{\"assistants\":\"{\"}""#] {
            assert!(PersistedStore::parse(text.as_bytes()).is_none(), "{text}");
        }
        let text =
            r#""{\"assistants\":\"{\\\"assistants\\\":[{\\\"id\\\":\\\"a\\\",\\\"topics\\\":[{\\\"id\\\":1}]}]}\"}""#;
        let store = PersistedStore::parse(text.as_bytes()).unwrap();
        assert_eq!(store.topic("1").1, store.assistant("a"));
        assert_eq!((store.topic("2").0, store.assistant("b")), (&Value::Null, &Value::Null));
    }
}
