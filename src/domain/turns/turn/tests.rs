//! Tests of every cell of the status table of `docs/reference/domain.md 4.8`.

use super::TurnStatus::{Cancelled, Complete, Error, Pending, Streaming, WaitingSubagents};
use super::TurnTransition::{Cancel, Fail, Finish, LlmStart, ToolDetected, ToolsReady};
use super::*;
use crate::blocks::block::Content;
use crate::fixtures;

const MOVES: [TurnTransition; 6] = [LlmStart, ToolDetected, ToolsReady, Finish, Cancel, Fail];

#[test]
fn every_transition_from_every_status_matches_table() {
    let none = [None; 6];
    let table: [(TurnStatus, [Option<TurnStatus>; 6]); 6] = [
        (Pending, [Some(Streaming), None, None, None, Some(Cancelled), Some(Error)]),
        (Streaming, [None, Some(WaitingSubagents), None, Some(Complete), Some(Cancelled), Some(Error)]),
        (WaitingSubagents, [None, None, Some(Streaming), Some(Complete), Some(Cancelled), Some(Error)]),
        (Complete, none),
        (Cancelled, none),
        (Error, none),
    ];
    assert_eq!(table.map(|(from, _)| from), TurnStatus::ALL);
    for (from, row) in table {
        for (transition, to) in MOVES.into_iter().zip(row) {
            assert_eq!(from.apply(transition), to, "{from:?} {transition:?}");
        }
        for to in TurnStatus::ALL {
            assert_eq!(from.can_become(to), row.contains(&Some(to)), "{from:?} to {to:?}");
        }
        assert_eq!(from.is_terminal(), row == none, "{from:?}");
    }
}

#[test]
fn every_running_turn_can_be_stopped_and_can_fail() {
    for status in TurnStatus::ALL.into_iter().filter(|status| !status.is_terminal()) {
        assert_eq!((status.apply(Cancel), status.apply(Fail)), (Some(Cancelled), Some(Error)));
    }
}

#[test]
fn status_and_role_words_are_same_in_json_and_database() {
    for status in TurnStatus::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        assert_eq!(TurnStatus::parse(status.as_str()), Some(status));
    }
    for role in [Role::User, Role::Assistant, Role::System] {
        assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
        assert_eq!(Role::parse(role.as_str()), Some(role));
    }
    for wrong in ["", "Pending", "done", "complete "] {
        assert_eq!(TurnStatus::parse(wrong), None);
        assert_eq!(Role::parse(wrong), None);
    }
}

#[test]
fn derived_text_joins_text_blocks_without_errors() {
    let turn = fixtures::reply(
        2,
        [
            Content::text("one"),
            Content::thinking("hidden"),
            Content::text(" two"),
            fixtures::error_text("failed"),
            Content::text(""),
        ],
    );
    assert_eq!(turn.content_text(), "one\n\n two");
    assert_eq!(fixtures::reply(2, []).content_text(), "");
}

#[test]
fn turn_survives_json() {
    let turn = fixtures::rich_reply(2);
    let json = serde_json::to_string(&turn).unwrap();
    let back: Turn = serde_json::from_str(&json).unwrap();
    assert_eq!(back, turn);
    assert_eq!(serde_json::to_string(&back).unwrap(), json);
}
