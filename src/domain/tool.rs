//! Tool calls as data: what a tool is, and how raw arguments become arguments.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON Schema of the arguments.
    pub parameters: Value,
}

/// The arguments a model wrote, parsed. Nothing at all means `{}` (providers.md 2.3); what is not JSON is `None`.
pub fn parse_arguments(raw: &str) -> Option<Value> {
    if raw.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(raw).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_arguments_are_an_empty_object_and_broken_ones_are_none() {
        let table = [
            ("", Some(json!({}))),
            (" \n", Some(json!({}))),
            ("{}", Some(json!({}))),
            (r#" {"b": 1, "a": [0.1]} "#, Some(json!({"b": 1, "a": [0.1]}))),
            ("null", Some(json!(null))),
            (r#"{"a": 1"#, None),
            (r#"{"a": 1} {"#, None),
            ("plain words", None),
        ];
        for (raw, arguments) in table {
            assert_eq!(parse_arguments(raw), arguments, "{raw:?}");
        }
        let kept = parse_arguments(r#"{"z":1,"a":2}"#).unwrap();
        assert_eq!(kept.to_string(), r#"{"z":1,"a":2}"#);
    }

    #[test]
    fn arguments_nested_without_end_are_refused_and_not_followed() {
        let deep = "[".repeat(100_000);
        assert_eq!(parse_arguments(&deep), None);
    }
}
