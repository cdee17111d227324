//! Frames as they travel, and every cursor a client may send.

use serde_json::json;

use super::*;
use crate::sample;

#[test]
fn frames_read_as_they_were_written() {
    let turn = sample::rich_reply(2);
    let block = turn.blocks[0].clone();
    let frames = [
        Frame::Event { turn_id: turn.id, seq: 1, event: Event::BlockStart { block } },
        Frame::Event {
            turn_id: turn.id,
            seq: 2,
            event: Event::TurnStatus { status: crate::TurnStatus::Streaming, at: None },
        },
        Frame::Event {
            turn_id: turn.id,
            seq: 3,
            event: serde_json::from_value(json!({"type": "weather_report", "outlook": 1.5})).unwrap(),
        },
        Frame::Other(Signal::Snapshot { turn: Box::new(turn.clone()) }),
        Frame::Other(Signal::Markup { block_id: sample::block_id(1), parts: vec!["<p>a</p>".into()] }),
        Frame::Other(Signal::Heartbeat { now: sample::time(0) }),
    ];
    let names = ["block_start", "turn_status", "weather_report", "snapshot", "markup", "heartbeat"];
    for (frame, name) in frames.into_iter().zip(names) {
        let json = serde_json::to_string(&frame).unwrap();
        assert_eq!(frame.name(), name);
        assert_eq!(serde_json::from_str::<Frame>(&json).unwrap(), frame, "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["type"], name);
        assert_eq!(matches!(frame, Frame::Other(_)), Signal::NAMES.contains(&name));
    }
}

#[test]
fn an_event_frame_is_the_event_with_its_turn_and_number() {
    let frame = Frame::Event {
        turn_id: sample::turn_id(2),
        seq: 7,
        event: Event::BlockDelta { block_id: sample::block_id(1), text: "a".into() },
    };
    assert_eq!(
        serde_json::to_value(&frame).unwrap(),
        json!({"turn_id": sample::turn_id(2), "seq": 7, "type": "block_delta", "block_id": sample::block_id(1), "text": "a"})
    );
}

#[test]
fn signals_and_events_never_share_a_name() {
    assert!(Signal::NAMES.iter().all(|name| !Event::NAMES.contains(name)));
}

#[test]
fn a_cursor_is_a_plain_number_of_this_turn_or_nothing() {
    let turn = sample::turn_id(2);
    let own = |seq: &str| format!("{turn}:{seq}");
    let table = [
        ("0".to_owned(), Some(0)),
        ("17".to_owned(), Some(17)),
        (own("17"), Some(17)),
        (cursor(turn, u64::MAX), Some(u64::MAX)),
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
        (cursor(sample::turn_id(3), 17), None),
        (own("5").to_uppercase(), None),
    ];
    for (text, expected) in table {
        assert_eq!(parse_cursor(&text, turn), expected, "{text:?}");
    }
}
