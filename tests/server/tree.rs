//! The tree of a chat over HTTP: its branches with their origin, names, labels and pins, the pages without script,
//! and the data of the tree map.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{TurnId, limits};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

const NOBODY: &str = "01890000-0000-7000-8000-000000000001";

/// A chat of three exchanges: "one" and "two" on `main`, and "other", which also follows the reply to "one", on a
/// branch beside "two".
struct ForkedChat {
    api: TestApi,
    chat: String,
    one: AcceptedExchange,
    two: AcceptedExchange,
    other: AcceptedExchange,
}

async fn fork_chat() -> ForkedChat {
    let api = TestApi::new(
        ["first", "second", "third <b>", "fourth", "fifth"].map(|word| streamed_answer([text_step(word)])),
    )
    .await;
    let send = async |chat, prev: Option<TurnId>, words: &str, is_root: bool| {
        let place = PlacementRequest { prev_turn_id: prev, ..PlacementRequest::default() };
        let started = match is_root {
            true => api.instance.send(words).await,
            false => {
                let next = TurnRequest { chat_id: chat, place, ..message_to_send(words) };
                api.instance.service.start_turn(api.instance.owner, next).await.unwrap()
            }
        };
        api.instance.wait_until_ended(started.assistant_turn.id).await;
        started
    };
    let one = send(None, None, "one <script>", true).await;
    let two = send(Some(one.chat.id), Some(one.assistant_turn.id), "two 100%", false).await;
    let other = send(Some(one.chat.id), Some(one.assistant_turn.id), "other", false).await;
    ForkedChat { chat: one.chat.id.to_string(), api, one, two, other }
}

async fn page(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").header("accept", "text/html");
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn form(api: &TestApi, path: &str, fields: &str) -> (StatusCode, String, String) {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(fields.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or_default().to_owned();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, to, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn branches_are_listed_with_usage_and_pinned_first() {
    let ForkedChat { api, chat, one, other, .. } = fork_chat().await;
    let (status, listed) = api.call("GET", &format!("/api/chats/{chat}/branches"), None).await;
    assert_eq!(status, StatusCode::OK);
    let names = |listed: &Value| -> Vec<String> {
        listed.as_array().unwrap().iter().map(|branch| branch["id"].as_str().unwrap().to_owned()).collect()
    };
    let (main, edit) = (one.branch.id.to_string(), other.branch.id.to_string());
    assert_eq!(names(&listed), [main.clone(), edit.clone()]);
    assert_eq!((&listed[0]["turns"], &listed[1]["turns"]), (&json!(4), &json!(2)));
    assert_eq!((&listed[0]["usage"]["generations"], &listed[1]["usage"]["generations"]), (&json!(2), &json!(1)));

    let patch = json!({"pinned": true, "label": " keep ", "name": "the other"});
    let (status, changed) = api.call("PATCH", &format!("/api/branches/{edit}"), Some(patch)).await;
    assert_eq!(status, StatusCode::OK, "{changed}");
    assert_eq!(
        (&changed["pinned"], &changed["label"], &changed["name"]),
        (&json!(true), &json!("keep"), &json!("the other"))
    );
    let (_, listed) = api.call("GET", &format!("/api/chats/{chat}/branches"), None).await;
    assert_eq!(names(&listed), [edit.clone(), main]);

    // Only `null` removes a label; a missing field leaves it unchanged.
    let (_, kept) = api.call("PATCH", &format!("/api/branches/{edit}"), Some(json!({"pinned": false}))).await;
    assert_eq!((&kept["label"], &kept["pinned"]), (&json!("keep"), &json!(false)));
    let (_, bare) = api.call("PATCH", &format!("/api/branches/{edit}"), Some(json!({"label": null}))).await;
    assert_eq!(bare["label"], Value::Null);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn invalid_branch_fields_are_refused() {
    let ForkedChat { api, chat, other, .. } = fork_chat().await;
    let branch = format!("/api/branches/{}", other.branch.id);
    let table = [
        (json!({"label": "x".repeat(61)}), StatusCode::UNPROCESSABLE_ENTITY, "label"),
        (json!({"label": "a\nb"}), StatusCode::UNPROCESSABLE_ENTITY, "label"),
        (json!({"name": " "}), StatusCode::UNPROCESSABLE_ENTITY, "name"),
        (json!({"name": "x".repeat(201)}), StatusCode::UNPROCESSABLE_ENTITY, "name"),
        (json!({"pinned": "yes"}), StatusCode::BAD_REQUEST, "pinned"),
        (json!({"model": "another"}), StatusCode::BAD_REQUEST, ""),
    ];
    for (body, expected, field) in table {
        let (status, problem) = api.call("PATCH", &branch, Some(body.clone())).await;
        assert_eq!(status, expected, "{body}: {problem}");
        if !field.is_empty() {
            assert_eq!(problem["field"], field, "{body}: {problem}");
        }
    }
    let (_, listed) = api.call("GET", &format!("/api/chats/{chat}/branches"), None).await;
    assert_eq!((&listed[1]["label"], &listed[1]["pinned"]), (&Value::Null, &json!(false)), "nothing was changed");
    let (status, _) = api.call("PATCH", &format!("/api/branches/{NOBODY}"), Some(json!({"pinned": true}))).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn list_of_branches_is_page_of_links_and_forms() {
    let ForkedChat { api, chat, one, two, other } = fork_chat().await;
    let (status, html) = page(&api, &format!("/c/{chat}/branches")).await;
    assert_eq!(status, StatusCode::OK);
    for part in [
        // The links lead to the turn at which the branch forks and to the ends of both branches.
        format!("href=\"/c/{chat}?at={}\"", one.assistant_turn.id),
        format!("href=\"/c/{chat}?at={}\"", other.assistant_turn.id),
        format!("href=\"/c/{chat}?at={}\"", two.assistant_turn.id),
        "third &lt;b&gt;".into(),
        "popover=\"auto\"".into(),
        "action=\"/forms/branch\"".into(),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
    assert!(!html.contains("<script>"), "{html}");

    let id = other.branch.id;
    let (status, to, _) =
        form(&api, "/forms/branch", &format!("branch_id={id}&label=a+%3Cb%3E&next=//evil.test")).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/"));
    let (status, to, _) = form(&api, "/forms/branch", &format!("branch_id={id}&pinned=true")).await;
    assert_eq!((status, to), (StatusCode::SEE_OTHER, format!("/c/{chat}/branches?saved=1&at={id}#{id}")));
    let (_, html) = page(&api, &format!("/c/{chat}/branches?saved=1")).await;
    assert!(html.contains("Saved.") && html.contains("a &lt;b&gt;"), "{html}");
    let (status, _, html) = form(&api, "/forms/branch", &format!("branch_id={id}&name=+")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("must not be empty"), "{html}");
    let (status, ..) = form(&api, "/forms/branch", &format!("branch_id={NOBODY}&name=x")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for path in ["branches", "drawing"] {
        let (status, _) = page(&api, &format!("/c/{NOBODY}/{path}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn long_branch_list_is_paginated() {
    let ForkedChat { api, chat, one, other, .. } = fork_chat().await;
    let path = format!("/c/{chat}/branches");
    let mut made = Vec::new();
    for _ in 2..=limits::BRANCHES_PAGE {
        let (status, branch) = api.call("POST", &format!("/api/chats/{chat}/branches"), Some(json!({}))).await;
        assert_eq!(status, StatusCode::CREATED, "{branch}");
        made.push(branch["id"].as_str().unwrap().to_owned());
    }
    let last = made.last().unwrap();
    let cards = |html: &str| html.matches("class=\"panel branch\"").count();
    let link = |at: &str| format!("href=\"{path}?at={at}\"");

    let (_, first) = page(&api, &path).await;
    assert_eq!(cards(&first), limits::BRANCHES_PAGE);
    assert!(first.contains("1–30 of 31") && first.contains(&link(last)), "{first}");
    let (_, second) = page(&api, &format!("{path}?at={last}")).await;
    assert_eq!(cards(&second), 1);
    assert!(second.contains("31–31 of 31") && second.contains(&link(&one.branch.id.to_string())), "{second}");
    // The branch is alone on its page of the list, but not in the chat.
    assert!(second.contains("Delete this branch") && !second.contains("No branches yet"), "{second}");

    // A form returns to the page of the list that shows its branch, also when it is refused.
    let (_, to, _) = form(&api, "/forms/branch", &format!("branch_id={last}&name=late")).await;
    assert_eq!(to, format!("{path}?saved=1&at={last}#{last}"));
    let (_, _, refused) = form(&api, "/forms/branch", &format!("branch_id={last}&name=+")).await;
    assert_eq!(cards(&refused), 1, "{refused}");
    form(&api, "/forms/branch", &format!("branch_id={last}&pinned=true")).await;
    let (_, pinned) = page(&api, &format!("{path}?at={last}")).await;
    assert!(pinned.contains("1–30 of 31"), "{pinned}");
    // An unknown branch leads to the first page of the list.
    for at in [NOBODY.to_owned(), other.branch.id.to_string()] {
        let (status, html) = page(&api, &format!("{path}?at={at}")).await;
        assert!(status == StatusCode::OK && html.contains("1–30 of 31"), "{html}");
    }
}

#[tokio::test]
async fn drawing_links_every_run_and_marks_current_position() {
    let ForkedChat { api, chat, one, two, other } = fork_chat().await;
    let (status, html) = page(&api, &format!("/c/{chat}/drawing")).await;
    assert_eq!(status, StatusCode::OK);
    for leaf in [&one, &two, &other] {
        assert!(html.contains(&format!("href=\"/c/{chat}?at={}\"", leaf.assistant_turn.id)), "{html}");
    }
    assert_eq!(html.matches("class=\"run").count(), 3, "{html}");
    assert_eq!(html.matches("id=\"here\"").count(), 1);
    assert!(html.contains("6 messages, 2 branches, 3 boxes"), "{html}");
    assert!(!html.contains("<script>"), "{html}");
    // A larger zoom is wider, and an unknown one is the default.
    let width = |html: &str| -> u32 {
        let svg = &html[html.find("<svg xmlns").unwrap()..];
        svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let (_, large) = page(&api, &format!("/c/{chat}/drawing?zoom=200")).await;
    assert_eq!(width(&large), 2 * width(&html));
    let (_, strange) = page(&api, &format!("/c/{chat}/drawing?zoom=7")).await;
    assert_eq!(width(&strange), width(&html));
    // A drawing that starts at one run links back to the run above.
    let (_, part) = page(&api, &format!("/c/{chat}/drawing?top={}", other.user_turn.id)).await;
    assert_eq!(part.matches("class=\"run").count(), 1, "{part}");
    assert!(part.contains(&format!("top={}", one.user_turn.id)), "{part}");
}

#[tokio::test]
async fn tree_map_without_script_is_rows_of_links() {
    let ForkedChat { api, chat, one, two, .. } = fork_chat().await;
    let (status, html) = page(&api, &format!("/c/{chat}/tree?at={}", two.assistant_turn.id)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(html.matches("role=\"treeitem\"").count(), 6, "{html}");
    assert!(html.contains("one &lt;script&gt;") && !html.contains("one <script>"), "{html}");
    assert_eq!(html.matches("aria-current=\"location\"").count(), 1, "{html}");
    let (_, closed) = page(&api, &format!("/c/{chat}/tree?fold={}", one.user_turn.id)).await;
    assert_eq!(closed.matches("role=\"treeitem\"").count(), 1, "{closed}");
    assert!(closed.contains("+5") && closed.contains("aria-expanded=\"false\""), "{closed}");
    let (_, found) = page(&api, &format!("/c/{chat}/tree?q=THIRD")).await;
    assert!(found.contains("1 match in 6 messages"), "{found}");
    let (_, found) = page(&api, &format!("/c/{chat}/tree?q=0%25")).await;
    assert!(found.contains("1 match in 6 messages"), "a sign of patterns is a letter: {found}");
    let (_, card) = page(&api, &format!("/c/{chat}/tree?on={}", one.user_turn.id)).await;
    assert!(card.contains("action=\"/forms/branch\"") && card.contains("5 messages below, on 2 branches."), "{card}");
    let (status, _) = page(&api, &format!("/c/{NOBODY}/tree")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    // Invalid parameters are ignored.
    let (status, _) = page(&api, &format!("/c/{chat}/tree?open=x&from=-1&at=x&on={NOBODY}")).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn tree_map_requests_rows_and_single_turn() {
    let ForkedChat { api, chat, one, two, other } = fork_chat().await;
    let ask = json!({"ask": {"chat_id": chat, "at": two.assistant_turn.id, "on": null, "open": [], "shut": [],
        "words": "", "from": null}});
    let (status, tree) = api.call("POST", "/api/page/load_tree", Some(ask)).await;
    assert_eq!(status, StatusCode::OK, "{tree}");
    assert_eq!((&tree["turns"], &tree["leaves"], &tree["leaf"]), (&json!(6), &json!(2), &json!(two.assistant_turn.id)));
    let versions: Vec<&Value> =
        tree["rows"].as_array().unwrap().iter().filter(|row| !row["version"].is_null()).collect();
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[1]["turn"], json!(other.user_turn.id));
    let card = json!({"chat_id": chat, "at": two.assistant_turn.id, "on": other.user_turn.id});
    let (status, card) = api.call("POST", "/api/page/load_tree_card", Some(card)).await;
    assert_eq!(status, StatusCode::OK, "{card}");
    assert_eq!((&card["below"], &card["leaf"]), (&json!(1), &json!(other.assistant_turn.id)));
    assert_eq!(card["current"], json!(two.assistant_turn.id));
    for (chat, on) in [(NOBODY, one.user_turn.id.to_string()), (chat.as_str(), NOBODY.to_owned())] {
        let body = json!({"chat_id": chat, "at": null, "on": on});
        let (_, refused) = api.call("POST", "/api/page/load_tree_card", Some(body)).await;
        assert_eq!(refused["code"], "not_found", "{refused}");
    }
}

#[tokio::test]
async fn tree_labels_are_bounded() {
    for instance in
        TestServer::on_every_database(|| ScriptedProvider::new("scripted", [streamed_answer([text_step("a")])])).await
    {
        let started = instance.send(&"x".repeat(300)).await;
        instance.wait_until_ended(started.assistant_turn.id).await;
        let outline = async |words: &str| instance.service.outline(instance.owner, started.chat.id, None, words).await;
        assert_eq!(outline(&"x".repeat(256)).await.unwrap().hits.unwrap().len(), 1);
        for long in [257, 60_000] {
            let refused = outline(&"x".repeat(long)).await.err();
            assert!(matches!(&refused, Some(ServiceError::Invalid(error)) if error.field == "words"), "{refused:?}");
        }
        instance.close().await;
    }
}
