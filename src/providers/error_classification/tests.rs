//! Tests with every shape of error document and every failure kind of docs/reference/providers.md 2.7.

use serde_json::json;

use super::*;

fn kind_of(status: u16, body: &str) -> FailureKind {
    super::classify_status(status, &[], body.as_bytes(), "P", &SecretSet::default(), DateTime::UNIX_EPOCH).0.kind
}

/// Returns the document of an exhausted Google quota.
fn google_quota(id: &str) -> String {
    let details = json!([{"violations": [{"quotaId": id}]}, {"retryDelay": "23s"}]);
    json!({"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": details}})
        .to_string()
}

#[test]
fn statuses_and_documents_map_to_failure_kinds() {
    use FailureKind::*;
    for (code, body, expected) in [
        (401, "", ProviderAuth),
        (403, r#"{"error":{"message":"no"}}"#, ProviderAuth),
        (400, r#"{"code":"invalid-argument","error":"Incorrect API key provided."}"#, ProviderAuth),
        (402, r#"{"error":{"message":"pay"}}"#, ProviderQuota),
        (429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, ProviderQuota),
        (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, ProviderQuota),
        (429, r#"{"error":{"code":"rate_limit_exceeded","message":"x"}}"#, ProviderRateLimited),
        (429, "", ProviderRateLimited),
        (429, &google_quota("GenerateRequestsPerMinutePerProjectPerModel"), ProviderRateLimited),
        (429, &google_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), ProviderQuota),
        (404, r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#, ModelNotFound),
        (404, "<html>nginx</html>", ProviderRefusedRequest),
        (404, r#"{"detail":"Not Found"}"#, ProviderRefusedRequest),
        (400, r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#, ContextTooLong),
        (413, "", ContextTooLong),
        (
            400,
            r#"{"error":{"code":"content_filter","message":"x","innererror":{"content_filter_result":{}}}}"#,
            ContentFiltered,
        ),
        (500, "oops", ProviderError),
        (408, "", ProviderError),
        (503, "<html>", ProviderOverloaded),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, ProviderOverloaded),
        (422, r#"{"object":"error","message":"x","code":3051}"#, ProviderRefusedRequest),
        (400, "", ProviderRefusedRequest),
        (302, "", ProviderRefusedRequest),
    ] {
        assert_eq!(kind_of(code, body), expected, "{code} {body}");
    }
}

#[test]
fn missing_models_are_recognized_in_words_of_every_provider() {
    for (code, body) in [
        (
            400,
            json!({"error": {"message": "Model Not Exist", "type": "invalid_request_error", "code": "invalid_request_error"}}),
        ),
        (400, json!({"error": {"code": "1211", "message": "Unknown Model, please check the model code."}})),
        (404, json!({"error": {"code": 404, "message": "model not found", "type": "not_found_error"}})),
        (400, json!({"error": {"code": 400, "message": "model 'q-9' not found", "type": "invalid_request_error"}})),
        (
            404,
            json!({"error": {"message": "Unable to access model a/b. Please visit the list of supported models.",
                "type": "invalid_request_error", "param": "model", "code": "model_not_available"}}),
        ),
        (400, json!({"message": "The provided model identifier is invalid."})),
        (404, json!({"error": {"message": "No endpoints found for acme/large-9.", "code": 404}})),
        (
            404,
            json!({"error": {"message": "Not found the model kimi-9 or Permission denied", "type": "resource_not_found_error"}}),
        ),
        (400, json!({"error": {"message": "The requested model is not supported.", "code": "model_not_supported"}})),
        (404, json!({"code": 404, "message": "Model not found, inaccessible, and/or not deployed"})),
        (
            404,
            json!({"error": {"message": "Publisher Model `p/m` was not found or your project does not have access to it."}}),
        ),
    ] {
        assert_eq!(kind_of(code, &body.to_string()), FailureKind::ModelNotFound, "{code} {body}");
    }
    for (code, message) in [
        (404, "No endpoints found that support image input"),
        (404, "No endpoints found matching your data policy"),
        (400, "Previous response with id 'resp_1' not found."),
        (400, "Unsupported parameter for this model. The tool was not found"),
    ] {
        let body = json!({"error": {"message": message}}).to_string();
        assert_eq!(kind_of(code, &body), FailureKind::ProviderRefusedRequest, "{code} {message}");
    }
}

#[test]
fn failures_inside_stream_map_to_failure_kinds() {
    use FailureKind::*;
    for (body, expected) in [
        (json!({"type": "error", "error": {"type": "insufficient_quota", "message": "x"}}), ProviderQuota),
        (json!({"error": {"code": "rate_limit_exceeded", "message": "x"}, "status": "failed"}), ProviderRateLimited),
        (json!({"error": {"code": "server_error", "message": "x"}, "status": "failed"}), ProviderError),
        (json!({"error": {"code": "invalid_prompt", "message": "x"}, "status": "failed"}), ProviderRefusedRequest),
        (json!({"error": {"code": "image_content_policy_violation", "message": "x"}}), ContentFiltered),
        (json!({"error": {"message": "Your input exceeds the context window of this model."}}), ContextTooLong),
    ] {
        assert_eq!(super::classify_document(&body, "P", &SecretSet::default()).kind, expected, "{body}");
    }
}

#[test]
fn provider_message_is_kept_without_secrets_and_html_pages() {
    let secrets = SecretSet::new(["my-own-secret".into()]);
    for (body, expected) in [
        (r#"{"error":{"message":"bad my-own-secret and sk-0123456789abcdef"}}"#, "bad [removed] and [removed]"),
        (r#"{"error":"plain"}"#, "plain"),
        (r#"{"detail":"from a framework"}"#, "from a framework"),
        (r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
        (r#"{"error":{"message":"outer","metadata":{"raw":"inner"}}}"#, "outer: inner"),
        ("not json", "not json"),
        ("<html>a page</html>", "It answered with status 400."),
        ("", "It answered with status 400."),
    ] {
        let (failure, _) = super::classify_status(400, &[], body.as_bytes(), "P", &secrets, DateTime::UNIX_EPOCH);
        assert_eq!(failure.detail.as_deref(), Some(expected), "{body}");
    }
}

#[test]
fn retry_delay_is_read_in_every_spelling() {
    let now = DateTime::parse_from_rfc2822("Wed, 21 Oct 2026 07:28:00 GMT").unwrap().with_timezone(&Utc);
    for (headers, expected) in [
        (&[("retry-after", "2")][..], Some(2_000)),
        (&[("retry-after", "0.5")], Some(500)),
        (&[("retry-after", "999999")], Some(999_999_000)),
        (&[("retry-after", "Wed, 21 Oct 2026 07:28:20 GMT")], Some(20_000)),
        (&[("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT")], Some(0)),
        (&[("retry-after", "1"), ("retry-after-ms", "250")], Some(250)),
        (&[("retry-after", "1"), ("retry-after-ms", "0")], Some(1_000)),
        (&[("retry-after", "-3")], None),
        (&[("retry-after", "soon")], None),
        (&[], None),
    ] {
        let headers: Vec<(String, String)> = headers.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        let (failure, _) = super::classify_status(429, &headers, b"", "P", &SecretSet::default(), now);
        assert_eq!(failure.retry_after_ms, expected, "{headers:?}");
    }
    let body = json!({"error": {"code": 429, "details": [{"retryDelay": "23s"}]}}).to_string();
    let (failure, _) = super::classify_status(429, &[], body.as_bytes(), "P", &SecretSet::default(), now);
    assert_eq!(failure.retry_after_ms, Some(23_000));
}

#[test]
fn provider_decides_whether_to_retry() {
    for (word, expected) in [("true", Some(true)), ("false", Some(false)), ("perhaps", None)] {
        let headers = [("x-should-retry".to_owned(), word.to_owned())];
        let (_, details) = super::classify_status(500, &headers, b"", "P", &SecretSet::default(), DateTime::UNIX_EPOCH);
        assert_eq!(details, expected);
    }
}

#[test]
fn error_document_in_successful_response_is_classified_like_error_status() {
    for (error, expected) in [
        (json!({"error": {"message": "x", "code": 429}}), FailureKind::ProviderRateLimited),
        (json!({"error": {"message": "x", "code": 502}}), FailureKind::ProviderOverloaded),
        (json!({"error": {"type": "overloaded_error"}}), FailureKind::ProviderOverloaded),
        (json!({"error": {"type": "server_error", "message": "x"}}), FailureKind::ProviderError),
        (json!({"error": "CUDA error"}), FailureKind::ProviderError),
        (json!({"error": {"code": "insufficient_quota"}}), FailureKind::ProviderQuota),
        (
            json!({"object": "error", "message": "x", "type": "invalid_request_error"}),
            FailureKind::ProviderRefusedRequest,
        ),
        (json!({"detail": "x"}), FailureKind::ProviderError),
        (json!({"anything": 1}), FailureKind::ProviderError),
    ] {
        assert_eq!(classify_document(&error, "P", &SecretSet::default()).kind, expected, "{error}");
    }
}

#[test]
fn only_error_of_failed_stream_is_extracted() {
    let error = r#"{"code":"server_error","message":"m"}"#;
    for (body, expected) in [
        (
            "data: {\"type\":\"response.created\",\"response\":{\"instructions\":\"item with id not found\",\"error\":null}}\n\n\
          data: {\"type\":\"response.failed\",\"response\":{\"instructions\":\"item with id not found\",\"error\":E}}\n\n",
            error,
        ),
        ("event: error\r\ndata: {\"type\":\"error\",\"error\":E}\r\n\r\n", error),
        ("{\"message\":{}}\n{\"error\":E}\n", error),
        ("data: {\"choices\":[]}\n\ndata: [DONE]\n\n", ""),
        ("", ""),
    ] {
        let body = body.replace("E}", &format!("{error}}}"));
        assert_eq!(String::from_utf8(extract_stream_error(body.as_bytes())).unwrap(), expected, "{body}");
    }
    let flat = r#"{"type":"error","code":"c","message":"m"}"#;
    assert_eq!(extract_stream_error(format!("data: {flat}\n\n").as_bytes()), flat.as_bytes());
}

#[test]
fn nested_errors_have_kind_and_words_of_innermost_one() {
    use FailureKind::*;
    let xai = "The model grok-9 does not exist or your team 12 does not have access to it.";
    for (body, expected, words) in [
        (
            json!({"type": "error", "error": {"type": "too_many_requests", "code": "too_many_requests",
                "message": "Too Many Requests", "param": null}, "sequence_number": 2}),
            ProviderRateLimited,
            "Too Many Requests",
        ),
        (
            json!({"error": {"error": {"type": "rate_limit_error", "message": "slow"}, "code": "wrapped"}}),
            ProviderRateLimited,
            "slow",
        ),
        (json!({"error": {"code": "TooManyRequests", "message": "x"}}), ProviderRateLimited, "x"),
        (json!({"error": {"message": "Too many requests"}}), ProviderRateLimited, "Too many requests"),
        (
            json!({"error": {"message": "{\"error\":{\"code\":\"model_not_found\",\"message\":\"No.\"}}"}}),
            ModelNotFound,
            "No.",
        ),
        (json!({"detail": {"error": {"code": "model_not_found", "message": "No."}}}), ModelNotFound, "No."),
        (
            json!({"type": "error", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "o"}}}),
            ProviderOverloaded,
            "o",
        ),
        (
            json!({"error": {"message": "Prompt has 9 tokens", "type": "too_many_prompt_tokens", "code": 400}}),
            ContextTooLong,
            "Prompt has 9 tokens",
        ),
        (
            json!({"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}),
            ModelNotFound,
            "The API deployment does not exist.",
        ),
        (json!({"code": "Some requested entity was not found", "error": xai}), ModelNotFound, xai),
        (
            json!({"object": "error", "message": "Invalid model: large-9", "type": "invalid_model", "code": "1500"}),
            ModelNotFound,
            "Invalid model: large-9",
        ),
        (
            json!({"object": "error", "message": "Invalid model: large-9", "type": "invalid_request_error", "code": 1500}),
            ModelNotFound,
            "Invalid model: large-9",
        ),
        (
            json!({"error": {"message": "Provider returned error", "code": 400,
                "metadata": {"raw": "{\"error\":{\"code\":\"context_length_exceeded\"}}"}}}),
            ContextTooLong,
            "Provider returned error: {\"error\":{\"code\":\"context_length_exceeded\"}}",
        ),
    ] {
        let failure = classify_document(&body, "P", &SecretSet::default());
        assert_eq!((failure.kind, failure.detail.as_deref()), (expected, Some(words)), "{body}");
        if words != "Too many requests" {
            assert_eq!(kind_of(400, &body.to_string()), expected, "{body}");
        }
    }
    assert_eq!(kind_of(403, &json!({"error": xai}).to_string()), ModelNotFound, "no access to a model");
    assert_eq!(
        kind_of(401, &json!({"error": {"message": "The key does not exist for this model"}}).to_string()),
        ProviderAuth
    );
    assert_eq!(kind_of(400, r#"{"error":{"message":"Invalid model parameters"}}"#), ProviderRefusedRequest);
}
