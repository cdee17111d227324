//! Tests that every code has a sentence in both languages, that rows of older versions show the sentences of new ones,
//! and that what is unknown is shown as it is stored.

use crate::domain::messages::drop_reason::DropReason;
use serde_json::{Value, json};

use super::*;
use crate::domain::messages::message_template::{MessageArgs, message_args};
use crate::domain::providers::capabilities::ValueRange;
use crate::domain::{BlockState, Content, Failure, FailureKind, fixtures};
use crate::ui::locale::with_locale;

/// Returns what a page shows in English and in Chinese.
fn in_both<T>(show: impl Fn() -> T) -> [T; 2] {
    [Locale::English, Locale::Chinese].map(|locale| with_locale(locale, &show))
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}

/// Checks a sentence: both languages are there, without an unfilled placeholder.
fn check_both([english, chinese]: &[String; 2]) {
    assert!(!is_chinese(english) && is_chinese(chinese), "{english} {chinese}");
    assert!(
        !english.is_empty() && ![english, chinese].into_iter().any(|text| text.contains('{')),
        "{english} {chinese}"
    );
}

fn failure(stored: Value) -> [String; 2] {
    let failure: Failure = serde_json::from_value(stored).unwrap();
    in_both(|| failure_sentence(&failure))
}

fn dropped(stored: Value) -> [String; 2] {
    let dropped: DroppedParam = serde_json::from_value(stored).unwrap();
    in_both(|| not_sent_sentences(std::slice::from_ref(&dropped)).unwrap())
}

fn other_block(stored: Value) -> Block {
    Block { state: BlockState::Open, ..fixtures::block(2, 0, serde_json::from_value(stored).unwrap()) }
}

fn pause(content: Content) -> [String; 2] {
    let block = Block { state: BlockState::Open, ..fixtures::block(2, 0, content) };
    in_both(|| pause_sentence(&block).unwrap())
}

fn request() -> ApprovalRequest {
    let fields = json!({"server": "s", "tool": "t", "title": "T", "schema_hash": "", "hash": "h"});
    serde_json::from_value(fields).unwrap()
}

#[test]
fn every_failure_is_shown_by_its_code() {
    let name = "Anthropic {at} home";
    let mut all: Vec<Failure> = FailureKind::ALL.into_iter().map(|kind| Failure::new(kind, name)).collect();
    all.push(Failure::stalled(60, name));
    for made in all {
        let [english, chinese] = in_both(|| failure_sentence(&made));
        assert_eq!(english, made.message);
        check_both(&[english.replace(name, ""), chinese.replace(name, "")]);
        assert_eq!(chinese.contains(name), english.contains(name), "{chinese}");
        // The code decides, whatever the English sentence of that version is.
        if made.kind != FailureKind::Unknown {
            let other = Failure { message: "Another wording.".into(), ..made.clone() };
            assert_eq!(in_both(|| failure_sentence(&other)), [english.clone(), chinese.clone()]);
        }
        let without_args = Failure { args: MessageArgs::new(), ..made };
        assert_eq!(in_both(|| failure_sentence(&without_args)), [english, chinese]);
    }
}

#[test]
fn failures_of_older_versions_are_shown_like_new_ones() {
    for (kind, old) in [
        (FailureKind::ProviderUnreachable, "Could not reach Demo."),
        (FailureKind::ProviderAuth, "The key for Demo was refused."),
        (FailureKind::ProviderQuota, "Your account at Demo has no quota left."),
        (FailureKind::ProviderRateLimited, "Demo is limiting requests."),
        (FailureKind::ProviderOverloaded, "Demo is overloaded. The reply up to here is kept."),
        (FailureKind::ProviderError, "Demo failed while answering."),
        (FailureKind::ProviderRefusedRequest, "Demo refused the request."),
        (FailureKind::ModelNotFound, "Demo does not have this model."),
        (FailureKind::ContextTooLong, "This conversation is too long for the model."),
        (FailureKind::ContentFiltered, "The provider stopped this reply."),
        (FailureKind::ProviderTruncated, "The connection to Demo broke off."),
        (FailureKind::ProviderStalled, "Demo sent nothing for too long."),
        (FailureKind::ProviderProtocol, "Demo sent something that is not a reply."),
        (FailureKind::LimitEvent, "Reached a limit set on this server."),
        (FailureKind::LimitOutput, "Reached a limit set on this server."),
        (FailureKind::LimitRounds, "Reached a limit set on this server."),
        (FailureKind::LimitToolArgs, "Reached a limit set on this server."),
        (FailureKind::LimitTime, "Reached a limit set on this server."),
        (FailureKind::ServerRestarted, "The server restarted while answering."),
        (FailureKind::StorageFull, "The server's disk is full."),
        (FailureKind::Internal, "Something went wrong on this server."),
        (FailureKind::Unknown, "Something went wrong on this server."),
    ] {
        let shown = failure(json!({"kind": kind, "message": old, "retryable": true}));
        let new = Failure::new(kind, "Demo");
        assert_eq!(shown, in_both(|| failure_sentence(&new)), "{old}");
    }
    let stalled =
        failure(json!({"kind": "provider_stalled", "message": "Demo sent nothing for 60 s.", "retryable": true}));
    assert_eq!(stalled, ["Demo sent nothing for 60 s.", "Demo 已 60 秒无响应。"]);
}

#[test]
fn unknown_failure_is_shown_as_stored() {
    for (kind, message, args) in [
        ("provider_on_holiday", "Gone fishing.", json!({"provider": "Demo"})),
        ("unknown", "This reply had failed in the source.", json!({})),
        ("provider_auth", "No such key at Demo.", json!({})),
        ("provider_auth", "The connection to Demo broke off.", json!({})),
        ("provider_auth", "It rejected the key.", json!({"account": "a"})),
    ] {
        let shown = failure(json!({"kind": kind, "message": message, "retryable": false, "args": args}));
        assert_eq!(shown, [message, message]);
    }
}

#[test]
fn every_notice_is_shown_by_its_code_also_that_of_older_versions() {
    let old = [
        (Notice::ReasoningRefused, "Earlier reasoning was left out, because the provider refused it."),
        (
            Notice::StepsDescribed,
            "Earlier reasoning was left out and tools were summed up, because the provider refused them.",
        ),
        (Notice::ReasoningAdded, "The request was sent again in the form that the provider asked for."),
        (
            Notice::ReasoningDropped,
            "The provider left earlier reasoning out, because the conversation before it has changed.",
        ),
        (Notice::ResentWhole, "The whole conversation was sent again, because the provider did not have it any more."),
        (Notice::ImagesDescribed, "The images were told in words, because the provider refused them."),
        (Notice::ImagesUnsupported, "The images were told in words, because this model does not take images."),
        (Notice::LengthReached, "The reply reached the model's length limit."),
        (Notice::ContextFilled, "The conversation has filled what the model can read; the reply ends here."),
        (Notice::Filtered, "A content filter of the provider ended the reply here."),
        (Notice::Declined, "The model declined to go on."),
    ];
    for notice in Notice::ALL {
        let both = in_both(|| notice_sentence(notice).to_owned());
        check_both(&both);
        assert_eq!(both[0], notice.sentence());
        let new = fixtures::block(2, 0, notice.content());
        assert_eq!(in_both(|| notice_block_sentence(&new).unwrap()), both);
        for (_, old) in old.into_iter().filter(|(known, _)| *known == notice) {
            let older = other_block(json!({"type": "x:notice", "kind": notice.kind(), "text": old}));
            assert_eq!(in_both(|| notice_block_sentence(&older).unwrap()), both);
        }
    }
    let newer = other_block(json!({"type": "x:notice", "kind": "newer", "text": "The model declined to go on."}));
    assert_eq!(in_both(|| notice_block_sentence(&newer).unwrap()), ["The model declined to go on."; 2]);
    assert_eq!(notice_block_sentence(&fixtures::block(2, 0, Content::text("So."))), None);
}

#[test]
fn pauses_are_shown_by_their_code_also_those_of_older_versions() {
    let old = |reason: &str, text: &str| {
        pause(serde_json::from_value(json!({"type": "x:pause", "reason": reason, "text": text})).unwrap())
    };
    let rounds = pause(ReplyPauseReason::Rounds.content());
    check_both(&rounds);
    assert_eq!(rounds, ["Paused after 25 rounds of tool calls.", "已进行 25 轮工具调用，现已暂停。"]);
    assert_eq!(old("rounds", "Paused after asking for tools 25 times."), rounds);
    let repeats = pause(ReplyPauseReason::Repeats.content());
    check_both(&repeats);
    assert_eq!(old("repeats", "Paused because the same call was made again and again."), repeats);
    assert_eq!(old("rounds", "Paused for lunch."), ["Paused for lunch."; 2]);
    assert_eq!(old("newer", "Paused for lunch."), ["Paused for lunch."; 2]);
    assert_eq!(pause_sentence(&fixtures::block(2, 0, ReplyPauseReason::Rounds.content())), None, "it is over");
}

#[test]
fn every_dropped_parameter_is_shown_by_its_code() {
    for reason in DropReason::ALL {
        for range in [ValueRange::new(1, 9), ValueRange::at_least(1)] {
            let mut args = range.message_args();
            args.extend(message_args(
                [("requested", "low"), ("sent", "high"), ("limit", "9")].map(|(k, v)| (k, v.into())),
            ));
            if reason == DropReason::TooManyStopSequences {
                args.insert("most".into(), "4".into());
            }
            let new = DroppedParam::new("top_k", reason, args);
            let both = in_both(|| not_sent_sentences(std::slice::from_ref(&new)).unwrap());
            check_both(&both);
            assert_eq!(both[0], format!("top_k was not sent: {}.", new.reason));
            assert_eq!(dropped(json!({"param": "top_k", "reason": new.reason})), both, "without a code");
            assert_eq!(dropped(json!({"param": "top_k", "reason": "-", "code": new.code, "args": new.args})), both);
        }
    }
}

#[test]
fn dropped_parameters_of_older_versions_are_shown_like_new_ones() {
    use DropReason::*;
    let none = MessageArgs::new;
    let between = || ValueRange::new(0.95, 1.0).message_args();
    for (old, reason, args) in [
        ("this model takes temperature or top_p, not both", TemperatureOrTopP, none()),
        ("this model does not think", ModelNeverThinks, none()),
        ("this model always thinks", ModelAlwaysThinks, none()),
        ("how much this model thinks cannot be set", ThinkingCannotBeSet, none()),
        ("this model does not take it", Unsupported, none()),
        ("this model does not take it while it thinks", UnsupportedWhileThinking, none()),
        ("this model does not take it unless it thinks", UnsupportedWithoutThinking, none()),
        ("it leaves no room for the budget of thinking", NoRoomForBudget, none()),
        ("max_tokens leaves no room for it", NoRoomForThinking, none()),
        (
            "this model does not take \"low\", it gets \"high\"",
            OtherLevel,
            message_args([("requested", "low".into()), ("sent", "high".into())]),
        ),
        ("must be between 0.95 and 1 for this model", OutOfRange, between()),
        ("must be at least 1 for this model", OutOfRange, ValueRange::at_least(1).message_args()),
        ("must be between 0.95 and 1 for this model while it thinks", OutOfRangeWhileThinking, between()),
        ("must be between 0.95 and 1 for this model unless it thinks", OutOfRangeWithoutThinking, between()),
        (
            "a budget must be at least 1024 tokens for this model",
            BudgetOutOfRange,
            ValueRange::at_least(1024).message_args(),
        ),
        ("a budget must be below max_tokens (2000)", BudgetNotBelowMaxTokens, message_args([("limit", "2000".into())])),
        ("at most 4 for this model", TooManyStopSequences, message_args([("most", "4".into())])),
        ("must not be blank for this model", BlankStopSequence, none()),
    ] {
        for param in ["thinking", "top_k"] {
            let new = DroppedParam::new(param, reason, args.clone());
            let new = in_both(|| not_sent_sentences(std::slice::from_ref(&new)).unwrap());
            assert_eq!(dropped(json!({"param": param, "reason": old})), new);
        }
    }
    let unknown = "not supported by this model";
    for code in [Value::Null, json!("newer")] {
        let shown = dropped(json!({"param": "top_k", "reason": unknown, "code": code}));
        assert_eq!(shown, [format!("top_k was not sent: {unknown}."), format!("未发送 top_k：{unknown}。")]);
    }
    let two = [Unsupported, UnsupportedWhileThinking].map(|reason| DroppedParam::new("top_k", reason, none()));
    let chinese = with_locale(Locale::Chinese, || not_sent_sentences(&two)).unwrap();
    assert_eq!(chinese, "未发送 top_k：此模型不支持。未发送 top_k：此模型在开启思考时不支持。");
    assert_eq!(not_sent_sentences(&[]), None);
}

#[test]
fn approval_notes_are_shown_by_their_code_also_those_of_older_versions() {
    let old = [
        "Its description changed since this chat got it.",
        "Its description changed since you allowed it.",
        "Its description is not the one that the configuration file was taken to trust.",
        "The chat holds text that you did not write, which may be what asks for this.",
        "The chat holds text that you did not write, and no message of yours names a.test.",
    ];
    for (note, old) in ApprovalNote::ALL.into_iter().zip(old) {
        let mut new = request();
        new.set_note(note, message_args([("host", "a.test".to_owned())]));
        let both = in_both(|| approval_note(&new).unwrap());
        check_both(&both);
        assert_eq!(Some(&both[0]), new.note.as_ref());
        assert!(both.iter().all(|text| text.contains("a.test") == (note == ApprovalNote::UnnamedHost)), "{both:?}");
        let older = ApprovalRequest { note: Some(old.into()), ..request() };
        assert_eq!(in_both(|| approval_note(&older).unwrap()), both, "{old}");
    }
    for note in ApprovalNote::ALL.into_iter().skip(old.len()) {
        let mut new = request();
        new.set_note(note, message_args([("server", "Files".to_owned())]));
        let both = in_both(|| approval_note(&new).unwrap());
        check_both(&both);
        assert!(both.iter().all(|text| text.contains("Files")), "{both:?}");
        assert!(new.asks_for_sign_in());
    }
    let newer = ApprovalRequest { note: Some("Who knows.".into()), note_code: Some("newer".into()), ..request() };
    assert_eq!(in_both(|| approval_note(&newer).unwrap()), ["Who knows."; 2]);
    assert_eq!(approval_note(&request()), None);
}
