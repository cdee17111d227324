//! Tests of questions: the check of values by their fields, unusable forms, form values, and open questions.

use serde_json::json;

use super::*;
use crate::fixtures;

fn request(properties: Value, required: &[&str]) -> ElicitationRequest {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let fields = parse_fields(&schema, &[]).unwrap();
    ElicitationRequest { server: "Forge".into(), message: "Which?".into(), fields, page: None }
}

fn check(property: Value, value: Value) -> Result<Value, String> {
    let request = request(json!({ "x": property }), &["x"]);
    let content = Map::from_iter([("x".to_owned(), value)]);
    let checked = request.check_content(&content).map_err(|invalid| {
        assert_eq!(invalid.field, "x");
        invalid.reason.code.code().to_owned()
    })?;
    Ok(checked["x"].clone())
}

#[test]
fn value_is_checked_against_its_field() {
    let text = |more: Value| {
        let mut property = json!({ "type": "string" });
        property.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        property
    };
    let of_format = |format: &str| text(json!({ "format": format }));
    let choice = json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"] });
    let titled = json!({ "type": "string", "oneOf": [{ "const": "a", "title": "First" }] });
    let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] }, "minItems": 1,
        "maxItems": 2 });
    let titled_many = json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "First" }] } });
    let whole = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
    for (property, value, expected) in [
        (text(json!({})), json!("é"), Ok(json!("é"))),
        (text(json!({})), json!(""), Err("is_required")),
        (text(json!({})), Value::Null, Err("is_required")),
        (text(json!({})), json!(3), Err("not_a_text")),
        (text(json!({})), json!("a\0b"), Err("has_nul")),
        (text(json!({})), json!("x".repeat(10_001)), Err("too_many_characters")),
        (text(json!({ "minLength": 2 })), json!("é"), Err("too_few_characters")),
        (text(json!({ "maxLength": 2 })), json!("éé"), Ok(json!("éé"))),
        (text(json!({ "maxLength": 2 })), json!("ééé"), Err("too_many_characters")),
        (of_format("email"), json!("a@b.example"), Ok(json!("a@b.example"))),
        (of_format("email"), json!("a b@c"), Err("not_an_email_address")),
        (of_format("email"), json!("@c"), Err("not_an_email_address")),
        (of_format("uri"), json!("mailto:x"), Ok(json!("mailto:x"))),
        (of_format("uri"), json!("example.org"), Err("not_a_uri")),
        (of_format("uri"), json!("https://a b"), Err("not_a_uri")),
        (of_format("date"), json!("2024-02-29"), Ok(json!("2024-02-29"))),
        (of_format("date"), json!("2023-02-29"), Err("not_a_date")),
        (of_format("date"), json!("2023-2-2"), Err("not_a_date")),
        (of_format("date-time"), json!("2024-02-29T10:00:00+01:00"), Ok(json!("2024-02-29T10:00:00+01:00"))),
        (of_format("date-time"), json!("2024-02-29T10:00"), Err("not_a_date_time")),
        (of_format("hostname"), json!("anything"), Ok(json!("anything"))),
        (json!({ "type": "number" }), json!(1.5), Ok(json!(1.5))),
        (json!({ "type": "number" }), json!("1.5"), Err("not_a_number")),
        (whole.clone(), json!(5), Ok(json!(5))),
        (whole.clone(), json!(2.0), Ok(json!(2))),
        (whole.clone(), json!(2.5), Err("not_a_whole_number")),
        (whole.clone(), json!(0), Err("too_small")),
        (whole, json!(6), Err("too_large")),
        (json!({ "type": "integer" }), json!(u64::MAX), Ok(json!(u64::MAX))),
        (json!({ "type": "integer" }), json!(1e20), Err("too_large")),
        (json!({ "type": "integer" }), json!(-1e20), Err("too_small")),
        (json!({ "type": "boolean" }), json!(false), Ok(json!(false))),
        (json!({ "type": "boolean" }), json!("yes"), Err("not_true_or_false")),
        (choice.clone(), json!("b"), Ok(json!("b"))),
        (choice, json!("First"), Err("not_allowed_value")),
        (titled, json!("a"), Ok(json!("a"))),
        (many.clone(), json!(["a", "c"]), Ok(json!(["a", "c"]))),
        (many.clone(), json!([]), Err("too_few_chosen")),
        (many.clone(), json!(["a", "b", "c"]), Err("too_many_chosen")),
        (many.clone(), json!(["a", "a"]), Err("not_allowed_value")),
        (many, json!("a"), Err("not_allowed_value")),
        (titled_many, json!(["a"]), Ok(json!(["a"]))),
    ] {
        assert_eq!(check(property.clone(), value.clone()), expected.map_err(str::to_owned), "{property}: {value}");
    }
}

#[test]
fn optional_values_may_be_missing_and_unknown_ones_are_refused() {
    let request = request(json!({ "a": { "type": "string" }, "b": { "type": "number" } }), &["a"]);
    let content = |value: Value| value.as_object().cloned().unwrap();
    let checked = request.check_content(&content(json!({ "a": "x", "b": null }))).unwrap();
    assert_eq!(Value::Object(checked), json!({ "a": "x" }));
    assert_eq!(request.check_content(&content(json!({}))).unwrap_err().field, "a");
    assert_eq!(request.check_content(&content(json!({ "a": "x", "c": 1 }))).unwrap_err().field, "c");
}

#[test]
fn form_that_cannot_be_shown_is_refused() {
    let properties = |name: &str, property: Value| json!({ "properties": { name: property } });
    let many: Map<String, Value> = (0..33).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
    for (schema, reason) in [
        (json!({ "properties": [] }), "not an object"),
        (json!({ "properties": many }), "more than 32 fields"),
        (properties("a", json!({ "type": "object" })), "`a` has a type"),
        (properties("a", json!({ "type": "array", "items": { "type": "string" } })), "`a` has no options"),
        (properties("a", json!({ "type": "string", "enum": [1] })), "`a` has no options"),
        (properties("a", json!("string")), "`a` has a type"),
    ] {
        let refused = parse_fields(&schema, &[]).unwrap_err();
        assert!(refused.contains(reason), "{schema}: {refused}");
    }
    assert_eq!(parse_fields(&json!({ "type": "object" }), &[]), Ok(Vec::new()), "a question for consent");
}

#[test]
fn fields_have_order_of_server_and_only_valid_defaults() {
    let schema = json!({ "properties": {
        "a": { "type": "integer", "default": 3 },
        "b": { "type": "string", "enum": ["x"], "default": "y" },
        "c": { "type": "boolean", "default": true },
    } });
    let fields = parse_fields(&schema, &["c".into(), "a".into()]).unwrap();
    assert_eq!(fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    assert_eq!(fields.iter().map(ElicitationField::default_texts).collect::<Vec<_>>(), [vec!["1"], vec!["3"], vec![]]);
}

#[test]
fn form_values_get_types_of_their_fields() {
    let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
    let request = request(
        json!({ "a": { "type": "integer" }, "b": { "type": "boolean" }, "c": many, "d": { "type": "number" },
            "e": { "type": "string" } }),
        &[],
    );
    let typed = [vec!["12"], vec![], vec!["a", "b"], vec!["x"], vec![""]];
    let content = request.content_from_form(|at| typed[at].iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(Value::Object(content.clone()), json!({ "a": 12, "b": false, "c": ["a", "b"], "d": "x" }));
    assert_eq!(request.check_content(&content).unwrap_err().field, "d");
}

#[test]
fn default_of_any_size_is_checked_in_linear_time() {
    let options = json!({ "type": "string", "enum": ["a", "b"] });
    let many = json!({ "type": "array", "items": options, "default": vec!["a"; 1_000_000] });
    assert_eq!(request(json!({ "x": many }), &[]).fields[0].default, None);
}

#[test]
fn required_choice_of_nothing_is_an_answer_where_options_are_not_counted() {
    let choices = |more: Value| {
        let mut property = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
        property.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        property
    };
    for (property, required, expected) in [
        (choices(json!({})), &["x"][..], Ok(json!({ "x": [] }))),
        (choices(json!({ "minItems": 1 })), &["x"][..], Err("is_required")),
        (choices(json!({})), &[][..], Ok(json!({}))),
    ] {
        let request = request(json!({ "x": property }), required);
        let checked = request.check_content(&request.content_from_form(|_| Vec::new()));
        let checked = checked.map(Value::Object).map_err(|invalid| invalid.reason.code.code());
        assert_eq!(checked, expected);
    }
}

#[test]
fn fields_that_ask_for_secrets_are_recognized() {
    for (property, name, is_secret) in [
        (json!({ "type": "string" }), "city", false),
        (json!({ "type": "string" }), "api_key", true),
        (json!({ "type": "string", "title": "Your Password" }), "p", true),
        (json!({ "type": "integer", "title": "Your PIN" }), "p", true),
        (json!({ "type": "string" }), "cardPin", true),
        (json!({ "type": "string", "description": "The OTP of your bank" }), "p", true),
        (json!({ "type": "string", "title": "短信验证码" }), "p", true),
        (json!({ "type": "string", "title": "Shipping footprint, className" }), "p", false),
        (json!({ "type": "boolean", "title": "Show the token count" }), "p", false),
    ] {
        assert_eq!(request(json!({ name: property }), &[]).looks_secret(), is_secret, "{name}");
    }
    let asks = |kind: &str| ElicitationRequest {
        message: "Enter your one-time code.".into(),
        ..request(json!({ "x": { "type": kind } }), &[])
    };
    assert!(asks("string").looks_secret() && !asks("boolean").looks_secret());
}

#[test]
fn question_is_open_only_while_its_call_runs() {
    let asked = Elicitation {
        id: ElicitationId::from_uuid(uuid::Uuid::from_u128(1)),
        request: request(json!({ "c": { "type": "string", "enum": ["x"], "enumNames": ["The x"] } }), &[]),
        asked_at: DateTime::default(),
        outcome: None,
        content: None,
        ended_at: None,
    };
    let mut block = fixtures::block(2, 0, fixtures::tool_use("c", "ask", json!({}), ToolStatus::Running));
    assert_eq!(Elicitation::find_open(&block), None);
    block.block_metadata = Elicitation::as_metadata(std::slice::from_ref(&asked));
    assert_eq!(Elicitation::find_open(&block), Some(asked.clone()));
    block.content = fixtures::tool_use("c", "ask", json!({}), ToolStatus::Cancelled);
    assert_eq!((Elicitation::find_open(&block), Elicitation::list(&block)), (None, vec![asked.clone()]));
    let content = Map::from_iter([("c".to_owned(), json!("x"))]);
    let answered = Elicitation { outcome: Some(ElicitationOutcome::Accepted), content: Some(content), ..asked.clone() };
    assert_eq!(answered.answers(), [("c", "The x".to_owned())]);
    block.content = fixtures::tool_use("c", "ask", json!({}), ToolStatus::Running);
    block.block_metadata = Elicitation::as_metadata(&[answered]);
    assert_eq!(Elicitation::find_open(&block), None, "it is answered");
}
