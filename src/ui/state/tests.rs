//! How a chat's turns follow frames, snapshots and other tabs.

use chrono::TimeDelta;
use uuid::Uuid;

use super::saying::{Reader, Said, Saying};
use super::*;
use crate::api::view::TurnsPage;
use crate::domain::frame::{Frame, Signal as Aside};
use crate::domain::{BlockState, Content, Event, Turn, TurnStatus, Usage, sample};

pub(super) fn view(turn: Turn) -> TurnView {
    TurnView {
        siblings: vec![turn.id],
        versions: Vec::new(),
        retry_id: String::new(),
        is_thinking_mode: true,
        not_sent: Vec::new(),
        markup: Vec::new(),
        switched_to: None,
        named: Vec::new(),
        turn,
    }
}

pub(super) fn in_owner<T>(run: impl FnOnce() -> T) -> T {
    Owner::new().with(run)
}

pub(super) fn chat(turns: Vec<TurnView>) -> ChatState {
    ChatState::new(turns, Callback::new(|_| {}))
}

fn ids(state: ChatState) -> Vec<TurnId> {
    state.path.get_untracked().iter().map(TurnState::id).collect()
}

fn running(ord: i64) -> Turn {
    sample::turn(ord, Role::Assistant, TurnStatus::Streaming)
}

fn event(seq: u64, event: Event) -> Frame {
    Frame::Event { turn_id: sample::turn_id(2), seq, event }
}

fn start(seq: u64) -> Frame {
    let mut block = sample::block(2, 0, Content::text(""));
    block.state = BlockState::Open;
    event(seq, Event::BlockStart { block })
}

fn delta(seq: u64, text: &str) -> Frame {
    event(seq, Event::BlockDelta { block_id: sample::block(2, 0, Content::text("")).id, text: text.into() })
}

#[test]
fn hosts_are_known_from_messages_that_were_written_here() {
    in_owner(|| {
        let mut imported = sample::user_turn(3, "https://stranger.example/");
        imported.id = Uuid::new_v8(imported.id.uuid().into_bytes()).into();
        let mut system = sample::user_turn(5, "https://system.example/");
        system.role = Role::System;
        let own = sample::user_turn(1, "https://mine.example/");
        let state = chat([own, imported, system].map(view).into());
        let known = state.known_hosts().get_untracked();
        let has = |host: &str| known.has(host, &format!("https://{host}/"));
        assert!(has("mine.example") && !has("stranger.example") && !has("system.example"));
    });
}

/// Counts how often a memo that reads through `read` has to be computed.
fn count<T: PartialEq + Clone + Send + Sync + 'static>(
    read: impl Fn() -> T + Send + Sync + 'static,
) -> impl Fn() -> (T, usize) {
    let runs = StoredValue::new(0);
    let memo = Memo::new(move |_| {
        runs.update_value(|runs| *runs += 1);
        read()
    });
    move || (memo.get_untracked(), runs.get_value())
}

#[test]
fn a_delta_wakes_only_those_who_watch_its_block() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        turn.apply(vec![start(1), delta(2, "He")]);
        let block = sample::block(2, 0, Content::text("")).id;
        let (of_items, of_block) = (turn.clone(), turn.clone());
        let items = count(move || of_items.items().len());
        let text = count(move || of_block.with_block(block, |block, _| block.content.clone()));
        assert_eq!(items(), (1, 1));
        assert_eq!(text(), (Some(Content::text("He")), 1));
        turn.apply(vec![delta(3, "l"), delta(4, "lo")]);
        assert_eq!(items(), (1, 1), "the shape is the same");
        assert_eq!(text(), (Some(Content::text("Hello")), 2), "one batch, one drawing");
    });
}

#[test]
fn the_first_letter_of_a_block_changes_the_shape() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let of_items = turn.clone();
        let items = count(move || of_items.items().len());
        turn.apply(vec![start(1), delta(2, " \n")]);
        assert_eq!(items().0, 0);
        turn.apply(vec![delta(3, "x")]);
        assert_eq!(items().0, 1);
    });
}

#[test]
fn a_gap_is_reported_and_nothing_after_it_is_applied() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let heard = turn.apply(vec![start(1), delta(3, "lost"), delta(4, "more")]);
        assert!(heard.is_gap);
        assert_eq!(turn.with_untracked(|view| view.turn.last_event_seq), 1);
    });
}

#[test]
fn a_snapshot_replaces_and_markup_is_kept_by_block() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let mut whole = sample::reply(2, [Content::text("Hi")]);
        whole.last_event_seq = 9;
        let block_id = whole.blocks[0].id;
        turn.apply(vec![Frame::Other(Aside::Snapshot { turn: Box::new(whole) })]);
        for parts in [vec!["<p>a</p>".to_owned()], vec!["<p>b</p>".to_owned()]] {
            turn.apply(vec![Frame::Other(Aside::Markup { block_id, parts })]);
        }
        assert_eq!(turn.with_untracked(|view| view.markup.len()), 1);
        assert_eq!(
            turn.with_block(block_id, |_, markup| markup.map(|m| m.parts.clone())),
            Some(Some(vec!["<p>b</p>".into()]))
        );
    });
}

#[test]
fn a_turn_takes_its_place_on_the_path() {
    in_owner(|| {
        let state = chat(vec![view(sample::user_turn(1, "Hi")), view(sample::reply(2, []))]);
        assert!(state.put(view(sample::user_turn(3, "More"))));
        assert_eq!(ids(state), [1, 2, 3].map(sample::turn_id));
        // Another version of the first reply takes the place of what followed.
        let mut again = running(9);
        again.prev_turn_id = Some(sample::turn_id(1));
        assert!(state.put(view(again)));
        assert_eq!(ids(state), [1, 9].map(sample::turn_id));
        assert_eq!(state.running(), Some(sample::turn_id(9)));
        let mut elsewhere = running(20);
        elsewhere.prev_turn_id = Some(sample::turn_id(19));
        assert!(!state.put(view(elsewhere)));
    });
}

#[test]
fn an_older_view_of_a_turn_brings_only_its_versions() {
    in_owner(|| {
        let mut done = sample::reply(2, [Content::text("Done")]);
        done.last_event_seq = 5;
        let turn = TurnState::new(view(done));
        let mut old = view(running(2));
        old.siblings = vec![sample::turn_id(2), sample::turn_id(8)];
        turn.replace(old);
        turn.with_untracked(|view| {
            assert_eq!(view.turn.status, TurnStatus::Complete);
            assert_eq!(view.siblings.len(), 2);
        });
    });
}

#[test]
fn showing_another_path_keeps_the_turns_both_have() {
    in_owner(|| {
        let state = chat(vec![view(sample::user_turn(1, "Hi")), view(running(2))]);
        state.find(sample::turn_id(2)).unwrap().apply(vec![start(1), delta(2, "so far")]);
        let turns = vec![view(sample::user_turn(1, "Hi")), view(running(2)), view(sample::user_turn(3, "x"))];
        state.show_turns(TurnsPage { turns, has_more_before: false, has_more_after: false });
        let kept = state.find(sample::turn_id(2)).unwrap();
        assert_eq!(kept.with_untracked(|view| view.turn.content_text()), "so far");
    });
}

fn at_composer() -> Reader {
    Reader { is_read_to: true, read_by: crate::ui::words::transcript::say::keys_to_read() }
}

#[test]
fn a_minute_of_writing_is_few_announcements_and_no_token() {
    let mut saying = Saying::new(0);
    let mut turn = running(2);
    let mut said = Vec::new();
    for tick in 0..600 {
        let now = tick * 100;
        if now == 2_000 {
            turn.blocks = sample::blocks(2, [Content::thinking("hm")]);
        }
        if now == 20_000 {
            turn.blocks = sample::blocks(2, [Content::thinking("hm"), Content::text("word")]);
        }
        said.extend(saying.look(&turn, now, &at_composer()));
    }
    assert!(said.len() <= 12, "{said:?}");
    assert_eq!(said[0], Said::Politely("Assistant is thinking.".into()));
    assert_eq!(said[1], Said::Politely("Still thinking, 12 seconds.".into()));
    assert!(said.contains(&Said::Politely("Assistant is answering.".into())));
    assert!(!said.iter().any(|said| format!("{said:?}").contains("word")));
}

#[test]
fn the_end_of_a_reply_is_told_once_and_a_failure_at_once() {
    let ended = |turn: Turn, reader: Reader| {
        let mut saying = Saying::new(0);
        let first = saying.look(&turn, 100, &reader);
        assert_eq!(saying.look(&turn, 60_000, &reader), None);
        first.unwrap()
    };
    let short = sample::reply(2, [Content::text("Four words are here.")]);
    assert_eq!(ended(short.clone(), at_composer()), Said::Politely("Reply: Four words are here.".into()));
    let marked = sample::reply(2, [Content::text("## Four\n\n- **words** `are` [here](https://example.org)")]);
    assert_eq!(ended(marked, at_composer()), Said::Politely("Reply: Four words are here".into()));
    assert_eq!(ended(short.clone(), Reader::default()), Said::Politely("Reply complete, 4 words.".into()));
    let long = sample::reply(2, [Content::text("word ".repeat(100))]);
    assert_eq!(ended(long, at_composer()), Said::Politely("Reply complete, 100 words. Alt+Up to read.".into()));
    let mut stopped = short.clone();
    stopped.status = TurnStatus::Cancelled;
    assert_eq!(ended(stopped, at_composer()), Said::Politely("Stopped.".into()));
    let mut failed = short;
    failed.status = TurnStatus::Error;
    failed.error = Some(crate::domain::Failure::new(crate::domain::FailureKind::StorageFull, "Demo"));
    assert_eq!(ended(failed, at_composer()), Said::AtOnce("Reply failed: The server's disk is full.".into()));
}

#[test]
fn folding_frames_ends_a_turn_like_the_domain_says() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let heard = turn.apply(vec![
            Frame::Other(Aside::Heartbeat { now: sample::time(1) }),
            event(1, Event::TurnEnd { status: TurnStatus::Complete, usage: Usage::default(), cost: None, at: None }),
        ]);
        assert_eq!(heard.server_time, Some(sample::time(0) + TimeDelta::seconds(1)));
        assert!(!turn.is_running());
    });
}

#[test]
fn a_question_is_told_at_once_and_only_once_and_nothing_goes_on_meanwhile() {
    use crate::domain::block::ToolStatus::{AwaitingApproval, Done, Running};
    let call = |name: &str, status| sample::tool_use(name, name, serde_json::json!({}), status);
    let mut saying = Saying::new(0);
    let mut turn = running(2);
    turn.blocks = sample::blocks(2, [call("a", AwaitingApproval), call("b", AwaitingApproval)]);
    turn.blocks[1].block_metadata = serde_json::json!({"tool": {"title": "Delete a file"}});
    let question = Said::AtOnce("Delete a file asks for permission. Press F6 to review.".into());
    assert_eq!(saying.look(&turn, 100, &at_composer()), Some(question));
    for now in [200, 30_000, 600_000] {
        assert_eq!(saying.look(&turn, now, &at_composer()), None, "the person knows");
    }
    // One is answered while another one asks.
    turn.blocks = sample::blocks(2, [call("a", Running), call("b", AwaitingApproval), call("c", AwaitingApproval)]);
    let question = Said::AtOnce("c asks for permission. Press F6 to review.".into());
    assert_eq!(saying.look(&turn, 600_100, &at_composer()), Some(question));
    let pause = crate::domain::waiting::PauseReason::Rounds.content("Paused after 25 tool rounds.");
    turn.blocks = sample::blocks(2, [call("a", Done), call("b", Done), call("c", Done), pause]);
    turn.blocks[3].state = crate::domain::BlockState::Open;
    let paused = Said::AtOnce("Paused after 25 tool rounds. Press F6 to review.".into());
    assert_eq!(saying.look(&turn, 700_000, &at_composer()), Some(paused));
    assert_eq!(saying.look(&turn, 800_000, &at_composer()), None);
}

#[test]
fn the_first_tool_of_each_run_is_told() {
    let call =
        |name: &str| sample::tool_use(name, name, serde_json::json!({}), crate::domain::block::ToolStatus::Running);
    let mut saying = Saying::new(0);
    let mut turn = running(2);
    let mut said = Vec::new();
    let contents = [call("a"), call("b"), Content::text("So."), call("c")];
    for many in 1..=contents.len() {
        turn.blocks = sample::blocks(2, contents[..many].to_vec());
        said.extend(saying.look(&turn, many as i64 * 4_000, &at_composer()));
    }
    let words = ["Using a.", "Assistant is answering.", "Using c."].map(|words| Said::Politely(words.into()));
    assert_eq!(said, words);
}
