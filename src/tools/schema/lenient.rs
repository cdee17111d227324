//! Compiles schemas that are not valid JSON Schema, or that use what cannot be checked here. The server checks its
//! arguments itself, so whatever cannot be checked is left to it.

use jsonschema::Validator;
use serde_json::{Map, Value};

use turnleaf_providers::tool_schema::normalize;

/// Keywords whose values are no schemas.
const NO_SCHEMAS: [&str; 5] = ["const", "default", "enum", "example", "examples"];
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Compiles a schema: as it is, otherwise what can be checked of it.
///
/// # Errors
/// Nothing of the schema can be checked.
pub fn compile_usable(
    schema: &Value,
    compile: &dyn Fn(&Value) -> Result<Validator, String>,
) -> Result<Validator, String> {
    let named_draft = schema.get("$schema").is_none_or(Value::is_string);
    let as_it_is = if named_draft && !has_empty_enum(schema) { compile(schema) } else { Err(String::new()) };
    as_it_is.or_else(|_| compile(&without_uncheckable(&normalize(schema), compile)))
}

/// Returns whether a list of choices is empty. It would refuse every value, so the server means something else.
fn has_empty_enum(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
            ("enum", Value::Array(choices)) => choices.is_empty(),
            (keyword, _) if NO_SCHEMAS.contains(&keyword) => false,
            (_, value) => has_empty_enum(value),
        }),
        Value::Array(all) => all.iter().any(has_empty_enum),
        _ => false,
    }
}

/// Removes patterns that the engine does not know. ECMA-262 engines know them all but backtrack, so that the pattern
/// of an untrusted server could take unbounded time.
fn without_uncheckable(schema: &Value, compile: &dyn Fn(&Value) -> Result<Validator, String>) -> Value {
    let is_known = |pattern: &Value| compile(&serde_json::json!({ "pattern": pattern })).is_ok();
    match schema {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (keyword, value) in members {
                let inner = |value: &Value| without_uncheckable(value, compile);
                let value = match (keyword.as_str(), value) {
                    ("pattern", pattern) if !is_known(pattern) => continue,
                    (keyword, value) if NO_SCHEMAS.contains(&keyword) => value.clone(),
                    (keyword, Value::Object(named)) if NAMED.contains(&keyword) => named
                        .iter()
                        .filter(|(name, _)| keyword != "patternProperties" || is_known(&Value::from(name.as_str())))
                        .map(|(name, value)| (name.clone(), inner(value)))
                        .collect(),
                    (_, value) => inner(value),
                };
                kept.insert(keyword.clone(), value);
            }
            Value::Object(kept)
        }
        Value::Array(all) => all.iter().map(|value| without_uncheckable(value, compile)).collect(),
        other => other.clone(),
    }
}
