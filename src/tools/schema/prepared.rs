//! Prepares a schema for the check: `nullable` of OpenAPI permits null, and what drafts 6 and 7 state about encoded content
//! is left to the server.

use serde_json::{Map, Value, json};

/// Keywords whose values are no schemas, and those whose values map names to schemas.
pub const NO_SCHEMAS: [&str; 5] = ["const", "default", "enum", "example", "examples"];
pub const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords about the content of texts. Some validators check them; formats are annotations here.
const CONTENT: [&str; 3] = ["contentEncoding", "contentMediaType", "contentSchema"];
/// Keywords that may refuse null whatever the type is.
const COMBINED: [&str; 7] = ["$ref", "allOf", "anyOf", "oneOf", "not", "const", "if"];
/// Members that are referred to by their place, so that their schema cannot be moved.
const PLACED: [&str; 4] = ["$defs", "definitions", "$id", "$anchor"];

/// Returns the schema as it is checked. Arguments as a whole are never null.
pub fn prepare(root: &Value) -> Value {
    match root {
        Value::Object(members) => Value::Object(prepared_members(members)),
        other => other.clone(),
    }
}

fn prepared(schema: &Value) -> Value {
    match schema {
        Value::Object(members) if members.get("nullable") == Some(&json!(true)) => {
            accept_null(prepared_members(members))
        }
        Value::Object(members) => Value::Object(prepared_members(members)),
        Value::Array(all) => all.iter().map(prepared).collect(),
        other => other.clone(),
    }
}

fn prepared_members(members: &Map<String, Value>) -> Map<String, Value> {
    let kept = members.iter().filter(|(keyword, _)| !CONTENT.contains(&keyword.as_str()) && *keyword != "nullable");
    kept.map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            (keyword, value) if NO_SCHEMAS.contains(&keyword) => value.clone(),
            (keyword, Value::Object(named)) if NAMED.contains(&keyword) => {
                named.iter().map(|(name, schema)| (name.clone(), prepared(schema))).collect()
            }
            (_, value) => prepared(value),
        };
        (keyword.clone(), value)
    })
    .collect()
}

/// Returns a schema that accepts null as well.
fn accept_null(mut members: Map<String, Value>) -> Value {
    let has = |members: &Map<String, Value>, keywords: &[&str]| keywords.iter().any(|name| members.contains_key(*name));
    let types = match members.get("type") {
        Some(Value::String(name)) => vec![json!(name)],
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    if types.is_empty() || has(&members, &COMBINED) {
        return match has(&members, &PLACED) {
            true => Value::Object(members),
            false => json!({ "anyOf": [members, { "type": "null" }] }),
        };
    }
    let types: Vec<Value> = types.into_iter().filter(|name| name != "null").chain([json!("null")]).collect();
    members.insert("type".into(), Value::Array(types));
    if let Some(Value::Array(choices)) = members.get_mut("enum")
        && !choices.contains(&Value::Null)
    {
        choices.push(Value::Null);
    }
    Value::Object(members)
}
