//! Tests of merging: examples of what is merged, and generated trees in which nothing may be lost.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conversation::PieceBody;
use crate::domain::blocks::block::Author;
use crate::domain::usage::token_counts::Usage;

fn message(parent: Option<usize>, role: Role, model: Option<&str>, text: &str) -> ImportedMessage {
    let author = match role {
        Role::User => Author::User,
        Role::Assistant => Author::Assistant,
        Role::System => Author::System,
    };
    ImportedMessage {
        source_id: text.to_owned(),
        parent,
        role,
        provider: None,
        model: model.map(str::to_owned),
        created_at: None,
        ended_at: None,
        ending: MessageEnding::Complete,
        pieces: vec![MessagePiece { author, created_at: None, body: PieceBody::Text(text.to_owned()) }],
        usage: Usage::default(),
        is_thinking_mode: None,
        parts: Vec::new(),
    }
}

fn reply(parent: usize, text: &str) -> ImportedMessage {
    message(Some(parent), Role::Assistant, None, text)
}

fn conversation_of(messages: Vec<ImportedMessage>) -> Conversation {
    Conversation { current: messages.len().checked_sub(1), messages, ..Conversation::default() }
}

/// Returns the parent and the texts of each message.
fn parents_and_texts(conversation: &Conversation) -> Vec<(Option<usize>, String)> {
    let describe = |message: &ImportedMessage| {
        let texts = message.pieces.iter().map(|piece| match &piece.body {
            PieceBody::Text(text) => text.as_str(),
            _ => "·",
        });
        texts.collect::<Vec<_>>().join(" ")
    };
    conversation.messages.iter().map(|message| (message.parent, describe(message))).collect()
}

#[test]
fn merged_reply_is_split_again() {
    let question = message(None, Role::User, None, "q");
    let mut third = reply(2, "c");
    third.usage.output_tokens = Some(3);
    third.ending = MessageEnding::Cancelled;
    let all = vec![question, reply(0, "a"), reply(1, "b"), third.clone(), message(Some(3), Role::User, None, "r")];
    let merged = merge_replies(conversation_of(all));
    let split = |begins: &[&str]| split_replies(merged.clone(), &begins.iter().map(|id| (*id).to_owned()).collect());
    assert_eq!(split(&["a", "q", "gone"]), merged);
    let two = split(&["c"]);
    let texts = ["q", "a b", "c", "r"];
    let expected: Vec<_> = texts.iter().enumerate().map(|(at, text)| (at.checked_sub(1), (*text).to_owned())).collect();
    assert_eq!(parents_and_texts(&two), expected);
    assert_eq!((two.current, &two.messages[2].ending, two.messages[2].usage), (Some(3), &third.ending, third.usage));
    assert_eq!(two.messages[1].ending, MessageEnding::Complete);
    assert_eq!(parents_and_texts(&split(&["b", "c"])).len(), 5);
    assert_eq!(merge_replies(two), merged);
}

#[test]
fn consecutive_replies_are_merged() {
    let time = |second: i64| chrono::DateTime::from_timestamp(second, 0);
    let mut call = reply(0, "call");
    call.created_at = time(10);
    call.usage.output_tokens = Some(3);
    let mut answer = reply(1, "answer");
    answer.pieces[0].author = Author::Tool;
    answer.created_at = time(11);
    let mut text = reply(2, "text");
    (text.model, text.provider) = (Some("m".into()), Some("openai".into()));
    (text.ended_at, text.ending) = (time(13), MessageEnding::Cancelled);
    (text.usage.output_tokens, text.usage.input_tokens) = (Some(4), Some(9));
    let user = message(None, Role::User, None, "ask");
    let again = message(Some(3), Role::User, None, "and?");
    let whole = merge_replies(conversation_of(vec![user, call, answer, text, again]));
    assert_eq!(
        parents_and_texts(&whole),
        [(None, "ask".into()), (Some(0), "call answer text".into()), (Some(1), "and?".into())]
    );
    let one = &whole.messages[1];
    assert_eq!(
        (one.source_id.as_str(), one.model.as_deref(), one.provider.as_deref()),
        ("call", Some("m"), Some("openai"))
    );
    assert_eq!((one.created_at, one.ended_at, &one.ending), (time(10), time(13), &MessageEnding::Cancelled));
    assert_eq!((one.usage.output_tokens, one.usage.input_tokens), (Some(7), Some(9)));
    let times: Vec<_> = one.pieces.iter().map(|piece| piece.created_at).collect();
    assert_eq!(times, [time(10), time(11), None]);
    assert_eq!(whole.current, Some(2));
}

#[test]
fn fork_model_change_failure_or_speaker_change_ends_merge() {
    let user = || message(None, Role::User, None, "u");
    let by = |parent, model, text| message(Some(parent), Role::Assistant, Some(model), text);
    let mut failed = reply(0, "a");
    failed.ending = MessageEnding::Failed("no".into());
    let table = [
        // A fork within the run: both branches attach to the merged run, in order.
        (
            vec![user(), reply(0, "a"), reply(1, "b"), reply(2, "c"), reply(2, "d"), reply(3, "e")],
            vec![(None, "u"), (Some(0), "a b"), (Some(1), "c e"), (Some(1), "d")],
        ),
        // The first named model applies to all that follow.
        (
            vec![user(), reply(0, "a"), by(1, "m", "b"), reply(2, "c"), by(3, "n", "d"), by(4, "n", "e")],
            vec![(None, "u"), (Some(0), "a b c"), (Some(1), "d e")],
        ),
        (vec![user(), failed, reply(1, "b")], vec![(None, "u"), (Some(0), "a"), (Some(1), "b")]),
        (
            vec![user(), message(Some(0), Role::User, None, "v"), reply(1, "a")],
            vec![(None, "u"), (Some(0), "v"), (Some(1), "a")],
        ),
        (
            vec![reply(9, "a"), message(Some(0), Role::System, None, "s"), message(Some(1), Role::System, None, "t")],
            vec![(None, "a"), (Some(0), "s"), (Some(1), "t")],
        ),
    ];
    for (messages, expected) in table {
        let expected: Vec<(Option<usize>, String)> =
            expected.into_iter().map(|(parent, text)| (parent, text.to_owned())).collect();
        assert_eq!(parents_and_texts(&merge_replies(conversation_of(messages))), expected);
    }
}

#[test]
fn call_without_result_is_unchanged() {
    let call = PieceBody::ToolCall { id: "1".into(), name: "f".into(), arguments: json!({}), arguments_raw: None };
    let mut lonely = reply(0, "");
    lonely.pieces[0].body = call.clone();
    let whole = merge_replies(conversation_of(vec![message(None, Role::User, None, "u"), lonely]));
    assert_eq!(whole.messages[1].pieces[0].body, call);
}

fn tree() -> impl Strategy<Value = Conversation> {
    let one = (0..8_usize, any::<prop::sample::Index>(), 0..4_u8, 0..3_u8, any::<bool>());
    prop::collection::vec(one, 0..40).prop_map(|parts| {
        let messages = parts.into_iter().enumerate().map(|(at, (speaker, parent, model, ending, is_deep))| {
            // Mostly long chains, to create runs; sometimes random parents, to create forks.
            let parent = match at {
                0 => None,
                at if is_deep || speaker > 2 => Some(at - 1),
                at => Some(parent.index(at)),
            };
            let role = match speaker {
                0 => Role::User,
                1 => Role::System,
                _ => Role::Assistant,
            };
            let model = [None, None, Some("m"), Some("n")][usize::from(model)];
            let mut message = message(parent, role, model, &at.to_string());
            message.ending = match ending {
                0 => MessageEnding::Failed("f".into()),
                1 => MessageEnding::Cancelled,
                _ => MessageEnding::Complete,
            };
            message.usage.output_tokens = Some(1);
            message
        });
        conversation_of(messages.collect())
    })
}

/// Returns all content on the path to each leaf.
fn paths(conversation: &Conversation) -> Vec<Vec<String>> {
    let messages = &conversation.messages;
    let parents: std::collections::HashSet<usize> = messages.iter().filter_map(|message| message.parent).collect();
    let leaves = (0..messages.len()).filter(|at| !parents.contains(at));
    let path = |leaf: usize| {
        let up = std::iter::successors(Some(leaf), |at| messages[*at].parent);
        let mut pieces: Vec<String> =
            up.flat_map(|at| messages[at].pieces.iter().rev().map(|piece| format!("{:?}", piece.body))).collect();
        pieces.reverse();
        pieces
    };
    let mut paths: Vec<_> = leaves.map(path).collect();
    paths.sort();
    paths
}

proptest! {
    #[test]
    fn merging_loses_nothing_and_is_idempotent(conversation in tree()) {
        let before = paths(&conversation);
        let usage: u64 = conversation.messages.iter().filter_map(|message| message.usage.output_tokens).sum();
        let failed = |whole: &Conversation| {
            whole.messages.iter().filter(|message| matches!(message.ending, MessageEnding::Failed(_))).count()
        };
        let failures = failed(&conversation);
        let ends_at = |whole: &Conversation| {
            whole.current.map(|at| format!("{:?}", whole.messages[at].pieces.last()))
        };
        let current = ends_at(&conversation);
        let whole = merge_replies(conversation);
        prop_assert_eq!(paths(&whole), before);
        prop_assert_eq!(failed(&whole), failures);
        prop_assert_eq!(ends_at(&whole), current);
        prop_assert_eq!(whole.messages.iter().filter_map(|message| message.usage.output_tokens).sum::<u64>(), usage);
        for (at, message) in whole.messages.iter().enumerate() {
            prop_assert!(message.parent.is_none_or(|parent| parent < at));
        }
        prop_assert_eq!(merge_replies(whole.clone()), whole);
    }
}
