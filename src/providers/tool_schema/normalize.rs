//! Repairs of schemas that are not valid JSON Schema 2020-12: forms of earlier drafts and of other languages are
//! translated, and values that a keyword cannot have are dropped. What remains is valid.

use serde_json::{Map, Number, Value, json};

use super::subset::{SUBSCHEMA_KEYWORDS, is_about_schema};

/// The types of JSON Schema, each with names that other languages have for it.
const TYPES: [(&str, &[&str]); 7] = [
    ("string", &["str", "text"]),
    ("number", &["float", "double"]),
    ("integer", &["int", "long"]),
    ("boolean", &["bool"]),
    ("object", &["dict", "map"]),
    ("array", &["list"]),
    ("null", &["none"]),
];

/// The member in which a schema names its keywords that were dropped, if that is asked for. It cannot occur in real
/// schemas.
pub const DROPPED: &str = "\u{1}dropped";
/// Keywords that state no rule, so that nothing is lost with them.
const NO_RULES: [&str; 10] = [
    "title",
    "description",
    "format",
    "examples",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Returns the schema as valid JSON Schema 2020-12 without references to other documents.
pub fn normalize(root: &Value) -> Value {
    SchemaNormalizer { root, names_dropped: false }.schema(root)
}

/// Like [`normalize`], and every schema of which a rule was dropped names it in [`DROPPED`].
pub fn normalize_naming_dropped(root: &Value) -> Value {
    SchemaNormalizer { root, names_dropped: true }.schema(root)
}

/// Returns what a reference within a schema refers to.
pub fn resolve_reference<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let id = root.get("$id").and_then(Value::as_str).unwrap_or_default().trim_end_matches('#');
    let local = if id.is_empty() { reference } else { reference.strip_prefix(id).unwrap_or(reference) };
    let pointer = local.strip_prefix('#')?;
    let found =
        root.pointer(pointer).or_else(|| root.pointer(&turnleaf_domain::encoding::url_encoding::decode(pointer)))?;
    found.is_object().then_some(found)
}

struct SchemaNormalizer<'a> {
    root: &'a Value,
    names_dropped: bool,
}

impl SchemaNormalizer<'_> {
    fn schema(&self, value: &Value) -> Value {
        let members = match value {
            Value::Object(members) => members,
            Value::Bool(accepts) => return json!(accepts),
            _ if self.names_dropped => return json!({ DROPPED: [] }),
            _ => return json!({}),
        };
        let mut out = Map::new();
        let mut dropped = Vec::new();
        for (keyword, value) in members {
            match self.keyword_value(keyword, value) {
                Some(value) => drop(out.insert(keyword.clone(), value)),
                None if states_rule(keyword, value) => dropped.push(keyword.as_str()),
                None => {}
            }
        }
        self.translate_tuple(members, &mut out);
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            // Draft 4 has a flag beside the bound.
            if members.get(exclusive) == Some(&json!(true))
                && let Some(value) = out.remove(bound)
            {
                out.insert(exclusive.into(), value);
            }
        }
        if members.get("nullable") == Some(&json!(true))
            && let Some(Value::String(name)) = out.get("type")
            && name != "null"
        {
            let types = json!([name, "null"]);
            out.insert("type".into(), types);
        }
        if self.names_dropped && !dropped.is_empty() {
            out.insert(DROPPED.into(), json!(dropped));
        }
        Value::Object(out)
    }

    /// Translates a list of schemas under `items`, which are the places of a tuple in earlier drafts.
    fn translate_tuple(&self, members: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(Value::Array(places)) = members.get("items") else { return };
        if !places.is_empty() {
            out.insert("prefixItems".into(), places.iter().map(|place| self.schema(place)).collect());
        }
        if let Some(rest) = out.remove("additionalItems") {
            out.insert("items".into(), rest);
        }
    }

    /// Returns the value of a keyword if it is valid, repaired where that is possible.
    fn keyword_value(&self, keyword: &str, value: &Value) -> Option<Value> {
        let inner = |value: &Value| self.schema(value);
        let is_schema = value.is_object() || value.is_boolean();
        match keyword {
            "type" => types(value),
            "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                let named = value.as_object()?;
                Some(named.iter().map(|(name, value)| (name.clone(), inner(value))).collect())
            }
            "prefixItems" | "anyOf" | "oneOf" | "allOf" => {
                let all = value.as_array().filter(|all| !all.is_empty())?;
                Some(all.iter().map(inner).collect())
            }
            "additionalItems" => is_schema.then(|| inner(value)),
            keyword if SUBSCHEMA_KEYWORDS.contains(&keyword) => is_schema.then(|| inner(value)),
            "required" => names(value),
            "dependentRequired" => {
                let named = value.as_object()?;
                Some(named.iter().filter_map(|(name, value)| Some((name.clone(), names(value)?))).collect())
            }
            "enum" => value.as_array().filter(|all| !all.is_empty()).map(|_| value.clone()),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
            | "maxContains" => count(value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number().then(|| value.clone()),
            "multipleOf" => value.as_f64().filter(|step| *step > 0.0).map(|_| value.clone()),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean().then(|| value.clone()),
            "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
                value.is_string().then(|| value.clone())
            }
            "examples" => value.is_array().then(|| value.clone()),
            "$ref" => value.as_str().filter(|to| resolve_reference(self.root, to).is_some()).map(|to| {
                // Without its `$id`, a schema refers to itself by a fragment alone.
                json!(to.find('#').map_or(to, |start| &to[start..]))
            }),
            "$dynamicRef" | "$recursiveRef" | "dependencies" => None,
            keyword if is_about_schema(keyword) => None,
            _ => Some(value.clone()),
        }
    }
}

/// Returns whether a keyword states a rule that is lost when it is dropped, and not stated otherwise.
fn states_rule(keyword: &str, value: &Value) -> bool {
    let is_translated = match keyword {
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_boolean(),
        "items" => value.is_array(),
        _ => false,
    };
    !is_translated && !is_about_schema(keyword) && !NO_RULES.contains(&keyword)
}

fn types(value: &Value) -> Option<Value> {
    let known = |name: &str| {
        let name = name.to_ascii_lowercase();
        TYPES.iter().find(|(known, others)| *known == name || others.contains(&name.as_str())).map(|(known, _)| *known)
    };
    match value {
        Value::String(name) => known(name).map(Value::from),
        Value::Array(names) => {
            let mut found: Vec<&str> = Vec::new();
            for name in names.iter().filter_map(Value::as_str) {
                // A type that is not known may be any.
                let name = known(name)?;
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            (!found.is_empty()).then(|| json!(found))
        }
        _ => None,
    }
}

fn names(value: &Value) -> Option<Value> {
    let mut found: Vec<&str> = Vec::new();
    for name in value.as_array()?.iter().filter_map(Value::as_str) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    Some(json!(found))
}

fn count(value: &Value) -> Option<Value> {
    let float = value.as_f64().filter(|count| *count >= 0.0 && count.fract() == 0.0 && *count < 9e15)?;
    Some(Value::Number(Number::from(float as u64)))
}
