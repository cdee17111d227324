//! Tests of how a chat's turns follow frames, snapshots and other tabs.

use chrono::TimeDelta;
use uuid::Uuid;

use super::announcement_policy::{Announcement, AnnouncementPolicy, ListenerContext};
use super::*;
use crate::api::view::TurnsPage;
use crate::domain::turns::frame::{StreamFrame, StreamSignal as Aside};
use crate::domain::{BlockState, Content, Event, Turn, TurnStatus, Usage, fixtures};

pub(super) fn view(turn: Turn) -> TurnView {
    TurnView::new(turn)
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
    fixtures::turn(ord, Role::Assistant, TurnStatus::Streaming)
}

fn event(seq: u64, event: Event) -> StreamFrame {
    StreamFrame::Event { turn_id: fixtures::turn_id(2), seq, event }
}

fn start(seq: u64) -> StreamFrame {
    let mut block = fixtures::block(2, 0, Content::text(""));
    block.state = BlockState::Open;
    event(seq, Event::BlockStart { block })
}

fn delta(seq: u64, text: &str) -> StreamFrame {
    event(seq, Event::BlockDelta { block_id: fixtures::block(2, 0, Content::text("")).id, text: text.into() })
}

#[test]
fn hosts_are_known_from_messages_written_here() {
    in_owner(|| {
        let mut imported = fixtures::user_turn(3, "https://stranger.example/");
        imported.id = Uuid::new_v8(imported.id.uuid().into_bytes()).into();
        let mut system = fixtures::user_turn(5, "https://system.example/");
        system.role = Role::System;
        let own = fixtures::user_turn(1, "https://mine.example/");
        let state = chat([own, imported, system].map(view).into());
        let known = state.known_hosts().get_untracked();
        let has = |host: &str| known.is_known(host, &format!("https://{host}/"));
        assert!(has("mine.example") && !has("stranger.example") && !has("system.example"));
    });
}

/// Counts how often a memo that reads through `read` is computed.
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
fn delta_notifies_only_subscribers_of_its_block() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        turn.apply(vec![start(1), delta(2, "He")]);
        let block = fixtures::block(2, 0, Content::text("")).id;
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
fn first_letter_of_block_changes_shape() {
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
fn heading_of_reasoning_changes_shape() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let mut block = fixtures::block(2, 0, Content::thinking(""));
        block.state = BlockState::Open;
        block.block_metadata = crate::domain::blocks::reasoning_title::headings_metadata();
        turn.apply(vec![event(1, Event::BlockStart { block }), delta(2, "**One")]);
        let of_shape = turn.clone();
        let titles = count(move || of_shape.with(|view| view.turn.blocks[0].reasoning_title()));
        assert_eq!(titles(), (None, 1));
        turn.apply(vec![delta(3, "**")]);
        assert_eq!(titles(), (None, 1), "the line may go on");
        turn.apply(vec![delta(4, "\n\nText.")]);
        assert_eq!(titles(), (Some("One".to_owned()), 2));
        turn.apply(vec![delta(5, "More.\n")]);
        assert_eq!(titles().1, 2);
    });
}

#[test]
fn gap_is_reported_and_nothing_after_it_is_applied() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let outcome = turn.apply(vec![start(1), delta(3, "lost"), delta(4, "more")]);
        assert!(outcome.is_gap);
        assert_eq!(turn.with_untracked(|view| view.turn.last_event_seq), 1);
    });
}

#[test]
fn snapshot_replaces_turn_and_keeps_markup_by_block() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let mut whole = fixtures::reply(2, [Content::text("Hi")]);
        whole.last_event_seq = 9;
        let block_id = whole.blocks[0].id;
        turn.apply(vec![StreamFrame::Other(Aside::Snapshot { turn: Box::new(whole) })]);
        for parts in [vec!["<p>a</p>".to_owned()], vec!["<p>b</p>".to_owned()]] {
            turn.apply(vec![StreamFrame::Other(Aside::Markup { block_id, parts })]);
        }
        assert_eq!(turn.with_untracked(|view| view.markup.len()), 1);
        assert_eq!(
            turn.with_block(block_id, |_, markup| markup.map(|m| m.parts.clone())),
            Some(Some(vec!["<p>b</p>".into()]))
        );
    });
}

#[test]
fn corrected_text_is_drawn_without_markup_of_the_old_one() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let block_id = fixtures::block(2, 0, Content::text("")).id;
        let end = |seq, content| event(seq, Event::BlockEnd { block_id, state: BlockState::Done, content });
        turn.apply(vec![start(1), delta(2, "Oen"), end(3, None)]);
        turn.apply(vec![StreamFrame::Other(Aside::Markup { block_id, parts: vec!["<p>Oen</p>".to_owned()] })]);
        turn.apply(vec![end(4, Some(Content::text("One")))]);
        let drawn = turn.with_block(block_id, |block, markup| (block.content.clone(), markup.is_some()));
        assert_eq!(drawn, Some((Content::text("One"), false)));
    });
}

#[test]
fn turn_is_put_at_its_place_on_path() {
    in_owner(|| {
        let state = chat(vec![view(fixtures::user_turn(1, "Hi")), view(fixtures::reply(2, []))]);
        assert!(state.put_turn(view(fixtures::user_turn(3, "More"))));
        assert_eq!(ids(state), [1, 2, 3].map(fixtures::turn_id));
        // Another version of the first reply replaces what followed.
        let mut again = running(9);
        again.prev_turn_id = Some(fixtures::turn_id(1));
        assert!(state.put_turn(view(again)));
        assert_eq!(ids(state), [1, 9].map(fixtures::turn_id));
        assert_eq!(state.running_reply(), Some(fixtures::turn_id(9)));
        let mut elsewhere = running(20);
        elsewhere.prev_turn_id = Some(fixtures::turn_id(19));
        assert!(!state.put_turn(view(elsewhere)));
    });
}

#[test]
fn older_view_of_turn_updates_only_its_versions() {
    in_owner(|| {
        let mut done = fixtures::reply(2, [Content::text("Done")]);
        done.last_event_seq = 5;
        let turn = TurnState::new(view(done));
        let mut old = view(running(2));
        old.siblings = vec![fixtures::turn_id(2), fixtures::turn_id(8)];
        turn.replace(old);
        turn.with_untracked(|view| {
            assert_eq!(view.turn.status, TurnStatus::Complete);
            assert_eq!(view.siblings.len(), 2);
        });
    });
}

#[test]
fn showing_another_path_keeps_shared_turns() {
    in_owner(|| {
        let state = chat(vec![view(fixtures::user_turn(1, "Hi")), view(running(2))]);
        state.find(fixtures::turn_id(2)).unwrap().apply(vec![start(1), delta(2, "so far")]);
        let turns = vec![view(fixtures::user_turn(1, "Hi")), view(running(2)), view(fixtures::user_turn(3, "x"))];
        state.show_turns(TurnsPage { turns, has_more_before: false, has_more_after: false });
        let kept = state.find(fixtures::turn_id(2)).unwrap();
        assert_eq!(kept.with_untracked(|view| view.turn.content_text()), "so far");
    });
}

fn at_composer() -> ListenerContext {
    ListenerContext {
        is_at_composer: true,
        keys_to_reply: crate::ui::messages::transcript::announcements::keys_to_read(),
    }
}

#[test]
fn minute_of_writing_has_few_announcements_and_no_token() {
    let mut policy = AnnouncementPolicy::new(0);
    let mut turn = running(2);
    let mut announcements = Vec::new();
    for tick in 0..600 {
        let now = tick * 100;
        if now == 2_000 {
            turn.blocks = fixtures::blocks(2, [Content::thinking("hm")]);
        }
        if now == 20_000 {
            turn.blocks = fixtures::blocks(2, [Content::thinking("hm"), Content::text("word")]);
        }
        announcements.extend(policy.next_announcement(&turn, now, &at_composer()));
    }
    assert!(announcements.len() <= 12, "{announcements:?}");
    assert_eq!(announcements[0], Announcement::Polite("Assistant is thinking.".into()));
    assert_eq!(announcements[1], Announcement::Polite("Still thinking, 12 seconds.".into()));
    assert!(announcements.contains(&Announcement::Polite("Assistant is replying.".into())));
    assert!(!announcements.iter().any(|announcements| format!("{announcements:?}").contains("word")));
}

#[test]
fn end_of_reply_is_announced_once_and_failure_assertively() {
    let ended = |turn: Turn, reader: ListenerContext| {
        let mut policy = AnnouncementPolicy::new(0);
        let first = policy.next_announcement(&turn, 100, &reader);
        assert_eq!(policy.next_announcement(&turn, 60_000, &reader), None);
        first.unwrap()
    };
    let short = fixtures::reply(2, [Content::text("Four words are here.")]);
    assert_eq!(ended(short.clone(), at_composer()), Announcement::Polite("Reply: Four words are here.".into()));
    let marked = fixtures::reply(2, [Content::text("## Four\n\n- **words** `are` [here](https://example.org)")]);
    assert_eq!(ended(marked, at_composer()), Announcement::Polite("Reply: Four words are here".into()));
    assert_eq!(
        ended(short.clone(), ListenerContext::default()),
        Announcement::Polite("Reply complete, 4 words.".into())
    );
    let long = fixtures::reply(2, [Content::text("word ".repeat(100))]);
    assert_eq!(
        ended(long, at_composer()),
        Announcement::Polite("Reply complete, 100 words. Press Alt+Up to read.".into())
    );
    let mut stopped = short.clone();
    stopped.status = TurnStatus::Cancelled;
    assert_eq!(ended(stopped, at_composer()), Announcement::Polite("Stopped.".into()));
    let mut failed = short;
    failed.status = TurnStatus::Error;
    failed.error = Some(crate::domain::Failure::new(crate::domain::FailureKind::StorageFull, "Demo"));
    assert_eq!(
        ended(failed, at_composer()),
        Announcement::Assertive("Reply failed: The server's disk is full.".into())
    );
}

#[test]
fn folded_frames_end_turn_as_domain_does() {
    in_owner(|| {
        let turn = TurnState::new(view(running(2)));
        let outcome = turn.apply(vec![
            StreamFrame::Other(Aside::Heartbeat { now: fixtures::time(1) }),
            event(1, Event::TurnEnd { status: TurnStatus::Complete, usage: Usage::default(), cost: None, at: None }),
        ]);
        assert_eq!(outcome.server_time, Some(fixtures::time(0) + TimeDelta::seconds(1)));
        assert!(!turn.is_running());
    });
}

#[test]
fn question_is_announced_assertively_once_and_pauses_progress() {
    use crate::domain::blocks::block::ToolStatus::{AwaitingApproval, Done, Running};
    let call = |name: &str, status| fixtures::tool_use(name, name, serde_json::json!({}), status);
    let mut policy = AnnouncementPolicy::new(0);
    let mut turn = running(2);
    turn.blocks = fixtures::blocks(2, [call("a", AwaitingApproval), call("b", AwaitingApproval)]);
    turn.blocks[1].block_metadata = serde_json::json!({"tool": {"title": "Delete a file"}});
    let question = Announcement::Assertive("Delete a file needs your approval. Press F6 to review.".into());
    assert_eq!(policy.next_announcement(&turn, 100, &at_composer()), Some(question));
    for now in [200, 30_000, 600_000] {
        assert_eq!(policy.next_announcement(&turn, now, &at_composer()), None, "the person knows");
    }
    // One call is approved while another one asks.
    turn.blocks = fixtures::blocks(2, [call("a", Running), call("b", AwaitingApproval), call("c", AwaitingApproval)]);
    let question = Announcement::Assertive("c needs your approval. Press F6 to review.".into());
    assert_eq!(policy.next_announcement(&turn, 600_100, &at_composer()), Some(question));
    let pause = crate::domain::turns::user_input_wait::ReplyPauseReason::Rounds.content();
    turn.blocks = fixtures::blocks(2, [call("a", Done), call("b", Done), call("c", Done), pause]);
    turn.blocks[3].state = crate::domain::BlockState::Open;
    let paused = Announcement::Assertive("Paused after 25 rounds of tool calls. Press F6 to review.".into());
    assert_eq!(policy.next_announcement(&turn, 700_000, &at_composer()), Some(paused));
    assert_eq!(policy.next_announcement(&turn, 800_000, &at_composer()), None);
}

#[test]
fn first_tool_of_each_run_is_announced() {
    let call = |name: &str| {
        fixtures::tool_use(name, name, serde_json::json!({}), crate::domain::blocks::block::ToolStatus::Running)
    };
    let mut policy = AnnouncementPolicy::new(0);
    let mut turn = running(2);
    let mut announcements = Vec::new();
    let contents = [call("a"), call("b"), Content::text("So."), call("c")];
    for many in 1..=contents.len() {
        turn.blocks = fixtures::blocks(2, contents[..many].to_vec());
        announcements.extend(policy.next_announcement(&turn, many as i64 * 4_000, &at_composer()));
    }
    let words = ["Using a.", "Assistant is replying.", "Using c."].map(|words| Announcement::Polite(words.into()));
    assert_eq!(announcements, words);
}
