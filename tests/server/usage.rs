//! Usage and cost of replies, from the provider's counts and configured prices to the page; unknown values are not
//! invented.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{Cost, CostBasis, Event, Failure, FailureKind, TurnStatus};
use turnleaf_platform::price::ModelPrice;
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_run::{EventCursor, FollowerItem};

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

/// Returns a complete answer of this model with this usage.
pub fn answer_with_usage(model: &str, usage: Value) -> ScriptedAnswer {
    let chunk = |delta: Value, reason: Value| {
        json!({"id": "c", "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let mut last = chunk(json!({}), json!("stop"));
    last["usage"] = usage;
    ScriptedAnswer::Stream(vec![
        ScriptedStep::event(&chunk(json!({"content": "Hello"}), Value::Null)),
        ScriptedStep::event(&last),
        ScriptedStep::Bytes("data: [DONE]\n\n".into()),
    ])
}

/// Returns a price of 2 dollars per million input tokens and 8 per million output tokens.
fn price(model: &str) -> ModelPrice {
    ModelPrice {
        provider: "scripted".into(),
        model: model.into(),
        input: 2.0,
        output: 8.0,
        cache_read: None,
        cache_write: None,
    }
}

async fn server_with_prices(answers: impl IntoIterator<Item = ScriptedAnswer>) -> TestServer {
    let dir = tempfile::tempdir().unwrap();
    TestServer::with_prices(dir, ScriptedProvider::new("scripted", answers), vec![price("model-a")]).await
}

#[tokio::test]
async fn reply_ending_reports_cost() {
    let tokens = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let mut reported = tokens.clone();
    reported["cost"] = json!(0.000_5);
    let unpriced = TestServer::new(ScriptedProvider::new("scripted", [answer_with_usage("m", tokens.clone())])).await;
    for (instance, cost, basis) in [
        (server_with_prices([answer_with_usage("m", reported)]).await, Some((500, false)), Some(CostBasis::Reported)),
        (server_with_prices([answer_with_usage("m", tokens)]).await, Some((280, true)), Some(CostBasis::Configured)),
        (server_with_prices([answer_with_usage("m", json!({"prompt_tokens": 100}))]).await, None, None),
        (unpriced, None, None),
    ] {
        let id = instance.send("hi").await.assistant_turn.id;
        let events = instance.follow_events(id, 0).await;
        let cost = cost.map(|(micros, is_estimated)| Cost { micros, is_estimated });
        let Some((_, Event::TurnEnd { cost: reported_cost, .. })) = events.last() else { panic!("{events:?}") };
        assert_eq!(*reported_cost, cost, "the follower receives the cost at the end");
        let turn = instance.service.turn(instance.owner, id).await.unwrap();
        assert_eq!(turn.cost, cost);
        let context = turn.usage.output_tokens.map_or(100, |output| 100 + output);
        assert_eq!(turn.context_tokens, Some(context));
        let generations = instance.service.generations(instance.owner, id).await.unwrap();
        assert_eq!(generations[0].cost_basis, basis);
        assert_eq!(generations[0].cost_micros, cost.map(|cost| cost.micros));
        instance.check_invariants().await;
    }
}

#[tokio::test]
async fn stopped_reply_cost_is_unknown_and_refused_reply_costs_nothing() {
    let early = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1}});
    let failure = Failure::new(FailureKind::ProviderAuth, "Scripted");
    let refused = ProviderError { status: Some(401), ..ProviderError::without_response(failure) };
    let instance = server_with_prices([
        ScriptedAnswer::Stream(vec![ScriptedStep::event(&early), ScriptedStep::Hang]),
        ScriptedAnswer::Refuse(refused),
    ])
    .await;
    let id = instance.send("hi").await.assistant_turn.id;
    {
        use futures::StreamExt;
        let mut followed = std::pin::pin!(
            instance.service.supervisor().follow(instance.owner, id, EventCursor::After(0)).await.unwrap().unwrap()
        );
        while let Some(Ok(FollowerItem::Line(line))) = followed.next().await {
            if line.name() == "block_start" {
                break;
            }
        }
    }
    let stopped = instance.service.stop_turn(instance.owner, id).await.unwrap();
    assert_eq!(stopped.status, TurnStatus::Cancelled);
    assert_eq!(stopped.cost, None, "its text is not counted yet");

    let id = instance.send("hi").await.assistant_turn.id;
    let refused = instance.wait_until_ended(id).await;
    assert_eq!((refused.status, refused.cost), (TurnStatus::Error, Some(Cost { micros: 0, is_estimated: false })));
    let generations = instance.service.generations(instance.owner, id).await.unwrap();
    assert_eq!(generations[0].cost_basis, Some(CostBasis::Refused));
    instance.check_invariants().await;
}

async fn api_with_spending() -> (TestApi, String) {
    let tokens = |input, output| json!({"prompt_tokens": input, "completion_tokens": output});
    let api = TestApi::with_server(
        server_with_prices([
            answer_with_usage("=1+1", tokens(100, 10)),
            answer_with_usage("b,\"c\"", tokens(1, 2)),
            streamed_answer([text_step("a")]),
        ])
        .await,
    );
    let first = api.instance.send("one").await;
    api.instance.wait_until_ended(first.assistant_turn.id).await;
    let second = api.instance.send("=HYPERLINK(\"x\")").await;
    api.instance.wait_until_ended(second.assistant_turn.id).await;
    (api, first.chat.id.to_string())
}

async fn get(api: &TestApi, path: &str, accept: Option<&str>) -> (StatusCode, http::HeaderMap, String) {
    let mut request = Request::builder().uri(path).header("host", "127.0.0.1:3000");
    if let Some(accept) = accept {
        request = request.header("accept", accept);
    }
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn api_groups_usage_as_requested_and_includes_deleted_chats() {
    let (api, first) = api_with_spending().await;
    let (status, days) = api.call("GET", "/api/usage", None).await;
    assert_eq!(status, StatusCode::OK, "{days}");
    assert_eq!((&days["group"], &days["currency"]), (&json!("day"), &json!("USD")));
    assert_eq!(days["rows"].as_array().unwrap().len(), 1);
    assert_eq!(days["rows"][0]["day"], days["to"]);
    let total = json!({"generations": 2, "input_tokens": 101, "output_tokens": 12, "cache_read_tokens": null,
        "cache_write_tokens": null, "reasoning_tokens": null, "unknown_token_generations": 0, "cost_micros": 298,
        "unknown_cost_generations": 0, "estimated_generations": 2});
    assert_eq!(days["total"], total);
    let (_, chat) = api.call("GET", &format!("/api/chats/{first}"), None).await;
    assert_eq!((&chat["usage"]["cost_micros"], &chat["usage"]["generations"]), (&json!(280), &json!(1)));
    let (_, branches) = api.call("GET", &format!("/api/usage?chat_id={first}"), None).await;
    assert_eq!(branches["group"], "branch");
    assert_eq!(branches["rows"][0]["cost_micros"], 280);

    let (status, _) = api.call("DELETE", &format!("/api/chats/{first}"), None).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (_, models) = api.call("GET", "/api/usage?group=model", None).await;
    assert_eq!(models["total"], total, "what was paid stays paid");
    let names: Vec<&str> =
        models["rows"].as_array().unwrap().iter().map(|row| row["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["=1+1", "b,\"c\""]);
    let (_, chats) = api.call("GET", "/api/usage?group=chat", None).await;
    let deleted = chats["rows"].as_array().unwrap().iter().find(|row| row.get("chat_id").is_none()).unwrap();
    assert_eq!((&deleted["cost_micros"], deleted.get("title")), (&json!(280), None));
    let (status, _) = api.call("GET", &format!("/api/usage?chat_id={first}"), None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, before) = api.call("GET", "/api/usage?from=2001-01-01&to=2001-01-31&group=provider", None).await;
    assert_eq!((&before["rows"], &before["total"]["cost_micros"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn invalid_usage_query_is_refused_by_field() {
    let api = TestApi::new([]).await;
    for (query, field) in [
        ("from=yesterday", "from"),
        ("from=2026-11-21T00:00:00Z", "from"),
        ("to=2026-02-30", "to"),
        ("from=2026-11-22&to=2026-11-21", "from"),
        ("from=1926-11-22&to=2026-11-21", "from"),
        ("group=week", "group"),
        ("group=branch", "chat_id"),
        ("group=day&chat_id=019b0000-0000-7000-8000-000000000000", "chat_id"),
        ("chat_id=1", "chat_id"),
        ("format=xls", "format"),
        ("colour=red", "colour"),
    ] {
        let (status, problem) = api.call("GET", &format!("/api/usage?{query}"), None).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{query}: {problem}");
    }
}

#[tokio::test]
async fn csv_export_contains_no_formulas() {
    let (api, _) = api_with_spending().await;
    let (status, headers, models) = get(&api, "/api/usage?group=model&format=csv", None).await;
    assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, "text/csv; charset=utf-8"));
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"usage-"));
    let lines: Vec<&str> = models.split_terminator("\r\n").collect();
    assert!(lines[0].starts_with("day,provider,model,chat_id,"), "{models}");
    assert!(lines[0].ends_with(",estimated_generations,token_id,token_name"), "{models}");
    assert_eq!(lines[1], ",scripted,'=1+1,,,,,1,100,,,10,,0,280,0,1,,");
    assert_eq!(lines[2], ",scripted,\"b,\"\"c\"\"\",,,,,1,1,,,2,,0,18,0,1,,");
    let (_, _, chats) = get(&api, "/api/usage?group=chat", Some("text/csv")).await;
    assert!(chats.contains(",\"'=HYPERLINK(\"\"x\"\")\","), "{chats}");
    let (_, headers, _) = get(&api, "/api/usage?format=json", Some("text/csv")).await;
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn usage_page_works_without_script() {
    let (api, first) = api_with_spending().await;
    let (status, headers, page) = get(&api, "/usage?from=&to=&group=model", None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(headers["content-type"].to_str().unwrap().starts_with("text/html"));
    for part in ["<h1>Usage</h1>", "<bdi>=1+1</bdi>", "≈ $0.0003", "<option value=\"model\" selected>"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert_eq!(page.matches("<script").count(), 1, "our own: {page}");
    let (_, _, page) = get(&api, "/usage?group=chat", None).await;
    assert!(page.contains(&format!("href=\"/c/{first}\"")), "{page}");
    for query in ["from=2026-11-22&to=2026-11-21", "from=soon", "group=week", "a=b"] {
        let (status, _, page) = get(&api, &format!("/usage?{query}"), None).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        assert!(page.contains("said danger") && page.contains("<h1>Usage</h1>"), "{query}: {page}");
    }
}
