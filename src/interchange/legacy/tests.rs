//! The backfill by tables of rows, and by rows made at random: every row is in the result once, or told.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::bounds;
use crate::conversation::{Body, Conversation, Message};
use crate::domain::turn::Role;
use crate::trial::{Kept, assert_sound, lines};

const GUID: &str = "0E7C79BF-5710-4530-8000-00000000000A";

/// A row of conversation `1`, with its fields by name.
fn row(kind: Kind, fields: &[(Field, &str)]) -> Row {
    let mut values: [Option<Vec<u8>>; 16] = std::array::from_fn(|_| None);
    for (field, text) in fields {
        values[*field as usize] = Some(text.as_bytes().to_vec());
    }
    Row { conversation: "1".to_owned(), kind, values }
}

/// A time of day, in seconds.
fn at(second: u32) -> String {
    format!("2026-02-14 09:00:{second:02}.5000000")
}

fn head() -> Row {
    row(Kind::Conversation, &[(Field::Id, "1"), (Field::Name, "Tides"), (Field::CreatedAt, &at(0))])
}

fn message(id: &str, role: &str, text: &str, second: u32) -> Row {
    let time = at(second);
    row(Kind::Message, &[(Field::Id, id), (Field::Role, role), (Field::Text, text), (Field::CreatedAt, &time)])
}

fn call(id: &str, result: Option<&str>, second: u32) -> Row {
    let time = at(second);
    let mut fields = vec![
        (Field::Id, id),
        (Field::Name, "search"),
        (Field::Arguments, "{\"q\":1}"),
        (Field::CreatedAt, time.as_str()),
    ];
    fields.extend(result.map(|result| (Field::Result, result)));
    row(Kind::Call, &fields)
}

fn thought(id: &str, text: &str, second: u32) -> Row {
    row(Kind::Thought, &[(Field::Id, id), (Field::Text, text), (Field::CreatedAt, &at(second))])
}

fn turn(id: &str, is_thinking: &str, second: u32) -> Row {
    row(Kind::Turn, &[(Field::Id, id), (Field::Flag, is_thinking), (Field::CreatedAt, &at(second))])
}

fn with(mut row: Row, field: Field, text: &str) -> Row {
    row.values[field as usize] = Some(text.as_bytes().to_vec());
    row
}

/// What is gathered of rows, which come in the order of their kinds.
fn gathered(schema: Schema, rows: impl IntoIterator<Item = Row>) -> Vec<Gathered> {
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.sort_by(|one, other| (&one.conversation, one.kind).cmp(&(&other.conversation, other.kind)));
    let mut gathering = Gathering::new(schema);
    let mut all: Vec<Gathered> = rows.into_iter().filter_map(|row| gathering.add(row)).collect();
    all.extend(gathering.end());
    all
}

/// The one conversation of rows, with what was told.
fn one(schema: Schema, rows: impl IntoIterator<Item = Row>) -> (Conversation, Vec<String>) {
    let mut all = gathered(schema, std::iter::once(head()).chain(rows));
    assert_eq!(all.len(), 1);
    let Gathered { conversation, findings, .. } = all.remove(0);
    let conversation = conversation.unwrap();
    assert_sound(&conversation);
    (conversation, Kept { findings, ..Kept::default() }.told())
}

fn modes(conversation: &Conversation) -> Vec<bool> {
    let replies = conversation.messages.iter().filter(|message| message.role != Role::System);
    replies.map(|message| message.is_thinking_mode.unwrap()).collect()
}

#[test]
fn without_turns_each_question_opens_an_exchange_and_the_mode_is_inferred() {
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
    let (conversation, told) = one(Schema::Messages, rows);
    assert_eq!(
        lines(&conversation),
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
    assert_eq!(told, [""; 0]);
    assert_eq!(conversation.source_id, "1 of 2026-02-14 09:00:00.5000000", "a number alone says nothing");
}

#[test]
fn with_turns_the_turn_decides_over_time_and_mode() {
    let turned = |row, turn: &str| with(row, Field::Turn, turn);
    let rows = [
        turn("A", "1", 10),
        turn("B", "0", 20),
        turn("empty", "1", 30),
        turned(message("m1", "user", "First", 10), "A"),
        turned(message("m2", "user", "Second", 20), "B"),
        // Its clock went wrong: its turn knows better.
        turned(message("m3", "assistant", "Late answer", 40), "A"),
        turned(thought("k1", "In a turn that does not think", 21), "B"),
        turned(message("m4", "assistant", "Answer", 22), "B"),
        turned(call("t1", Some("7"), 50), "lost"),
    ];
    let (conversation, told) = one(Schema::Messages, rows);
    assert_eq!(
        lines(&conversation),
        [
            r#"0< user: "First""#,
            r#"1<0 assistant: "Late answer""#,
            r#"2<1 user: "Second""#,
            r#"*3<2 assistant: thinking "In a turn that does not think" | "Answer" | call t1 search {"q":1} | answer t1 search "7""#,
        ]
    );
    assert_eq!(modes(&conversation), [true, true, false, false], "it is stored, not inferred");
    assert_eq!(
        told,
        [
            "put right: 1 › tool call t1: its turn is not there: it was placed without it",
            "left out: 1 › turn empty: nothing was said in it",
        ]
    );
}

#[test]
fn a_database_half_way_through_its_migration_is_read_by_turns_and_by_time() {
    let rows = [
        turn("A", "0", 20),
        message("old", "user", "Before there were turns", 10),
        message("old reply", "assistant", "Old", 11),
        with(message("q", "user", "With a turn", 20), Field::Turn, "A"),
        with(message("r", "assistant", "New", 21), Field::Turn, "A"),
        message("astray", "assistant", "Without one", 22),
    ];
    let (conversation, told) = one(Schema::Messages, rows);
    assert_eq!(
        lines(&conversation),
        [
            r#"0< user: "Before there were turns""#,
            r#"1<0 assistant: "Old""#,
            r#"2<1 user: "With a turn""#,
            r#"*3<2 assistant: "New" | "Without one""#,
        ]
    );
    assert_eq!(told, [""; 0]);
    // A turn that only its reply names is its question's; one without a question stands by itself.
    let rows = [
        turn("A", "1", 10),
        turn("B", "1", 30),
        message("q", "user", "Hello", 10),
        with(message("r", "assistant", "Hi", 11), Field::Turn, "A"),
        with(message("alone", "assistant", "Said to nobody", 30), Field::Turn, "B"),
    ];
    let (conversation, _) = one(Schema::Messages, rows);
    assert_eq!(modes(&conversation), [true; 3]);
    assert_eq!(
        lines(&conversation),
        [r#"0< user: "Hello""#, r#"1<0 assistant: "Hi""#, r#"*2<1 assistant: "Said to nobody""#]
    );
}

#[test]
fn what_stands_before_the_first_question_is_a_reply_to_none() {
    let rows = [
        message("s", "system", "Answer like a harbour master.", 1),
        message("hello", "assistant", "Welcome!", 2),
        call("t", Some("[]"), 3),
        message("q", "user", "Hi", 4),
    ];
    let (conversation, told) = one(Schema::Messages, rows);
    assert_eq!(conversation.system_prompt, "Answer like a harbour master.");
    assert_eq!(
        lines(&conversation),
        [r#"0< assistant: "Welcome!" | call t search {"q":1} | answer t search []"#, r#"*1<0 user: "Hi""#]
    );
    assert_eq!(told, [""; 0]);
}

#[test]
fn a_reply_that_is_only_an_error_failed() {
    let table = [
        (vec![message("r", "assistant", "Error: no connection", 2)], "1<0 assistant (failed: Error: no connection): "),
        (
            vec![message("r", "assistant", "Error: is a word", 2), message("s", "assistant", "Right?", 3)],
            r#"1<0 assistant: "Error: is a word" | "Right?""#,
        ),
        (
            vec![message("r", "assistant", "Half", 2), with(message("s", "assistant", "Gone", 3), Field::Flag, "1")],
            r#"1<0 assistant (failed: Gone): "Half""#,
        ),
        (
            vec![with(message("r", "assistant", "Error: quoted", 2), Field::Flag, "0")],
            r#"1<0 assistant: "Error: quoted""#,
        ),
    ];
    for (reply, expected) in table {
        let (conversation, _) = one(Schema::Messages, std::iter::once(message("q", "user", "?", 1)).chain(reply));
        assert_eq!(lines(&conversation)[1].trim_start_matches('*'), expected);
    }
    let (conversation, _) = one(
        Schema::Actions,
        [message("q", "user", "?", 1), message("r", "assistant", "Error: only in the other schema", 2)],
    );
    assert_eq!(lines(&conversation)[1], r#"*1<0 assistant: "Error: only in the other schema""#);
}

#[test]
fn actions_hang_on_their_messages_and_stand_by_their_time() {
    let of = |row, message: &str| with(row, Field::Message, message);
    let rows = [
        message("q1", "USER", "List the files", 1),
        message("r1", "ASSISTANT", "I look.", 5),
        of(call("a2", Some("{\"success\":false,\"error\":\"no\"}"), 7), "r1"),
        of(with(call("a1", Some("\"a.txt\""), 5), Field::Status, "SUCCESS"), "r1"),
        of(with(call("a0", Some("early"), 3), Field::Metadata, "{\"step\":1}"), "q1"),
        message("q2", "USER", "Thanks", 10),
        message("r2", "ASSISTANT", "At your service.", 11),
        // Later than the next question, and yet of the first reply.
        of(with(call("a3", None, 12), Field::Status, "ERROR"), "r1"),
        of(with(call("a4", None, 13), Field::Status, "PENDING"), "gone"),
    ];
    let (conversation, told) = one(Schema::Actions, rows);
    assert_eq!(
        lines(&conversation),
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
    let Body::Answer { metadata, .. } = &conversation.messages[1].pieces[1].body else { panic!("a result") };
    assert_eq!(metadata["step"], 1);
    assert_eq!(told, ["put right: 1 › tool call a4: its message is not there: it was placed by its time"]);
}

#[test]
fn what_is_wrong_is_told_and_the_rest_comes_in() {
    let mut broken = message("latin", "user", "", 3);
    broken.values[Field::Text as usize] = Some(b"caf\xe9".to_vec());
    let mut huge = message("huge", "assistant", "", 4);
    huge.values[Field::Text as usize] = Some(vec![b'x'; bounds::CELL_BYTES + 1]);
    let rows = [
        message("m1", "user", "Hello", 1),
        message("m1", "assistant", "The same id", 2),
        broken,
        huge,
        message("null", "assistant", "", 5),
        message("who", "narrator", "Once upon a time", 6),
        with(message("old", "assistant", "Long ago", 7), Field::CreatedAt, "0001-01-01 00:00:00"),
        message("t", "tool", "42", 8),
        row(Kind::Message, &[(Field::Id, "timeless"), (Field::Role, "assistant"), (Field::Text, "Whenever")]),
        thought("blank", " ", 9),
    ];
    let (conversation, told) = one(Schema::Messages, rows);
    let said = lines(&conversation);
    assert_eq!((said.len(), said[2].as_str()), (4, "2<1 user: \"caf\u{fffd}\""));
    assert!(
        said[3].ends_with(r#"| call message t tool raw None | answer message t tool "42" | "Long ago" | "Whenever""#),
        "{}",
        &said[3][said[3].len() - 200..]
    );
    assert_eq!(
        told,
        [
            "put right: 1 › message m1: another one has the same id: this one was given a new one",
            "put right: 1 › message latin: text that is not UTF-8 was read as far as it is",
            "lost: 1 › message huge: a value longer than 8388608 bytes was cut",
            "left out: 1 › message null: it has no content",
            "left out: 1 › message who: its role is not known",
            "put right: 1 › message old: a date that cannot be right was left out",
            "put right: 1 › message timeless: it has no date",
            "left out: 1 › think block blank: there are no words in it",
            "put right: 1 › huge: an answer of a tool had no call: one was made for it",
        ]
    );
}

#[test]
fn orphans_and_conversations_that_cannot_be_are_told_and_counted() {
    let elsewhere = |row: Row, conversation: &str| Row { conversation: conversation.to_owned(), ..row };
    let rows = [
        elsewhere(message("o1", "user", "Lost", 1), ""),
        elsewhere(call("o2", None, 1), ""),
        elsewhere(message("o3", "user", "Lost, too", 1), "0"),
        head(),
        head(),
        message("m", "user", "Here", 1),
        elsewhere(with(head(), Field::Id, "2"), "2"),
    ];
    let all = gathered(Schema::Messages, rows);
    let told: Vec<Vec<String>> =
        all.iter().map(|one| Kept { findings: one.findings.clone(), ..Kept::default() }.told()).collect();
    assert_eq!(
        told,
        [
            vec!["left out: message o1: its conversation is not there (2 times)"],
            vec!["left out: 0 › message o3: its conversation is not there"],
            vec!["left out: 1 › conversation 1: another conversation has the same id"],
            vec!["left out: 2: nothing was said in the conversation"],
        ]
    );
    let count = |kind: Kind| {
        all.iter().fold((0, 0), |(read, left_out), one| {
            let count = one.counts[kind.number()];
            (read + count.read, left_out + count.left_out)
        })
    };
    assert_eq!((count(Kind::Conversation), count(Kind::Message), count(Kind::Call)), ((3, 2), (3, 2), (1, 1)));
    assert_eq!(all.iter().map(|one| one.left_out).sum::<u64>(), 2);
}

#[test]
fn a_guid_is_one_however_it_is_written() {
    for written in
        [GUID, "{0e7c79bf-5710-4530-8000-00000000000a}", "0E7C79BF571045308000 00000000000A".replace(' ', "").as_str()]
    {
        let row = with(head(), Field::Id, written);
        assert_eq!(row.id(Field::Id).as_deref(), Some("0e7c79bf-5710-4530-8000-00000000000a"));
    }
}

#[test]
fn what_has_one_time_has_an_order() {
    let one_time = |row| with(row, Field::CreatedAt, &at(1));
    let said = |schema, rows: Vec<Row>| lines(&one(schema, rows.into_iter().map(one_time)).0);
    let rows = || {
        vec![
            message("r", "assistant", "Text", 1),
            call("t", Some("1"), 1),
            thought("k", "Thought", 1),
            message("q", "user", "Question", 1),
        ]
    };
    assert_eq!(
        said(Schema::Messages, rows())[1],
        r#"*1<0 assistant: thinking "Thought" | call t search {"q":1} | answer t search "1" | "Text""#
    );
    let actions = rows().into_iter().filter(|row| row.kind != Kind::Thought).collect();
    assert_eq!(
        said(Schema::Actions, actions)[1],
        r#"*1<0 assistant: "Text" | call t search {"q":1} | answer t search "1""#
    );
    let counted = vec![
        message("q", "user", "Question", 1),
        with(call("t", Some("1"), 1), Field::Order, "1"),
        with(thought("k", "Thought", 1), Field::Order, "2"),
        with(message("r", "assistant", "Text", 1), Field::Order, "0"),
    ];
    assert_eq!(
        said(Schema::Messages, counted)[1],
        r#"*1<0 assistant: "Text" | call t search {"q":1} | answer t search "1" | thinking "Thought""#
    );
}

#[test]
fn two_questions_at_one_time_keep_the_order_that_the_source_gives() {
    let said = |rows: Vec<Row>| {
        let rows = rows.into_iter().map(|row| with(row, Field::CreatedAt, &at(1)));
        lines(&one(Schema::Messages, rows).0)
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
    // The ids are numbers, and count.
    assert_eq!(said(rows(["8", "9", "10", "11"])), expected);
    // There is a column that counts.
    let counted = |rows: Vec<Row>| -> Vec<Row> {
        let count = |row: &Row| match row.values[Field::Text as usize].as_deref() {
            Some(b"First?") => "1",
            Some(b"One.") => "2",
            Some(b"Second?") => "3",
            _ => "10",
        };
        rows.into_iter().map(|row| (count(&row), row)).map(|(order, row)| with(row, Field::Order, order)).collect()
    };
    assert_eq!(said(counted(rows(["d", "c", "b", "a"]))), expected);
    assert_eq!(said(counted(rows(["11", "10", "9", "8"]))), expected, "the column is asked before the ids");
    // Reasoning, which is of another table, stands in the last reply unless it is counted, too.
    let mut with_thought = rows(["8", "9", "10", "11"]);
    with_thought.push(thought("1", "Hm", 1));
    assert_eq!(said(with_thought)[3], r#"*3<2 assistant: thinking "Hm" | "Two.""#);
    let mut with_thought = counted(rows(["d", "c", "b", "a"]));
    for row in &mut with_thought {
        let order = row.values[Field::Order as usize].as_mut().unwrap();
        order.push(b'0');
    }
    with_thought.push(with(thought("k", "Hm", 1), Field::Order, "15"));
    assert_eq!(said(with_thought)[1], r#"1<0 assistant: thinking "Hm" | "One.""#);
    // The reply to what was asked before, and the next question.
    let late = vec![message("2", "assistant", "One.", 1), message("3", "user", "Second?", 1)];
    let first = message("1", "user", "First?", 0);
    let rows = std::iter::once(first).chain(late);
    assert_eq!(lines(&one(Schema::Messages, rows).0), [expected[0], expected[1], r#"*2<1 user: "Second?""#]);
}

#[test]
fn a_reply_without_words_is_where_its_calls_hang() {
    let of = |row, message: &str| with(row, Field::Message, message);
    let rows = [
        message("q1", "user", "Mend it", 1),
        message("r1", "assistant", "", 2),
        message("q2", "user", "And?", 3),
        message("r2", "assistant", "", 4),
        of(call("a1", Some("1"), 5), "r1"),
    ];
    let (conversation, told) = one(Schema::Actions, rows);
    assert_eq!(
        lines(&conversation),
        [
            r#"0< user: "Mend it""#,
            r#"1<0 assistant: call a1 search {"q":1} | answer a1 search "1""#,
            r#"*2<1 user: "And?""#
        ]
    );
    assert_eq!(told, ["left out: 1 › message r2: it has no content"]);
}

/// Any row of the conversations `0`, `1` and of none, with values that fit and values that do not.
fn any_row() -> impl Strategy<Value = Row> {
    let kind = prop_oneof![
        1 => Just(Kind::Conversation),
        2 => Just(Kind::Turn),
        6 => Just(Kind::Message),
        3 => Just(Kind::Call),
        3 => Just(Kind::Thought),
    ];
    let id = prop_oneof!["[ab1-9]", Just(String::new())];
    let other = prop::option::of("[ab1-9]");
    let role = prop::option::weighted(0.95, prop::sample::select(vec!["user", "assistant", "system", "tool", "who"]));
    let time = prop::option::weighted(0.9, prop_oneof![8 => (0..9_u32).prop_map(at), 1 => Just("never".to_owned())]);
    let flag = prop::option::of(prop::sample::select(vec!["0", "1", "maybe"]));
    let result = prop::option::of(prop::sample::select(vec!["{\"a\":1}", "words", "null", ""]));
    (kind, prop::sample::select(vec!["", "0", "1"]), id, (other.clone(), other), role, time, flag, result).prop_map(
        |(kind, conversation, id, (turn, message), role, time, flag, result)| {
            let mut row = Row { conversation: conversation.to_owned(), ..row(kind, &[]) };
            let mut set = |field: Field, text: Option<&str>| {
                row.values[field as usize] = text.map(|text| text.as_bytes().to_vec());
            };
            set(Field::Id, Some(if kind == Kind::Conversation { conversation } else { &id }));
            set(Field::Turn, turn.as_deref());
            set(Field::Message, message.as_deref());
            set(Field::Role, role);
            set(Field::Flag, flag);
            set(Field::Result, result);
            set(Field::CreatedAt, time.as_deref());
            row
        },
    )
}

/// How often each text stands in a conversation, of questions, replies, failures, reasoning and calls.
fn said_in(conversation: &Conversation) -> HashMap<String, usize> {
    let mut said = HashMap::new();
    let mut add = |text: &str| *said.entry(text.to_owned()).or_default() += 1;
    if !conversation.system_prompt.is_empty() {
        add(&conversation.system_prompt);
    }
    for Message { ending, pieces, .. } in &conversation.messages {
        if let crate::conversation::Ending::Failed(why) = ending {
            add(why);
        }
        for piece in pieces {
            match &piece.body {
                Body::Text(text) | Body::Thinking { text, .. } => add(text),
                Body::Call { name, .. } if name.starts_with("row ") => add(name),
                Body::Answer { result, .. } => {
                    if let Some(text) = result.as_str().filter(|text| text.starts_with("row ")) {
                        add(text);
                    }
                }
                _ => {}
            }
        }
    }
    said
}

proptest! {
    /// Each row's words are its number: they are in the result once, or the row is counted among those that were left
    /// out, of which there are as many as were told.
    #[test]
    fn every_row_is_in_the_result_once_or_told(
        rows in prop::collection::vec(any_row(), 0..40),
        schema in prop::sample::select(vec![Schema::Messages, Schema::Actions]),
    ) {
        let mut rows = rows;
        for (number, row) in rows.iter_mut().enumerate() {
            let field = if row.kind == Kind::Call { Field::Name } else { Field::Text };
            if matches!(row.kind, Kind::Message | Kind::Call | Kind::Thought) {
                row.values[field as usize] = Some(format!("row {number}").into_bytes());
            }
        }
        let total = rows.len() as u64;
        let speaking = rows.iter().filter(|row| !matches!(row.kind, Kind::Conversation | Kind::Turn)).count() as u64;
        let all = gathered(schema, rows);
        let (mut said, mut read, mut silent) = (HashMap::new(), 0, 0);
        for one in all {
            read += one.counts.iter().map(|count| count.read).sum::<u64>();
            let left_out = |kind: Kind| one.counts[kind.number()].left_out;
            silent += left_out(Kind::Message) + left_out(Kind::Call) + left_out(Kind::Thought);
            let told = one.findings.iter().filter(|finding| finding.what == crate::report::What::LeftOut).count();
            prop_assert_eq!(told == 0, one.counts.iter().all(|count| count.left_out == 0));
            if let Some(conversation) = one.conversation {
                assert_sound(&conversation);
                for message in &conversation.messages {
                    prop_assert_eq!(message.is_thinking_mode.is_some(), message.role != Role::System);
                }
                said.extend(said_in(&conversation));
            }
        }
        prop_assert_eq!(read, total);
        prop_assert!(said.values().all(|times| *times == 1), "{:?}", said);
        prop_assert_eq!(said.len() as u64 + silent, speaking);
    }
}
