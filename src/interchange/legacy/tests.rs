//! Tests of the backfill with tables of rows and with random rows: every row is in the result once or reported.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::bounds;
use crate::conversation::{Conversation, ImportedMessage, PieceBody};
use crate::domain::turns::turn::Role;
use crate::test_support::{CollectingSink, assert_sound, conversation_lines};

const GUID: &str = "0E7C79BF-5710-4530-8000-00000000000A";

/// Returns a row of conversation `1` with these fields.
fn row(kind: LegacyRowKind, fields: &[(LegacyField, &str)]) -> LegacyRow {
    let mut values: [Option<Vec<u8>>; 16] = std::array::from_fn(|_| None);
    for (field, text) in fields {
        values[*field as usize] = Some(text.as_bytes().to_vec());
    }
    LegacyRow { conversation: "1".to_owned(), kind, position: None, values }
}

/// Returns a time of day with these seconds.
fn at(second: u32) -> String {
    format!("2026-02-14 09:00:{second:02}.5000000")
}

fn head() -> LegacyRow {
    row(
        LegacyRowKind::Conversation,
        &[(LegacyField::Id, "1"), (LegacyField::Name, "Tides"), (LegacyField::CreatedAt, &at(0))],
    )
}

fn message(id: &str, role: &str, text: &str, second: u32) -> LegacyRow {
    let time = at(second);
    row(
        LegacyRowKind::Message,
        &[(LegacyField::Id, id), (LegacyField::Role, role), (LegacyField::Text, text), (LegacyField::CreatedAt, &time)],
    )
}

fn call(id: &str, result: Option<&str>, second: u32) -> LegacyRow {
    let time = at(second);
    let mut fields = vec![
        (LegacyField::Id, id),
        (LegacyField::Name, "search"),
        (LegacyField::Arguments, "{\"q\":1}"),
        (LegacyField::CreatedAt, time.as_str()),
    ];
    fields.extend(result.map(|result| (LegacyField::Result, result)));
    row(LegacyRowKind::Call, &fields)
}

fn thought(id: &str, text: &str, second: u32) -> LegacyRow {
    row(
        LegacyRowKind::Thought,
        &[(LegacyField::Id, id), (LegacyField::Text, text), (LegacyField::CreatedAt, &at(second))],
    )
}

fn turn(id: &str, is_thinking: &str, second: u32) -> LegacyRow {
    row(
        LegacyRowKind::Turn,
        &[(LegacyField::Id, id), (LegacyField::Flag, is_thinking), (LegacyField::CreatedAt, &at(second))],
    )
}

fn with_field(mut row: LegacyRow, field: LegacyField, text: &str) -> LegacyRow {
    row.values[field as usize] = Some(text.as_bytes().to_vec());
    row
}

/// Collects the rows, sorted by conversation and kind.
fn gather_rows(schema: LegacySchema, rows: impl IntoIterator<Item = LegacyRow>) -> Vec<GatheredConversation> {
    let mut rows: Vec<LegacyRow> = rows.into_iter().collect();
    rows.sort_by(|one, other| (&one.conversation, one.kind).cmp(&(&other.conversation, other.kind)));
    let mut gathering = ConversationGatherer::new(schema);
    let mut all: Vec<GatheredConversation> = rows.into_iter().filter_map(|row| gathering.add(row)).collect();
    all.extend(gathering.finish());
    all
}

/// Returns the single conversation of the rows, and the issues.
fn gather_one(schema: LegacySchema, rows: impl IntoIterator<Item = LegacyRow>) -> (Conversation, Vec<String>) {
    let mut all = gather_rows(schema, std::iter::once(head()).chain(rows));
    assert_eq!(all.len(), 1);
    let GatheredConversation { conversation, findings, .. } = all.remove(0);
    let conversation = conversation.unwrap();
    assert_sound(&conversation);
    (conversation, CollectingSink { findings, ..CollectingSink::default() }.issue_lines())
}

fn modes(conversation: &Conversation) -> Vec<bool> {
    let replies = conversation.messages.iter().filter(|message| message.role != Role::System);
    replies.map(|message| message.is_thinking_mode.unwrap()).collect()
}

#[test]
fn rows_of_one_second_keep_insertion_order() {
    let texts = [("user", "q0"), ("assistant", "a0"), ("assistant", "b0"), ("user", "q1"), ("assistant", "a1")];
    // The ids sort differently.
    let ids = ["e", "c", "d", "b", "a"];
    let rows = |is_dated: bool| {
        let rows = texts.iter().zip(ids).zip(1..).map(move |(((role, text), id), position)| {
            let mut row = message(id, role, text, 5);
            if !is_dated {
                row.values[LegacyField::CreatedAt as usize] = None;
            }
            LegacyRow { position: Some(position), ..row }
        });
        let mut rows: Vec<LegacyRow> = rows.collect();
        rows.reverse();
        rows
    };
    for is_dated in [true, false] {
        for schema in [LegacySchema::Messages, LegacySchema::Actions] {
            let (conversation, _) = gather_one(schema, rows(is_dated));
            let lines: Vec<String> = conversation_lines(&conversation)
                .iter()
                .map(|line| line.split_once(": ").unwrap().1.to_owned())
                .collect();
            assert_eq!(lines, [r#""q0""#, r#""a0" | "b0""#, r#""q1""#, r#""a1""#], "{schema:?} {is_dated}");
        }
    }
    // A position that only some rows have decides nothing.
    let mut some = rows(true);
    some[0].position = None;
    let (conversation, _) = gather_one(LegacySchema::Messages, some);
    assert!(conversation_lines(&conversation)[0].contains("q1"));
}

#[test]
fn question_without_turn_row_opens_exchange_and_mode_is_inferred() {
    let rows = [
        message("m5", "assistant", "Low tide is at six.", 22),
        message("m1", "user", "When is high tide?", 10),
        thought("k1", "I should look it up.", 11),
        call("t1", Some("{\"at\":\"17:42\"}"), 12),
        thought("k2", "Found it.", 13),
        call("t2", None, 14),
        message("m2", "Assistant", "At 17:42.", 15),
        message("m3", "user", "And low tide?", 20),
        message("m4", "assistant", "Let me see.", 21),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Messages, rows);
    assert_eq!(
        conversation_lines(&conversation),
        [
            r#"0< user: "When is high tide?""#,
            concat!(
                r#"1<0 assistant: thinking "I should look it up." | call t1 search {"q":1} | "#,
                r#"answer t1 search {"at":"17:42"} | thinking "Found it." | call t2 search {"q":1} | "At 17:42.""#
            ),
            r#"2<1 user: "And low tide?""#,
            r#"*3<2 assistant: "Let me see." | "Low tide is at six.""#,
        ]
    );
    assert_eq!(modes(&conversation), [true, true, false, false]);
    assert_eq!(issues, [""; 0]);
    assert_eq!(conversation.source_id, "1 of 2026-02-14 09:00:00.5000000", "a number alone is ambiguous");
}

#[test]
fn turn_row_decides_exchange_and_mode() {
    let turned = |row, turn: &str| with_field(row, LegacyField::Turn, turn);
    let rows = [
        turn("A", "1", 10),
        turn("B", "0", 20),
        turn("empty", "1", 30),
        turned(message("m1", "user", "First", 10), "A"),
        turned(message("m2", "user", "Second", 20), "B"),
        // Its time is wrong; its turn decides.
        turned(message("m3", "assistant", "Late answer", 40), "A"),
        turned(thought("k1", "In a turn that does not think", 21), "B"),
        turned(message("m4", "assistant", "Answer", 22), "B"),
        turned(call("t1", Some("7"), 50), "lost"),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Messages, rows);
    assert_eq!(
        conversation_lines(&conversation),
        [
            r#"0< user: "First""#,
            r#"1<0 assistant: "Late answer""#,
            r#"2<1 user: "Second""#,
            r#"*3<2 assistant: thinking "In a turn that does not think" | "Answer" | call t1 search {"q":1} | answer t1 search "7""#,
        ]
    );
    assert_eq!(modes(&conversation), [true, true, false, false], "it is stored, not inferred");
    assert_eq!(
        issues,
        [
            "put right: 1 › tool call t1: its turn is missing: it was placed without it",
            "left out: 1 › turn empty: it has no messages",
        ]
    );
}

#[test]
fn partly_migrated_database_is_read_by_turns_and_by_time() {
    let rows = [
        turn("A", "0", 20),
        message("old", "user", "Before there were turns", 10),
        message("old reply", "assistant", "Old", 11),
        with_field(message("q", "user", "With a turn", 20), LegacyField::Turn, "A"),
        with_field(message("r", "assistant", "New", 21), LegacyField::Turn, "A"),
        message("astray", "assistant", "Without one", 22),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Messages, rows);
    assert_eq!(
        conversation_lines(&conversation),
        [
            r#"0< user: "Before there were turns""#,
            r#"1<0 assistant: "Old""#,
            r#"2<1 user: "With a turn""#,
            r#"*3<2 assistant: "New" | "Without one""#,
        ]
    );
    assert_eq!(issues, [""; 0]);
    // A turn that only the reply names belongs to the question; a turn without a question is on its own.
    let rows = [
        turn("A", "1", 10),
        turn("B", "1", 30),
        message("q", "user", "Hello", 10),
        with_field(message("r", "assistant", "Hi", 11), LegacyField::Turn, "A"),
        with_field(message("alone", "assistant", "Said to nobody", 30), LegacyField::Turn, "B"),
    ];
    let (conversation, _) = gather_one(LegacySchema::Messages, rows);
    assert_eq!(modes(&conversation), [true; 3]);
    assert_eq!(
        conversation_lines(&conversation),
        [r#"0< user: "Hello""#, r#"1<0 assistant: "Hi""#, r#"*2<1 assistant: "Said to nobody""#]
    );
}

#[test]
fn rows_before_first_question_become_reply_without_question() {
    let rows = [
        message("s", "system", "Answer like a harbour master.", 1),
        message("hello", "assistant", "Welcome!", 2),
        call("t", Some("[]"), 3),
        message("q", "user", "Hi", 4),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Messages, rows);
    assert_eq!(conversation.system_prompt, "Answer like a harbour master.");
    assert_eq!(
        conversation_lines(&conversation),
        [r#"0< assistant: "Welcome!" | call t search {"q":1} | answer t search []"#, r#"*1<0 user: "Hi""#]
    );
    assert_eq!(issues, [""; 0]);
}

#[test]
fn reply_of_only_error_text_is_failed() {
    let table = [
        (vec![message("r", "assistant", "Error: no connection", 2)], "1<0 assistant (failed: Error: no connection): "),
        (
            vec![message("r", "assistant", "Error: is a word", 2), message("s", "assistant", "Right?", 3)],
            r#"1<0 assistant: "Error: is a word" | "Right?""#,
        ),
        (
            vec![
                message("r", "assistant", "Half", 2),
                with_field(message("s", "assistant", "Gone", 3), LegacyField::Flag, "1"),
            ],
            r#"1<0 assistant (failed: Gone): "Half""#,
        ),
        (
            vec![with_field(message("r", "assistant", "Error: quoted", 2), LegacyField::Flag, "0")],
            r#"1<0 assistant: "Error: quoted""#,
        ),
    ];
    for (reply, expected) in table {
        let (conversation, _) =
            gather_one(LegacySchema::Messages, std::iter::once(message("q", "user", "?", 1)).chain(reply));
        assert_eq!(conversation_lines(&conversation)[1].trim_start_matches('*'), expected);
    }
    let (conversation, _) = gather_one(
        LegacySchema::Actions,
        [message("q", "user", "?", 1), message("r", "assistant", "Error: only in the other schema", 2)],
    );
    assert_eq!(conversation_lines(&conversation)[1], r#"*1<0 assistant: "Error: only in the other schema""#);
}

#[test]
fn actions_belong_to_their_messages_in_time_order() {
    let of = |row, message: &str| with_field(row, LegacyField::Message, message);
    let rows = [
        message("q1", "USER", "List the files", 1),
        message("r1", "ASSISTANT", "I look.", 5),
        of(call("a2", Some("{\"success\":false,\"error\":\"no\"}"), 7), "r1"),
        of(with_field(call("a1", Some("\"a.txt\""), 5), LegacyField::Status, "SUCCESS"), "r1"),
        of(with_field(call("a0", Some("early"), 3), LegacyField::Metadata, "{\"step\":1}"), "q1"),
        message("q2", "USER", "Thanks", 10),
        message("r2", "ASSISTANT", "At your service.", 11),
        // Later than the next question, but it belongs to the first reply.
        of(with_field(call("a3", None, 12), LegacyField::Status, "ERROR"), "r1"),
        of(with_field(call("a4", None, 13), LegacyField::Status, "PENDING"), "gone"),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Actions, rows);
    assert_eq!(
        conversation_lines(&conversation),
        [
            r#"0< user: "List the files""#.to_owned(),
            [
                r#"1<0 assistant: call a0 search {"q":1} | answer a0 search "early" | "I look." | "#,
                r#"call a1 search {"q":1} | answer a1 search "a.txt" | "#,
                r#"call a2 search {"q":1} | answer a2 search failed {"success":false,"error":"no"} | "#,
                r#"call a3 search {"q":1} | answer a3 search failed null"#,
            ]
            .concat(),
            r#"2<1 user: "Thanks""#.to_owned(),
            r#"*3<2 assistant: "At your service." | call a4 search {"q":1}"#.to_owned(),
        ]
    );
    let PieceBody::ToolResult { metadata, .. } = &conversation.messages[1].pieces[1].body else { panic!("a result") };
    assert_eq!(metadata["step"], 1);
    assert_eq!(issues, ["put right: 1 › tool call a4: its message is missing: it was placed by its time"]);
}

#[test]
fn broken_rows_are_reported_and_rest_is_imported() {
    let mut broken = message("latin", "user", "", 3);
    broken.values[LegacyField::Text as usize] = Some(b"caf\xe9".to_vec());
    let mut huge = message("huge", "assistant", "", 4);
    huge.values[LegacyField::Text as usize] = Some(vec![b'x'; bounds::CELL_BYTES + 1]);
    let rows = [
        message("m1", "user", "Hello", 1),
        message("m1", "assistant", "The same id", 2),
        broken,
        huge,
        message("null", "assistant", "", 5),
        message("who", "narrator", "Once upon a time", 6),
        with_field(message("old", "assistant", "Long ago", 7), LegacyField::CreatedAt, "0001-01-01 00:00:00"),
        message("t", "tool", "42", 8),
        row(
            LegacyRowKind::Message,
            &[(LegacyField::Id, "timeless"), (LegacyField::Role, "assistant"), (LegacyField::Text, "Whenever")],
        ),
        thought("blank", " ", 9),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Messages, rows);
    let lines = conversation_lines(&conversation);
    assert_eq!((lines.len(), lines[2].as_str()), (4, "2<1 user: \"caf\u{fffd}\""));
    assert!(
        lines[3].ends_with(r#"| call message t tool raw None | answer message t tool "42" | "Long ago" | "Whenever""#),
        "{}",
        &lines[3][lines[3].len() - 200..]
    );
    assert_eq!(
        issues,
        [
            "put right: 1 › message m1: another one has the same id: this one got a new id",
            "put right: 1 › message latin: text that is not UTF-8 was read up to the first invalid byte",
            "lost: 1 › message huge: a value longer than 8388608 bytes was truncated",
            "left out: 1 › message null: it has no content",
            "left out: 1 › message who: its role is unknown",
            "put right: 1 › message old: an invalid date was skipped",
            "put right: 1 › message timeless: it has no date",
            "left out: 1 › think block blank: it has no text",
            "put right: 1 › huge: a tool result had no tool call: one was added",
        ]
    );
}

#[test]
fn orphans_and_unusable_conversations_are_reported_and_counted() {
    let elsewhere = |row: LegacyRow, conversation: &str| LegacyRow { conversation: conversation.to_owned(), ..row };
    let rows = [
        elsewhere(message("o1", "user", "Lost", 1), ""),
        elsewhere(call("o2", None, 1), ""),
        elsewhere(message("o3", "user", "Lost, too", 1), "0"),
        head(),
        head(),
        message("m", "user", "Here", 1),
        elsewhere(with_field(head(), LegacyField::Id, "2"), "2"),
    ];
    let all = gather_rows(LegacySchema::Messages, rows);
    let issues: Vec<Vec<String>> = all
        .iter()
        .map(|one| CollectingSink { findings: one.findings.clone(), ..CollectingSink::default() }.issue_lines())
        .collect();
    assert_eq!(
        issues,
        [
            vec!["left out: message o1: its conversation is missing (2 times)"],
            vec!["left out: 0 › message o3: its conversation is missing"],
            vec!["left out: 1 › conversation 1: another conversation has the same id"],
            vec!["left out: 2: it has no messages"],
        ]
    );
    let count = |kind: LegacyRowKind| {
        all.iter().fold((0, 0), |(read, left_out), one| {
            let count = one.counts[kind.number()];
            (read + count.read, left_out + count.left_out)
        })
    };
    assert_eq!(
        (count(LegacyRowKind::Conversation), count(LegacyRowKind::Message), count(LegacyRowKind::Call)),
        ((3, 2), (3, 2), (1, 1))
    );
    assert_eq!(all.iter().map(|one| one.left_out).sum::<u64>(), 2);
}

#[test]
fn guid_spellings_are_equal() {
    for written in
        [GUID, "{0e7c79bf-5710-4530-8000-00000000000a}", "0E7C79BF571045308000 00000000000A".replace(' ', "").as_str()]
    {
        let row = with_field(head(), LegacyField::Id, written);
        assert_eq!(row.id(LegacyField::Id).as_deref(), Some("0e7c79bf-5710-4530-8000-00000000000a"));
    }
}

#[test]
fn rows_at_same_time_are_ordered() {
    let one_time = |row| with_field(row, LegacyField::CreatedAt, &at(1));
    let lines =
        |schema, rows: Vec<LegacyRow>| conversation_lines(&gather_one(schema, rows.into_iter().map(one_time)).0);
    let rows = || {
        vec![
            message("r", "assistant", "Text", 1),
            call("t", Some("1"), 1),
            thought("k", "Thought", 1),
            message("q", "user", "Question", 1),
        ]
    };
    assert_eq!(
        lines(LegacySchema::Messages, rows())[1],
        r#"*1<0 assistant: thinking "Thought" | call t search {"q":1} | answer t search "1" | "Text""#
    );
    let actions = rows().into_iter().filter(|row| row.kind != LegacyRowKind::Thought).collect();
    assert_eq!(
        lines(LegacySchema::Actions, actions)[1],
        r#"*1<0 assistant: "Text" | call t search {"q":1} | answer t search "1""#
    );
    let counted = vec![
        message("q", "user", "Question", 1),
        with_field(call("t", Some("1"), 1), LegacyField::Order, "1"),
        with_field(thought("k", "Thought", 1), LegacyField::Order, "2"),
        with_field(message("r", "assistant", "Text", 1), LegacyField::Order, "0"),
    ];
    assert_eq!(
        lines(LegacySchema::Messages, counted)[1],
        r#"*1<0 assistant: "Text" | call t search {"q":1} | answer t search "1" | thinking "Thought""#
    );
}

#[test]
fn questions_at_same_time_keep_source_order() {
    let lines = |rows: Vec<LegacyRow>| {
        let rows = rows.into_iter().map(|row| with_field(row, LegacyField::CreatedAt, &at(1)));
        conversation_lines(&gather_one(LegacySchema::Messages, rows).0)
    };
    let rows = |ids: [&str; 4]| {
        let [q1, a1, q2, a2] = ids;
        vec![
            message(q2, "user", "Second?", 1),
            message(a1, "assistant", "One.", 1),
            message(a2, "assistant", "Two.", 1),
            message(q1, "user", "First?", 1),
        ]
    };
    let expected =
        [r#"0< user: "First?""#, r#"1<0 assistant: "One.""#, r#"2<1 user: "Second?""#, r#"*3<2 assistant: "Two.""#];
    // Numeric ids define the order.
    assert_eq!(lines(rows(["8", "9", "10", "11"])), expected);
    // The order column defines the order.
    let counted = |rows: Vec<LegacyRow>| -> Vec<LegacyRow> {
        let count = |row: &LegacyRow| match row.values[LegacyField::Text as usize].as_deref() {
            Some(b"First?") => "1",
            Some(b"One.") => "2",
            Some(b"Second?") => "3",
            _ => "10",
        };
        rows.into_iter()
            .map(|row| (count(&row), row))
            .map(|(order, row)| with_field(row, LegacyField::Order, order))
            .collect()
    };
    assert_eq!(lines(counted(rows(["d", "c", "b", "a"]))), expected);
    assert_eq!(lines(counted(rows(["11", "10", "9", "8"]))), expected, "the column is asked before the ids");
    // Reasoning from another table belongs to the last reply unless the order column covers it, too.
    let mut with_thought = rows(["8", "9", "10", "11"]);
    with_thought.push(thought("1", "Hm", 1));
    assert_eq!(lines(with_thought)[3], r#"*3<2 assistant: thinking "Hm" | "Two.""#);
    let mut with_thought = counted(rows(["d", "c", "b", "a"]));
    for row in &mut with_thought {
        let order = row.values[LegacyField::Order as usize].as_mut().unwrap();
        order.push(b'0');
    }
    with_thought.push(with_field(thought("k", "Hm", 1), LegacyField::Order, "15"));
    assert_eq!(lines(with_thought)[1], r#"1<0 assistant: thinking "Hm" | "One.""#);
    // The reply to the earlier question, and the next question.
    let late = vec![message("2", "assistant", "One.", 1), message("3", "user", "Second?", 1)];
    let first = message("1", "user", "First?", 0);
    let rows = std::iter::once(first).chain(late);
    assert_eq!(
        conversation_lines(&gather_one(LegacySchema::Messages, rows).0),
        [expected[0], expected[1], r#"*2<1 user: "Second?""#]
    );
}

#[test]
fn empty_reply_holds_its_calls() {
    let of = |row, message: &str| with_field(row, LegacyField::Message, message);
    let rows = [
        message("q1", "user", "Mend it", 1),
        message("r1", "assistant", "", 2),
        message("q2", "user", "And?", 3),
        message("r2", "assistant", "", 4),
        of(call("a1", Some("1"), 5), "r1"),
    ];
    let (conversation, issues) = gather_one(LegacySchema::Actions, rows);
    assert_eq!(
        conversation_lines(&conversation),
        [
            r#"0< user: "Mend it""#,
            r#"1<0 assistant: call a1 search {"q":1} | answer a1 search "1""#,
            r#"*2<1 user: "And?""#
        ]
    );
    assert_eq!(issues, ["left out: 1 › message r2: it has no content"]);
}

/// Generates rows of the conversations `0`, `1` and of none, with valid and invalid values.
fn any_row() -> impl Strategy<Value = LegacyRow> {
    let kind = prop_oneof![
        1 => Just(LegacyRowKind::Conversation),
        2 => Just(LegacyRowKind::Turn),
        6 => Just(LegacyRowKind::Message),
        3 => Just(LegacyRowKind::Call),
        3 => Just(LegacyRowKind::Thought),
    ];
    let id = prop_oneof!["[ab1-9]", Just(String::new())];
    let other = prop::option::of("[ab1-9]");
    let role = prop::option::weighted(0.95, prop::sample::select(vec!["user", "assistant", "system", "tool", "who"]));
    let time = prop::option::weighted(0.9, prop_oneof![8 => (0..9_u32).prop_map(at), 1 => Just("never".to_owned())]);
    let flag = prop::option::of(prop::sample::select(vec!["0", "1", "maybe"]));
    let result = prop::option::of(prop::sample::select(vec!["{\"a\":1}", "words", "null", ""]));
    (kind, prop::sample::select(vec!["", "0", "1"]), id, (other.clone(), other), role, time, flag, result).prop_map(
        |(kind, conversation, id, (turn, message), role, time, flag, result)| {
            let mut row = LegacyRow { conversation: conversation.to_owned(), ..row(kind, &[]) };
            let mut set = |field: LegacyField, text: Option<&str>| {
                row.values[field as usize] = text.map(|text| text.as_bytes().to_vec());
            };
            set(LegacyField::Id, Some(if kind == LegacyRowKind::Conversation { conversation } else { &id }));
            set(LegacyField::Turn, turn.as_deref());
            set(LegacyField::Message, message.as_deref());
            set(LegacyField::Role, role);
            set(LegacyField::Flag, flag);
            set(LegacyField::Result, result);
            set(LegacyField::CreatedAt, time.as_deref());
            row
        },
    )
}

/// Counts the occurrences of each text among questions, replies, failures, reasoning and calls.
fn text_counts(conversation: &Conversation) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut add = |text: &str| *counts.entry(text.to_owned()).or_default() += 1;
    if !conversation.system_prompt.is_empty() {
        add(&conversation.system_prompt);
    }
    for ImportedMessage { ending, pieces, .. } in &conversation.messages {
        if let crate::conversation::MessageEnding::Failed(reason) = ending {
            add(reason);
        }
        for piece in pieces {
            match &piece.body {
                PieceBody::Text(text) | PieceBody::Thinking { text, .. } => add(text),
                PieceBody::ToolCall { name, .. } if name.starts_with("row ") => add(name),
                PieceBody::ToolResult { result, .. } => {
                    if let Some(text) = result.as_str().filter(|text| text.starts_with("row ")) {
                        add(text);
                    }
                }
                _ => {}
            }
        }
    }
    counts
}

proptest! {
    /// The text of each row is its number: it is in the result once, or the row counts as left out, and as many rows
    /// were reported.
    #[test]
    fn every_row_is_imported_once_or_reported(
        rows in prop::collection::vec(any_row(), 0..40),
        schema in prop::sample::select(vec![LegacySchema::Messages, LegacySchema::Actions]),
    ) {
        let mut rows = rows;
        for (number, row) in rows.iter_mut().enumerate() {
            let field = if row.kind == LegacyRowKind::Call { LegacyField::Name } else { LegacyField::Text };
            if matches!(row.kind, LegacyRowKind::Message | LegacyRowKind::Call | LegacyRowKind::Thought) {
                row.values[field as usize] = Some(format!("row {number}").into_bytes());
            }
        }
        let total = rows.len() as u64;
        let speaking = rows.iter().filter(|row| !matches!(row.kind, LegacyRowKind::Conversation | LegacyRowKind::Turn)).count() as u64;
        let all = gather_rows(schema, rows);
        let (mut counts, mut read, mut silent) = (HashMap::new(), 0, 0);
        for one in all {
            read += one.counts.iter().map(|count| count.read).sum::<u64>();
            let left_out = |kind: LegacyRowKind| one.counts[kind.number()].left_out;
            silent += left_out(LegacyRowKind::Message) + left_out(LegacyRowKind::Call) + left_out(LegacyRowKind::Thought);
            let reported = one.findings.iter().filter(|finding| finding.kind == crate::report::IssueKind::LeftOut).count();
            prop_assert_eq!(reported == 0, one.counts.iter().all(|count| count.left_out == 0));
            if let Some(conversation) = one.conversation {
                assert_sound(&conversation);
                for message in &conversation.messages {
                    prop_assert_eq!(message.is_thinking_mode.is_some(), message.role != Role::System);
                }
                counts.extend(text_counts(&conversation));
            }
        }
        prop_assert_eq!(read, total);
        prop_assert!(counts.values().all(|times| *times == 1), "{:?}", counts);
        prop_assert_eq!(counts.len() as u64 + silent, speaking);
    }
}
