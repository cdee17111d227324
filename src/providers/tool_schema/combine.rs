//! Combines the members of schemas that apply to the same value.

use serde_json::{Map, Value, json};

/// Merges a schema that applies as well.
pub fn merge(members: &mut Map<String, Value>, part: Map<String, Value>) {
    for (keyword, value) in part {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(named)) => {
                for (name, property) in named {
                    add_property(members, name, property, "allOf");
                }
            }
            ("required", Value::Array(names)) => add_required(members, names),
            // Each part excludes what it does not name itself.
            ("additionalProperties" | "unevaluatedProperties", _) => {}
            (_, value) => drop(members.entry(keyword).or_insert(value)),
        }
    }
}

/// Adds a property. One that is there already with another schema is combined with it by `keyword`.
pub fn add_property(members: &mut Map<String, Value>, name: String, property: Value, keyword: &str) {
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    match properties.get_mut(&name) {
        None => drop(properties.insert(name, property)),
        Some(known) if *known == property || *known == json!({}) => *known = property,
        Some(_) if property == json!({}) => {}
        Some(known) => match known.get_mut(keyword).and_then(Value::as_array_mut) {
            Some(all) if !all.contains(&property) => all.push(property),
            Some(_) => {}
            None => *known = json!({ keyword: [known.take(), property] }),
        },
    }
}

/// Adds the names of required properties.
pub fn add_required(members: &mut Map<String, Value>, names: Vec<Value>) {
    let required = members.entry("required").or_insert_with(|| json!([]));
    let Some(required) = required.as_array_mut() else { return };
    for name in names {
        if !required.contains(&name) {
            required.push(name);
        }
    }
}
