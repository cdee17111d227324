//! Tests that every conversation yields a chat that satisfies docs/reference/domain.md 4.4.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::conversation::{MessagePiece, PieceBody};
use crate::domain::blocks::block::{Author, Block, ToolStatus};
use crate::domain::{UserId, fixtures};

fn id(key: &str) -> Uuid {
    // A hash of the words suffices, as long as different words yield different ids.
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in key.bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    Uuid::from_u128(hash)
}

fn build_context(files: HashMap<(usize, usize), Content>) -> BuildContext<'static> {
    let owner = UserId::from_uuid(fixtures::uuid(1));
    BuildContext { owner, now: fixtures::time(10_000), id: &id, provider: "openai", files }
}

fn message(number: usize, parent: Option<usize>, role: Role, pieces: Vec<PieceBody>) -> ImportedMessage {
    let author = match role {
        Role::User => Author::User,
        Role::Assistant => Author::Assistant,
        Role::System => Author::System,
    };
    ImportedMessage {
        source_id: format!("m{number}"),
        parent,
        role,
        provider: None,
        model: (role == Role::Assistant).then(|| "gpt-4o".to_owned()),
        created_at: Some(fixtures::time(number as i64)),
        ended_at: None,
        ending: MessageEnding::Complete,
        pieces: pieces.into_iter().map(|body| MessagePiece { author, created_at: None, body }).collect(),
        usage: Default::default(),
        is_thinking_mode: None,
        parts: Vec::new(),
    }
}

fn build_from_messages(messages: Vec<ImportedMessage>) -> (ArchivedChat, Vec<ImportIssue>) {
    let conversation = Conversation { source_id: "c".into(), title: "A chat".into(), messages, ..Default::default() };
    let mut findings = Vec::new();
    let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |finding| findings.push(finding));
    check(&chat);
    (chat, findings)
}

/// Checks the invariants of the domain model and those of imports.
fn check(chat: &ArchivedChat) {
    assert_eq!(crate::archive::check_chat(chat), Ok(()));
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
            assert_eq!(turn.status == TurnStatus::Error, turn.error.is_some(), "R5: it has an error");
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

fn text(words: &str) -> PieceBody {
    PieceBody::Text(words.to_owned())
}

#[test]
fn versions_become_branches_and_first_reply_shares_exchange_of_its_question() {
    let user = |number, parent| message(number, parent, Role::User, vec![text("Hello")]);
    let reply = |number, parent| message(number, parent, Role::Assistant, vec![text("Hi")]);
    let (chat, findings) = build_from_messages(vec![
        user(0, None),
        reply(1, Some(0)),
        reply(2, Some(0)),
        user(3, Some(1)),
        reply(4, Some(3)),
        // The first message was edited.
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
    // Depth first: the whole first path, then the second reply, then the other root.
    assert_eq!([0, 1, 3, 4, 2, 5].map(|number| of(number).ord), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn other_model_starts_branch_at_its_question() {
    let mut other = message(3, Some(2), Role::Assistant, vec![text("b")]);
    (other.provider, other.model) = (Some("anthropic".into()), Some("claude".into()));
    let (chat, _) = build_from_messages(vec![
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
    let call = |id: &str| PieceBody::ToolCall {
        id: id.into(),
        name: "search".into(),
        arguments: json!({"q": 1}),
        arguments_raw: None,
    };
    let answer = |id: &str, success| PieceBody::ToolResult {
        id: id.into(),
        name: "search".into(),
        result: json!("x"),
        success,
        metadata: json!({"by": id}),
    };
    let thinking = PieceBody::Thinking { text: "hm".into(), title: None, duration_ms: Some(1_000) };
    let (chat, findings) = build_from_messages(vec![
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
    let issues: Vec<_> = findings.iter().map(|finding| (finding.kind, finding.text.as_str())).collect();
    assert_eq!(
        issues,
        [
            (IssueKind::PutRight, "the tool call for the result of `search` is missing: one was added"),
            (IssueKind::PutRight, "the tool call `search` has no result: imported as stopped"),
        ]
    );
}

#[test]
fn headings_of_imported_reasoning_are_titles_where_provider_means_them() {
    let thinking = |text: &str| PieceBody::Thinking { text: text.into(), title: None, duration_ms: None };
    let titles = |provider: &str| {
        let mut reply = message(1, Some(0), Role::Assistant, vec![thinking("**One**\n\nx\n\n**Two**"), text("Done")]);
        reply.provider = Some(provider.to_owned());
        let (chat, _) = build_from_messages(vec![message(0, None, Role::User, vec![text("Look")]), reply]);
        let block = &chat.turns[1].blocks[0];
        (block.reasoning_titles(), block.reasoning_title())
    };
    let both = || (vec!["One".to_owned(), "Two".to_owned()], Some("Two".to_owned()));
    assert_eq!((titles("openai"), titles("google")), (both(), both()));
    assert_eq!(titles("anthropic"), (Vec::new(), None));
}

#[test]
fn failed_stopped_and_empty_replies_keep_their_status() {
    let mut failed = message(1, Some(0), Role::Assistant, vec![text("Half")]);
    failed.ending = MessageEnding::Failed("overloaded".into());
    let mut stopped = message(2, Some(0), Role::Assistant, vec![text("Half")]);
    stopped.ending = MessageEnding::Cancelled;
    let silent = message(3, Some(0), Role::Assistant, vec![]);
    let mut at_once = message(4, Some(0), Role::Assistant, vec![]);
    at_once.ending = MessageEnding::Failed("no such model".into());
    let (chat, _) =
        build_from_messages(vec![message(0, None, Role::User, vec![text("?")]), failed, stopped, silent, at_once]);
    assert_eq!(chat.turns[4].error.as_ref().and_then(|error| error.detail.as_deref()), Some("no such model"));
    let statuses: Vec<_> = chat.turns.iter().map(|turn| turn.status).collect();
    let expected = [TurnStatus::Complete, TurnStatus::Error, TurnStatus::Cancelled, TurnStatus::Cancelled];
    assert_eq!((&statuses[..4], statuses[4]), (expected.as_slice(), TurnStatus::Error));
    let failed = &chat.turns[1];
    assert!(matches!(&failed.blocks[1].content, Content::Text { is_error: true, .. }));
    let failure_message = |turn: &Turn| {
        let error = turn.error.as_ref().unwrap();
        (error.message.clone(), error.detail.clone().unwrap_or_default())
    };
    assert_eq!(failure_message(failed), ("overloaded".to_owned(), "overloaded".to_owned()));
    assert_eq!(chat.turns[4].blocks[0].content, Content::Text { text: "no such model".into(), is_error: true });
    for (reason, message) in [
        (" \nfirst\nsecond", "first"),
        ("", "This reply had failed in the source."),
        ("This reply had failed in the source.", "This reply had failed in the source."),
    ] {
        let mut failed = self::message(1, Some(0), Role::Assistant, vec![]);
        failed.ending = MessageEnding::Failed(reason.into());
        let question = self::message(0, None, Role::User, vec![text("?")]);
        let (chat, _) = build_from_messages(vec![question, failed]);
        assert_eq!(failure_message(&chat.turns[1]).0, message);
        assert_eq!(chat.turns[1].blocks[0].content, Content::Text { text: message.into(), is_error: true });
    }
}

#[test]
fn out_of_range_texts_and_times_are_clamped() {
    let mut messages =
        vec![message(0, None, Role::User, vec![text("a\0b")]), message(1, Some(0), Role::Assistant, vec![text("c")])];
    messages[0].created_at = Some(fixtures::time(20_000));
    messages[1].created_at = Some(fixtures::time(-20_000));
    messages[1].model = Some("m\u{7}".repeat(300));
    let conversation = Conversation {
        source_id: "c".into(),
        title: "t\n".repeat(300),
        system_prompt: "s".repeat(limits::SYSTEM_PROMPT_CHARS + 1),
        messages,
        ..Default::default()
    };
    let mut findings = Vec::new();
    let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |finding| findings.push(finding.text));
    check(&chat);
    assert!(crate::domain::chats::chat::check_title(&chat.chat.title).is_ok(), "{:?}", chat.chat.title);
    assert_eq!(chat.chat.system_prompt.chars().count(), limits::SYSTEM_PROMPT_CHARS);
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert!(chat.turns.iter().all(|turn| turn.created_at <= fixtures::time(10_000)));
    assert!(!chat.turns[0].content_text().contains('\0'));
}

/// Builds a conversation of messages at these seconds; returns the times of its turns, the start of the chat, and the
/// issues.
fn times(conversation: Option<i64>, messages: &[Option<i64>]) -> (Vec<i64>, i64, Vec<String>) {
    let timed_message = |(number, at): (usize, &Option<i64>)| {
        let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
        let of = message(number, number.checked_sub(1), role, vec![text("a")]);
        ImportedMessage { created_at: at.map(fixtures::time), ..of }
    };
    let conversation = Conversation {
        source_id: "c".into(),
        title: "A chat".into(),
        created_at: conversation.map(fixtures::time),
        messages: messages.iter().enumerate().map(timed_message).collect(),
        ..Default::default()
    };
    let mut findings = Vec::new();
    let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |finding| findings.push(finding));
    check(&chat);
    let seconds = |at: DateTime<Utc>| (at - fixtures::time(0)).num_seconds();
    let issues = findings.into_iter().map(|finding| format!("{} {}", finding.location.message, finding.text)).collect();
    (chat.turns.iter().map(|turn| seconds(turn.created_at)).collect(), seconds(chat.chat.created_at), issues)
}

#[test]
fn message_dates_take_precedence_over_conversation_dates() {
    let moved = "its date is before that of the previous message, or in the future: it was adjusted";
    let no_issues: [&str; 0] = [];
    // The conversation has no date, one after its messages, or one in the future.
    for conversation in [None, Some(5_000), Some(20_000)] {
        let (turns, begun, issues) = times(conversation, &[Some(100), Some(200), None, Some(300)]);
        assert_eq!((turns.as_slice(), begun), ([100, 200, 200, 300].as_slice(), 100));
        assert_eq!(issues, no_issues);
    }
    let (turns, begun, issues) = times(Some(50), &[None, Some(200)]);
    assert_eq!((turns.as_slice(), begun), ([50, 200].as_slice(), 50));
    assert_eq!(issues, no_issues);
    // Without any date the current time is used.
    assert_eq!(times(None, &[None, None]), (vec![10_000; 2], 10_000, vec![]));
    // An impossible date affects only its own message.
    let (turns, begun, issues) = times(None, &[Some(100), Some(20_000), Some(200), Some(150), Some(90)]);
    assert_eq!((turns.as_slice(), begun), ([100, 100, 200, 200, 200].as_slice(), 90));
    assert_eq!(issues, [format!("m1 {moved} (3 times)")]);
}

#[test]
fn reply_without_model_takes_conversation_model_and_chat_flags_are_kept() {
    let mut messages = vec![
        message(0, None, Role::User, vec![text("a")]),
        message(1, Some(0), Role::Assistant, vec![text("b")]),
        message(2, Some(0), Role::Assistant, vec![text("c")]),
    ];
    messages[1].model = None;
    let model = Some("o3".to_owned());
    let conversation = Conversation {
        messages,
        model,
        is_pinned: true,
        is_archived: true,
        title: "A chat".into(),
        ..Default::default()
    };
    let mut issues = Vec::new();
    let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |finding| issues.push(finding.text));
    let since = Some(chat.chat.updated_at);
    assert_eq!((chat.chat.pinned_at, chat.chat.archived_at), (since, since));
    let models: Vec<_> = chat.turns.iter().filter_map(|turn| turn.model_used.as_deref()).collect();
    assert_eq!(models, ["o3", "gpt-4o"]);
    assert_eq!(issues, [""; 0]);
}

#[test]
fn messages_beyond_chat_limits_are_left_out_and_reported() {
    let messages =
        (0..=limits::SIBLINGS as usize).map(|number| message(number, None, Role::User, vec![text("a")])).collect();
    let (chat, findings) = build_from_messages(messages);
    assert_eq!(chat.turns.len(), limits::SIBLINGS as usize);
    assert_eq!(findings.iter().map(|finding| finding.location.message.as_str()).collect::<Vec<_>>(), ["m200"]);
    let long = (0..limits::TURNS_PER_CHAT as usize + 5)
        .map(|number| message(number, number.checked_sub(1), Role::User, vec![text("a")]));
    let (chat, mut findings) = build_from_messages(long.collect());
    // Issues about their future dates are ignored.
    findings.retain(|finding| finding.kind == IssueKind::LeftOut);
    assert_eq!((chat.turns.len(), findings.len()), (limits::TURNS_PER_CHAT as usize, 1));
}

fn any_body() -> impl Strategy<Value = PieceBody> {
    let word = "[ab\\x00 ]{0,3}";
    prop_oneof![
        word.prop_map(PieceBody::Text),
        word.prop_map(|text| PieceBody::Thinking { text, title: None, duration_ms: None }),
        "[12]".prop_map(|id| PieceBody::ToolCall {
            id,
            name: String::new(),
            arguments: Value::Null,
            arguments_raw: None
        }),
        ("[12]", any::<bool>()).prop_map(|(id, success)| PieceBody::ToolResult {
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
    )) -> Vec<ImportedMessage> {
        rows.into_iter().enumerate().map(|(number, (parent, role, pieces, model, time, ending))| {
            let role = [Role::User, Role::Assistant, Role::Assistant, Role::System][usize::from(role)];
            let parent = (number > 0).then(|| parent.index(number + 1)).filter(|parent| *parent < number);
            let mut message = message(number, parent, role, pieces);
            message.model = ["a", "b", ""].get(usize::from(model)).map(|model| (*model).to_owned());
            message.created_at = Some(fixtures::time(number as i64) + TimeDelta::seconds(time));
            message.ending = [MessageEnding::Complete, MessageEnding::Cancelled, MessageEnding::Failed("x".into())][usize::from(ending)].clone();
            message
        }).collect()
    }
}

/// Returns the stored state of a chat.
fn existing_chat(chat: &ArchivedChat) -> incremental::ExistingChat {
    let place = |turn: &Turn| incremental::ExistingTurn {
        prev_turn_id: turn.prev_turn_id,
        branch_id: turn.branch_id,
        exchange_id: turn.exchange_id,
        depth: turn.depth,
        created_at: turn.created_at,
    };
    let branch = |of: &crate::archive::ArchivedBranch| {
        (of.branch.id, (of.branch.name.clone(), of.branch.lock.clone(), of.branch.head_turn_id))
    };
    incremental::ExistingChat {
        turns: chat.turns.iter().map(|turn| (turn.id, place(turn))).collect(),
        deleted: HashSet::new(),
        branches: chat.branches.iter().map(branch).collect(),
    }
}

/// Returns the chat with the additions.
fn merged(mut chat: ArchivedChat, added: ArchivedChat) -> ArchivedChat {
    for mut turn in added.turns {
        turn.ord = chat.turns.last().map_or(1, |last| last.ord + 1);
        for block in &mut turn.blocks {
            block.chat_seq = crate::domain::blocks::block::chat_seq(turn.ord, block.seq);
        }
        for of in &mut chat.branches {
            if of.branch.id == turn.branch_id {
                of.branch.head_turn_id = Some(turn.id);
            }
        }
        chat.turns.push(turn);
    }
    chat.generations.extend(added.generations);
    chat.exchanges.extend(added.exchanges);
    chat.branches.extend(added.branches);
    chat
}

#[test]
fn new_turns_are_added_below_existing_ones() {
    let user = |number, parent| message(number, parent, Role::User, vec![text("Hello")]);
    let reply = |number, parent| message(number, parent, Role::Assistant, vec![text("Hi")]);
    let before = vec![user(0, None), reply(1, Some(0)), user(2, Some(1))];
    let mut after = before.clone();
    let mut other = reply(6, Some(5));
    other.model = Some("o3".into());
    after.extend([reply(3, Some(2)), reply(4, Some(0)), user(5, Some(3)), other]);
    let (chat, _) = build_from_messages(before);
    let (now, _) = build_from_messages(after);
    let (added, behind) = incremental::collect_additions(&now, &existing_chat(&chat), &id);
    assert_eq!(behind, 0);
    let old: Vec<_> = chat.turns.iter().map(|turn| (turn.id, turn.ord, turn.branch_id)).collect();
    let main = chat.branches[0].branch.id;
    let chat = merged(chat, added);
    check(&chat);
    assert_eq!(chat.turns[..3].iter().map(|turn| (turn.id, turn.ord, turn.branch_id)).collect::<Vec<_>>(), old);
    let of =
        |number: usize| chat.turns.iter().find(|turn| turn.id == TurnId::from(id(&format!("turn m{number}")))).unwrap();
    assert_eq!(of(3).branch_id, main, "it goes on where its question is");
    assert_ne!(of(4).branch_id, main, "a version has a branch of its own");
    assert_ne!(of(5).branch_id, main, "another model, too, from its question on");
    assert_eq!((of(5).branch_id, of(5).exchange_id), (of(6).branch_id, of(6).exchange_id));
    // Additions below a deleted turn are left out.
    let mut existing = existing_chat(&chat);
    for number in 3..7 {
        existing.turns.remove(&of(number).id);
    }
    existing.deleted.insert(of(3).id);
    let (added, behind) = incremental::collect_additions(&now, &existing, &id);
    assert_eq!((added.turns.len(), behind), (1, 2));
}

proptest! {
    #[test]
    fn incrementally_imported_chat_keeps_invariants(messages in any_messages(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(messages.len()) + 1;
        let (before, _) = build_from_messages(messages[..cut].to_vec());
        let (now, _) = build_from_messages(messages.clone());
        let (added, behind) = incremental::collect_additions(&now, &existing_chat(&before), &id);
        prop_assert_eq!(before.turns.len() + added.turns.len() + behind, messages.len());
        let chat = merged(before, added);
        check(&chat);
        let (nothing, left) = incremental::collect_additions(&now, &existing_chat(&chat), &id);
        prop_assert_eq!((nothing.turns.len(), left), (0, behind));
    }

    #[test]
    fn any_message_tree_becomes_chat_that_keeps_invariants(messages in any_messages()) {
        let (chat, _) = build_from_messages(messages.clone());
        prop_assert_eq!(chat.turns.len(), messages.len());
        let conversation = crate::merge_replies(Conversation { messages, ..Default::default() });
        let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |_| ());
        check(&chat);
        // Serialization round-trips.
        let text = serde_json::to_string(&chat).unwrap();
        prop_assert_eq!(serde_json::from_str::<ArchivedChat>(&text).map(|mut read| { read.chat.owner_id = chat.chat.owner_id; read }).ok(), Some(chat));
    }
}

#[test]
fn chat_with_too_many_branches_is_cut_and_its_archive_reads_back() {
    let most = usize::try_from(limits::BRANCHES_PER_CHAT).unwrap();
    let exchanges = most + 3;
    let mut messages = Vec::with_capacity(2 * exchanges);
    for number in 0..exchanges {
        let text = || vec![PieceBody::Text("x".into())];
        let mut question = message(2 * number, (2 * number).checked_sub(1), Role::User, text());
        let mut reply = message(2 * number + 1, Some(2 * number), Role::Assistant, text());
        (question.created_at, reply.created_at) = (None, None);
        messages.push(question);
        // The model alternates.
        reply.model = Some(format!("model {}", number % 2));
        messages.push(reply);
    }
    let conversation = Conversation { source_id: "c".into(), messages, ..Default::default() };
    let mut findings = Vec::new();
    let chat = build_chat(&conversation, &build_context(HashMap::new()), &mut |finding| findings.push(finding));
    assert_eq!((chat.branches.len(), chat.turns.len()), (most, 2 * most));
    assert_eq!(crate::archive::check_chat(&chat), Ok(()));
    let reported: Vec<&str> = findings.iter().map(|finding| finding.location.message.as_str()).collect();
    assert_eq!((reported, findings[0].kind), (vec![format!("m{}", 2 * most).as_str()], IssueKind::LeftOut));
    assert!(findings[0].text.contains("6 messages"), "{}", findings[0].text);
}
