//! Every parameter a request may carry wrongly (badinputs.md S-SZ-08), and what absent ones inherit.

use serde_json::json;

use super::*;

fn field_of(params: &Params) -> Option<String> {
    params.validate().err().map(|invalid| invalid.field)
}

#[test]
fn values_outside_their_range_are_refused_by_name() {
    let temperature = |value| Params { temperature: Some(value), ..Params::default() };
    let top_p = |value| Params { top_p: Some(value), ..Params::default() };
    let stops = |stops: &[&str]| Params {
        stop_sequences: stops.iter().map(|stop| (*stop).to_owned()).collect(),
        ..Params::default()
    };
    let table = [
        (Params::default(), None),
        (temperature(0.0), None),
        (temperature(-0.0), None),
        (temperature(2.0), None),
        (temperature(2.000_1), Some("params.temperature")),
        (temperature(-1.0), Some("params.temperature")),
        (temperature(f64::NAN), Some("params.temperature")),
        (temperature(f64::INFINITY), Some("params.temperature")),
        (top_p(1.0), None),
        (top_p(1.1), Some("params.top_p")),
        (top_p(f64::NAN), Some("params.top_p")),
        (Params { top_k: Some(1), ..Params::default() }, None),
        (Params { top_k: Some(0), ..Params::default() }, Some("params.top_k")),
        (Params { max_tokens: Some(1), ..Params::default() }, None),
        (Params { max_tokens: Some(u32::MAX), ..Params::default() }, None),
        (Params { max_tokens: Some(0), ..Params::default() }, Some("params.max_tokens")),
        (stops(&["a", "b", "c", "d"]), None),
        (stops(&["a"; 16]), None),
        (stops(&["a"; 17]), Some("params.stop_sequences")),
        (stops(&[""]), Some("params.stop_sequences")),
        (Params { thinking: Some(Thinking::Budget(1)), ..Params::default() }, None),
        (Params { thinking: Some(Thinking::Budget(0)), ..Params::default() }, Some("params.thinking")),
    ];
    for (params, field) in table {
        assert_eq!(field_of(&params).as_deref(), field, "{params:?}");
    }
}

#[test]
fn values_of_another_type_are_refused_when_read() {
    for bad in [
        r#"{"temperature":"0.5"}"#,
        r#"{"temperature":1e400}"#,
        r#"{"temperature":-1e400}"#,
        r#"{"temperature":NaN}"#,
        r#"{"temperature":"NaN"}"#,
        r#"{"temperature":Infinity}"#,
        r#"{"temperature":true}"#,
        r#"{"temperature":[0.5]}"#,
        r#"{"max_tokens":1.5}"#,
        r#"{"max_tokens":-1}"#,
        r#"{"max_tokens":"100"}"#,
        r#"{"max_tokens":9007199254740993}"#,
        r#"{"max_tokens":4294967296}"#,
        r#"{"max_tokens":1e3}"#,
        r#"{"top_k":-1}"#,
        r#"{"stop_sequences":"a"}"#,
        r#"{"stop_sequences":[1]}"#,
        r#"{"thinking":"maximum"}"#,
        r#"{"thinking":{"budget":-1}}"#,
        r#"{"temprature":0.5}"#,
    ] {
        assert!(serde_json::from_str::<Params>(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_readable_and_in_range_passes_and_keeps_its_words() {
    let table = [
        json!({}),
        json!({"temperature": 0.7, "top_p": 0.9, "top_k": 40, "max_tokens": 4096, "stop_sequences": ["END"]}),
        json!({"thinking": "off"}),
        json!({"thinking": "high"}),
        json!({"thinking": {"budget": 2048}}),
    ];
    for json in table {
        let params: Params = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(field_of(&params), None);
        assert_eq!(serde_json::to_value(&params).unwrap(), json);
    }
    let silent: Params = serde_json::from_str(r#"{"temperature":null,"thinking":null}"#).unwrap();
    assert_eq!(silent, Params::default());
}

#[test]
fn a_turns_own_parameters_win_over_the_chats() {
    let chat: Params = serde_json::from_value(
        json!({"temperature": 0.1, "max_tokens": 10, "stop_sequences": ["A"], "thinking": "low"}),
    )
    .unwrap();
    let turn: Params = serde_json::from_value(json!({"temperature": 0.9, "top_k": 5, "thinking": "off"})).unwrap();
    assert_eq!(
        serde_json::to_value(turn.or(&chat)).unwrap(),
        json!({"temperature": 0.9, "top_k": 5, "max_tokens": 10, "stop_sequences": ["A"], "thinking": "off"})
    );
    assert_eq!(Params::default().or(&chat), chat);
}

#[test]
fn menu_words_of_thinking_read_back() {
    for level in Thinking::LEVELS {
        assert_eq!(Thinking::parse_level(level.as_str()), Some(level));
        assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
    }
    for word in ["", "budget", "OFF", "max"] {
        assert_eq!(Thinking::parse_level(word), None, "{word:?}");
    }
}
