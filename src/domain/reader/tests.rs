//! The one reader agrees with serde's own, on everything that crosses between server and browser.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::provider::Model;
use crate::{Branch, Chat, Event, Params, Thinking, Turn, sample};

/// Reads a value with both and says what both said: none where both refused.
fn both<T: DeserializeOwned + PartialEq + Debug>(value: &Value) -> Option<T> {
    let (ours, serdes) = (read::<T>(value), serde_json::from_value::<T>(value.clone()));
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
struct Drawing {
    shapes: Vec<Shape>,
    names: BTreeMap<String, (bool, char)>,
    nothing: (),
    any: Value,
}

#[test]
fn every_kind_of_value_is_read_as_serde_reads_it() {
    let drawing = Drawing {
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
    assert_eq!(both::<Drawing>(&serde_json::to_value(&drawing).unwrap()), Some(drawing));
}

#[test]
fn what_serde_refuses_is_refused() {
    for value in [json!(null), json!(true), json!(-1), json!(1.5), json!("1"), json!([]), json!({}), json!(300)] {
        both::<bool>(&value);
        both::<u8>(&value);
        both::<i64>(&value);
        both::<f64>(&value);
        both::<String>(&value);
        both::<Option<u64>>(&value);
        both::<()>(&value);
        both::<Vec<u8>>(&value);
        both::<BTreeMap<String, u8>>(&value);
        both::<Shape>(&value);
        both::<Thinking>(&value);
        both::<Event>(&value);
        if !value.is_array() {
            both::<Params>(&value);
            both::<Turn>(&value);
        }
    }
    assert!(read::<Params>(&json!([])).is_err());
    for shape in [json!({"Circle": 1, "Point": null}), json!({"Circle": null}), json!({"Line": 1}), json!("Box")] {
        assert_eq!(both::<Shape>(&shape), None);
    }
    assert_eq!(both::<Params>(&json!({"temperature": 1, "top": 2})), None);
    assert_eq!(read::<Turn>(&json!({})).unwrap_err().to_string(), "missing field `id`");
}

#[test]
fn turns_with_all_that_they_hold_are_read_as_serde_reads_them() {
    let mut turn = serde_json::to_value(sample::rich_reply(2)).unwrap();
    turn["of_tomorrow"] = json!([1]);
    assert_eq!(both::<Turn>(&turn), Some(sample::rich_reply(2)));
}

#[test]
fn what_is_flattened_is_found() {
    let lock = json!({"provider": "demo", "model": "demo"});
    let mut model = json!({"provider_name": "Demo", "name": "Demo", "reasoning": "optional", "thinking_levels": ["low", {"budget": 5}], "is_demo": true, "is_default": false});
    let mut branch = json!({"id": sample::turn_id(1), "chat_id": sample::turn_id(2), "name": "", "parent_branch_id": null, "fork_turn_id": null, "head_turn_id": null, "origin": "model_switch", "label": null, "pinned": true, "created_at": "2026-01-01T00:00:00Z"});
    assert_eq!((both::<Model>(&model), both::<Branch>(&branch)), (None, None));
    for whole in [&mut model, &mut branch] {
        whole.as_object_mut().unwrap().extend(lock.as_object().unwrap().clone());
    }
    assert!(both::<Model>(&model).is_some());
    assert!(both::<Branch>(&branch).is_some());
    assert!(both::<Chat>(&branch).is_none());
}
