//! Tests of fitted schemas.

use proptest::prelude::*;

use super::*;

const ALL: [SchemaSubset; 4] =
    [SchemaSubset::OpenAi, SchemaSubset::Anthropic, SchemaSubset::Gemini, SchemaSubset::Common];

fn tool(parameters: Value) -> ToolSpec {
    ToolSpec { name: "t".into(), description: "Does it.".into(), parameters }
}

fn fitted(schema: Value, subset: SchemaSubset) -> Value {
    fit_tool(&tool(schema), subset).expect("it is an object").parameters
}

#[test]
fn acceptable_schema_stays_unchanged() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words", "minLength": 1, "default": "x"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "mode": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "of": {"type": ["string", "null"], "pattern": "^[a-z]+$"},
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    for subset in [SchemaSubset::OpenAi, SchemaSubset::Anthropic, SchemaSubset::Common] {
        let spec = tool(schema.clone());
        assert_eq!(fit_tool(&spec, subset), Some(spec), "{subset:?}");
    }
    let nested = json!({
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
    });
    for subset in [SchemaSubset::OpenAi, SchemaSubset::Anthropic, SchemaSubset::Gemini] {
        assert_eq!(fitted(nested.clone(), subset), nested, "{subset:?}");
    }
}

#[test]
fn root_becomes_plain_object() {
    let a = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let b = || json!({"type": "object", "properties": {"b": {"type": "string"}}});
    let required = |names: Value| json!({"type": "object", "properties": {"k": {"type": "string"}}, "required": names});
    for (schema, expected) in [
        (json!({}), json!({"type": "object", "properties": {}})),
        (json!({"type": "object"}), json!({"type": "object", "properties": {}})),
        (json!({"properties": {"a": {"type": "string"}}}), a()),
        (json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}), a()),
        (json!({"$ref": "#/$defs/R", "$defs": {"R": a()}}), a()),
        (json!({"$ref": "#/$defs/R", "$defs": {"R": {"$ref": "#/$defs/S"}, "S": a()}}), a()),
        (json!({"allOf": [a()]}), a()),
        (json!({"anyOf": [a(), {"type": "null"}]}), a()),
        (json!({"$ref": "#"}), json!({"type": "object", "properties": {}})),
        (
            json!({"oneOf": [a(), b()]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
        ),
        (json!({"anyOf": [required(json!(["k", "x"])), required(json!(["k"]))]}), required(json!(["k"]))),
        (
            json!({"oneOf": [
                {"properties": {"k": {"const": "a"}}, "required": ["k"]},
                {"properties": {"k": {"const": "b"}}, "required": ["k"]},
            ]}),
            json!({"type": "object", "properties": {"k": {"anyOf": [{"const": "a"}, {"const": "b"}]}}, "required": ["k"]}),
        ),
    ] {
        let found = fitted(schema.clone(), SchemaSubset::Anthropic);
        assert_eq!(found, expected, "{schema}");
    }
}

#[test]
fn alternatives_of_root_are_described() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    });
    let found = fit_tool(&tool(schema), SchemaSubset::OpenAi).expect("it is an object");
    assert_eq!(
        found.description,
        "Does it.\n\nThe arguments must match at least one of: {\"required\":[\"a\"]} | {\"required\":[\"b\"]}"
    );
    assert_eq!(
        found.parameters,
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
    );
}

#[test]
fn long_description_goes_on_in_parameters_where_api_bounds_it() {
    let schema = json!({"type": "object", "properties": {}, "description": "Own.", "not": {"required": ["a"]}});
    let words = "words of a person ".repeat(100);
    for long in [words.as_str(), &"字".repeat(2000)] {
        let spec = ToolSpec { description: long.to_owned(), ..tool(schema.clone()) };
        let found = fit_tool(&spec, SchemaSubset::OpenAi).expect("it is an object");
        assert!(found.description.chars().count() <= 1024, "{}", found.description.chars().count());
        let kept = found.description.strip_suffix("… [continued in the description of the parameters]");
        let kept = kept.expect("the cut is marked");
        let rest = found.parameters["description"].as_str().and_then(|text| text.strip_prefix("Own.\n\n…"));
        let rest = rest.expect("the rest is there");
        assert!(rest.ends_with("The arguments as a whole: not: {\"required\":[\"a\"]}"), "{rest}");
        let whole = format!("{kept}{rest}").replace(' ', "");
        assert!(whole.starts_with(&long.replace(' ', "")), "{whole}");
        assert_eq!(fit_tool(&found, SchemaSubset::OpenAi).as_ref(), Some(&found));
        let other = fit_tool(&spec, SchemaSubset::Anthropic).expect("it is an object");
        assert!(other.description.starts_with(long.trim_end()), "{}", other.description);
    }
    let fits = ToolSpec { description: "x".repeat(1024), ..tool(json!({"type": "object", "properties": {}})) };
    assert_eq!(fit_tool(&fits, SchemaSubset::OpenAi), Some(fits));
}

#[test]
fn root_that_is_no_object_is_not_fitted() {
    for schema in
        [json!({"type": "string"}), json!({"type": ["array", "null"]}), json!({"anyOf": [{"type": "string"}]})]
    {
        for subset in ALL {
            assert_eq!(fit_tool(&tool(schema.clone()), subset), None, "{schema}");
        }
        assert!(!describes_object(&schema), "{schema}");
    }
}

#[test]
fn invalid_and_foreign_keywords_are_repaired() {
    for (property, expected) in [
        (json!({"type": "str"}), json!({"type": "string"})),
        (json!({"type": "any"}), json!({})),
        (json!({"type": "string", "required": true}), json!({"type": "string"})),
        (json!({"enum": []}), json!({})),
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"], "nullable": true})),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
            json!({"type": "number", "exclusiveMinimum": 0}),
        ),
        (json!({"type": "number", "maximum": 9, "exclusiveMaximum": false}), json!({"type": "number", "maximum": 9})),
        (json!({"type": "array"}), json!({"type": "array", "items": {}})),
        (json!({"type": ["array", "null"]}), json!({"type": ["array", "null"], "items": {}})),
        (
            json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false}),
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {}}),
        ),
        (json!({"$ref": "#/$defs/none"}), json!({})),
        (json!({"$ref": "http://169.254.169.254/x"}), json!({})),
        (json!(true), json!({})),
        (json!({"minLength": 1.0, "maxLength": "9"}), json!({"minLength": 1})),
        (
            json!({"type": "string", "pattern": "^(?=.*\\d).{8,}$"}),
            json!({"type": "string", "description": "(pattern: ^(?=.*\\d).{8,}$)"}),
        ),
    ] {
        let found = fitted(json!({"type": "object", "properties": {"a": property}}), SchemaSubset::OpenAi);
        assert_eq!(found["properties"]["a"], expected, "{property}");
    }
}

#[test]
fn unsupported_keywords_become_description() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "uri": {"type": "string", "format": "uri", "description": "Where"},
            "kind": {"const": "a"},
            "n": {"type": "integer", "multipleOf": 5},
            "one": {"oneOf": [{"type": "string"}, {"type": "null"}]},
            "wide": {"$ref": "#/$defs/W", "description": "of it"},
        },
        "required": ["uri", "other"],
        "$defs": {"W": {"type": "string"}},
    });
    assert_eq!(
        fitted(schema.clone(), SchemaSubset::Gemini),
        json!({
            "type": "object",
            "properties": {
                "uri": {"type": "string", "description": "Where (format: uri)"},
                "kind": {"enum": ["a"]},
                "n": {"type": "integer", "description": "(multipleOf: 5)"},
                "one": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "wide": {"description": "of it", "type": "string"},
            },
            "required": ["uri"],
        })
    );
    let common = fitted(schema, SchemaSubset::Common);
    assert_eq!(common["properties"]["wide"], json!({"description": "of it", "type": "string"}));
    assert_eq!(common.get("$defs"), None);
    let named = json!({"type": "object", "properties": {"a b": {"type": "string"}, "c": {}}, "required": ["a b", "c"]});
    let named = fitted(named, SchemaSubset::Anthropic);
    assert_eq!((&named["properties"], &named["required"]), (&json!({"c": {}}), &json!(["c"])));
    assert_eq!(named["description"], r#"(property "a b": {"type":"string"})"#);
}

#[test]
fn reference_means_the_same_at_root_and_inside() {
    let definitions = json!({
        "A": {"type": "object", "description": "A", "properties": {"n": {"type": "integer"}}},
        "B": {"$ref": "#/$defs/A", "description": "B"},
        "Loop": {"$ref": "#/$defs/Back"},
        "Back": {"type": "object", "description": "Back", "$ref": "#/$defs/Loop"},
    });
    for (name, description) in [("A", "A"), ("B", "B"), ("Loop", "Back")] {
        let reference = format!("#/$defs/{name}");
        let root = fitted(json!({"$ref": reference, "$defs": definitions}), SchemaSubset::Common);
        let inside = json!({"type": "object", "properties": {"p": {"$ref": reference}}, "$defs": definitions});
        let mut inside = fitted(inside, SchemaSubset::Common)["properties"]["p"].take();
        assert_eq!(inside["description"], description);
        // The APIs want the properties of the root named.
        inside.as_object_mut().unwrap().entry("properties").or_insert_with(|| json!({}));
        assert_eq!(root, inside, "{name}");
    }
}

#[test]
fn recursion_and_growth_are_bounded() {
    let tree = json!({
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {"left": {"$ref": "#/$defs/N"}, "right": {"$ref": "#"}}}},
    });
    let found = fitted(tree, SchemaSubset::Common);
    assert_eq!(found["properties"]["n"]["properties"]["left"], json!({"type": "object"}));
    let fan: Map<String, Value> = (0..40)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"type": "object", "properties": {"a": next, "b": next}}))
        })
        .chain([("d40".to_owned(), json!({"type": "object"}))])
        .collect();
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": fan});
    for subset in ALL {
        assert!(fitted(schema.clone(), subset).to_string().len() <= limits::TOOL_SCHEMA_BYTES, "{subset:?}");
    }
    // Each would take exponential work, or a stack as deep as the chain, without bounds.
    let again: Vec<Value> = vec![json!({"$ref": "#/$defs/a"}); 30];
    let chain: Map<String, Value> = (0..3_000)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({"type": "object", "properties": {"next": next}}))
        })
        .collect();
    for schema in [
        json!({"$defs": {"a": {"type": "object", "allOf": again}}, "allOf": [{"$ref": "#/$defs/a"}]}),
        json!({"$defs": {"a": {"type": "object", "anyOf": again}}, "anyOf": [{"$ref": "#/$defs/a"}]}),
        json!({"type": "object", "allOf": again, "$defs": {"a": {"oneOf": again, "allOf": again}}}),
        json!({"type": "object", "properties": {"first": {"$ref": "#/$defs/d0"}}, "$defs": chain}),
    ] {
        for subset in ALL {
            assert_eq!(fitted(schema.clone(), subset)["type"], "object", "{subset:?}");
        }
    }
}

/// Returns a description of the first place that an API would refuse.
fn refusal(schema: &Value, subset: SchemaSubset, is_root: bool) -> Option<String> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Bool(_) if !is_root => return None,
        other => return Some(format!("no schema: {other}")),
    };
    if is_root && (members.get("type") != Some(&json!("object")) || !members["properties"].is_object()) {
        return Some(format!("no object: {schema}"));
    }
    let at_root = ["anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"];
    for (keyword, value) in members {
        let is_valid = subset.has_keyword(keyword)
            && !(is_root && at_root.contains(&keyword.as_str()))
            && match keyword.as_str() {
                "type" => value.is_string() || value.as_array().is_some_and(|all| !all.is_empty()),
                "required" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
                "enum" => value.as_array().is_some_and(|all| !all.is_empty()),
                "items" => value.is_object(),
                "pattern" => subset::is_portable_pattern(value.as_str().unwrap_or("\\")),
                _ => true,
            };
        if !is_valid {
            return Some(format!("{keyword}: {value}"));
        }
        let nested: Vec<&Value> = match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => named.values().collect(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => all.iter().collect(),
            ("items" | "additionalProperties" | "not", inner) => vec![inner],
            _ => continue,
        };
        if let Some(refused) = nested.into_iter().find_map(|inner| refusal(inner, subset, false)) {
            return Some(refused);
        }
    }
    let is_array = members
        .get("type")
        .is_some_and(|of| of == "array" || of.as_array().is_some_and(|all| all.contains(&json!("array"))));
    (is_array && !members.contains_key("items")).then(|| format!("array without items: {schema}"))
}

/// Schemas with valid and invalid keywords, also at the root.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!("x")),
        Just(json!({"type": "string", "pattern": "(?<!a)b"})),
        Just(json!({"type": "str", "required": true})),
        Just(json!({"type": ["array", "null"]})),
        Just(json!({"type": "object"})),
        Just(json!({"enum": []})),
        Just(json!({"enum": [1, null, "a"]})),
        Just(json!({"const": {"a": 1}})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/properties/b"})),
        Just(json!({"$ref": "other.json"})),
        Just(json!({"minimum": 1, "exclusiveMinimum": true, "format": "uri"})),
        Just(json!({"required": ["a", 1, "a"], "properties": 5})),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let keyword = prop::sample::select(vec!["anyOf", "oneOf", "allOf", "items", "prefixItems"]);
        let named = prop::sample::select(vec!["properties", "$defs", "definitions", "patternProperties"]);
        let single = prop::sample::select(vec!["items", "not", "additionalProperties", "if", "then"]);
        let name = prop::sample::select(vec!["a", "b", "a b", "c"]);
        let member = prop_oneof![
            (keyword, prop::collection::vec(inner.clone(), 0..3)).prop_map(|(k, all)| (k, Value::Array(all))),
            (named, prop::collection::vec((name, inner.clone()), 0..4)).prop_map(|(k, all)| {
                (k, Value::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
            }),
            (single, inner).prop_map(|(k, value)| (k, value)),
            Just(("type", json!("object"))),
            Just(("type", json!(["object", "null"]))),
            Just(("required", json!(["a"]))),
            Just(("$ref", json!("#/$defs/a"))),
        ];
        prop::collection::vec(member, 0..5)
            .prop_map(|all| Value::Object(all.into_iter().map(|(k, value)| (k.to_owned(), value)).collect()))
    })
}

proptest! {
    #[test]
    fn fitted_schema_is_accepted_object_and_fitting_is_idempotent(schema in any_schema()) {
        for subset in ALL {
            let Some(once) = fit_tool(&tool(schema.clone()), subset) else {
                prop_assert!(!describes_object(&schema));
                continue;
            };
            prop_assert_eq!(refusal(&once.parameters, subset, true), None, "{:?}: {}", subset, once.parameters);
            let again = fit_tool(&once, subset).expect("it is an object");
            prop_assert_eq!(&again.parameters, &once.parameters, "{:?}", subset);
        }
    }
}
