//! Structured content repeats the content beside it: servers send the same value as JSON text, under a name of their
//! own, item by item, with fewer or more members, or as the whole content list. Only what the content does not state yet
//! is additional.

use std::cell::Cell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

/// Attempts to find JSON within one text.
const EMBEDDED_ATTEMPTS: usize = 32;
/// The bytes of JSON in texts that lists are searched for in: each list of a structured value is searched for in all of
/// it.
const SEARCHED_BYTES: usize = 64 << 20;
/// Members of a content part that add nothing to its content.
const PART_MEMBERS: [&str; 4] = ["type", "mimeType", "annotations", "_meta"];

/// The values that the content of a result states.
#[derive(Debug, Default)]
pub struct StatedContent {
    /// Fingerprints of texts, of the data of binary parts, and of all JSON in texts with its nested lists and objects.
    stated: HashSet<u64>,
    /// The JSON that all texts together are: one value, or a list of those in the texts or lines.
    whole: Option<Value>,
    /// All JSON in texts, and the bytes of these texts.
    values: Vec<Value>,
    bytes: usize,
    /// The bytes that were searched so far.
    searched: Cell<usize>,
}

impl StatedContent {
    /// Collects the values that the parts of a content list state.
    pub fn new(parts: &[Value]) -> Self {
        let mut content = Self::default();
        let mut texts = Vec::new();
        for part in parts {
            fingerprint(part, &mut |print| {
                content.stated.insert(print);
            });
            let of = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
            let resource = part.get("resource").unwrap_or(&Value::Null);
            for data in [of(part, "data"), of(resource, "blob")].into_iter().flatten() {
                content.stated.insert(text_fingerprint(&data));
            }
            texts.extend([of(part, "text"), of(resource, "text")].into_iter().flatten());
        }
        let joined = texts.join("\n");
        content.whole = whole_json(&joined)
            .or_else(|| json_list(texts.iter().map(String::as_str)))
            .or_else(|| json_list(joined.lines().filter(|line| !line.trim().is_empty())));
        if texts.len() > 1 {
            texts.push(joined);
        }
        for text in &texts {
            content.add_text(text);
        }
        content
    }

    fn add_text(&mut self, text: &str) {
        self.stated.insert(text_fingerprint(text));
        for value in json_in(text) {
            let print = fingerprint(&value, &mut |print| {
                self.stated.insert(print);
            });
            self.stated.insert(print);
            self.values.push(value);
        }
        self.bytes += text.len();
    }

    /// Returns whether the JSON in a text covers a list. One that is not searched for any more counts as additional.
    fn covers_list(&self, list: &Value) -> bool {
        let searched = self.searched.get().saturating_add(self.bytes);
        self.searched.set(searched);
        searched <= SEARCHED_BYTES && self.values.iter().any(|value| has_covering_part(value, list))
    }

    /// Returns whether the texts together are this value as JSON.
    pub fn is_whole(&self, value: &Value) -> bool {
        self.whole.as_ref().is_some_and(|whole| is_same(whole, value))
    }

    /// Returns whether a structured value contains everything that the texts state as JSON, and more.
    pub fn is_part_of(&self, structured: &Value) -> bool {
        let Some(whole @ (Value::Object(_) | Value::Array(_))) = &self.whole else { return false };
        if has_covering_part(structured, whole) {
            return true;
        }
        let mut beside = Self::default();
        fingerprint(structured, &mut |print| {
            beside.stated.insert(print);
        });
        beside.additional(whole.clone(), Some(structured)).is_none()
    }

    /// Returns the additional part of a structured value; `None` if that is nothing.
    pub fn additional_in(&self, structured: Value) -> Option<Value> {
        self.additional(structured, self.whole.as_ref())
    }

    /// `beside` is the value at the same place of the text. Objects with common names are compared by place only,
    /// because the same values under exchanged names state something else.
    fn additional(&self, value: Value, beside: Option<&Value>) -> Option<Value> {
        let is_by_place = beside.is_some_and(|beside| has_common_name(beside, &value));
        if beside.is_some_and(|beside| covers(beside, &value)) || (!is_by_place && self.states(&value)) {
            return None;
        }
        match value {
            Value::Object(members) => {
                let count = members.len();
                let rest: Map<String, Value> = members
                    .into_iter()
                    .filter_map(|(name, value)| {
                        let rest = match beside.and_then(|beside| beside.get(&name)) {
                            Some(same) if covers(same, &value) => None,
                            Some(same) if !(same.is_object() && value.is_object()) => Some(value),
                            beside => self.additional(value, beside),
                        };
                        Some((name, rest?))
                    })
                    .collect();
                let is_part = rest.len() < count
                    && rest.contains_key("type")
                    && rest.keys().all(|name| PART_MEMBERS.contains(&name.as_str()));
                (!rest.is_empty() && !is_part).then_some(Value::Object(rest))
            }
            // The places in a list matter, so it is stated as a whole or not at all.
            Value::Array(items) => {
                if items.is_empty() {
                    return Some(Value::Array(items));
                }
                let is_stated = items.iter().all(|item| self.additional(item.clone(), None).is_none());
                let list = Value::Array(items);
                (!is_stated && !self.covers_list(&list)).then_some(list)
            }
            other => Some(other),
        }
    }

    fn states(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.stated.contains(&text_fingerprint(text)),
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
                let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                self.stated.contains(&text_fingerprint(&lines.join("\n")))
                    || self.stated.contains(&fingerprint(value, &mut |_| {}))
            }
            value => self.stated.contains(&fingerprint(value, &mut |_| {})),
        }
    }
}

/// Returns whether a value states everything that another one states in its place: the same, and members besides. A
/// member that is null states nothing.
fn covers(more: &Value, less: &Value) -> bool {
    match (more, less) {
        (Value::Object(more), Value::Object(less)) => {
            less.iter().all(|(name, less)| more.get(name).map_or(less.is_null(), |more| covers(more, less)))
        }
        (Value::Array(more), Value::Array(less)) => {
            more.len() == less.len() && more.iter().zip(less).all(|(more, less)| covers(more, less))
        }
        // A list or an object need not be hashed to tell that it is nothing else.
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        (more, less) => is_same(more, less),
    }
}

/// Returns whether a value, or one inside of it, covers another.
fn has_covering_part(value: &Value, less: &Value) -> bool {
    covers(value, less)
        || match value {
            Value::Object(members) => members.values().any(|member| has_covering_part(member, less)),
            Value::Array(items) => items.iter().any(|item| has_covering_part(item, less)),
            _ => false,
        }
}

/// Returns whether both are objects and a member of one has the name of one of the other.
fn has_common_name(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => one.keys().any(|name| other.contains_key(name)),
        _ => false,
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    fingerprint(one, &mut |_| {}) == fingerprint(other, &mut |_| {})
}

fn whole_json(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim()).ok()
}

/// Returns the list of the JSON in several texts, if each is a list or an object.
fn json_list<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Value> {
    let items = texts.map(|text| whole_json(text).filter(|value| value.is_object() || value.is_array()));
    let items: Vec<Value> = items.collect::<Option<_>>()?;
    (items.len() > 1).then_some(Value::Array(items))
}

/// Returns the JSON that a text is, or that it contains as lists and objects: in lines of their own, in code fences,
/// after a heading.
fn json_in(text: &str) -> Vec<Value> {
    if let Some(value) = whole_json(text) {
        return vec![value];
    }
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..EMBEDDED_ATTEMPTS {
        let Some(start) = rest.find(['{', '[']) else { break };
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let length = match values.next() {
            Some(Ok(value)) => {
                found.push(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[length..];
    }
    // Several values one after the other are the items of one list.
    if found.len() > 1 {
        found.push(Value::Array(found.clone()));
    }
    found
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// White space around a text is not significant.
fn text_fingerprint(text: &str) -> u64 {
    hash_of(("text", text.trim()))
}

/// Returns the fingerprint of a value, and reports those of the lists and objects in it that are not empty. The order
/// of members and the notation of numbers do not matter.
fn fingerprint(value: &Value, nested: &mut impl FnMut(u64)) -> u64 {
    match value {
        Value::Null => hash_of("null"),
        Value::Bool(is_true) => hash_of(is_true),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 9e15 => hash_of(("number", float as i64)),
            (Some(integer), _) => hash_of(("number", integer)),
            _ => hash_of(("number", number.to_string())),
        },
        Value::String(text) => text_fingerprint(text),
        Value::Array(items) => {
            let items: Vec<u64> = items.iter().map(|item| fingerprint(item, nested)).collect();
            let print = hash_of(("list", &items));
            if !items.is_empty() {
                nested(print);
            }
            print
        }
        Value::Object(members) => {
            let mut members: Vec<(&str, u64)> =
                members.iter().map(|(name, value)| (name.as_str(), fingerprint(value, nested))).collect();
            members.sort_unstable();
            let print = hash_of(("object", &members));
            if !members.is_empty() {
                nested(print);
            }
            print
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| json!({ "type": "text", "text": text })).collect()
    }

    #[test]
    fn repeated_content_is_not_additional() {
        let image = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
        for (content, structured) in [
            (
                texts(&[r#"[{"i":0,"n":"a"},{"i":1,"n":"b"}]"#]),
                json!({"result": [{"i": 0, "n": "a"}, {"n": "b", "i": 1.0}]}),
            ),
            (texts(&["{\n  \"a\": [\n    1\n  ]\n}"]), json!({"a": [1]})),
            (texts(&[r#"{"a":1}"#, r#"{"a":2}"#]), json!({"result": [{"a": 1}, {"a": 2}]})),
            (texts(&["{\"a\":1}\n{\"a\":2}"]), json!({"result": [{"a": 1}, {"a": 2}]})),
            (texts(&["one", "two"]), json!({"result": ["one", "two"]})),
            (texts(&["one\ntwo\n"]), json!({"lines": ["one", "two"]})),
            (texts(&["[1, 2]"]), json!([1, 2])),
            (texts(&["[]"]), json!({"result": []})),
            (texts(&["42"]), json!({"result": 42})),
            (texts(&["true"]), json!({"result": true})),
            (texts(&["null"]), json!({"result": null})),
            (texts(&["\"x\""]), json!({"result": "x"})),
            (texts(&["Two\nlines\n"]), json!({"content": "Two\nlines"})),
            (texts(&["Found:\n```json\n[{\"a\": 1}]\n```"]), json!({"items": [{"a": 1}]})),
            (texts(&[r#"{"ok":true,"data":{"items":[1]}}"#]), json!({"items": [1], "ok": true})),
            (texts(&[r#"[{"id":1,"x":2},{"id":2,"x":3}]"#]), json!({"items": [{"id": 1}, {"id": 2}]})),
            (texts(&[r#"{"items":[{"id":1,"x":2}]}"#]), json!({"items": [{"id": 1, "note": null}]})),
            (texts(&[r#"{"a":1}"#]), json!({"a": 1, "note": null})),
            (vec![image.clone()], json!({"content": [image.clone()]})),
            (vec![image.clone()], json!(image)),
            (vec![image.clone()], json!({"image": "iVBORw0KGgo="})),
            (vec![image.clone()], json!({"type": "image", "data": "iVBORw0KGgo="})),
            (vec![], json!({})),
        ] {
            let stated = StatedContent::new(&content);
            assert_eq!(stated.additional_in(structured.clone()), None, "{content:?} {structured}");
        }
    }

    #[test]
    fn long_lists_are_compared_with_long_texts_in_linear_time() {
        const MANY: usize = 50_000;
        let numbers: Value = (0..MANY).map(|n| (n.to_string(), json!(n))).collect();
        let list: Vec<usize> = (MANY..2 * MANY).collect();
        let stated = StatedContent::new(&texts(&[&numbers.to_string()]));
        assert_eq!(stated.additional_in(json!({ "list": list })), Some(json!({ "list": list })));
        assert!(!stated.is_part_of(&json!({ "list": list })));
    }

    #[test]
    fn many_lists_are_searched_for_within_bounds() {
        let list = |n: usize| json!([n, { "x": n }]);
        let member = |n: usize| (n.to_string(), list(n));
        let text = Value::Array((0..20_000).map(list).collect()).to_string();
        let other: Value = (30_000..50_000).map(member).collect();
        let stated = StatedContent::new(&texts(&[&text]));
        assert_eq!(stated.additional_in(other.clone()), Some(other));
        assert!(stated.searched.get() > SEARCHED_BYTES);
    }

    #[test]
    fn additional_members_are_left() {
        let image = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
        for (content, structured, rest) in [
            (texts(&["42"]), json!({"result": 42, "unit": "m"}), json!({"unit": "m"})),
            (texts(&["Two numbers."]), json!({"b": [1, 2.5]}), json!({"b": [1, 2.5]})),
            (texts(&[r#"{"a":1,"c":3}"#]), json!({"a": 1, "b": 2}), json!({"b": 2})),
            (texts(&[r#"{"a":1}"#]), json!({"a": 2}), json!({"a": 2})),
            (texts(&["No items."]), json!({"items": []}), json!({"items": []})),
            (texts(&["a"]), json!({"list": ["a", "b"]}), json!({"list": ["a", "b"]})),
            (texts(&[r#"[{"id":1}]"#]), json!({"l": [{"id": 2}]}), json!({"l": [{"id": 2}]})),
            (texts(&["words"]), json!({"type": "ok"}), json!({"type": "ok"})),
            (texts(&["words"]), json!({"type": "a", "n": {"type": "b"}}), json!({"type": "a", "n": {"type": "b"}})),
            (texts(&[r#"{"a":1,"b":2}"#]), json!({"a": 2, "b": 1}), json!({"a": 2, "b": 1})),
            (
                texts(&[r#"{"from":{"x":1},"to":{"x":2}}"#]),
                json!({"from": {"x": 2}, "to": {"x": 1}}),
                json!({"from": {"x": 2}, "to": {"x": 1}}),
            ),
            (vec![image.clone()], json!({"content": [image], "width": 5}), json!({"width": 5})),
        ] {
            let stated = StatedContent::new(&content);
            assert_eq!(stated.additional_in(structured.clone()), Some(rest), "{content:?} {structured}");
        }
    }

    #[test]
    fn text_within_structured_content_is_part_of_it() {
        for (text, structured, expected) in [
            (r#"{"a":1}"#, json!({"a": 1, "b": 2}), true),
            ("{}", json!({"b": 2}), true),
            (r#"[{"a":1}]"#, json!({"items": [{"a": 1}], "n": 1}), true),
            (r#"[{"name":"U"}]"#, json!({"items": [{"name": "U", "score": 1}], "total": 1}), true),
            (r#"{"items":[{"id":1}]}"#, json!({"items": [{"id": 1, "x": 2}]}), true),
            ("{\"id\":1}\n{\"id\":2}", json!({"items": [{"id": 1, "x": 2}, {"id": 2, "x": 3}]}), true),
            (r#"[{"name":"U"},{"name":"V"}]"#, json!({"items": [{"name": "V", "n": 1}, {"name": "U", "n": 2}]}), false),
            (r#"[{"name":"U"}]"#, json!({"items": [{"name": "W", "score": 1}]}), false),
            (r#"{"a":1,"c":3}"#, json!({"a": 1, "b": 2}), false),
            ("words", json!({"text": "words", "n": 1}), false),
        ] {
            assert_eq!(StatedContent::new(&texts(&[text])).is_part_of(&structured), expected, "{text} {structured}");
        }
    }
}
