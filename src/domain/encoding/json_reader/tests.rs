//! Tests that the reader agrees with serde on everything that is exchanged between server and browser.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::providers::provider::Model;
use crate::{Branch, Chat, Event, ModelParams, Thinking, Turn, fixtures};

/// Reads a value with both readers and returns their common result: `None` if both refused.
fn read_with_both_readers<T: DeserializeOwned + PartialEq + Debug>(value: &Value) -> Option<T> {
    let (ours, serdes) = (from_value::<T>(value), serde_json::from_value::<T>(value.clone()));
    assert_eq!(ours.as_ref().ok(), serdes.as_ref().ok(), "{value}: {ours:?} and {serdes:?}");
    ours.ok()
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, u16),
    Box { width: u32, text: Option<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ShapeSheet {
    shapes: Vec<Shape>,
    names: BTreeMap<String, (bool, char)>,
    nothing: (),
    any: Value,
}

#[test]
fn every_kind_of_value_reads_like_serde() {
    let drawing = ShapeSheet {
        shapes: vec![
            Shape::Point,
            Shape::Circle(0.1 + 0.2),
            Shape::Circle(3.0),
            Shape::Line(-128, 65535),
            Shape::Box { width: u32::MAX, text: None },
            Shape::Box { width: 0, text: Some("ü\u{0}".into()) },
        ],
        names: [("a".to_owned(), (true, 'ß'))].into(),
        nothing: (),
        any: json!({"z": [1, -1, 1.5, u64::MAX, i64::MIN, null, "", {"a": true}], "a": {}}),
    };
    assert_eq!(read_with_both_readers::<ShapeSheet>(&serde_json::to_value(&drawing).unwrap()), Some(drawing));
}

#[test]
fn values_refused_by_serde_are_refused() {
    for value in [json!(null), json!(true), json!(-1), json!(1.5), json!("1"), json!([]), json!({}), json!(300)] {
        read_with_both_readers::<bool>(&value);
        read_with_both_readers::<u8>(&value);
        read_with_both_readers::<i64>(&value);
        read_with_both_readers::<f64>(&value);
        read_with_both_readers::<String>(&value);
        read_with_both_readers::<Option<u64>>(&value);
        read_with_both_readers::<()>(&value);
        read_with_both_readers::<Vec<u8>>(&value);
        read_with_both_readers::<BTreeMap<String, u8>>(&value);
        read_with_both_readers::<Shape>(&value);
        read_with_both_readers::<Thinking>(&value);
        read_with_both_readers::<Event>(&value);
        if !value.is_array() {
            read_with_both_readers::<ModelParams>(&value);
            read_with_both_readers::<Turn>(&value);
        }
    }
    assert!(from_value::<ModelParams>(&json!([])).is_err());
    for shape in [json!({"Circle": 1, "Point": null}), json!({"Circle": null}), json!({"Line": 1}), json!("Box")] {
        assert_eq!(read_with_both_readers::<Shape>(&shape), None);
    }
    assert_eq!(read_with_both_readers::<ModelParams>(&json!({"temperature": 1, "top": 2})), None);
    assert_eq!(from_value::<Turn>(&json!({})).unwrap_err().to_string(), "missing field `id`");
}

#[test]
fn full_turns_read_like_serde() {
    let mut turn = serde_json::to_value(fixtures::rich_reply(2)).unwrap();
    turn["of_tomorrow"] = json!([1]);
    assert_eq!(read_with_both_readers::<Turn>(&turn), Some(fixtures::rich_reply(2)));
}

#[test]
fn flattened_members_are_found() {
    let lock = json!({"provider": "demo", "model": "demo"});
    let mut model = json!({"provider_name": "Demo", "name": "Demo", "reasoning": "optional", "thinking_levels": ["low", {"budget": 5}], "is_demo": true, "is_default": false});
    let mut branch = json!({"id": fixtures::turn_id(1), "chat_id": fixtures::turn_id(2), "name": "", "parent_branch_id": null, "fork_turn_id": null, "head_turn_id": null, "origin": "model_switch", "label": null, "pinned": true, "created_at": "2026-01-01T00:00:00Z"});
    assert_eq!((read_with_both_readers::<Model>(&model), read_with_both_readers::<Branch>(&branch)), (None, None));
    for whole in [&mut model, &mut branch] {
        whole.as_object_mut().unwrap().extend(lock.as_object().unwrap().clone());
    }
    assert!(read_with_both_readers::<Model>(&model).is_some());
    assert!(read_with_both_readers::<Branch>(&branch).is_some());
    assert!(read_with_both_readers::<Chat>(&branch).is_none());
}

#[test]
fn integral_number_is_an_integer_in_any_notation() {
    for (text, expected) in [("3.0", Some(3)), ("-2.0", Some(-2)), ("1e3", Some(1000)), ("0.5", None), ("1e300", None)]
    {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(from_value::<i64>(&value).ok(), expected, "{text}");
    }
    assert!(from_value::<u8>(&json!(256.0)).is_err());
    assert!(from_value::<u8>(&json!(-1.0)).is_err());
}
