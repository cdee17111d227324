//! Reads the persisted store of Cherry Studio: the names of chats, and the assistants that they belong to. It is JSON
//! within strings within JSON.

use std::collections::HashMap;

use serde_json::Value;

use crate::bounds;
use crate::input::Input;
use crate::input::json_lines::has_too_many_values;
use crate::reading::fields::id;
use crate::sink::ImportError;

const PATH: [&str; 2] = ["localStorage", "persist:cherry-studio"];

/// The assistants and topics of the persisted store.
#[derive(Default)]
pub(super) struct PersistedStore {
    /// Without their topics.
    assistants: Vec<Value>,
    /// The indexes of the assistants by their ids.
    numbers: HashMap<String, usize>,
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
        let mut store = bounded_value(&serde_json::from_slice::<String>(text).ok()?)?;
        let mut state = match store.get_mut("assistants")?.take() {
            Value::String(text) => bounded_value(&text)?,
            state => state,
        };
        let default = state.get_mut("defaultAssistant").map(Value::take);
        let mut known = Self::default();
        for mut assistant in taken_list(state.get_mut("assistants").map(Value::take)).into_iter().chain(default) {
            let number = known.assistants.len();
            let topics = assistant.as_object_mut().and_then(|members| members.shift_remove("topics"));
            for topic in taken_list(topics) {
                if let Some(id) = id(&topic, "id") {
                    known.topics.entry(id).or_insert((number, topic));
                }
            }
            if let Some(id) = id(&assistant, "id") {
                known.numbers.entry(id).or_insert(number);
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
        self.numbers.get(wanted).and_then(|number| self.assistants.get(*number)).unwrap_or(&Value::Null)
    }
}

/// Parses a text; `None` if it is damaged or has more values than a conversation may have.
fn bounded_value(text: &str) -> Option<Value> {
    if has_too_many_values(text.as_bytes()) { None } else { serde_json::from_str(text).ok() }
}

fn taken_list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
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
