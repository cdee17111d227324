//! Model parameters from the request to the bytes that are sent: defaults of the chat, values of a turn, refusals by
//! name, and parameters that are dropped and reported.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::providers::capabilities::{Capabilities, ParamSupport, ValueRange};
use turnleaf::domain::providers::provider::ReasoningSupport;
use turnleaf::domain::{ModelParams, Thinking};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_store::Db;
use turnleaf_store::turns::exchanges;

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};

/// The capabilities of a model that can think, and that takes no temperature while it does.
fn model() -> Capabilities {
    Capabilities {
        temperature: ParamSupport::only_plain(ValueRange::new(0.0, 1.0)),
        max_tokens: ValueRange::new(1, 64_000),
        thinking_budget: Some(ValueRange::at_least(1_024)),
        context_tokens: Some(200_000),
        ..Capabilities::default().with_thinking(ReasoningSupport::Optional, &Thinking::LEVELS)
    }
}

async fn api(answers: usize) -> (TestApi, std::sync::Arc<turnleaf_providers::scripted::RequestLog>) {
    let answers: Vec<ScriptedAnswer> = (0..answers).map(|_| streamed_answer([text_step("Yes.")])).collect();
    let provider = ScriptedProvider::new("scripted", answers).with_capabilities(model());
    let log = provider.log();
    (TestApi::with_provider(provider).await, log)
}

/// Sends a message with these parameters and waits for the end of its reply.
async fn send_turn(api: &TestApi, chat: &str, params: Value) -> Value {
    let body = json!({ "text": "hi", "params": params });
    let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    started
}

fn last_request_body(log: &turnleaf_providers::scripted::RequestLog) -> Value {
    serde_json::from_slice(log.requests().last().unwrap()).unwrap()
}

#[tokio::test]
async fn chat_defaults_apply_where_turn_sets_nothing() {
    let (api, log) = api(3).await;
    let defaults = json!({ "temperature": 0.25, "max_tokens": 900, "thinking": "off" });
    let (status, chat) = api.call("POST", "/api/chats", Some(json!({ "params": defaults }))).await;
    assert_eq!((status, &chat["settings"]["params"]), (StatusCode::CREATED, &defaults));
    let chat = chat["id"].as_str().unwrap().to_owned();

    let started = send_turn(&api, &chat, json!({ "temperature": 0.5 })).await;
    assert_eq!(
        (&last_request_body(&log)["temperature"], &last_request_body(&log)["max_tokens"]),
        (&json!(0.5), &json!(900))
    );
    let params = json!({ "temperature": 0.5, "max_tokens": 900, "thinking": "off" });
    assert_eq!(started["exchange"]["params"], params);
    assert_eq!(
        (&started["exchange"]["not_sent"], &started["exchange"]["is_thinking_mode"]),
        (&json!([]), &json!(false))
    );

    let path = format!("/api/chats/{chat}");
    let patch = json!({ "params": { "max_tokens": 100, "top_p": 0.5 } });
    let (status, changed) = api.call("PATCH", &path, Some(patch)).await;
    assert_eq!((status, &changed["settings"]["params"]), (StatusCode::OK, &json!({ "max_tokens": 100, "top_p": 0.5 })));
    send_turn(&api, &chat, json!({})).await;
    assert_eq!((&last_request_body(&log)["top_p"], &last_request_body(&log)["max_tokens"]), (&json!(0.5), &json!(100)));

    // A retry repeats the parameters of the first reply, except those that it changes.
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    let body = json!({ "params": { "max_tokens": 70 } });
    let (status, again) = api.call("POST", &format!("/api/turns/{reply}/retry"), Some(body)).await;
    assert_eq!(status, StatusCode::CREATED);
    api.read_events(again["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    assert_eq!(
        (&last_request_body(&log)["temperature"], &last_request_body(&log)["max_tokens"]),
        (&json!(0.5), &json!(70))
    );
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn page_shows_chat_thinking_and_keeps_its_budget() {
    let (api, _) = api(2).await;
    let defaults = json!({ "thinking": { "budget": 2_000 } });
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "params": defaults }))).await;
    let chat = chat["id"].as_str().unwrap();
    let page = Request::builder().uri(format!("/c/{chat}")).header("host", "127.0.0.1:3000");
    let page = api.send(page.body(Body::empty()).unwrap()).await;
    let html = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
    let html = String::from_utf8(html.to_vec()).unwrap();
    let selected: Vec<&str> =
        html.split("<option ").filter(|option| option.split('>').next().unwrap().contains(" selected")).collect();
    assert!(selected.iter().any(|option| option.contains("value=\"low\"")), "the level that the budget is about");
    for (level, requested) in [("low", json!({ "budget": 2_000 })), ("high", json!("high"))] {
        let form = Request::builder()
            .method("POST")
            .uri("/forms/send")
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(format!("text=hi&chat_id={chat}&thinking={level}")))
            .unwrap();
        let sent = api.send(form).await;
        let to = sent.headers()["location"].to_str().unwrap().to_owned();
        let reply = to.split("at=").nth(1).unwrap().trim_end_matches("#latest");
        api.read_events(reply, &[]).await;
        let (_, reply) = api.call("GET", &format!("/api/turns/{reply}"), None).await;
        let exchange = reply["exchange_id"].as_str().unwrap().parse().unwrap();
        let exchange = exchanges::find(&api.instance.db, api.instance.owner, exchange).await.unwrap().unwrap();
        assert_eq!(serde_json::to_value(exchange.params.thinking).unwrap(), requested, "{level}");
    }
}

#[tokio::test]
async fn unsupported_parameters_are_reported_and_not_sent() {
    let (api, log) = api(2).await;
    let chat = api.create_chat().await;
    let started = send_turn(&api, &chat, json!({ "temperature": 0.5, "top_k": 7, "thinking": "high" })).await;
    let (body, exchange) = (last_request_body(&log), &started["exchange"]);
    assert_eq!((body.get("temperature"), body.get("top_k")), (None, None));
    let not_sent = json!([
        {
            "param": "temperature", "reason": "this model does not support it while it thinks",
            "code": "unsupported_while_thinking",
        },
        { "param": "top_k", "reason": "this model does not support it", "code": "unsupported" },
    ]);
    assert_eq!((&exchange["not_sent"], &exchange["is_thinking_mode"]), (&not_sent, &json!(true)));
    assert_eq!(exchange["params"], json!({ "temperature": 0.5, "top_k": 7, "thinking": "high" }), "as it was asked");
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    let (_, generations) = api.call("GET", &format!("/api/turns/{reply}/generations"), None).await;
    let manifest = &generations[0]["request_manifest"];
    assert_eq!((&manifest["not_sent"], manifest["turns"].as_array().map(Vec::len)), (&not_sent, Some(1)));

    let page = Request::builder().uri(format!("/c/{chat}")).header("host", "127.0.0.1:3000");
    let page = api.send(page.body(Body::empty()).unwrap()).await;
    let html = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
    let html = String::from_utf8(html.to_vec()).unwrap();
    let line = html.split("class=\"not-sent\"").nth(1).and_then(|rest| rest.split("</p>").next());
    let notice = "temperature was not sent: this model does not support it while it thinks. \
                top_k was not sent: this model does not support it.";
    // Leptos marks the end of a text.
    assert_eq!(line.map(|line| line.trim_start_matches('>').trim_end_matches("<!>")), Some(notice));
    assert_eq!(html.matches("class=\"not-sent\"").count(), 1, "once, under the reply");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn unsupported_turn_parameters_are_refused_by_name_and_store_nothing() {
    let (api, log) = api(2).await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let refused = [
        (json!({ "temperature": 1.5 }), "params.temperature", "must be between 0 and 1 for this model"),
        (json!({ "max_tokens": 64_001 }), "params.max_tokens", "must be between 1 and 64000 for this model"),
        (
            json!({ "thinking": { "budget": 1_000 } }),
            "params.thinking",
            "a budget must be at least 1024 tokens for this model",
        ),
        (
            json!({ "thinking": { "budget": 2_000 }, "max_tokens": 2_000 }),
            "params.thinking",
            "a budget must be below max_tokens (2000)",
        ),
        (json!({ "stop_sequences": ["a", "b", "c", "d", "e"] }), "params.stop_sequences", "at most 4 for this model"),
    ];
    for (params, field, reason) in &refused {
        let (status, problem) = api.call("POST", &path, Some(json!({ "text": "hi", "params": params }))).await;
        assert_eq!((status, problem["field"].as_str()), (StatusCode::BAD_REQUEST, Some(*field)), "{params}");
        assert_eq!(problem["detail"], format!("{field}: {reason}"));
    }
    let (_, turns) = api.call("GET", &format!("/api/chats/{chat}"), None).await;
    assert_eq!(turns["branches"].as_array().unwrap().len(), 1);
    assert!(turns["branches"][0]["head_turn_id"].is_null() && log.requests().is_empty());

    // As defaults of the chat, the same values are stored, and they do not prevent a message.
    for (params, field, _) in &refused {
        let (status, _) = api.call("PATCH", &format!("/api/chats/{chat}"), Some(json!({ "params": params }))).await;
        assert_eq!(status, StatusCode::OK, "{field}");
    }
    let (_, _) = api.call("PATCH", &format!("/api/chats/{chat}"), Some(json!({ "params": refused[0].0 }))).await;
    let started = send_turn(&api, &chat, json!({})).await;
    let expected = json!([{
        "param": "temperature", "reason": "must be between 0 and 1 for this model",
        "code": "out_of_range", "args": { "least": "0", "most": "1" },
    }]);
    assert_eq!((&started["exchange"]["not_sent"], last_request_body(&log).get("temperature")), (&expected, None));

    // A retry does not fail because of the first reply's parameters either.
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    let retry = format!("/api/turns/{reply}/retry");
    let (status, again) = api.call("POST", &retry, None).await;
    assert_eq!((status, &again["exchange"]["not_sent"]), (StatusCode::CREATED, &expected));
    api.read_events(again["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let (status, problem) = api.call("POST", &retry, Some(json!({ "params": { "temperature": 1.5 } }))).await;
    assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!("params.temperature")));
    let (_, chat) = api.call("GET", &format!("/api/chats/{chat}"), None).await;
    assert_eq!(chat["branches"].as_array().unwrap().len(), 2, "the refused one left no branch");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn repeated_request_returns_same_parameters() {
    let (api, _) = api(1).await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let body = json!({ "text": "hi", "params": { "top_k": 7 }, "client_request_id": "k" });
    let (_, first) = api.call("POST", &path, Some(body.clone())).await;
    let (status, again) = api.call("POST", &path, Some(body)).await;
    assert_eq!((status, &again["exchange"]), (StatusCode::OK, &first["exchange"]));
    assert_eq!(first["exchange"]["not_sent"][0]["param"], "top_k");
}

#[tokio::test]
async fn parameters_are_validated_strictly_in_every_body() {
    let (api, _) = api(1).await;
    let chat = api.create_chat().await;
    let started = send_turn(&api, &chat, json!({})).await;
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    let places = [
        ("POST", "/api/chats".to_owned(), json!({})),
        ("PATCH", format!("/api/chats/{chat}"), json!({})),
        ("POST", format!("/api/chats/{chat}/turns"), json!({ "text": "hi" })),
        ("POST", format!("/api/turns/{reply}/retry"), json!({})),
    ];
    for (method, path, body) in places {
        for (params, field) in [
            (json!({ "temprature": 1 }), "params.temprature"),
            (json!({ "temperature": "warm" }), "params.temperature"),
            (json!({ "temperature": 2.5 }), "params.temperature"),
            (json!({ "top_p": -0.5 }), "params.top_p"),
            (json!({ "top_k": 0 }), "params.top_k"),
            (json!({ "max_tokens": 1.5 }), "params.max_tokens"),
            (json!({ "stop_sequences": "x" }), "params.stop_sequences"),
            (json!({ "stop_sequences": vec!["x"; 17] }), "params.stop_sequences"),
            (json!({ "thinking": "hard" }), "params.thinking"),
            (json!({ "thinking": { "budget": 0 } }), "params.thinking"),
        ] {
            let mut body = body.clone();
            body["params"] = params;
            let (status, problem) = api.call(method, &path, Some(body.clone())).await;
            let was = (status, problem["code"].as_str(), problem["field"].as_str());
            assert_eq!(
                was,
                (StatusCode::BAD_REQUEST, Some("invalid"), Some(field)),
                "{method} {path} {body} {problem}"
            );
        }
        let mut body = body;
        body["parameters"] = json!({});
        let (status, problem) = api.call(method, &path, Some(body)).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!("parameters")), "{method} {path}");
    }
    for (method, path) in [("POST", "/api/chats".to_owned()), ("PATCH", format!("/api/chats/{chat}"))] {
        let (status, problem) = api.call(method, &path, Some(json!({ "system_prompt": "x".repeat(100_001) }))).await;
        assert_eq!((status.as_u16(), &problem["field"]), (422, &json!("system_prompt")), "{method}");
    }
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn models_list_supported_parameters() {
    let (api, _) = api(0).await;
    let (status, models) = api.call("GET", "/api/models", None).await;
    assert_eq!(status, StatusCode::OK);
    let first = &models[0];
    assert_eq!(
        (&first["reasoning"], &first["thinking_levels"]),
        (&json!("optional"), &json!(["off", "low", "medium", "high"]))
    );
    assert_eq!((&first["context_tokens"], &first["output_tokens"]), (&json!(200_000), &json!(64_000)));
    let capabilities = &first["capabilities"];
    assert_eq!(capabilities["temperature"], json!({ "plain": { "least": 0.0, "most": 1.0 }, "thinking": null }));
    assert_eq!(capabilities["top_k"], json!({ "plain": null, "thinking": null }));
    assert_eq!(capabilities["max_tokens"], json!({ "least": 1, "most": 64_000 }));
    assert_eq!(capabilities["thinking_budget"], json!({ "least": 1_024 }));
    assert_eq!(capabilities["stop_sequences"], json!({ "plain": 4, "thinking": 4 }));
}

#[tokio::test]
async fn manifests_without_parameters_are_still_read() {
    let (api, _) = api(1).await;
    let chat = api.create_chat().await;
    let started = send_turn(&api, &chat, json!({})).await;
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    let Db::Sqlite { writer, .. } = &api.instance.db else { panic!("not a file") };
    let old = "UPDATE generation_requests SET manifest = CAST('[{\"turn_id\": \"x\"}]' AS BLOB)";
    sqlx::query(old).execute(writer).await.unwrap();
    let (_, generations) = api.call("GET", &format!("/api/turns/{reply}/generations"), None).await;
    assert_eq!(generations[0]["request_manifest"], json!({ "turns": [{ "turn_id": "x" }], "not_sent": [] }));
    let exchange: turnleaf::domain::ExchangeId = started["exchange"]["id"].as_str().unwrap().parse().unwrap();
    let stored = exchanges::find(&api.instance.db, api.instance.owner, exchange).await.unwrap().unwrap();
    assert_eq!((stored.params, stored.not_sent), (ModelParams::default(), Vec::new()));
    assert!(exchanges::find(&api.instance.db, ids::mint(), exchange).await.unwrap().is_none(), "its owner's alone");
}
