//! Tests of serialized frames, and of every cursor that a client may send.

use serde_json::json;

use super::*;
use crate::fixtures;

#[test]
fn frames_round_trip() {
    let turn = fixtures::rich_reply(2);
    let block = turn.blocks[0].clone();
    let frames = [
        StreamFrame::Event { turn_id: turn.id, seq: 1, event: Event::BlockStart { block } },
        StreamFrame::Event {
            turn_id: turn.id,
            seq: 2,
            event: Event::TurnStatus { status: crate::TurnStatus::Streaming, at: None },
        },
        StreamFrame::Event {
            turn_id: turn.id,
            seq: 3,
            event: serde_json::from_value(json!({"type": "weather_report", "outlook": 1.5})).unwrap(),
        },
        StreamFrame::Other(StreamSignal::Snapshot { turn: Box::new(turn.clone()) }),
        StreamFrame::Other(StreamSignal::Markup { block_id: fixtures::block_id(1), parts: vec!["<p>a</p>".into()] }),
        StreamFrame::Other(StreamSignal::Heartbeat { now: fixtures::time(0) }),
    ];
    let names = ["block_start", "turn_status", "weather_report", "snapshot", "markup", "heartbeat"];
    for (frame, name) in frames.into_iter().zip(names) {
        let json = serde_json::to_string(&frame).unwrap();
        assert_eq!(frame.name(), name);
        assert_eq!(serde_json::from_str::<StreamFrame>(&json).unwrap(), frame, "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["type"], name);
        assert_eq!(matches!(frame, StreamFrame::Other(_)), StreamSignal::NAMES.contains(&name));
    }
}

#[test]
fn event_frame_is_event_with_turn_and_number() {
    let frame = StreamFrame::Event {
        turn_id: fixtures::turn_id(2),
        seq: 7,
        event: Event::BlockDelta { block_id: fixtures::block_id(1), text: "a".into() },
    };
    assert_eq!(
        serde_json::to_value(&frame).unwrap(),
        json!({"turn_id": fixtures::turn_id(2), "seq": 7, "type": "block_delta", "block_id": fixtures::block_id(1), "text": "a"})
    );
}

#[test]
fn signals_and_events_never_share_a_name() {
    assert!(StreamSignal::NAMES.iter().all(|name| !Event::NAMES.contains(name)));
}

#[test]
fn cursor_is_plain_number_of_this_turn_or_none() {
    let turn = fixtures::turn_id(2);
    let own = |seq: &str| format!("{turn}:{seq}");
    let table = [
        ("0".to_owned(), Some(0)),
        ("17".to_owned(), Some(17)),
        (own("17"), Some(17)),
        (format_cursor(turn, u64::MAX), Some(u64::MAX)),
        ("99999999999999999999".to_owned(), None),
        (own("99999999999999999999"), None),
        ("-1".to_owned(), None),
        ("+1".to_owned(), None),
        ("abc".to_owned(), None),
        ("1.5".to_owned(), None),
        ("0x10".to_owned(), None),
        (" 1".to_owned(), None),
        ("1\n".to_owned(), None),
        ("٣".to_owned(), None),
        (String::new(), None),
        (":".to_owned(), None),
        (own(""), None),
        (own("1:2"), None),
        (own("-1"), None),
        (":5".to_owned(), None),
        (format_cursor(fixtures::turn_id(3), 17), None),
        (own("5").to_uppercase(), None),
    ];
    for (text, expected) in table {
        assert_eq!(parse_cursor(&text, turn), expected, "{text:?}");
    }
}
