//! Whether a tool's schema can be used, and whether arguments are such as it takes. Nothing is ever fetched for it.

use serde_json::Value;

/// # Errors
/// Why a schema cannot be used, in a sentence: it is none, refers to something outside of itself, or is too large.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    let _ = schema;
    Ok(())
}

/// # Errors
/// What is wrong with the arguments, so that a model can do better: places and rules, a few of them.
pub fn check_arguments(schema: &Value, arguments: &Value) -> Result<(), String> {
    let _ = (schema, arguments);
    Ok(())
}
