//! Makes unions usable for generators of clients: each variant gets a name, and a schema that is a union with common
//! fields becomes a union of objects. Serde writes the latter as `allOf` of a union and an object, which most
//! generators drop.

use serde_json::{Map, Value, json};

use crate::domain::text::excerpt::capitalize;

/// The members that tell the variants of a union apart.
const TAGS: [&str; 3] = ["type", "kind", "run_by"];
const PREFIX: &str = "#/components/schemas/";

/// Names the variants of all unions among the schemas of the components. `paths` are the other places that use them.
pub fn name_variants(schemas: &mut Map<String, Value>, paths: &Value) {
    for union in distribute_common_fields(schemas) {
        let reference = json!({ "$ref": format!("{PREFIX}{union}") });
        if !schemas.values().chain([paths]).any(|value| contains(value, &reference)) {
            schemas.remove(&union);
        }
    }
    let unions: Vec<String> =
        schemas.iter().filter(|(_, schema)| is_union_of_objects(schema)).map(|(name, _)| name.clone()).collect();
    for union in unions {
        let Some(variants) = schemas[&union]["oneOf"].as_array().cloned() else { continue };
        let mut mapping = Map::new();
        let mut references = Vec::new();
        for mut variant in variants {
            let (tag, value) = tag_of(&variant).unzip();
            let name = format!("{union}{}", value.as_deref().map_or_else(|| "Other".to_owned(), to_pascal_case));
            let reference = format!("{PREFIX}{name}");
            if let (Some(tag), Some(value)) = (tag, value) {
                mapping.insert(value, json!([tag, reference]));
            }
            references.push(json!({ "$ref": reference }));
            if let Value::Object(fields) = &mut variant {
                // Generators prefer a title to the name, and titles are not unique.
                fields.remove("title");
            }
            schemas.insert(name, variant);
        }
        let tag = mapping.values().next().map(|entry| entry[0].clone());
        let is_tagged =
            mapping.len() == references.len() && mapping.values().all(|entry| Some(&entry[0]) == tag.as_ref());
        let schema = &mut schemas[&union];
        schema["oneOf"] = references.into();
        if is_tagged {
            let mapping: Map<_, _> = mapping.into_iter().map(|(value, entry)| (value, entry[1].clone())).collect();
            schema["discriminator"] = json!({ "propertyName": tag, "mapping": mapping });
        }
    }
}

fn contains(value: &Value, part: &Value) -> bool {
    value == part
        || match value {
            Value::Object(fields) => fields.values().any(|value| contains(value, part)),
            Value::Array(items) => items.iter().any(|value| contains(value, part)),
            _ => false,
        }
}

/// Adds the common fields to each variant: `allOf [union, object]` becomes `oneOf` of objects. Returns the names of the
/// unions.
fn distribute_common_fields(schemas: &mut Map<String, Value>) -> Vec<String> {
    let all = schemas.clone();
    let mut distributed = Vec::new();
    for schema in schemas.values_mut() {
        let Some(parts) = schema.get("allOf").and_then(Value::as_array) else { continue };
        let [named, common] = &parts[..] else { continue };
        let (union, common) = (resolve(&all, named), resolve(&all, common));
        let Some(variants) = union.get("oneOf").and_then(Value::as_array).filter(|_| common["type"] == "object") else {
            continue;
        };
        let merged: Vec<Value> = variants.iter().map(|variant| merge(variant, common)).collect();
        distributed.extend(named["$ref"].as_str().and_then(|name| name.strip_prefix(PREFIX)).map(str::to_owned));
        let description = schema.get("description").cloned();
        *schema = json!({ "oneOf": merged });
        if let Some(description) = description {
            schema["description"] = description;
        }
    }
    distributed
}

fn resolve<'a>(schemas: &'a Map<String, Value>, part: &'a Value) -> &'a Value {
    let name = part["$ref"].as_str().and_then(|reference| reference.strip_prefix(PREFIX));
    name.and_then(|name| schemas.get(name)).unwrap_or(part)
}

/// Merges the properties of two objects.
fn merge(variant: &Value, common: &Value) -> Value {
    let mut merged = variant.clone();
    if let (Some(Value::Object(properties)), Some(more)) =
        (merged.get_mut("properties"), common["properties"].as_object())
    {
        properties.extend(more.clone());
    }
    let required = [variant, common].into_iter().filter_map(|schema| schema["required"].as_array()).flatten();
    merged["required"] = required.cloned().collect::<Vec<_>>().into();
    merged
}

fn is_union_of_objects(schema: &Value) -> bool {
    let variants = schema["oneOf"].as_array().filter(|variants| variants.len() > 1);
    variants.is_some_and(|variants| {
        let tagged = variants.iter().filter(|variant| tag_of(variant).is_some()).count();
        variants.iter().all(|variant| variant["type"] == "object") && tagged + 1 >= variants.len()
    })
}

/// Returns the tag of a variant and its value.
fn tag_of(variant: &Value) -> Option<(&'static str, String)> {
    TAGS.iter().find_map(|tag| {
        let values = variant["properties"][tag]["enum"].as_array().filter(|values| values.len() == 1)?;
        Some((*tag, values[0].as_str()?.to_owned()))
    })
}

fn to_pascal_case(name: &str) -> String {
    name.split(['_', '-']).map(capitalize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_with_common_fields_becomes_union_of_named_objects() {
        let variant = |kind: &str, field: &str| {
            json!({ "type": "object", "required": ["kind", field],
                "properties": { "kind": { "type": "string", "enum": [kind] }, field: { "type": "string" } } })
        };
        let common = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } });
        let Value::Object(mut schemas) = json!({
            "Kind": { "oneOf": [variant("think", "text"), variant("tool_use", "name")] },
            "Item": { "allOf": [{ "$ref": "#/components/schemas/Kind" }, common], "description": "An item." },
            "Level": { "oneOf": [{ "type": "string", "enum": ["low"] }, { "type": "null" }] },
        }) else {
            unreachable!()
        };
        name_variants(&mut schemas, &json!({ "/": { "$ref": "#/components/schemas/Kind" } }));
        assert_eq!(
            schemas["Item"],
            json!({
                "description": "An item.",
                "oneOf": [{ "$ref": "#/components/schemas/ItemThink" }, { "$ref": "#/components/schemas/ItemToolUse" }],
                "discriminator": { "propertyName": "kind", "mapping": {
                    "think": "#/components/schemas/ItemThink", "tool_use": "#/components/schemas/ItemToolUse",
                } },
            })
        );
        assert_eq!(schemas["ItemToolUse"]["required"], json!(["kind", "name", "id"]));
        assert_eq!(schemas["ItemToolUse"]["properties"]["id"], json!({ "type": "string" }));
        assert_eq!(schemas["KindThink"], variant("think", "text"));
        assert_eq!(schemas["Level"], json!({ "oneOf": [{ "type": "string", "enum": ["low"] }, { "type": "null" }] }));
    }

    #[test]
    fn variant_without_tag_is_other_and_union_has_no_discriminator() {
        let Value::Object(mut schemas) = json!({ "Content": { "oneOf": [
            { "type": "object", "properties": { "type": { "enum": ["text"] } } },
            { "type": "object", "properties": { "type": { "not": { "enum": ["text"] } } } },
        ] } }) else {
            unreachable!()
        };
        name_variants(&mut schemas, &Value::Null);
        let reference = |name: &str| json!({ "$ref": format!("{PREFIX}{name}") });
        assert_eq!(schemas["Content"], json!({ "oneOf": [reference("ContentText"), reference("ContentOther")] }));
        assert!(schemas.contains_key("ContentOther"));
    }
}
