//! Fuzz targets of the event reducer: no sequence of events breaks the invariants of a turn, and a snapshot plus the
//! later events folds to the same turn as all events.

use std::borrow::Cow;
use std::iter;

use chrono::DateTime;
use turnleaf::domain::blocks::block::{LAST_BLOCK_SEQ, ToolStatus};
use turnleaf::domain::encoding::json_bounds::bounded_text;
use turnleaf::domain::turns::coalesce;
use turnleaf::domain::turns::fold::{ApplyOutcome, apply};
use turnleaf::domain::{
    Block, BlockId, BlockState, Content, Event, GenerationId, Role, Turn, TurnStatus, fixtures, limits,
};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::builder::{BlockBuilder, BlockPosition};
use turnleaf_providers::openai_chat::Dialect;
use turnleaf_providers::replay::decoder_for_api;
use uuid::Uuid;

use super::invariants::{assert_decoder_invariants, decode};

/// Decodes a response body of an API and checks the reducer on the events that the journal would store for it.
pub fn reply_holds(api: ProviderApi, body: &[u8]) {
    assert_decoder_invariants(api, "openai", body);
    let dialect = Dialect::from_name("openai").unwrap();
    let (items, outcome) = decode(decoder_for_api(api, dialect), iter::once(body));
    let mut minted = 0;
    let place = BlockPosition { turn_ord: 2, next_seq: 0, generation_id: GenerationId::from_uuid(Uuid::nil()) };
    let mut builder = BlockBuilder::new(place, move || {
        minted += 1;
        (BlockId::from_uuid(Uuid::from_u128(minted)), DateTime::UNIX_EPOCH)
    });
    let mut events = Vec::new();
    items.into_iter().for_each(|item| builder.push(item, None, &mut events));
    builder.close(if outcome.complete { BlockState::Done } else { BlockState::Aborted }, &mut events);
    events.iter_mut().for_each(Event::enforce_bounds);
    let mut turn = fixtures::turn(2, Role::Assistant, TurnStatus::Streaming);
    for (seq, event) in (1..).zip(&events) {
        assert_eq!(apply(&mut turn, seq, event), ApplyOutcome::Changed, "{event:?}");
    }
    assert!(turn.blocks.iter().all(|block| block.state != BlockState::Open), "a block is left open");
    events_hold(&events);
}

/// Reads each line as the JSON of an event and checks the reducer on them; other lines are skipped.
pub fn reducer_holds(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n');
    let mut events: Vec<Event> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    // The journal bounds events in the same way before it numbers them.
    events.iter_mut().for_each(Event::enforce_bounds);
    events_hold(&events);
}

/// Checks the invariants of the reducer on these events.
pub fn events_hold(events: &[Event]) {
    let mut turn = fixtures::turn(2, Role::Assistant, TurnStatus::Pending);
    let mut snapshots = vec![turn.clone()];
    for (seq, event) in (1..).zip(events) {
        stored_event_is_read(event);
        let before = turn.clone();
        let applied = apply(&mut turn, seq, event);
        step_holds(&before, &turn, applied);
        // Two snapshots are enough, because the fuzzer also produces every other prefix as an input of its own.
        if seq as usize == events.len().div_ceil(2) || seq as usize == events.len() {
            snapshots.push(turn.clone());
            assert_eq!(apply(&mut turn, seq, event), ApplyOutcome::AlreadyCovered);
            assert_eq!(apply(&mut turn, seq + 2, event), ApplyOutcome::Gap);
            assert_eq!(snapshots.last(), Some(&turn), "an event that is covered or too early changes nothing");
        }
    }
    // Replay from any snapshot ends in the same state.
    for snapshot in &snapshots {
        let stored = serde_json::to_string(snapshot).unwrap();
        let mut follower: Turn = serde_json::from_str(&stored).unwrap();
        assert_eq!(&follower, snapshot, "a snapshot is read as it was written");
        for (seq, event) in (1..).zip(events) {
            assert_ne!(apply(&mut follower, seq, event), ApplyOutcome::Gap);
        }
        assert_eq!(follower, turn, "from a snapshot after {}", snapshot.last_event_seq);
    }
    coalesced_growth_is_the_same(events, &turn);
}

/// Asserts that an event is read back from its journal form unchanged.
pub fn stored_event_is_read(event: &Event) {
    let line = serde_json::to_string(event).unwrap();
    assert!(matches!(bounded_text(&line, limits::JSON_TEXT_DEPTH), Cow::Borrowed(_)), "beyond the bounds: {line}");
    assert_eq!(&serde_json::from_str::<Event>(&line).unwrap(), event, "{line}");
}

fn step_holds(before: &Turn, after: &Turn, applied: ApplyOutcome) {
    assert_eq!(after.last_event_seq, before.last_event_seq + 1);
    match applied {
        ApplyOutcome::Changed => assert!(!before.status.is_terminal(), "an ended turn stays as it is"),
        ApplyOutcome::Impossible(reason) => {
            let skipped = Turn { last_event_seq: after.last_event_seq, ..before.clone() };
            assert_eq!(after, &skipped, "{reason}, and it changed something");
        }
        other => panic!("the next event was {other:?}"),
    }
    assert!(after.blocks.len() >= before.blocks.len(), "blocks are only appended");
    // Block numbers may have gaps, as in a turn that continues after a damaged row.
    let is_behind = |pair: &[Block]| pair[0].seq < pair[1].seq || pair[0].seq >= LAST_BLOCK_SEQ;
    assert!(after.blocks.windows(2).all(is_behind), "blocks are numbered in order");
    for (old, new) in before.blocks.iter().zip(&after.blocks) {
        assert_eq!((old.id, old.content.block_type()), (new.id, new.content.block_type()), "a block keeps its type");
        if old.state != BlockState::Open {
            assert_eq!((old.state, without_progress(&old.content)), (new.state, without_progress(&new.content)));
        }
    }
}

/// Returns the content without what may still change after a block has ended: the progress of a tool call, and texts that
/// the provider corrects.
fn without_progress(content: &Content) -> Content {
    let mut content = content.clone();
    match &mut content {
        Content::ToolUse { status, duration_ms, .. } => (*status, *duration_ms) = (ToolStatus::Pending, None),
        Content::Text { .. } | Content::Thinking { .. } => content = Content::text(""),
        _ => {}
    }
    content
}

/// Coalescing deltas before they are numbered gives the same blocks.
fn coalesced_growth_is_the_same(events: &[Event], whole: &Turn) {
    let mut joined = Vec::new();
    events.iter().for_each(|event| coalesce::push_coalesced(&mut joined, event.clone()));
    let mut turn = fixtures::turn(2, Role::Assistant, TurnStatus::Pending);
    for (seq, event) in (1..).zip(&joined) {
        apply(&mut turn, seq, event);
    }
    turn.last_event_seq = whole.last_event_seq;
    assert_eq!(&turn, whole, "with growth joined");
}
