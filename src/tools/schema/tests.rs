//! Tests of schemas and arguments, including hostile ones.

use serde_json::json;

use super::*;

fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 20},
            "limit": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "mode": {"enum": ["fast", "slow"]},
        },
        "$defs": {"tag": {"type": "string", "pattern": "^[a-z]+$"}},
        "required": ["query"],
        "additionalProperties": false,
    })
}

#[test]
fn arguments_are_checked_and_faults_name_their_place() {
    assert_eq!(
        check_arguments(&search_schema(), &json!({"query": "x", "limit": 2, "tags": ["a"], "mode": "fast"})),
        Ok(())
    );
    for (arguments, words) in [
        (json!({}), vec!["the arguments: \"query\" is a required property"]),
        (json!({"query": 1}), vec!["`/query`: the value is not of type \"string\""]),
        (json!({"query": "x", "limit": 0}), vec!["`/limit`", "minimum of 1"]),
        (json!({"query": "x", "tags": ["a", "B"]}), vec!["`/tags/1`"]),
        (json!({"query": "x", "mode": "other"}), vec!["`/mode`", "\"fast\""]),
        (json!({"query": "x", "limit": 1, "odd": 1}), vec!["'odd'"]),
        (json!([]), vec!["the arguments: the value is not of type \"object\""]),
        (json!(null), vec!["not of type"]),
    ] {
        let message = check_arguments(&search_schema(), &arguments).unwrap_err();
        for word in words {
            assert!(message.contains(word), "{arguments}: {message}");
        }
    }
}

#[test]
fn fault_description_is_bounded() {
    let long = "x".repeat(100_000);
    let many: serde_json::Map<String, Value> =
        (0..1_000).map(|n| (format!("{n}{}", "y".repeat(1_000)), json!(n))).collect();
    for arguments in [json!({"query": long}), json!({"query": 1, "tags": vec![1; 1_000]}), Value::Object(many)] {
        let message = check_arguments(&search_schema(), &arguments).unwrap_err();
        assert!(message.len() < 4_000, "{}", message.len());
        assert!(!message.contains(&"x".repeat(500)));
    }
}

#[test]
fn schema_uses_draft_that_it_names() {
    let of = |draft: Option<&str>| {
        let mut schema = json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false});
        if let Some(draft) = draft {
            schema["$schema"] = json!(draft);
        }
        json!({"type": "object", "properties": {"a": schema}})
    };
    let root = |draft: &str| {
        let mut schema =
            json!({"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}});
        schema["$schema"] = json!(draft);
        schema
    };
    // A list under `items` is valid in draft 7, and means the same without a draft.
    assert_eq!(check_schema(&root("http://json-schema.org/draft-07/schema#")), Ok(()));
    assert!(check_arguments(&root("http://json-schema.org/draft-07/schema#"), &json!({"a": [1]})).is_err());
    for (arguments, is_valid) in
        [(json!({"a": ["x"]}), true), (json!({"a": [1]}), false), (json!({"a": ["x", 1]}), false)]
    {
        assert_eq!(check_arguments(&of(None), &arguments).is_ok(), is_valid, "{arguments}");
    }
}

#[test]
fn unusable_schema_is_refused() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({"not": inner}));
    // Each definition refers to the next one twice, by these names and references.
    let fan = |name: &dyn Fn(usize) -> String, reference: &dyn Fn(usize) -> String| -> Value {
        let definition = |n: usize| {
            let next = json!({"$ref": reference(n + 1)});
            (name(n), if n == 40 { json!({"type": "object"}) } else { json!({"allOf": [next, next]}) })
        };
        (0..=40).map(definition).collect()
    };
    let plain = fan(&|n| format!("d{n}"), &|n| format!("#/$defs/d{n}"));
    let with_id = fan(&|n| format!("d{n}"), &|n| format!("https://a.example/s#/$defs/d{n}"));
    let escaped = fan(&|n| format!("d {n}"), &|n| format!("#/$defs/d%20{n}"));
    for (case, schema) in [
        ("no schema", json!("x")),
        ("true", json!(true)),
        ("a text", json!({"type": "string"})),
        ("a list", json!({"anyOf": [{"type": "array"}, {"type": "null"}]})),
        ("too deep", deep),
        ("too large", json!({"description": "x".repeat(limits::TOOL_SCHEMA_BYTES)})),
        ("fanned out", json!({"$defs": plain, "$ref": "#/$defs/d0"})),
        (
            "fanned out by id",
            json!({"$id": "https://a.example/s", "$defs": with_id, "$ref": "https://a.example/s#/$defs/d0"}),
        ),
        ("fanned out by escapes", json!({"$defs": escaped, "$ref": "#/$defs/d%200"})),
    ] {
        let reason = check_schema(&schema).unwrap_err();
        assert!(reason.len() < 1_000, "{case}: {reason}");
        assert!(check_arguments(&schema, &json!({})).is_err(), "{case}");
    }
}

#[test]
fn schema_may_be_as_deep_as_stored_values() {
    let nested =
        |levels: usize| (0..levels).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"a": inner}}));
    let most = (limits::JSON_VALUE_DEPTH - 1) / 2;
    assert_eq!(check_schema(&nested(most)), Ok(()));
    assert!(check_schema(&nested(most + 1)).is_err());
}

#[test]
fn part_that_cannot_be_checked_is_left_to_server() {
    let with = |schema: Value| json!({"type": "object", "properties": {"a": schema, "n": {"type": "integer"}}});
    for schema in [
        with(json!({"type": "string", "pattern": "^(?=.*\\d).{8,}$"})),
        with(json!({"type": "string", "pattern": "(?<!foo)bar$"})),
        with(json!({"type": "string", "pattern": "^([\"']).*\\1$"})),
        with(json!({"type": "string", "pattern": "^[^]*$"})),
        with(json!({"type": "string", "pattern": "("})),
        with(json!({"type": "string", "required": true})),
        with(json!({"type": "any"})),
        with(json!({"type": "of tomorrow"})),
        with(json!({"enum": []})),
        with(json!({"$ref": "#/$defs/none"})),
        with(json!({"$ref": "http://169.254.169.254/latest"})),
        with(json!({"$ref": "file:///etc/passwd"})),
        with(json!({"$ref": "other.json"})),
        json!({"properties": {"n": {"type": "integer"}}, "required": null}),
        json!({"$schema": "http://169.254.169.254/draft", "properties": {"n": {"type": "integer"}}}),
        json!({"$schema": 5, "properties": {"n": {"type": "integer"}}}),
    ] {
        assert_eq!(check_arguments(&schema, &json!({"a": "bar", "n": 1})), Ok(()), "{schema}");
        assert!(check_arguments(&schema, &json!({"a": "bar", "n": "x"})).is_err(), "the rest is checked: {schema}");
    }
    let sloppy = with(json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}));
    assert!(check_arguments(&sloppy, &json!({"a": 0})).is_err());
    assert_eq!(check_arguments(&sloppy, &json!({"a": 1})), Ok(()));
}

#[test]
fn rule_that_is_left_out_makes_no_other_refuse() {
    // Engines of linear time do not know look-around.
    let (a, b) = (json!({"pattern": "^(?=a)"}), json!({"pattern": "^(?=b)"}));
    let with = |schema: &Value| {
        let definitions = json!({"P": a, "Q": {"allOf": [{"$ref": "#/$defs/P"}]}});
        json!({"type": "object", "properties": {"a": schema, "n": {"type": "integer"}}, "$defs": definitions})
    };
    for (schema, value) in [
        (json!({"not": a}), json!("bar")),
        (json!({"not": {"anyOf": [{"maxLength": 1}, a]}}), json!("bar")),
        (json!({"not": {"$ref": "#/$defs/P"}}), json!("bar")),
        (json!({"not": {"$ref": "#/$defs/Q"}}), json!("bar")),
        (json!({"not": {"$ref": "other.json"}}), json!("bar")),
        (json!({"not": {"type": "of tomorrow"}}), json!("bar")),
        (json!({"oneOf": [a, b]}), json!("bar")),
        (json!({"oneOf": [{"not": a}, {"not": b}]}), json!("bar")),
        (json!({"if": a, "then": {"maxLength": 1}}), json!("bar")),
        (json!({"if": {"not": a}, "else": {"maxLength": 1}}), json!("bar")),
        (json!({"contains": a, "maxContains": 1}), json!(["ab", "bb"])),
        (json!({"patternProperties": {"^(?=b)": {}}, "additionalProperties": false}), json!({"bar": 1})),
        (json!({"anyOf": [{"$ref": "other.json"}], "unevaluatedProperties": false}), json!({"bar": 1})),
    ] {
        let whole = with(&schema);
        assert_eq!(check_arguments(&whole, &json!({"a": value, "n": 1})), Ok(()), "{schema}");
        assert!(check_arguments(&whole, &json!({"a": value, "n": "x"})).is_err(), "the rest is checked: {schema}");
    }
    for (schema, value) in [
        (json!({"oneOf": [{"type": "string", "pattern": "^(?=a)"}, {"type": "integer"}]}), json!([])),
        (json!({"not": {"type": "string"}, "pattern": "^(?=a)"}), json!("a")),
        (json!({"properties": {"b": a}, "additionalProperties": false}), json!({"c": 1})),
    ] {
        assert!(check_arguments(&with(&schema), &json!({"a": value})).is_err(), "it can be checked: {schema}");
    }
}

#[test]
fn members_beside_reference_are_ignored_in_old_drafts() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A", "maxLength": 1}, "b": {"pattern": "^(?=a)"}},
        "definitions": {"A": {"type": "string"}},
    });
    assert_eq!(check_arguments(&schema, &json!({"a": "long"})), Ok(()));
    assert!(check_arguments(&schema, &json!({"a": 1})).is_err());
}

#[test]
fn nullable_value_may_be_null() {
    let with = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "$defs": {"A": {"type": "string"}}, "nullable": true});
    for schema in [
        json!({"type": "string", "nullable": true}),
        json!({"type": ["string"], "maxLength": 3, "nullable": true}),
        json!({"type": "string", "enum": ["bar"], "nullable": true}),
        json!({"enum": ["bar"], "nullable": true}),
        json!({"$ref": "#/$defs/A", "nullable": true}),
        json!({"allOf": [{"type": "string"}], "nullable": true}),
        json!({"anyOf": [{"type": "string", "nullable": true}, {"type": "integer"}]}),
    ] {
        for (value, is_valid) in [(json!(null), true), (json!("bar"), true), (json!([]), false)] {
            let found = check_arguments(&with(schema.clone()), &json!({"a": value}));
            assert_eq!(found.is_ok(), is_valid, "{schema} {value}: {found:?}");
        }
    }
    let strict = with(json!({"type": "string", "nullable": false}));
    assert!(check_arguments(&strict, &json!({"a": null})).is_err());
    assert!(check_arguments(&strict, &json!(null)).is_err());
    // It may be the name of a property.
    let named = json!({"type": "object", "properties": {"nullable": true, "a": {"type": "string"}}});
    assert!(check_arguments(&named, &json!({"nullable": 1, "a": null})).is_err());
}

#[test]
fn encodings_are_annotations() {
    let draft = "http://json-schema.org/draft-07/schema#";
    let encoded = json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "application/json"});
    let named = json!({"contentEncoding": {"type": "string"}});
    let schema = json!({"$schema": draft, "type": "object", "properties": {"a": encoded, "b": {"properties": named}}});
    assert_eq!(check_arguments(&schema, &json!({"a": "not base64!"})), Ok(()));
    assert!(check_arguments(&schema, &json!({"b": {"contentEncoding": 1}})).is_err(), "that is a property");
}

#[test]
fn formats_are_annotations() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let schema =
            json!({"$schema": draft, "type": "object", "properties": {"u": {"type": "string", "format": "uri"}}});
        assert_eq!(check_arguments(&schema, &json!({"u": "https://de.wikipedia.org/wiki/Köln"})), Ok(()), "{draft}");
    }
}

#[test]
fn self_referencing_schema_terminates() {
    let loops = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    ];
    for schema in loops {
        // The schema may be refused or accepted; the check must terminate.
        let _ = check_arguments(&schema, &json!({"a": 1}));
    }
    let tree = json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}},
        "required": ["n"],
    });
    assert_eq!(check_arguments(&tree, &json!({"n": 1, "left": {"n": 2, "right": {"n": 3}}})), Ok(()));
    let message = check_arguments(&tree, &json!({"n": 1, "left": {"n": 2, "right": {}}})).unwrap_err();
    assert!(message.contains("`/left/right`"), "{message}");
}

#[test]
fn nested_checks_are_bounded_for_doubling_schema() {
    let schema = json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, "n": {"type": "integer"}}});
    let nested = |end: Value| (0..60).fold(end, |inner, _| json!({"a": inner}));
    assert_eq!(check_arguments(&schema, &nested(json!({"n": 1}))), Ok(()));
    assert!(check_arguments(&schema, &nested(json!({"n": "x"}))).is_err());
    assert!(check_arguments(&schema, &nested(nested(json!(1)))).is_err(), "too deep");
}

#[test]
fn patterns_run_in_linear_time() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let hostile = format!("{}!", "a".repeat(100_000));
    assert!(check_arguments(&schema, &json!({"a": hostile})).is_err());
}
