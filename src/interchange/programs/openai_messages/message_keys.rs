//! The names under which a list of messages holds its roles, texts and the like. They are renamed to the names of
//! OpenAI's API before anything is read.

use serde_json::{Map, Value};

use super::message::is_role;

/// The keys of a form that is not OpenAI's. Each field can have one key of its own; the others keep the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageKeys {
    named: Vec<(&'static MessageField, String)>,
}

/// A field, its name in OpenAI's form, and the keys under which it is usual.
#[derive(Debug, PartialEq, Eq)]
struct MessageField {
    /// The name in a mapping.
    field: &'static str,
    /// The name that it gets.
    canonical: &'static str,
    usual: &'static [&'static str],
}

const MESSAGES: &MessageField = &MessageField {
    field: "messages",
    canonical: "messages",
    usual: &["messages", "conversations", "conversation", "turns"],
};

/// The fields of a conversation and of a message.
#[rustfmt::skip]
const CONVERSATION_FIELDS: [&MessageField; 5] = [
    &MessageField { field: "id", canonical: "id", usual: &["id", "conversation_id", "chat_id", "uuid", "custom_id"] },
    &MessageField { field: "title", canonical: "title", usual: &["title", "name"] },
    TIME,
    &MessageField { field: "updated", canonical: "updated_at", usual: &["updated_at", "updated", "update_time"] },
    MODEL,
];
#[rustfmt::skip]
const MESSAGE_FIELDS: [&MessageField; 5] = [
    ROLE,
    &MessageField { field: "content", canonical: "content", usual: &["content", "value", "text"] },
    &MessageField {
        field: "reasoning", canonical: "reasoning_content", usual: &["reasoning_content", "reasoning", "thinking"],
    },
    TIME,
    MODEL,
];
const ROLE: &MessageField = &MessageField { field: "role", canonical: "role", usual: &["role", "from"] };
const MODEL: &MessageField = &MessageField { field: "model", canonical: "model", usual: &["model"] };
const TIME: &MessageField = &MessageField {
    field: "time",
    canonical: "created_at",
    usual: &["created_at", "timestamp", "created", "create_time", "createdAt", "time", "date"],
};

/// The reason why a mapping of keys is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessageKeys {
    #[error("`{0}` does not have the form FIELD=KEY")]
    NotAPair(String),
    #[error("`{field}` is no field; use {known}", known = MessageKeys::field_names().collect::<Vec<_>>().join(", "))]
    UnknownField { field: String },
    #[error("`{0}` is named twice")]
    Repeated(&'static str),
}

fn all_fields() -> impl Iterator<Item = &'static MessageField> {
    let of_messages = [ROLE, MESSAGE_FIELDS[1], MESSAGE_FIELDS[2], TIME, MODEL];
    let of_conversations = [CONVERSATION_FIELDS[1], CONVERSATION_FIELDS[0], CONVERSATION_FIELDS[3], MESSAGES];
    of_messages.into_iter().chain(of_conversations)
}

/// The number of messages of a list among which one must have a role.
const FIRST_MESSAGES: usize = 8;

/// The length of a mapping, in bytes; it comes from a request.
const MAPPING_BYTES: usize = 1_000;

impl MessageKeys {
    /// Returns the names of the fields in a mapping.
    pub fn field_names() -> impl Iterator<Item = &'static str> {
        all_fields().map(|field| field.field)
    }

    /// Parses a mapping such as `role=author.name,content=body`. A key may be a path of members.
    ///
    /// # Errors
    /// A pair is no pair, or its field is unknown or named twice.
    pub fn parse(mapping: &str) -> Result<Self, InvalidMessageKeys> {
        let shortened = |text: &str| text.chars().take(80).collect::<String>();
        if mapping.len() > MAPPING_BYTES {
            return Err(InvalidMessageKeys::NotAPair(shortened(mapping)));
        }
        let mut keys = Self::default();
        for pair in mapping.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (field, key) = pair.split_once('=').map(|(field, key)| (field.trim(), key.trim())).unwrap_or_default();
            if field.is_empty() || key.is_empty() {
                return Err(InvalidMessageKeys::NotAPair(shortened(pair)));
            }
            let Some(known) = all_fields().find(|known| known.field == field) else {
                return Err(InvalidMessageKeys::UnknownField { field: shortened(field) });
            };
            if keys.named.iter().any(|(named, _)| *named == known) {
                return Err(InvalidMessageKeys::Repeated(known.field));
            }
            keys.named.push((known, key.to_owned()));
        }
        Ok(keys)
    }

    /// Returns whether no field has a key of its own.
    pub fn is_default(&self) -> bool {
        self.named.is_empty()
    }

    /// Returns the list of messages that an object holds.
    pub(super) fn messages_of<'v>(&self, value: &'v Value) -> Option<&'v [Value]> {
        self.key_of_messages(value).map(|(_, messages)| messages)
    }

    fn key_of_messages<'v>(&self, value: &'v Value) -> Option<(&str, &'v [Value])> {
        let members = value.as_object()?;
        self.keys_of(MESSAGES).into_iter().find_map(|key| {
            let list = at_path(members, key)?.as_array()?.as_slice();
            let is_held = match list {
                // An empty list is a chat without messages, if its name says that it holds them.
                [] => key == MESSAGES.canonical,
                list => {
                    list.iter().take(FIRST_MESSAGES).any(|message| self.has_role(message))
                        || !list.iter().any(|message| message.is_object() || message.is_array())
                }
            };
            is_held.then_some((key, list))
        })
    }

    /// Returns whether a value has a role, as every message.
    pub(super) fn has_role(&self, value: &Value) -> bool {
        let role = value.as_object().and_then(|members| {
            self.keys_of(ROLE).into_iter().find_map(|key| at_path(members, key)).and_then(Value::as_str)
        });
        let is_named = self.named.iter().any(|(field, _)| *field == ROLE);
        role.is_some_and(|role| is_named || is_role(role))
    }

    /// Splits an object into the data of the conversation, with the usual names, and its messages.
    pub(super) fn conversation<'v>(&self, value: &'v Value) -> (Value, &'v [Value]) {
        let (key, messages) = self.key_of_messages(value).unwrap_or((MESSAGES.canonical, &[]));
        let all = value.as_object().into_iter().flatten();
        // The messages are not copied, unless they are within another member.
        let mut members: Map<String, Value> =
            all.filter(|(name, _)| name.as_str() != key).map(|(name, value)| (name.clone(), value.clone())).collect();
        take_path(&mut members, key);
        self.rename(&mut members, &CONVERSATION_FIELDS);
        (Value::Object(members), messages)
    }

    /// Returns a message with the usual names.
    pub(super) fn message(&self, message: Value) -> Value {
        match message {
            Value::Object(mut members) => {
                self.rename(&mut members, &MESSAGE_FIELDS);
                Value::Object(members)
            }
            other => other,
        }
    }

    fn keys_of(&self, field: &'static MessageField) -> Vec<&str> {
        match self.named.iter().find(|(named, _)| *named == field) {
            Some((_, key)) => vec![key],
            None => field.usual.to_vec(),
        }
    }

    fn rename(&self, members: &mut Map<String, Value>, fields: &[&'static MessageField]) {
        for &field in fields {
            let is_there = |key: &&str| at_path(members, key).is_some_and(|value| !value.is_null());
            let Some(key) = self.keys_of(field).into_iter().find(is_there).map(str::to_owned) else { continue };
            if key == field.canonical {
                continue;
            }
            let Some(value) = take_path(members, &key) else { continue };
            // An earlier member of that name is reported as unknown.
            if let Some(before) = members.insert(field.canonical.to_owned(), value).filter(|before| !before.is_null()) {
                members.insert(format!("{} (not mapped)", field.canonical), before);
            }
        }
    }
}

/// Returns the member with this name, else the one at this path.
fn at_path<'v>(members: &'v Map<String, Value>, path: &str) -> Option<&'v Value> {
    members.get(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        at_path(members.get(first)?.as_object()?, rest)
    })
}

/// Removes and returns the member with this name, else the one at this path. An object that becomes empty is removed,
/// too.
fn take_path(members: &mut Map<String, Value>, path: &str) -> Option<Value> {
    if members.contains_key(path) {
        return members.shift_remove(path);
    }
    let (first, rest) = path.split_once('.')?;
    let within = members.get_mut(first)?.as_object_mut()?;
    let taken = take_path(within, rest)?;
    if within.is_empty() {
        members.shift_remove(first);
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mapping_is_parsed_or_refused_with_its_reason() {
        let keys = MessageKeys::parse(" role=author.name, content=body,").unwrap();
        assert!(!keys.is_default() && MessageKeys::parse("").unwrap().is_default());
        let table = [
            ("role", "`role` does not have the form FIELD=KEY"),
            ("role=", "`role=` does not have the form FIELD=KEY"),
            ("rôle=x", "`rôle` is no field; use role, content, reasoning, time, model, title, id, updated, messages"),
            ("role=a,role=b", "`role` is named twice"),
        ];
        for (mapping, reason) in table {
            assert_eq!(MessageKeys::parse(mapping).unwrap_err().to_string(), reason);
        }
        assert!(MessageKeys::parse(&"role=x,".repeat(1_000)).is_err());
    }

    #[test]
    fn members_are_renamed_and_nothing_is_dropped() {
        let keys = MessageKeys::parse("role=author.name,content=body").unwrap();
        let renamed = keys.message(json!({"author": {"name": "human", "id": 3}, "body": "x", "role": "y", "ts": 1}));
        assert_eq!(
            renamed,
            json!({"author": {"id": 3}, "ts": 1, "role": "human", "role (not mapped)": "y", "content": "x"})
        );
        let usual = MessageKeys::default().message(json!({"from": "gpt", "value": "x", "timestamp": 1}));
        assert_eq!(usual, json!({"role": "gpt", "content": "x", "created_at": 1}));
        let nested = json!({"data": {"turns": [{"role": "user", "content": "x"}]}, "subject": "S"});
        let keys = MessageKeys::parse("messages=data.turns,title=subject").unwrap();
        let (head, messages) = keys.conversation(&nested);
        assert_eq!((head, messages.len()), (json!({"title": "S"}), 1));
    }

    #[test]
    fn path_prefers_member_with_its_name() {
        let mut members = json!({"a.b": 1, "a": {"b": 2}}).as_object().cloned().unwrap();
        assert_eq!(take_path(&mut members, "a.b"), Some(json!(1)));
        assert_eq!(take_path(&mut members, "a.b"), Some(json!(2)));
        assert_eq!(take_path(&mut members, "a.b"), None);
        assert!(members.is_empty());
    }
}
