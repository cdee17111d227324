//! Global search over HTTP, its page without script, and the search index, which follows changes.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::TurnStatus;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::search::{MatchedItem, SearchRequest};
use turnleaf_service::turns::placement::PlacementRequest;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

fn scripted(answers: impl IntoIterator<Item = ScriptedAnswer>) -> ScriptedProvider {
    ScriptedProvider::new("scripted", answers)
}

fn escaped(words: &str) -> String {
    words.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn search(api: &TestApi, query: &str) -> Value {
    let (status, found) = api.call("GET", &format!("/api/search?{query}"), None).await;
    assert_eq!(status, StatusCode::OK, "{query} {found}");
    found
}

async fn page(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn matches_are_found_in_all_chats_and_link_to_turns() {
    let text = "Grüße an die C++-Leute: 100% <b>你好世界</b>";
    for instance in TestServer::on_every_database(|| {
        scripted([streamed_answer([text_step(text)]), streamed_answer([text_step("nothing of it")])])
    })
    .await
    {
        let api = TestApi::with_server(instance);
        let first = api.instance.send("Say hello, please.").await;
        api.instance.wait_until_ended(first.assistant_turn.id).await;
        let second = api.instance.send("What now?").await;
        api.instance.wait_until_ended(second.assistant_turn.id).await;
        for words in ["c++", "100%", "你好", "GRUSSE", "<b>", "世界 grüße"] {
            let found = search(&api, &format!("in=turns&q={}", escaped(words))).await;
            let hit = &found["hits"][0];
            assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{words} {found}");
            assert_eq!(hit["turn_id"], json!(first.assistant_turn.id), "{words}");
            assert_eq!(
                (&hit["kind"], &hit["role"], &hit["model"]),
                (&json!("turn"), &json!("assistant"), &json!("model-a"))
            );
            assert_eq!((&found["complete"], &found["indexed"]), (&json!(true), &json!(true)));
        }
        let found = search(&api, "in=turns&q=hello").await;
        assert_eq!(found["hits"][0]["excerpt"], json!({ "text": "Say hello, please.", "marks": [[4, 9]] }));
        // The title of the chat is its first message.
        let all = search(&api, "q=hello").await;
        let kinds: Vec<&Value> = all["hits"].as_array().unwrap().iter().map(|hit| &hit["kind"]).collect();
        assert_eq!(kinds, [&json!("chat"), &json!("turn")]);
        for nothing in ["%%", "a_b", "' OR 1=1--", "NEAR(", "AND", "*", "foo\"bar", "zz:hello", "(((", "a-b"] {
            let found = search(&api, &format!("q={}", escaped(nothing))).await;
            assert_eq!((&found["hits"], &found["next_cursor"]), (&json!([]), &Value::Null), "{nothing}");
        }
        let one = search(&api, "q=hello&limit=1").await;
        let cursor = one["next_cursor"].as_str().unwrap();
        let two = search(&api, &format!("q=hello&limit=1&cursor={cursor}")).await;
        assert_eq!((&one["hits"][0]["kind"], &two["hits"][0]["kind"]), (&json!("chat"), &json!("turn")));
        let narrowed = search(&api, &format!("q=hello&chat={}", second.chat.id)).await;
        assert_eq!(narrowed["hits"], json!([]));
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn invalid_query_is_refused_by_name() {
    let api = TestApi::new([]).await;
    let (long, many) = (format!("q={}", "a".repeat(257)), format!("q={}", "a%20".repeat(17)));
    for (query, field) in [
        ("", "q"),
        ("q=", "q"),
        ("q=%20", "q"),
        (long.as_str(), "q"),
        (many.as_str(), "q"),
        ("q=a&q=b", "q"),
        ("q=a&limit=0", "limit"),
        ("q=a&limit=201", "limit"),
        ("q=a&limit=-1", "limit"),
        ("q=a&limit=abc", "limit"),
        ("q=a&in=everything", "in"),
        ("q=a&role=nobody", "role"),
        ("q=a&chat=1", "chat"),
        ("q=a&branch=1", "branch"),
        ("q=a&since=yesterday", "since"),
        ("q=a&until=2026-13-01", "until"),
        ("q=a&cursor=1", "cursor"),
        ("q=a&cursor=t.1...00000000", "cursor"),
        ("q=a&user_id=x", "user_id"),
    ] {
        let (status, problem): (_, Value) = api.call("GET", &format!("/api/search?{query}"), None).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)), "{query} {problem}");
    }
}

#[tokio::test]
async fn page_without_script_shows_groups_with_highlights() {
    let api =
        TestApi::new([streamed_answer([text_step("Leaves & <b>trees</b>")]), streamed_answer([text_step("other")])])
            .await;
    let first = api.instance.send("What do trees grow?").await;
    api.instance.wait_until_ended(first.assistant_turn.id).await;
    let (chat, reply) = (first.chat.id, first.assistant_turn.id);
    let (status, recent) = page(&api, "/search").await;
    assert_eq!(status, StatusCode::OK);
    assert!(recent.contains("Recent chats") && recent.contains(&format!("href=\"/c/{chat}\"")), "{recent}");
    assert!(recent.contains("role=\"search\"") && recent.matches("<script").count() == 1, "{recent}");
    let (_, found) = page(&api, "/search?q=trees&in=&role=&model=&since=&until=").await;
    assert!(found.contains("<h2>Chats</h2>") && found.contains("<h2>Messages and replies</h2>"), "{found}");
    assert!(found.contains(&format!("href=\"/c/{chat}?at={reply}#turn-{reply}\"")), "{found}");
    assert!(found.contains("Leaves &amp; &lt;b&gt;<mark>trees</mark>&lt;/b&gt;"), "{found}");
    let (_, nothing) = page(&api, "/search?q=%3Cscript%3E").await;
    assert!(nothing.contains("No results for “&lt;script&gt;”."), "{nothing}");
    let (_, narrowed) = page(&api, &format!("/search?q=trees&chat={chat}&role=user")).await;
    assert!(narrowed.contains("Only in chat") && !narrowed.contains("<h2>Chats</h2>"), "{narrowed}");
    assert!(!narrowed.contains(&format!("#turn-{reply}")), "{narrowed}");
    let (status, wrong) = page(&api, &format!("/search?q={}", "a".repeat(257))).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(wrong.contains("must be at most 256 characters"), "{wrong}");
    assert_eq!(page(&api, "/search?q=a&since=never").await.0, StatusCode::BAD_REQUEST);
    assert_eq!(page(&api, "/search?q=a&nothing=1").await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn index_follows_edits_versions_copies_and_deletions() {
    let replies =
        || scripted(["walnut one", "walnut two", "walnut three"].map(|text| streamed_answer([text_step(text)])));
    for instance in TestServer::on_every_database(replies).await {
        let found = async |words: &str| {
            let question = SearchRequest { words: words.into(), limit: 50, ..SearchRequest::default() };
            let page = instance.service.search(instance.owner, &question).await.unwrap();
            page.hits.iter().filter(|hit| matches!(hit, MatchedItem::Turn(_))).count()
        };
        let first = instance.send("about the elm").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        assert_eq!((found("walnut").await, found("elm").await), (1, 1));
        let again = instance.service.retry_turn(
            instance.owner,
            first.assistant_turn.id,
            PlacementRequest::default(),
            Default::default(),
            None,
        );
        let again = again.await.unwrap();
        assert_eq!(instance.wait_until_ended(again.assistant_turn.id).await.status, TurnStatus::Complete);
        assert_eq!(found("walnut").await, 2, "all branches");
        instance.check_invariants().await;
        let deleted = instance.service.delete_turn(instance.owner, again.assistant_turn.id).await.unwrap();
        assert_eq!(found("walnut").await, 1);
        instance.service.restore_deletion(instance.owner, deleted.deletion_id).await.unwrap();
        assert_eq!(found("walnut").await, 2);
        instance.service.delete_turn(instance.owner, again.assistant_turn.id).await.unwrap();
        instance.service.empty_trash(instance.owner).await.unwrap();
        instance.service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(found("walnut").await, 1);
        instance.check_invariants().await;
        instance.close().await;
    }
}
