//! Two paths side by side, over HTTP: the JSON, the page, and refused requests.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::tools::tool::ToolSpec;
use turnleaf_providers::provider::ToolOutcome;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};

use crate::http_api::TestApi;
use crate::test_server::{delta_step, finish_steps, streamed_answer, text_step, thinking_step};

struct SentExchange {
    user: String,
    reply: String,
}

async fn page(api: &TestApi, path: &str) -> (StatusCode, http::HeaderMap, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let response = api.send(request).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Posts a form; returns the status and the redirect target.
async fn post(api: &TestApi, path: &str, fields: &str) -> (StatusCode, String) {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(fields.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    (response.status(), to.unwrap_or_default())
}

async fn post_exchange(api: &TestApi, path: &str, body: Value) -> SentExchange {
    let (status, started) = api.call("POST", path, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    let id = |turn: &str| started[turn]["id"].as_str().unwrap().to_owned();
    let sent = SentExchange { user: id("user_turn"), reply: id("assistant_turn") };
    api.read_events(&sent.reply, &[]).await;
    sent
}

async fn send_message(api: &TestApi, chat: &str, text: &str, after: Option<&SentExchange>) -> SentExchange {
    let body = json!({ "text": text, "prev_turn_id": after.map(|sent| &sent.reply) });
    post_exchange(api, &format!("/api/chats/{chat}/turns"), body).await
}

async fn compare_paths(api: &TestApi, chat: &str, left: &str, right: &str) -> (StatusCode, Value) {
    api.call("GET", &format!("/api/chats/{chat}/compare?left={left}&right={right}"), None).await
}

/// Starts a chat with a message and two replies, each of which is continued; the left path is longer.
async fn fork_chat(api: &TestApi) -> (String, SentExchange, SentExchange, SentExchange) {
    let chat = api.create_chat().await;
    let first = send_message(api, &chat, "What is a tree?", None).await;
    let left = send_message(api, &chat, "And a leaf?", Some(&first)).await;
    let left_end = send_message(api, &chat, "Thanks", Some(&left)).await;
    let right = post_exchange(api, &format!("/api/turns/{}/retry", first.reply), json!({ "model": "model-b" })).await;
    let right_end = send_message(api, &chat, "And a root?", Some(&right)).await;
    (chat, first, left_end, right_end)
}

fn five_replies() -> [ScriptedAnswer; 5] {
    ["A tall green plant.", "A green thing.", "Bye.", "A tall woody plant.", "It drinks."]
        .map(|word| streamed_answer([text_step(word)]))
}

#[tokio::test]
async fn exchanges_are_compared_from_common_turn_with_usage() {
    let api = TestApi::new(five_replies()).await;
    let (chat, first, left, right) = fork_chat(&api).await;
    let (status, found) = compare_paths(&api, &chat, &left.reply, &right.reply).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!((&found["common_turn_id"], &found["common_turns"]), (&json!(first.user), &json!(1)));
    assert_eq!((&found["total"], &found["next_skip"]), (&json!(3), &Value::Null));
    let side = |side: &str| {
        let side = &found[side];
        json!([
            side["leaf_turn_id"],
            side["branch"]["model"],
            side["messages"],
            side["replies"],
            side["is_ancestor"],
            side["usage"]["input_tokens"],
            side["usage"]["output_tokens"],
            side["tools"],
            side["unfinished"]
        ])
    };
    assert_eq!(side("left"), json!([left.reply, "model-a", 2, 3, false, 21, 15, [], {}]));
    assert_eq!(side("right"), json!([right.reply, "model-b", 1, 2, false, 14, 10, [], {}]));
    assert_eq!(found["right"]["locks"][0]["model"], "model-b");
    assert!(found["left"]["total_ms"].is_u64() && found["left"]["mean_first_token_ms"].is_u64(), "{found}");
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!(pairs.iter().map(|pair| &pair["number"]).collect::<Vec<_>>(), [1, 2, 3]);
    // The first pair compares two replies to one message.
    assert_eq!((&pairs[0]["message"], &pairs[0]["left"]["message"]), (&Value::Null, &Value::Null));
    assert_eq!(
        pairs[0]["reply"]["spans"],
        json!([
            { "kind": "same", "text": "A tall " }, { "kind": "removed", "text": "green" },
            { "kind": "added", "text": "woody" }, { "kind": "same", "text": " plant." },
        ])
    );
    assert_eq!(pairs[1]["message"]["spans"][0], json!({ "kind": "same", "text": "And a " }));
    assert_eq!((&pairs[2]["right"], &pairs[2]["left"]["message"]["turn_id"]), (&Value::Null, &json!(left.user)));
    assert_eq!(
        pairs[2]["reply"],
        json!({ "unit": "words", "same_percent": 0, "spans": [{ "kind": "removed", "text": "Bye." }] })
    );
    let reply = &pairs[0]["right"]["reply"];
    assert_eq!((&reply["model"]["model"], &reply["status"]), (&json!("model-b"), &json!("complete")));
    assert!(reply["first_token_ms"].as_u64() <= reply["total_ms"].as_u64());

    // Reading the pairs page by page gives the same pairs.
    let base = format!("/api/chats/{chat}/compare?left={}&right={}", left.reply, right.reply);
    let mut paged = Vec::new();
    let mut next = Some(0);
    while let Some(skip) = next {
        let (_, part) = api.call("GET", &format!("{base}&limit=1&skip={skip}"), None).await;
        paged.extend(part["pairs"].as_array().unwrap().clone());
        next = part["next_skip"].as_u64();
    }
    assert_eq!(&paged, pairs);
    let (status, beyond) = api.call("GET", &format!("{base}&skip=99"), None).await;
    assert_eq!((status, &beyond["pairs"], &beyond["next_skip"]), (StatusCode::OK, &json!([]), &Value::Null));
}

#[tokio::test]
async fn ancestor_turns_and_unrelated_paths_are_compared() {
    let api = TestApi::new(five_replies()).await;
    let (chat, first, left, _) = fork_chat(&api).await;
    let (_, found) = compare_paths(&api, &chat, &left.reply, &first.reply).await;
    assert_eq!((&found["common_turn_id"], &found["right"]["is_ancestor"]), (&json!(first.reply), &json!(true)));
    assert_eq!((&found["total"], &found["pairs"][0]["right"]), (&json!(2), &Value::Null));

    let edited = format!("/api/turns/{}/edit", first.user);
    let (status, started) = api.call("POST", &edited, Some(json!({ "text": "What is a bush?" }))).await;
    assert_eq!(status, StatusCode::CREATED);
    // This reply never gets its first words, so it has no text to compare.
    let other = started["assistant_turn"]["id"].as_str().unwrap();
    let (status, found) = compare_paths(&api, &chat, &left.reply, other).await;
    assert_eq!((status, &found["common_turn_id"], &found["common_turns"]), (StatusCode::OK, &Value::Null, &json!(0)));
    assert_eq!(found["right"]["unfinished"], json!({ "pending": 1 }));
    assert_eq!((&found["right"]["total_ms"], &found["right"]["cost"]), (&Value::Null, &Value::Null));
    assert_eq!(found["pairs"][0]["right"]["reply"]["status"], "pending");
    let (_, _, html) = page(&api, &format!("/c/{chat}/compare?left={}&right={other}", left.reply)).await;
    assert!(html.contains("nothing in common") && html.contains("in progress"), "{html}");
}

#[tokio::test]
async fn incomparable_turns_are_refused_with_their_field() {
    let api = TestApi::new(five_replies()).await;
    let (chat, first, left, right) = fork_chat(&api).await;
    let other_chat = api.create_chat().await;
    let other = api.call("POST", &format!("/api/chats/{other_chat}/turns"), Some(json!({ "text": "x" }))).await.1;
    let other = other["user_turn"]["id"].as_str().unwrap();
    let random = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    let (left, right) = (left.reply.as_str(), right.reply.as_str());
    for (a, b, status, field) in [
        (left, left, StatusCode::UNPROCESSABLE_ENTITY, json!("right")),
        (other, right, StatusCode::UNPROCESSABLE_ENTITY, json!("left")),
        (left, other, StatusCode::UNPROCESSABLE_ENTITY, json!("right")),
        (left, random, StatusCode::NOT_FOUND, Value::Null),
        (random, right, StatusCode::NOT_FOUND, Value::Null),
        (left, "1", StatusCode::BAD_REQUEST, json!("right")),
    ] {
        let (found, problem) = compare_paths(&api, &chat, a, b).await;
        assert_eq!((found, &problem["field"]), (status, &field), "{a} {b}: {problem}");
    }
    for query in [
        "left=",
        &format!("left={left}"),
        &format!("left={left}&right={right}&limit=0"),
        &format!("left={left}&right={right}&limit=101"),
        &format!("left={left}&right={right}&skip=-1"),
        &format!("left={left}&right={right}&more=1"),
    ] {
        let (status, problem) = api.call("GET", &format!("/api/chats/{chat}/compare?{query}"), None).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {problem}");
    }
    assert_eq!(compare_paths(&api, random, left, right).await.0, StatusCode::NOT_FOUND);
    assert_eq!(compare_paths(&api, &other_chat, left, right).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, _, html) = page(&api, &format!("/c/{chat}/compare?left={left}&right={left}")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("Choose two different branches.") && html.contains("<select"), "{html}");
    assert_eq!(page(&api, &format!("/c/{chat}/compare?left=1&right={left}")).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(page(&api, &format!("/c/{random}/compare")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(page(&api, &format!("/c/{chat}/compare?left=&right=")).await.0, StatusCode::OK);
    // A path may end in a user turn, too.
    assert_eq!(compare_paths(&api, &chat, &first.user, right).await.0, StatusCode::OK);
}

#[tokio::test]
async fn page_shows_both_sides_without_script_and_links_onward() {
    let api = TestApi::new(five_replies()).await;
    let (chat, first, left, right) = fork_chat(&api).await;
    let (status, _, html) = page(&api, &format!("/c/{chat}/compare?left={}&right={}", left.reply, right.reply)).await;
    assert_eq!(status, StatusCode::OK);
    for part in [
        "Summary</summary>".to_owned(),
        "<th scope=\"row\">Input tokens</th><td>21</td><td>14</td>".to_owned(),
        format!("/c/{chat}/compare?left={}&amp;right={}\" class=\"button\">Swap sides", right.reply, left.reply),
        format!("href=\"/c/{chat}?at={}\" class=\"no-print\">Open the last common message", first.user),
        format!("at={}\"", left.reply),
        "A tall <del><span class=\"quiet\">only left: </span>green<span class=\"quiet\"> (end)</span></del> plant."
            .to_owned(),
        "A tall <ins><span class=\"quiet\">only right: </span>woody<span class=\"quiet\"> (end)</span></ins> plant."
            .to_owned(),
        "Nothing on this side.".to_owned(),
        "action=\"/forms/graft\"".to_owned(),
        format!("<option value=\"{}\" selected>", left.reply),
    ] {
        assert!(html.contains(&part), "{part}\n{html}");
    }
    assert!(html.matches("<script").count() == 1 && !html.contains("style=\""), "{html}");
    let (_, _, chosen) = page(&api, &format!("/c/{chat}/compare")).await;
    assert!(chosen.contains("Choose a branch") && !chosen.contains("Summary"), "{chosen}");
}

#[tokio::test]
async fn chat_text_never_becomes_markup() {
    let hostile = "</div><script>alert(1)</script><img src=x onerror=alert(1)>";
    let api = TestApi::new([streamed_answer([text_step(hostile)]), streamed_answer([text_step("fine")])]).await;
    let chat = api.create_chat().await;
    let first = send_message(&api, &chat, hostile, None).await;
    let other = post_exchange(&api, &format!("/api/turns/{}/retry", first.reply), json!({ "model": hostile })).await;
    api.call("PATCH", &format!("/api/chats/{chat}"), Some(json!({ "title": hostile }))).await;
    let (status, _, html) = page(&api, &format!("/c/{chat}/compare?left={}&right={}", first.reply, other.reply)).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        html.contains("&lt;script&gt;") && html.matches("<script").count() == 1 && !html.contains("<img"),
        "{html}"
    );
}

#[tokio::test]
async fn tools_are_named_and_counted() {
    let calls = |n: usize| {
        let call = |at: usize| json!({ "index": at, "id": format!("c{at}"), "function": { "name": "look_up", "arguments": "{}" } });
        let steps = (0..n).map(|at| delta_step(json!({ "tool_calls": [call(at)] })));
        ScriptedAnswer::Stream(steps.chain(finish_steps("tool_calls")).collect::<Vec<ScriptedStep>>())
    };
    let spec = ToolSpec { name: "look_up".into(), description: String::new(), parameters: json!({}) };
    let script = [calls(3), streamed_answer([text_step("three")]), streamed_answer([text_step("none")])];
    let provider = ScriptedProvider::new("scripted", script)
        .with_tools(vec![spec], |_, _| Some(ToolOutcome { result: json!("ok"), is_error: false }));
    let api = TestApi::with_provider(provider).await;
    let chat = api.create_chat().await;
    let first = send_message(&api, &chat, "count", None).await;
    let other = post_exchange(&api, &format!("/api/turns/{}/retry", first.reply), json!({})).await;
    let (_, found) = compare_paths(&api, &chat, &first.reply, &other.reply).await;
    let expected = json!([{ "name": "look_up", "calls": 3 }]);
    assert_eq!((&found["left"]["tools"], &found["right"]["tools"]), (&expected, &json!([])));
    assert_eq!(found["pairs"][0]["left"]["reply"]["tools"], expected);
    let (_, _, html) = page(&api, &format!("/c/{chat}/compare?left={}&right={}", first.reply, other.reply)).await;
    assert!(html.contains("<th scope=\"row\">Tool calls</th><td>look_up × 3</td><td>none</td>"), "{html}");
}

#[tokio::test]
async fn path_is_rerun_over_http_and_its_page_links_to_comparison() {
    let api = TestApi::new(["a", "b", "x", "y"].map(|word| streamed_answer([text_step(word)]))).await;
    let chat = api.create_chat().await;
    let first = send_message(&api, &chat, "one", None).await;
    let leaf = send_message(&api, &chat, "two", Some(&first)).await;
    let body =
        json!({ "leaf_turn_id": leaf.reply, "provider": "scripted", "model": "model-b", "client_request_id": "g" });
    let (status, begun) = api.call("POST", &format!("/api/chats/{chat}/grafts"), Some(body.clone())).await;
    assert_eq!(status, StatusCode::CREATED, "{begun}");
    assert_eq!(
        (&begun["branch"]["model"], &begun["graft"]["messages"]),
        (&json!("model-b"), &json!([first.user, leaf.user]))
    );
    let id = begun["graft"]["id"].as_str().unwrap();
    let (status, again) = api.call("POST", &format!("/api/chats/{chat}/grafts"), Some(body)).await;
    assert_eq!((status, &again["graft"]["id"]), (StatusCode::OK, &begun["graft"]["id"]));
    let done = loop {
        let (status, seen) = api.call("GET", &format!("/api/grafts/{id}"), None).await;
        assert_eq!(status, StatusCode::OK);
        if seen["graft"]["status"] != "running" {
            break seen;
        }
        api.read_events(seen["reply_turn_id"].as_str().unwrap(), &[]).await;
    };
    assert_eq!(
        (&done["graft"]["status"], &done["graft"]["asked"], &done["reply_status"]),
        (&json!("done"), &json!(2), &json!("complete"))
    );
    let (_, listed) = api.call("GET", &format!("/api/chats/{chat}/grafts"), None).await;
    assert_eq!(listed[0]["id"], id);
    let (status, headers, html) = page(&api, &format!("/c/{chat}/grafts/{id}")).await;
    assert_eq!((status, headers.get("refresh")), (StatusCode::OK, None));
    let reply = done["reply_turn_id"].as_str().unwrap();
    assert!(html.contains(&format!("/c/{chat}/compare?left={}&amp;right={reply}", leaf.reply)), "{html}");
    assert!(html.contains("All 2 messages were rerun") && !html.contains("/forms/graft"), "{html}");
    let (_, found) = compare_paths(&api, &chat, &leaf.reply, reply).await;
    assert_eq!(found["pairs"][1]["message"]["same_percent"], 100);
    let (status, problem) = api.call("POST", &format!("/api/grafts/{id}/resume"), None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("graft_not_paused")));
    let (status, cancelled) = api.call("POST", &format!("/api/grafts/{id}/cancel"), None).await;
    assert_eq!((status, &cancelled["graft"]["status"]), (StatusCode::OK, &json!("done")));
    let random = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    for path in [format!("/api/grafts/{random}"), "/api/grafts/1".into(), format!("/api/chats/{random}/grafts")] {
        assert_eq!(api.call("GET", &path, None).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(page(&api, &format!("/c/{random}/grafts/{id}")).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn forms_start_cancel_and_resume_rerun_and_show_refusals() {
    let hang = ScriptedAnswer::Stream(vec![text_step("half"), ScriptedStep::Hang]);
    let api = TestApi::new([streamed_answer([text_step("a")]), hang, streamed_answer([text_step("x")])]).await;
    let chat = api.create_chat().await;
    let first = send_message(&api, &chat, "one", None).await;
    let fields = format!(
        "chat_id={chat}&leaf_turn_id={}&from_turn_id=&model=scripted%2Fmodel-b&client_request_id=f",
        first.reply
    );
    let (status, to) = post(&api, "/forms/graft", &fields).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let id = to.strip_prefix(&format!("/c/{chat}/grafts/")).unwrap().to_owned();
    assert_eq!(post(&api, "/forms/graft", &fields).await.1, to, "sent twice, begun once");
    let (_, headers, html) = page(&api, &to).await;
    assert_eq!(headers["refresh"], "3");
    assert!(html.contains("Rerunning message 1 of 1") && html.contains("/forms/graft/cancel"), "{html}");
    let (_, _, html) = page(&api, &format!("/c/{chat}/compare")).await;
    assert!(html.contains(&format!("/c/{chat}/grafts/{id}")), "{html}");

    let (_, seen) = api.call("GET", &format!("/api/grafts/{id}"), None).await;
    let reply = seen["reply_turn_id"].as_str().unwrap().to_owned();
    api.call("POST", &format!("/api/turns/{reply}/stop"), None).await;
    let paused = loop {
        let (_, _, html) = page(&api, &to).await;
        if !html.contains("Rerunning message") {
            break html;
        }
        tokio::task::yield_now().await;
    };
    assert!(paused.contains("The last reply was stopped.") && paused.contains("/forms/graft/resume"), "{paused}");
    assert_eq!(post(&api, "/forms/graft/resume", &format!("graft_id={id}")).await, (StatusCode::SEE_OTHER, to.clone()));
    let (_, refused) = post(&api, "/forms/graft/resume", &format!("graft_id={id}")).await;
    assert_eq!(refused, format!("{to}?refused=not_paused"));
    assert!(page(&api, &refused).await.2.contains("This rerun is no longer paused."));
    post(&api, "/forms/graft/cancel", &format!("graft_id={id}")).await;

    let (_, back) = post(
        &api,
        "/forms/graft",
        &format!("chat_id={chat}&leaf_turn_id={}&model=nobody%2Fx&next=https%3A%2F%2Fcanary.test", first.reply),
    )
    .await;
    assert_eq!(back, format!("/c/{chat}/compare?refused=model"));
    assert!(page(&api, &back).await.2.contains("This model cannot be used here."));
    let fields = format!("chat_id={chat}&leaf_turn_id={0}&from_turn_id={0}&model=scripted%2Fmodel-b", first.reply);
    assert!(post(&api, "/forms/graft", &fields).await.1.ends_with("refused=nothing_to_ask"));
}

#[tokio::test]
async fn page_of_very_long_texts_ends_sooner() {
    let api = TestApi::new((0..6).map(|_| streamed_answer([text_step("a")]))).await;
    let chat = api.create_chat().await;
    let long = "𝄞".repeat(262_000);
    let mut last: Option<SentExchange> = None;
    let first = send_message(&api, &chat, "short", None).await;
    for _ in 0..5 {
        last = Some(send_message(&api, &chat, &long, Some(last.as_ref().unwrap_or(&first))).await);
    }
    let last = last.unwrap();
    let (status, found) = compare_paths(&api, &chat, &first.reply, &last.reply).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        (&found["total"], found["pairs"].as_array().unwrap().len(), &found["next_skip"]),
        (&json!(5), 4, &json!(4))
    );
}

#[tokio::test]
async fn page_of_very_long_reasoning_ends_sooner() {
    let api =
        TestApi::new((0..5).map(|_| streamed_answer([thinking_step(&"x".repeat(3 << 19)), text_step("a")]))).await;
    let chat = api.create_chat().await;
    let first = send_message(&api, &chat, "short", None).await;
    let mut last: Option<SentExchange> = None;
    for _ in 0..4 {
        last = Some(send_message(&api, &chat, "more", Some(last.as_ref().unwrap_or(&first))).await);
    }
    let (status, found) = compare_paths(&api, &chat, &first.reply, &last.unwrap().reply).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((found["pairs"].as_array().unwrap().len(), &found["next_skip"]), (2, &json!(2)));
    let whole = &found["right"]["replies"];
    assert_eq!(whole, 4, "what a side is measured by is all of it");
}
