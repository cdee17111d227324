//! The rules of the APIs for the descriptions and the schemas of tools (docs/reference/providers.md 2.11), with the
//! messages of their refusals.

use serde_json::Value;

use super::{ProviderRefusal, refuse};

/// Keywords that OpenAI refuses at the root, and those that Anthropic refuses there.
const NOT_AT_OPENAI_ROOT: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];
const NOT_AT_ANTHROPIC_ROOT: [&str; 3] = ["oneOf", "allOf", "anyOf"];
const DESCRIPTION_CHARS: usize = 1024;

/// Checks a function as OpenAI does; `place` is its path in the request.
pub fn check_openai(place: &str, function: &Value) -> Result<(), ProviderRefusal> {
    let length = function["description"].as_str().unwrap_or_default().chars().count();
    if length > DESCRIPTION_CHARS {
        refuse!(
            "Invalid '{place}.description': string too long. Expected a string with maximum length {DESCRIPTION_CHARS}, but got a string with length {length} instead."
        );
    }
    let (name, schema) = (function["name"].as_str().unwrap_or_default(), &function["parameters"]);
    if schema.is_null() {
        return Ok(());
    }
    if schema["type"] != "object" {
        let kind = schema["type"].as_str().unwrap_or("None");
        refuse!(
            "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        );
    }
    if NOT_AT_OPENAI_ROOT.iter().any(|keyword| schema.get(keyword).is_some()) {
        refuse!(
            "Invalid schema for function '{name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
        );
    }
    if !schema["properties"].is_object() {
        refuse!("Invalid schema for function '{name}': In context=(), object schema missing properties.");
    }
    if has_array_without_items(schema) {
        refuse!("Invalid schema for function '{name}': array schema missing items.");
    }
    Ok(())
}

/// Checks the schema of the tool at this place as Anthropic does.
pub fn check_anthropic(at: usize, schema: &Value) -> Result<(), ProviderRefusal> {
    if schema["type"] != "object" {
        refuse!("tools.{at}.custom.input_schema.type: Field required");
    }
    if NOT_AT_ANTHROPIC_ROOT.iter().any(|keyword| schema.get(keyword).is_some()) {
        refuse!(
            "tools.{at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
        );
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let is_name = |name: &String| (1..=64).contains(&name.len()) && name.chars().all(fits);
    if !schema["properties"].as_object().is_none_or(|named| named.keys().all(is_name)) {
        refuse!(
            "tools.{at}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
        );
    }
    Ok(())
}

fn has_array_without_items(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            (members.get("type").is_some_and(|kind| kind == "array") && !members.contains_key("items"))
                || members.values().any(has_array_without_items)
        }
        Value::Array(all) => all.iter().any(has_array_without_items),
        _ => false,
    }
}
