//! Tests with a corpus of old lines: everything that was ever stored or sent must parse and keep its meaning.

use serde_json::json;

use super::*;
use crate::fixtures;

const TOOLS: &str = include_str!("../golden/tools.jsonl");
const FAILURE: &str = include_str!("../golden/failure.jsonl");
const EDITED: &str = include_str!("../golden/edited.jsonl");
const NEWER: &str = include_str!("../golden/newer.jsonl");

#[test]
fn stored_lines_parse_and_are_written_the_same_to_the_byte() {
    for line in TOOLS.lines().chain(FAILURE.lines()).chain(EDITED.lines()) {
        let event: Event = serde_json::from_str(line).unwrap();
        assert!(!matches!(event, Event::Unknown(_)), "{line}");
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn corpus_has_every_event() {
    let names: std::collections::BTreeSet<String> = TOOLS
        .lines()
        .chain(FAILURE.lines())
        .chain(EDITED.lines())
        .map(|line| serde_json::from_str::<Event>(line).unwrap().name().to_owned())
        .collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), {
        let mut names = Event::NAMES;
        names.sort_unstable();
        names
    });
}

#[test]
fn events_and_blocks_of_newer_version_survive_in_place() {
    let events: Vec<Event> = NEWER.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0], Event::TurnStatus { status: TurnStatus::Streaming, at: None });
    assert_eq!(events[1].name(), "weather_report");
    assert!(!events[1].is_malformed());
    for (event, line) in events.iter().zip(NEWER.lines()).take(4).skip(1) {
        assert_eq!(serde_json::to_string(event).unwrap(), line);
    }
    assert!(matches!(&events[5], Event::Error(failure) if failure.kind == crate::FailureKind::Unknown));
}

#[test]
fn event_name_is_its_json_type() {
    for line in [TOOLS, FAILURE, EDITED, NEWER].iter().flat_map(|corpus| corpus.lines()) {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap()["type"], event.name());
    }
}

#[test]
fn only_deltas_may_be_shown_before_they_are_stored() {
    for line in TOOLS.lines().chain(FAILURE.lines()).chain(EDITED.lines()) {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(event.is_delta(), event.name() == "block_delta", "{line}");
    }
}

#[test]
fn known_name_with_wrong_shape_is_kept_as_malformed() {
    for line in [
        json!({"type": "block_delta", "block_id": "1", "text": "a"}),
        json!({"type": "block_delta", "block_id": fixtures::block_id(0)}),
        json!({"type": "turn_end", "status": "asleep", "usage": {}}),
        json!({"type": "turn_status"}),
    ] {
        let event: Event = serde_json::from_value(line.clone()).unwrap();
        assert!(event.is_malformed(), "{line}");
        assert_eq!(serde_json::to_value(&event).unwrap(), line);
    }
    assert!(serde_json::from_str::<Event>("[]").is_err());
    assert_eq!(serde_json::from_str::<Event>("{}").unwrap().name(), "unknown");
}

#[test]
fn numbers_in_results_keep_every_bit() {
    for number in [0.1 + 0.2, 1e-7, 5e-324, f64::MAX, 0.834_219_387_165_210_7, 1.0 / 3.0] {
        let line = serde_json::to_string(&number).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap().as_f64(), Some(number), "{line}");
    }
}
