//! Flattens the root of a schema, which the APIs accept only as a plain object: a reference is resolved, `allOf` is
//! merged, and alternatives become one object with the properties of all of them.

use serde_json::{Map, Value, json};

use super::combine::{add_property, add_required, merge};
use super::node::{Fitter, ReferencePlace};
use super::notes::{NOTE_BYTES, note};

/// Keywords that no root may have.
const NOT_AT_ROOT: [&str; 3] = ["enum", "const", "not"];
/// Alternatives within alternatives that are followed.
const LEVELS: usize = 8;

impl Fitter<'_> {
    /// Returns the members of the root as a plain object, and notes about what is not among them; `None` if the root
    /// is no object.
    pub fn flat_root(&mut self) -> Option<(Map<String, Value>, Vec<String>)> {
        let whole = self.whole.clone();
        let mut notes = Vec::new();
        let members = self.flattened(&whole, LEVELS, &mut notes)?;
        Some((members, notes))
    }

    /// The references of the schema are open while its parts are flattened: one that leads back to them adds nothing.
    fn flattened(&mut self, schema: &Value, levels: usize, notes: &mut Vec<String>) -> Option<Map<String, Value>> {
        self.spend_place()?;
        let open = self.resolving.len();
        let members = self.flattened_parts(schema, levels, notes);
        self.resolving.truncate(open);
        members
    }

    fn flattened_parts(
        &mut self,
        schema: &Value,
        levels: usize,
        notes: &mut Vec<String>,
    ) -> Option<Map<String, Value>> {
        let source = schema.as_object()?;
        let is_combined = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|keyword| source.contains_key(*keyword));
        let mut members = self.without_references(source.clone(), ReferencePlace::Root);
        self.is_rebuilt |= is_combined;
        if !is_object(&members) {
            return None;
        }
        for keyword in NOT_AT_ROOT {
            if let Some(value) = members.remove(keyword) {
                notes.push(format!("The arguments as a whole: {}", note(keyword, &value)));
            }
        }
        if let Some(Value::Array(parts)) = members.remove("allOf")
            && levels > 0
        {
            for part in &parts {
                if let Some(part) = self.flattened(part, levels - 1, notes) {
                    merge(&mut members, part);
                }
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(parts)) = members.remove(keyword) else { continue };
            if levels == 0 {
                continue;
            }
            let parts: Vec<Map<String, Value>> =
                parts.iter().filter_map(|part| self.flattened(part, levels - 1, &mut Vec::new())).collect();
            if parts.is_empty() {
                return None;
            }
            notes.push(alternatives_note(keyword, &parts));
            add_alternatives(&mut members, &parts);
        }
        Some(members)
    }
}

/// Returns whether the type permits an object.
fn is_object(members: &Map<String, Value>) -> bool {
    match members.get("type") {
        None => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    }
}

/// Adds the properties of alternatives; required are those that every alternative requires.
fn add_alternatives(members: &mut Map<String, Value>, parts: &[Map<String, Value>]) {
    let required =
        |part: &Map<String, Value>| part.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for part in parts {
        for (name, property) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
            add_property(members, name.clone(), property.clone(), "anyOf");
        }
        for (keyword, value) in part.iter().filter(|(keyword, _)| matches!(keyword.as_str(), "title" | "description")) {
            members.entry(keyword.clone()).or_insert_with(|| value.clone());
        }
    }
    let Some((first, others)) = parts.split_first() else { return };
    let of_all: Vec<Value> =
        required(first).into_iter().filter(|name| others.iter().all(|part| required(part).contains(name))).collect();
    if !of_all.is_empty() {
        add_required(members, of_all);
    }
    // A closed root would exclude the properties of the alternatives that it does not name itself.
    if members.get("additionalProperties") == Some(&json!(false)) {
        members.remove("additionalProperties");
    }
}

/// Describes the alternatives in words: each as a whole if that is short, otherwise by what it requires.
fn alternatives_note(keyword: &str, parts: &[Map<String, Value>]) -> String {
    let how_many = if keyword == "oneOf" { "exactly one" } else { "at least one" };
    let whole: Vec<String> = parts.iter().map(|part| Value::Object(part.clone()).to_string()).collect();
    let whole = whole.join(" | ");
    let words = if whole.len() <= NOTE_BYTES {
        whole
    } else {
        let required = |part: &Map<String, Value>| format!("required: {}", part.get("required").unwrap_or(&json!([])));
        parts.iter().map(required).collect::<Vec<_>>().join(" | ")
    };
    let end = if words.len() > NOTE_BYTES { "…" } else { "" };
    format!("The arguments must match {how_many} of: {}{end}", &words[..words.floor_char_boundary(NOTE_BYTES)])
}
