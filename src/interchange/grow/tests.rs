//! What grows is a chat as domain.md 4.4 wants it, whatever the conversation was.

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::conversation::{Body, Piece};
use crate::domain::block::{Author, Block, ToolStatus};
use crate::domain::sample;

fn id(key: &str) -> Uuid {
    // Any function of the words will do, as long as other words give another id.
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in key.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    Uuid::from_u128(hash)
}

fn soil(files: HashMap<(usize, usize), Content>) -> Soil<'static> {
    let owner = UserId::from_uuid(sample::uuid(1));
    Soil { owner, now: sample::time(10_000), id: &id, provider: "openai", files }
}

fn message(number: usize, parent: Option<usize>, role: Role, pieces: Vec<Body>) -> Message {
    let author = match role {
        Role::User => Author::User,
        Role::Assistant => Author::Assistant,
        Role::System => Author::System,
    };
    Message {
        source_id: format!("m{number}"),
        parent,
        role,
        provider: None,
        model: (role == Role::Assistant).then(|| "gpt-4o".to_owned()),
        created_at: Some(sample::time(number as i64)),
        ended_at: None,
        ending: Ending::Complete,
        pieces: pieces.into_iter().map(|body| Piece { author, created_at: None, body }).collect(),
        usage: Default::default(),
        is_thinking_mode: None,
    }
}

fn grown(messages: Vec<Message>) -> (ArchivedChat, Vec<Finding>) {
    let conversation = Conversation { source_id: "c".into(), title: "A chat".into(), messages, ..Default::default() };
    let mut findings = Vec::new();
    let chat = grow(&conversation, &soil(HashMap::new()), &mut |finding| findings.push(finding));
    check(&chat);
    (chat, findings)
}

/// The rules of the model, and those of what comes from elsewhere.
fn check(chat: &ArchivedChat) {
    assert_eq!(crate::archive::check(chat), Ok(()));
    let locks: HashMap<_, _> = chat.branches.iter().map(|of| (of.branch.id, &of.branch.lock)).collect();
    let branches: HashMap<_, _> = chat.branches.iter().map(|of| (of.branch.id, &of.branch)).collect();
    let mut seen = HashSet::new();
    for turn in &chat.turns {
        if seen.insert(turn.branch_id) {
            assert_eq!(branches[&turn.branch_id].fork_turn_id, turn.prev_turn_id, "I4: it begins where it forks");
        }
        if turn.role == Role::Assistant {
            assert_eq!(turn.provider_used.as_ref(), Some(&locks[&turn.branch_id].provider), "I3");
            assert_eq!(turn.model_used.as_ref(), Some(&locks[&turn.branch_id].model), "I3");
            assert!(!turn.blocks.is_empty() || turn.status == TurnStatus::Cancelled, "I8: something to see");
            assert_eq!(turn.status == TurnStatus::Error, turn.error.is_some(), "R5: it says why");
        }
    }
    for turn in &chat.turns {
        let results = |call: &Block| {
            let of = turn.blocks.iter().filter(|block| block.parent_block_id == Some(call.id));
            of.filter(|block| matches!(block.content, Content::ToolResult { .. })).count()
        };
        for block in &turn.blocks {
            match &block.content {
                Content::ToolUse { status: ToolStatus::HandedOver, .. } => assert_eq!(results(block), 0, "R6"),
                Content::ToolUse { .. } => assert_eq!(results(block), 1, "R6: a call that is over has its result"),
                Content::ToolResult { .. } => {
                    let call = block.parent_block_id.unwrap();
                    let is_own = turn.blocks.iter().any(|block| block.id == call);
                    let before = chat.turns.iter().find(|before| Some(before.id) == turn.prev_turn_id);
                    let is_before = before.is_some_and(|before| before.blocks.iter().any(|block| block.id == call));
                    assert!(
                        is_own || (turn.role == Role::User && is_before),
                        "I7: it is in its reply or right behind it"
                    );
                }
                _ => {}
            }
        }
    }
    assert_eq!(chat.generations.len(), chat.turns.iter().filter(|turn| turn.role == Role::Assistant).count());
    let turns: HashMap<_, _> = chat.turns.iter().map(|turn| (turn.id, turn.branch_id)).collect();
    assert_eq!(chat.chat.last_viewed_turn_id.map(|turn| turns[&turn]), chat.chat.default_branch_id);
}

fn text(words: &str) -> Body {
    Body::Text(words.to_owned())
}

#[test]
fn versions_are_branches_and_the_first_reply_shares_its_question_s_exchange() {
    let user = |number, parent| message(number, parent, Role::User, vec![text("Hello")]);
    let reply = |number, parent| message(number, parent, Role::Assistant, vec![text("Hi")]);
    let (chat, findings) = grown(vec![
        user(0, None),
        reply(1, Some(0)),
        reply(2, Some(0)),
        user(3, Some(1)),
        reply(4, Some(3)),
        // The first message edited.
        user(5, None),
    ]);
    assert_eq!(findings, []);
    let of =
        |number: usize| chat.turns.iter().find(|turn| turn.id == TurnId::from(id(&format!("turn m{number}")))).unwrap();
    assert_eq!(of(0).exchange_id, of(1).exchange_id);
    assert_ne!(of(2).exchange_id, of(1).exchange_id);
    let question =
        |number| chat.exchanges.iter().find(|exchange| exchange.id == of(number).exchange_id).unwrap().user_turn_id;
    assert_eq!(question(2), Some(of(0).id));
    let branches: Vec<_> = [0, 1, 3, 4].map(|number| of(number).branch_id).to_vec();
    assert!(branches.iter().all(|branch| *branch == branches[0]), "one line goes on on one branch");
    assert_eq!(chat.branches.len(), 3);
    assert_eq!(chat.branches[0].branch.name, "main");
    // Depth first: the whole first line, then the second reply, then the other root.
    assert_eq!([0, 1, 3, 4, 2, 5].map(|number| of(number).ord), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn another_model_is_another_branch_from_its_question_on() {
    let mut other = message(3, Some(2), Role::Assistant, vec![text("b")]);
    (other.provider, other.model) = (Some("anthropic".into()), Some("claude".into()));
    let (chat, _) = grown(vec![
        message(0, None, Role::User, vec![text("a")]),
        message(1, Some(0), Role::Assistant, vec![text("a")]),
        message(2, Some(1), Role::User, vec![text("b")]),
        other,
    ]);
    let locks: Vec<_> =
        chat.branches.iter().map(|of| (of.branch.lock.provider.as_str(), of.branch.lock.model.as_str())).collect();
    assert_eq!(locks, [("openai", "gpt-4o"), ("anthropic", "claude")]);
    assert_eq!(chat.turns[2].branch_id, chat.turns[3].branch_id);
    assert_eq!(chat.branches[1].branch.fork_turn_id, Some(chat.turns[1].id));
}

#[test]
fn thinking_mode_is_inferred_and_results_find_their_calls() {
    let call =
        |id: &str| Body::Call { id: id.into(), name: "search".into(), arguments: json!({"q": 1}), arguments_raw: None };
    let answer = |id: &str, success| Body::Answer {
        id: id.into(),
        name: "search".into(),
        result: json!("x"),
        success,
        metadata: json!({"by": id}),
    };
    let thinking = Body::Thinking { text: "hm".into(), title: None, duration_ms: Some(1_000) };
    let (chat, findings) = grown(vec![
        message(0, None, Role::User, vec![text("Look")]),
        message(
            1,
            Some(0),
            Role::Assistant,
            vec![thinking, call("1"), answer("1", false), call("2"), answer("lost", true), text("Done")],
        ),
    ]);
    assert!(chat.exchanges[0].is_thinking_mode);
    let statuses: Vec<_> = chat.turns[1]
        .blocks
        .iter()
        .filter_map(|block| match &block.content {
            Content::ToolUse { status, .. } => Some(*status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [ToolStatus::Failed, ToolStatus::Cancelled, ToolStatus::Done]);
    let told: Vec<_> = findings.iter().map(|finding| (finding.what, finding.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (What::PutRight, "the call of the result of `search` is missing: one was made"),
            (What::PutRight, "the call of `search` has no result: it is kept as a stopped one"),
        ]
    );
}

#[test]
fn replies_that_failed_stopped_or_said_nothing_are_such() {
    let mut failed = message(1, Some(0), Role::Assistant, vec![text("Half")]);
    failed.ending = Ending::Failed("overloaded".into());
    let mut stopped = message(2, Some(0), Role::Assistant, vec![text("Half")]);
    stopped.ending = Ending::Cancelled;
    let silent = message(3, Some(0), Role::Assistant, vec![]);
    let mut at_once = message(4, Some(0), Role::Assistant, vec![]);
    at_once.ending = Ending::Failed("no such model".into());
    let (chat, _) = grown(vec![message(0, None, Role::User, vec![text("?")]), failed, stopped, silent, at_once]);
    assert_eq!(chat.turns[4].error.as_ref().and_then(|error| error.detail.as_deref()), Some("no such model"));
    let statuses: Vec<_> = chat.turns.iter().map(|turn| turn.status).collect();
    let expected = [TurnStatus::Complete, TurnStatus::Error, TurnStatus::Cancelled, TurnStatus::Cancelled];
    assert_eq!((&statuses[..4], statuses[4]), (expected.as_slice(), TurnStatus::Error));
    let failed = &chat.turns[1];
    assert!(matches!(&failed.blocks[1].content, Content::Text { is_error: true, .. }));
    assert_eq!(failed.error.as_ref().unwrap().detail.as_deref(), Some("overloaded"));
}

#[test]
fn words_and_times_that_cannot_be_are_put_within_their_bounds() {
    let mut messages =
        vec![message(0, None, Role::User, vec![text("a\0b")]), message(1, Some(0), Role::Assistant, vec![text("c")])];
    messages[0].created_at = Some(sample::time(20_000));
    messages[1].created_at = Some(sample::time(-20_000));
    messages[1].model = Some("m\u{7}".repeat(300));
    let conversation = Conversation {
        source_id: "c".into(),
        title: "t\n".repeat(300),
        system_prompt: "s".repeat(limits::SYSTEM_PROMPT_CHARS + 1),
        messages,
        ..Default::default()
    };
    let mut findings = Vec::new();
    let chat = grow(&conversation, &soil(HashMap::new()), &mut |finding| findings.push(finding.text));
    check(&chat);
    assert!(crate::domain::chat::check_title(&chat.chat.title).is_ok(), "{:?}", chat.chat.title);
    assert_eq!(chat.chat.system_prompt.chars().count(), limits::SYSTEM_PROMPT_CHARS);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(chat.turns.iter().all(|turn| turn.created_at <= sample::time(10_000)));
    assert!(!chat.turns[0].content_text().contains('\0'));
}

#[test]
fn what_is_more_than_a_chat_holds_is_left_out_and_said() {
    let messages =
        (0..=limits::SIBLINGS as usize).map(|number| message(number, None, Role::User, vec![text("a")])).collect();
    let (chat, findings) = grown(messages);
    assert_eq!(chat.turns.len(), limits::SIBLINGS as usize);
    assert_eq!(findings.iter().map(|finding| finding.place.message.as_str()).collect::<Vec<_>>(), ["m200"]);
    let long = (0..limits::TURNS_PER_CHAT as usize + 5)
        .map(|number| message(number, number.checked_sub(1), Role::User, vec![text("a")]));
    let (chat, findings) = grown(long.collect());
    assert_eq!((chat.turns.len(), findings.len()), (limits::TURNS_PER_CHAT as usize, 1));
}

fn any_body() -> impl Strategy<Value = Body> {
    let word = "[ab\\x00 ]{0,3}";
    prop_oneof![
        word.prop_map(Body::Text),
        word.prop_map(|text| Body::Thinking { text, title: None, duration_ms: None }),
        "[12]".prop_map(|id| Body::Call { id, name: String::new(), arguments: Value::Null, arguments_raw: None }),
        ("[12]", any::<bool>()).prop_map(|(id, success)| Body::Answer {
            id,
            name: "t".into(),
            result: Value::Null,
            success,
            metadata: Value::Null
        }),
    ]
}

prop_compose! {
    fn any_messages()(rows in prop::collection::vec(
        (any::<prop::sample::Index>(), 0..4_u8, prop::collection::vec(any_body(), 0..4), 0..3_u8, -5_i64..5, 0..3_u8), 1..30,
    )) -> Vec<Message> {
        rows.into_iter().enumerate().map(|(number, (parent, role, pieces, model, time, ending))| {
            let role = [Role::User, Role::Assistant, Role::Assistant, Role::System][usize::from(role)];
            let parent = (number > 0).then(|| parent.index(number + 1)).filter(|parent| *parent < number);
            let mut message = message(number, parent, role, pieces);
            message.model = ["a", "b", ""].get(usize::from(model)).map(|model| (*model).to_owned());
            message.created_at = Some(sample::time(number as i64) + TimeDelta::seconds(time));
            message.ending = [Ending::Complete, Ending::Cancelled, Ending::Failed("x".into())][usize::from(ending)].clone();
            message
        }).collect()
    }
}

proptest! {
    #[test]
    fn every_tree_grows_into_a_chat_that_keeps_the_rules(messages in any_messages()) {
        let (chat, _) = grown(messages.clone());
        prop_assert_eq!(chat.turns.len(), messages.len());
        let conversation = crate::joined(Conversation { messages, ..Default::default() });
        let chat = grow(&conversation, &soil(HashMap::new()), &mut |_| ());
        check(&chat);
        // Written and read again it is the same.
        let text = serde_json::to_string(&chat).unwrap();
        prop_assert_eq!(serde_json::from_str::<ArchivedChat>(&text).map(|mut read| { read.chat.owner_id = chat.chat.owner_id; read }).ok(), Some(chat));
    }
}
