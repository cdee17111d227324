//! Tests of how the window moves along the path.

use super::*;
use crate::domain::{Role, TurnStatus, fixtures};

fn view(ord: i64) -> TurnView {
    let turn = if ord % 2 == 1 { fixtures::user_turn(ord, "Hi") } else { fixtures::reply(ord, []) };
    to_view(turn)
}

fn to_view(turn: crate::domain::Turn) -> TurnView {
    TurnView { is_thinking_mode: false, ..TurnView::new(turn) }
}

fn views(ords: std::ops::RangeInclusive<i64>) -> Vec<TurnView> {
    ords.map(view).collect()
}

fn page(ords: std::ops::RangeInclusive<i64>, leaf: i64) -> TurnsPage {
    TurnsPage { has_more_before: *ords.start() > 1, has_more_after: *ords.end() < leaf, turns: views(ords) }
}

/// A page of a chat whose path has `leaf` turns.
fn chat_page(ords: std::ops::RangeInclusive<i64>, leaf: i64) -> ChatPage {
    ChatPage {
        has_more_before: *ords.start() > 1,
        end: (*ords.end() < leaf).then(|| view(leaf)),
        turns: views(ords),
        ..ChatPage::default()
    }
}

fn window(ords: std::ops::RangeInclusive<i64>, leaf: i64) -> ChatState {
    let page = chat_page(ords, leaf);
    ChatState::new(page.turns.clone(), Callback::new(|_| {})).with_edges_of(&page)
}

/// Returns the first and the last turn on screen, whether there is more on either side, and the path's end.
fn seen(state: ChatState) -> (Vec<u128>, bool, bool, u128) {
    let number = |id: TurnId| id.as_u128() & 0xffff_ffff;
    let ids: Vec<u128> = state.path.get_untracked().iter().map(|turn| number(turn.id())).collect();
    assert!(ids.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{ids:?}");
    let ends = vec![*ids.first().unwrap(), *ids.last().unwrap()];
    expect_batches(state);
    let more = |side| untrack(move || state.has_more(side));
    (ends, more(PathDirection::Older), more(PathDirection::Newer), number(state.leaf_id().unwrap()))
}

/// Asserts that every batch is one contiguous stretch, and that the list renders all turns in order.
fn expect_batches(state: ChatState) {
    let batches = untrack(move || state.batches());
    let mut once = batches.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), batches.len(), "{batches:?}");
    let shown: Vec<_> = batches.into_iter().flat_map(|batch| untrack(move || state.turns_of_batch(batch))).collect();
    let path = state.path.get_untracked();
    assert!(shown.iter().map(TurnState::id).eq(path.iter().map(TurnState::id)));
}

fn in_owner<T>(run: impl FnOnce() -> T) -> T {
    Owner::new().with(run)
}

fn id(ord: u64) -> TurnId {
    fixtures::turn_id(ord)
}

#[test]
fn older_and_newer_turns_join_those_on_screen() {
    in_owner(|| {
        let state = window(40..=50, 90);
        assert_eq!(seen(state), (vec![40, 50], true, true, 90));
        assert!(state.take_turns(PathDirection::Older, id(40), page(10..=39, 90)));
        assert_eq!(seen(state), (vec![10, 50], true, true, 90));
        assert!(state.take_turns(PathDirection::Older, id(10), page(1..=9, 90)));
        assert_eq!(seen(state), (vec![1, 50], false, true, 90));
        assert!(state.take_turns(PathDirection::Newer, id(50), page(51..=80, 90)));
        assert_eq!(seen(state), (vec![1, 80], false, true, 90));
        assert!(state.take_turns(PathDirection::Newer, id(80), page(81..=90, 90)));
        assert_eq!(seen(state), (vec![1, 90], false, false, 90));
    });
}

#[test]
fn older_turns_get_own_batch_and_newer_turns_extend_last_batch() {
    in_owner(|| {
        let state = window(61..=90, 120);
        state.take_turns(PathDirection::Older, id(61), page(31..=60, 120));
        state.take_turns(PathDirection::Older, id(31), page(1..=30, 120));
        state.take_turns(PathDirection::Newer, id(90), page(91..=119, 120));
        assert_eq!(untrack(move || state.batches()), [2, 1, 0]);
        state.trim(PathDirection::Newer, 40, |_| false);
        assert_eq!(untrack(move || state.batches()), [2, 1]);
        state.take_turns(PathDirection::Newer, id(40), page(41..=120, 120));
        assert_eq!(seen(state), (vec![1, 120], false, false, 120));
    });
}

#[test]
fn turns_requested_before_window_moved_are_dropped() {
    in_owner(|| {
        let state = window(40..=50, 90);
        state.show_turns(page(1..=20, 90));
        assert!(!state.take_turns(PathDirection::Older, id(40), page(10..=39, 90)));
        assert!(!state.take_turns(PathDirection::Newer, id(50), page(51..=80, 90)));
        assert_eq!(seen(state), (vec![1, 20], false, true, 90));
    });
}

#[test]
fn far_turns_are_removed_and_can_return() {
    in_owner(|| {
        let state = window(41..=90, 90);
        state.take_turns(PathDirection::Older, id(41), page(11..=40, 90));
        state.trim(PathDirection::Newer, 60, |_| false);
        assert_eq!(seen(state), (vec![11, 70], true, true, 90));
        state.take_turns(PathDirection::Newer, id(70), page(71..=90, 90));
        state.trim(PathDirection::Older, 60, |_| false);
        assert_eq!(seen(state), (vec![31, 90], true, false, 90));
    });
}

#[test]
fn turn_in_use_stays_with_all_before_it() {
    in_owner(|| {
        let state = window(11..=90, 90);
        state.trim(PathDirection::Newer, 60, |turn| turn == id(85));
        assert_eq!(seen(state), (vec![11, 85], true, true, 90));
        state.trim(PathDirection::Older, 60, |turn| turn == id(11));
        assert_eq!(seen(state), (vec![11, 85], true, true, 90));
    });
}

#[test]
fn running_reply_is_known_wherever_reader_is() {
    in_owner(|| {
        let mut page = chat_page(1..=20, 90);
        page.end = Some(to_view(fixtures::turn(90, Role::Assistant, TurnStatus::Streaming)));
        let state = ChatState::new(page.turns.clone(), Callback::new(|_| {})).with_edges_of(&page);
        assert_eq!(untrack(move || state.running_reply()), Some(id(90)));
        let running = state.find_if_alive(id(90)).unwrap();
        state.take_turns(PathDirection::Newer, id(20), super::tests::page(21..=90, 90));
        let shown = state.find_if_alive(id(90)).unwrap();
        shown.with_untracked(|view| assert_eq!(view.turn.ord, 90));
        running.replace(to_view(fixtures::reply(90, [crate::domain::Content::text("done")])));
        assert_eq!(shown.with_untracked(|view| view.turn.content_text()), "done", "it is the same turn");
        assert_eq!(seen(state), (vec![1, 90], false, false, 90));
    });
}

#[test]
fn message_sent_from_far_up_is_shown_with_turn_it_follows() {
    in_owner(|| {
        let state = window(1..=20, 90);
        assert!(state.put_turn(view(91)));
        assert_eq!(seen(state), (vec![90, 91], true, false, 91));
        assert!(state.put_turn(view(92)));
        assert_eq!(seen(state), (vec![90, 92], true, false, 92));
    });
}

#[test]
fn page_of_same_path_keeps_turns_loaded_before_it() {
    in_owner(|| {
        let state = window(1..=90, 90);
        state.show_page(chat_page(43..=92, 92));
        assert_eq!(seen(state), (vec![1, 92], false, false, 92));
        state.show_page(chat_page(400..=450, 900));
        assert_eq!(seen(state), (vec![400, 450], true, true, 900));
    });
}

#[test]
fn turns_added_in_another_tab_do_not_move_reader_far_up() {
    in_owner(|| {
        let state = window(1..=20, 90);
        assert_eq!(state.follow_path(chat_page(43..=92, 92), Some(id(5))), None);
        assert_eq!(seen(state), (vec![1, 20], false, true, 92));
        // A reader who follows the end keeps following it.
        let state = window(43..=92, 92);
        assert_eq!(state.follow_path(chat_page(43..=82, 82), None), None);
        assert_eq!(seen(state), (vec![43, 82], true, false, 82));
    });
}

#[test]
fn end_deleted_in_another_tab_does_not_move_reader_far_up() {
    in_owner(|| {
        let state = window(1..=20, 90);
        // It is unknown whether the turns on screen are still on the path, so the page is returned for the server to
        // decide.
        let page = chat_page(39..=88, 88);
        assert_eq!(state.follow_path(page.clone(), Some(id(5))), Some(page));
        assert_eq!(seen(state), (vec![1, 20], false, true, 90));
        state.show_with_end(super::tests::page(1..=42, 88), view(88));
        assert_eq!(seen(state), (vec![1, 42], false, true, 88));
        state.show_with_end(super::tests::page(39..=88, 88), view(88));
        assert_eq!(seen(state), (vec![1, 88], false, false, 88), "they are of the same path");
        // The turn before the reader's eyes is on the page, or before it on the same path.
        for at in [60, 5] {
            assert_eq!(state.follow_path(chat_page(39..=86, 86), Some(id(at))), None);
            assert_eq!(seen(state), (vec![1, 86], false, false, 86));
        }
    });
}

#[test]
fn deleted_turn_removes_rest_of_path() {
    in_owner(|| {
        let state = window(1..=20, 90);
        assert!(untrack(move || state.start_loading(PathDirection::Newer)));
        assert_eq!(state.remove_from(id(11)), Some(id(10)));
        assert_eq!(seen(state), (vec![1, 10], false, false, 10));
        // Only the end is deleted: its ancestors are not on screen, and the server reports the new end.
        let state = window(1..=20, 90);
        state.remove_from(id(90));
        assert_eq!(seen(state), (vec![1, 20], false, true, 90));
    });
}

#[test]
fn failed_load_stops_only_its_side() {
    in_owner(|| {
        let state = window(40..=50, 90);
        let may = |side| untrack(move || state.may_load(side));
        assert!(may(PathDirection::Older) && may(PathDirection::Newer));
        state.fail_loading(PathDirection::Newer);
        assert!(may(PathDirection::Older) && !may(PathDirection::Newer));
        state.fail_loading(PathDirection::Older);
        assert!(!may(PathDirection::Older) && !may(PathDirection::Newer), "one failure does not make another good");
        assert!(untrack(move || state.start_loading(PathDirection::Older)));
        state.finish_loading();
        assert!(may(PathDirection::Older) && !may(PathDirection::Newer));
        state.show_page(chat_page(20..=30, 90));
        assert!(may(PathDirection::Older) && may(PathDirection::Newer), "these are other turns");
        assert!(untrack(move || state.start_loading(PathDirection::Older)));
        assert!(!may(PathDirection::Older) && !may(PathDirection::Newer));
    });
}

#[test]
fn response_after_move_is_stale() {
    in_owner(|| {
        let state = window(40..=50, 90);
        let latest = state.start_move();
        assert!(state.is_current_move(latest));
        state.show_page(chat_page(1..=20, 20));
        assert!(!state.is_current_move(latest));
        let hit = state.start_move();
        state.put_turn(view(21));
        assert!(!state.is_current_move(hit), "a message was sent meanwhile");
        // A path that only grew elsewhere is still the requested one.
        let state = window(40..=50, 90);
        let latest = state.start_move();
        state.follow_path(chat_page(43..=92, 92), None);
        assert!(state.is_current_move(latest));
        state.show_turns(page(60..=90, 90));
        assert_eq!(seen(state), (vec![60, 90], true, true, 92));
    });
}

#[test]
fn turn_being_deleted_is_hidden_and_restored_in_place() {
    in_owner(|| {
        let state = window(41..=60, 90);
        assert!(state.hide_from(id(50)) && state.has_pending_deletion());
        assert_eq!(seen(state), (vec![41, 49], true, false, 49));
        assert!(state.unhide_from(id(50)) && !state.has_pending_deletion());
        assert_eq!(seen(state), (vec![41, 60], true, true, 90));
        assert!(!state.hide_from(id(39)), "it is not on screen");
        // The server confirmed the deletion.
        assert!(state.hide_from(id(60)));
        assert_eq!((state.forget_hidden(id(60)), state.forget_hidden(id(60))), (Some(true), None));
        assert_eq!(seen(state), (vec![41, 59], true, false, 59));
    });
}

#[test]
fn hidden_turns_do_not_replace_path_shown_since() {
    in_owner(|| {
        let state = window(41..=60, 60);
        state.hide_from(id(58));
        assert!(state.put_turn(TurnView {
            turn: crate::domain::Turn { prev_turn_id: Some(id(57)), ..view(61).turn },
            ..view(61)
        }));
        assert!(!state.unhide_from(id(58)) && !state.has_pending_deletion());
        assert_eq!(state.leaf_id(), Some(id(61)));
        state.hide_from(id(61));
        state.show_page(chat_page(1..=10, 10));
        assert_eq!(state.forget_hidden(id(61)), Some(false));
    });
}

#[test]
fn poll_that_began_before_move_or_ends_during_start_is_not_shown() {
    in_owner(|| {
        let state = window(41..=60, 60);
        let moves = state.current_move();
        assert!(state.may_show_polled(moves));
        state.count_start(true);
        state.count_start(true);
        state.count_start(false);
        assert!(!state.may_show_polled(moves), "one response is pending");
        state.count_start(false);
        assert!(state.may_show_polled(moves));
        assert!(state.hide_from(id(50)));
        assert!(!state.may_show_polled(state.current_move()), "the server still has the hidden turns");
        assert!(state.unhide_from(id(50)));
        assert!(!state.may_show_polled(moves), "the path ends as before, and has changed since");
        assert!(state.may_show_polled(state.current_move()));
    });
}
