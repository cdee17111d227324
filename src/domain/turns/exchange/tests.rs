//! Tests of invalid request parameters, and of the defaults of absent ones.

use serde_json::json;

use super::*;

fn invalid_field(params: &ModelParams) -> Option<String> {
    params.validate().err().map(|invalid| invalid.field)
}

#[test]
fn values_outside_their_range_are_refused_by_name() {
    let temperature = |value| ModelParams { temperature: Some(value), ..ModelParams::default() };
    let top_p = |value| ModelParams { top_p: Some(value), ..ModelParams::default() };
    let stops = |stops: &[&str]| ModelParams {
        stop_sequences: stops.iter().map(|stop| (*stop).to_owned()).collect(),
        ..ModelParams::default()
    };
    let table = [
        (ModelParams::default(), None),
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
        (ModelParams { top_k: Some(1), ..ModelParams::default() }, None),
        (ModelParams { top_k: Some(0), ..ModelParams::default() }, Some("params.top_k")),
        (ModelParams { max_tokens: Some(1), ..ModelParams::default() }, None),
        (ModelParams { max_tokens: Some(u32::MAX), ..ModelParams::default() }, None),
        (ModelParams { max_tokens: Some(0), ..ModelParams::default() }, Some("params.max_tokens")),
        (stops(&["a", "b", "c", "d"]), None),
        (stops(&["a"; 16]), None),
        (stops(&["a"; 17]), Some("params.stop_sequences")),
        (stops(&[""]), Some("params.stop_sequences")),
        (ModelParams { thinking: Some(Thinking::Budget(1)), ..ModelParams::default() }, None),
        (ModelParams { thinking: Some(Thinking::Budget(0)), ..ModelParams::default() }, Some("params.thinking")),
    ];
    for (params, field) in table {
        assert_eq!(invalid_field(&params).as_deref(), field, "{params:?}");
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
        assert!(serde_json::from_str::<ModelParams>(bad).is_err(), "{bad}");
    }
}

#[test]
fn valid_params_pass_and_round_trip() {
    let table = [
        json!({}),
        json!({"temperature": 0.7, "top_p": 0.9, "top_k": 40, "max_tokens": 4096, "stop_sequences": ["END"]}),
        json!({"thinking": "off"}),
        json!({"thinking": "high"}),
        json!({"thinking": {"budget": 2048}}),
    ];
    for json in table {
        let params: ModelParams = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(invalid_field(&params), None);
        assert_eq!(serde_json::to_value(&params).unwrap(), json);
    }
    let silent: ModelParams = serde_json::from_str(r#"{"temperature":null,"thinking":null}"#).unwrap();
    assert_eq!(silent, ModelParams::default());
}

#[test]
fn turn_params_override_chat_params() {
    let chat: ModelParams = serde_json::from_value(
        json!({"temperature": 0.1, "max_tokens": 10, "stop_sequences": ["A"], "thinking": "low"}),
    )
    .unwrap();
    let turn: ModelParams = serde_json::from_value(json!({"temperature": 0.9, "top_k": 5, "thinking": "off"})).unwrap();
    assert_eq!(
        serde_json::to_value(turn.with_defaults(&chat)).unwrap(),
        json!({"temperature": 0.9, "top_k": 5, "max_tokens": 10, "stop_sequences": ["A"], "thinking": "off"})
    );
    assert_eq!(ModelParams::default().with_defaults(&chat), chat);
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

#[test]
fn undecided_thinking_mode_is_decided_by_reply() {
    use crate::fixtures;
    let message = fixtures::user_turn(1, "Hi");
    let exchange = |kind, is_thinking_mode, thinking| Exchange {
        id: message.exchange_id,
        chat_id: message.chat_id,
        branch_id: message.branch_id,
        user_turn_id: Some(message.id),
        kind,
        is_thinking_mode,
        params: ModelParams { thinking, ..ModelParams::default() },
        not_sent: Vec::new(),
        client_request_id: None,
        created_at: message.created_at,
    };
    let thought = fixtures::blocks(2, [Content::thinking("hm"), Content::text("So.")]);
    let plain = fixtures::blocks(2, [Content::text("So.")]);
    let (send, import) = (ExchangeKind::Send, ExchangeKind::Import);
    for (exchange, shows, with_thought, with_plain) in [
        (exchange(send, true, None), true, true, true),
        (exchange(send, false, None), true, true, false),
        (exchange(send, false, Some(Thinking::High)), true, true, false),
        (exchange(send, false, Some(Thinking::Off)), false, false, false),
        (exchange(import, false, None), false, false, false),
        (exchange(import, true, None), true, true, true),
    ] {
        assert_eq!(exchange.shows_reasoning(), shows, "{exchange:?}");
        assert_eq!(exchange.is_thinking_with(&thought), with_thought, "{exchange:?}");
        assert_eq!(exchange.is_thinking_with(&plain), with_plain, "{exchange:?}");
    }
}
