//! Schemas without a type, and the clean-up of derived schemas: bounds of numbers are written out, and parts of
//! comments that address readers of the code are removed.

use serde_json::{Map, Value, json};

/// Returns the schemas without a type.
pub fn handwritten_schemas() -> Map<String, Value> {
    let problem = json!({
        "description": "An error (RFC 9457). Additional members may help to recover, such as `fork`: a branch to \
        create.",
        "type": "object",
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string", "description": "The status in words." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "code": { "type": "string", "description": "Stable code for programs.", "examples": ["not_found"] },
            "detail": { "type": "string", "description": "A sentence for people, in English." },
            "field": { "type": "string", "description": "The field concerned." },
            "reason_code": {
                "type": "string",
                "description": "Stable code of the sentence, for programs that show it in other words. Sentences of \
                parsers have none.",
                "examples": ["not_between"],
            },
            "args": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "The arguments of the sentence.",
                "examples": [{ "least": "0", "most": "2" }],
            },
            "localized": {
                "type": "string",
                "description": "The sentence in the language that the request prefers, if that is not English.",
            },
            "request_id": { "type": ["string", "null"], "description": "Its id in the server's log." },
        },
        "required": ["type", "title", "status", "code", "detail", "request_id"],
    });
    Map::from_iter([("Problem".to_owned(), problem)])
}

/// Makes fields nullable where the derive misses it: `Option` of the type's own parameter.
pub fn allow_null_fields(name: &str, schema: &mut Value) {
    if !name.starts_with("ParamSupport_") {
        return;
    }
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for field in fields.values_mut() {
            *field = json!({ "oneOf": [{ "type": "null" }, field.take()] });
        }
    }
}

/// Cleans up the whole document, recursively.
pub fn clean_up(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            write_integer_bounds(fields);
            if let Some(items) = fields.get_mut("stop_sequences").and_then(|list| list.get_mut("items")) {
                items["minLength"] = json!(1);
            }
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = comment_to_description(text);
            }
            fields.values_mut().for_each(clean_up);
        }
        Value::Array(items) => items.iter_mut().for_each(clean_up),
        _ => {}
    }
}

/// Writes out the bounds that an integer format implies, because many clients ignore formats.
fn write_integer_bounds(fields: &mut Map<String, Value>) {
    let is_integer = match fields.get("type") {
        Some(Value::String(kind)) => kind == "integer",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "integer"),
        _ => false,
    };
    if !is_integer {
        return;
    }
    let is_natural = fields.get("minimum").and_then(Value::as_f64).is_some_and(|least| least >= 0.0);
    let (least, most) = match (fields.get("format").and_then(Value::as_str), is_natural) {
        (Some("int32"), true) => (json!(0), json!(u32::MAX)),
        (Some("int32"), false) => (json!(i32::MIN), json!(i32::MAX)),
        (Some("int64"), true) => (json!(0), json!(u64::MAX)),
        (Some("int64"), false) => (json!(i64::MIN), json!(i64::MAX)),
        _ => return,
    };
    fields.entry("minimum").or_insert(least);
    fields.entry("maximum").or_insert(most);
}

/// Turns a doc comment into a description, without references to files and to other code.
fn comment_to_description(text: &str) -> String {
    let mut description = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('(') {
        let end = rest[start..].find(')').map_or(rest.len(), |end| start + end + 1);
        let aside = &rest[start..end];
        if aside.contains(".md") {
            description.push_str(rest[..start].trim_end());
        } else {
            description.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    description.push_str(rest);
    description.replace("[`", "`").replace("`]", "`").replace("crate::", "").replace('\n', " ").replace("  ", "\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_becomes_description() {
        for (comment, expected) in [
            ("Rises (docs/reference/domain.md I5).", "Rises."),
            ("Sum over the\ngenerations (by step).", "Sum over the generations (by step)."),
            ("As [`crate::Turn`] has it", "As `Turn` has it"),
            ("open (no end", "open (no end"),
        ] {
            assert_eq!(comment_to_description(comment), expected);
        }
    }

    #[test]
    fn integer_format_becomes_bounds() {
        let mut value =
            json!({ "a": { "type": ["integer", "null"], "format": "int32", "minimum": 1 }, "b": { "type": "string" } });
        clean_up(&mut value);
        assert_eq!(value["a"]["maximum"], json!(4_294_967_295_u32));
        assert_eq!(value["a"]["minimum"], 1);
        assert_eq!(value["b"], json!({ "type": "string" }));
    }
}
