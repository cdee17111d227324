//! The JSON schema of block contents for the OpenAPI document.

use serde_json::{Value, json};

use super::Content;

impl utoipa::ToSchema for Content {}

impl utoipa::PartialSchema for Content {
    /// Returns any object: the type of a schema cannot express `not`. The document contains [`content_schema`] instead.
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::ObjectBuilder::new().into()
    }
}

/// Returns the schema of [`Content`]: one object per known type, and every object of another type.
pub fn content_schema() -> Value {
    let kind = |name: &str, fields: Value, needed: &[&str]| {
        let mut all = json!({ "type": { "type": "string", "enum": [name] } });
        if let (Value::Object(all), Value::Object(fields)) = (&mut all, fields) {
            all.extend(fields);
        }
        let needed: Vec<&str> = std::iter::once("type").chain(needed.iter().copied()).collect();
        json!({ "title": name, "type": "object", "properties": all, "required": needed })
    };
    let (text, flag, count) =
        (json!({ "type": "string" }), json!({ "type": "boolean" }), json!({ "type": "integer", "minimum": 0 }));
    let time = json!({ "type": "string", "format": "date-time" });
    let call = json!({ "tool_use_id": text, "tool_name": text });
    let with = |base: &Value, more: Value| match (base.clone(), more) {
        (Value::Object(mut base), Value::Object(more)) => {
            base.extend(more);
            Value::Object(base)
        }
        (base, _) => base,
    };
    let status = json!({ "type": "string", "enum": ["pending", "awaiting_approval", "running", "done", "failed", "cancelled", "denied", "interrupted", "handed_over"] });
    let reference = json!({ "ref_id": text, "ref_type": text, "version_timestamp": time });
    let known = [
        kind("text", json!({ "text": text, "is_error": flag }), &["text"]),
        kind(
            "thinking",
            json!({ "thinking": text, "signature": text, "redacted": text, "title": text, "duration_ms": count }),
            &["thinking"],
        ),
        kind("thinking_signature", json!({ "signature": text, "for": text }), &["signature"]),
        kind(
            "tool_use",
            with(&call, json!({ "arguments": {}, "arguments_raw": text, "status": status, "duration_ms": count })),
            &["tool_use_id", "tool_name", "arguments", "status"],
        ),
        kind(
            "tool_result",
            with(&call, json!({ "result": {}, "success": flag, "is_error": flag, "metadata": {} })),
            &["tool_use_id", "tool_name", "result", "success", "is_error"],
        ),
        kind("image", json!({ "blob": text, "mime": text, "alt": text }), &["blob", "mime", "alt"]),
        kind("reference", reference.clone(), &["ref_id", "ref_type"]),
        kind(
            "partial_reference",
            with(&reference, json!({ "selection_start": count, "selection_end": count })),
            &["ref_id", "ref_type", "selection_start", "selection_end"],
        ),
    ];
    let names: Vec<Value> = known.iter().filter_map(|kind| kind.pointer("/properties/type/enum/0").cloned()).collect();
    let other = json!({
        "title": "other",
        "description": "A type of a newer version or of an extension (`x:…`), as it came.",
        "type": "object",
        "properties": { "type": { "type": "string", "not": { "enum": names } } },
        "required": ["type"],
    });
    let all: Vec<Value> = known.into_iter().chain([other]).collect();
    json!({ "description": "The content of a block, by type.", "oneOf": all })
}
