//! Tests of codes, sentences and retries.

use super::FailureKind::*;
use super::*;

/// Kind, code, automatic retry, manual retry.
const TABLE: [(FailureKind, &str, bool, bool); 30] = [
    (ProviderUnreachable, "provider_unreachable", true, true),
    (ProviderAuth, "provider_auth", false, false),
    (ProviderQuota, "provider_quota", false, false),
    (ProviderRateLimited, "provider_rate_limited", true, true),
    (ProviderOverloaded, "provider_overloaded", true, true),
    (ProviderError, "provider_error", true, true),
    (ProviderRefusedRequest, "provider_refused_request", false, false),
    (ModelNotFound, "model_not_found", false, false),
    (ContextTooLong, "context_too_long", false, false),
    (ContentFiltered, "content_filtered", false, false),
    (ProviderTruncated, "provider_truncated", false, true),
    (ProviderStalled, "provider_stalled", false, true),
    (ProviderProtocol, "provider_protocol", false, true),
    (NoTitle, "no_title", false, true),
    (LimitEvent, "limit_event", false, true),
    (LimitOutput, "limit_output", false, true),
    (LimitRounds, "limit_rounds", false, true),
    (LimitToolArgs, "limit_tool_args", false, true),
    (LimitTime, "limit_time", false, true),
    (BudgetDayCost, "budget_day_cost", false, true),
    (BudgetDayTokens, "budget_day_tokens", false, true),
    (BudgetDayRequests, "budget_day_requests", false, true),
    (BudgetMonthCost, "budget_month_cost", false, true),
    (BudgetMonthTokens, "budget_month_tokens", false, true),
    (BudgetMonthRequests, "budget_month_requests", false, true),
    (BudgetUnreadable, "budget_unreadable", false, true),
    (ServerRestarted, "server_restarted", false, true),
    (StorageFull, "storage_full", false, true),
    (Internal, "internal", false, true),
    (Unknown, "unknown", false, true),
];

#[test]
fn every_kind_has_its_code_and_its_retries() {
    for (kind, code, by_itself, by_person) in TABLE {
        assert_eq!(kind.as_str(), code);
        assert_eq!(serde_json::to_value(kind).unwrap(), code);
        assert_eq!(serde_json::from_value::<FailureKind>(code.into()).unwrap(), kind);
        assert_eq!(kind.is_auto_retryable(), by_itself, "{code}");
        assert_eq!(kind.is_retryable(), by_person, "{code}");
        assert!(!by_itself || by_person, "{code}");
    }
}

#[test]
fn every_sentence_is_a_sentence() {
    for (kind, code, ..) in TABLE {
        let failure = Failure::new(kind, "Demo");
        assert!(failure.message.ends_with('.') && failure.message.len() > 10, "{code}: {}", failure.message);
        assert_eq!(failure.retryable, kind.is_retryable());
    }
}

#[test]
fn failure_stores_arguments_of_its_sentence() {
    let stored = |failure: &Failure| serde_json::to_value(failure).unwrap();
    let auth = Failure::new(ProviderAuth, "Demo");
    assert_eq!(stored(&auth)["args"], serde_json::json!({"provider": "Demo"}));
    assert_eq!(stored(&Failure::stalled(60, "Demo"))["args"], serde_json::json!({"provider": "Demo", "seconds": "60"}));
    assert_eq!(Failure::stalled(60, "Demo").message, "Demo sent nothing for 60 s.");
    assert_eq!(stored(&Failure::new(ServerRestarted, "")).get("args"), None);
    for (kind, ..) in TABLE {
        let failure = Failure::new(kind, "Demo");
        assert_eq!(failure.sentence(), failure.message, "{kind:?}");
        let older = Failure { args: MessageArgs::new(), ..failure.clone() };
        assert_eq!(older.sentence(), failure.message, "{kind:?}");
    }
}

#[test]
fn old_sentence_is_recognized_by_kind_and_others_stay() {
    let of =
        |kind, message: &str| Failure { message: message.into(), args: MessageArgs::new(), ..Failure::new(kind, "") };
    for (kind, old, new) in [
        (ProviderAuth, "The key for A B was refused.", "A B rejected the API key."),
        (ProviderStalled, "A sent nothing for 60 s.", "A sent nothing for 60 s."),
        (
            ServerRestarted,
            "The server restarted while answering.",
            "The server restarted while this reply was being generated.",
        ),
        (ProviderError, "The key for A was refused.", "The key for A was refused."),
        (Unknown, "This reply had failed in the source.", "This reply had failed in the source."),
    ] {
        assert_eq!(of(kind, old).sentence(), new);
    }
    let newer = Failure { args: message_args([("hotel", "H".to_owned())]), ..of(Unknown, "Gone fishing at H.") };
    assert_eq!(newer.sentence(), "Gone fishing at H.");
    let incomplete = Failure { args: message_args([("hotel", "H".to_owned())]), ..of(ProviderAuth, "No key.") };
    assert_eq!(incomplete.sentence(), "No key.", "its argument is missing");
}

#[test]
fn code_of_newer_version_is_read_as_unknown() {
    let json = r#"{"kind":"provider_on_holiday","message":"Gone fishing.","retryable":false}"#;
    let failure: Failure = serde_json::from_str(json).unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (Unknown, "Gone fishing."));
}

#[test]
fn empty_detail_is_none() {
    assert_eq!(Failure::new(Internal, "").with_detail("").detail, None);
    assert_eq!(Failure::new(Internal, "").with_detail("x").detail.as_deref(), Some("x"));
}

#[test]
fn invalid_input_names_its_field() {
    assert_eq!(
        InvalidField::out_of_range("params.top_p", &(0..=1)).to_string(),
        "params.top_p: must be between 0 and 1"
    );
}
