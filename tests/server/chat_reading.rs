//! Reading a chat over HTTP, on both databases: pages of turns, the tree, the path, and the other views of a path
//! (docs/reference/api.md 3.6, docs/reference/domain.md 4.9).

use std::collections::HashSet;
use std::sync::Arc;

use crate::bush::{TreeFixture, plant_tree, pseudo_random_parent};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step, thinking_step};
use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::{ModelLock, TurnId};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::turns::TurnRequest;

const NOBODYS: &str = "0190b5b4-7c1e-7abc-8def-0123456789ab";

async fn apis_on_every_database(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<TestApi> {
    let instances = TestServer::on_every_database(|| ScriptedProvider::new("scripted", answers())).await;
    instances.into_iter().map(TestApi::with_server).collect()
}

async fn plant_api_tree(api: &TestApi, length: usize, hangs_on: impl Fn(usize) -> Option<usize>) -> TreeFixture {
    plant_tree(&api.instance.db, ModelLock::new("scripted", "model-a"), length, hangs_on).await
}

fn line_parent(n: usize) -> Option<usize> {
    n.checked_sub(1)
}

async fn get(api: &TestApi, path: impl AsRef<str>) -> Value {
    let (status, body) = api.call("GET", path.as_ref(), None).await;
    assert_eq!(status, StatusCode::OK, "{} {body}", path.as_ref());
    body
}

fn ids(turns: &Value) -> Vec<TurnId> {
    turns.as_array().unwrap().iter().map(|turn| turn["id"].as_str().unwrap().parse().unwrap()).collect()
}

fn ids_of(bush: &TreeFixture, places: impl IntoIterator<Item = usize>) -> Vec<TurnId> {
    places.into_iter().map(|at| bush.turns[at].id).collect()
}

#[tokio::test]
async fn window_has_quarter_before_its_anchor_and_rest_after_it() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 300, line_parent).await;
        let turns = format!("/api/chats/{}/turns", bush.chat);
        let at = |n: usize| bush.turns[n].id;
        for (query, range, before, after) in [
            (format!("from={}", at(100)), 88..138, true, true),
            (format!("from={}&limit=4", at(100)), 99..103, true, true),
            (format!("from={}&limit=1", at(100)), 100..101, true, true),
            (format!("from={}&limit=200", at(0)), 0..200, false, true),
            (format!("from={}&limit=200&strict=1", at(0)), 0..150, false, true),
            (format!("from={}", at(299)), 250..300, true, false),
            (format!("from={}&strict=true", at(299)), 287..300, true, false),
            (format!("from={}&direction=before&limit=10", at(100)), 90..100, true, true),
            (format!("from={}&direction=before&limit=10", at(5)), 0..5, false, true),
            (format!("from={}&direction=after&limit=10", at(100)), 101..111, true, true),
            (format!("from={}&direction=after", at(289)), 290..300, true, false),
            (format!("from={}&direction=after&leaf={}&limit=3", at(10), at(299)), 11..14, true, true),
            // The positions in the chat count from 1.
            ("from=101&leaf=300".into(), 88..138, true, true),
            (String::new(), 250..300, true, false),
        ] {
            let page = get(&api, format!("{turns}?{query}")).await;
            assert_eq!(ids(&page["turns"]), ids_of(&bush, range.clone()), "{query}");
            assert_eq!((&page["has_more_before"], &page["has_more_after"]), (&json!(before), &json!(after)), "{query}");
            let cursor = |has_cursor: bool, at: usize| if has_cursor { json!(bush.turns[at].id) } else { Value::Null };
            assert_eq!(page["before_cursor"], cursor(before, range.start), "{query}");
            assert_eq!(page["after_cursor"], cursor(after, range.end - 1), "{query}");
            assert_eq!(page["chat_rev"], 300);
            assert_eq!(page["siblings"].as_object().unwrap().len(), range.len());
        }
        // For an empty page, the cursor is the turn that its turns would adjoin.
        for (query, before, after) in [
            (format!("from={}&direction=before", at(0)), Value::Null, json!(at(0))),
            (format!("from={}&direction=after", at(299)), json!(at(299)), Value::Null),
        ] {
            let page = get(&api, format!("{turns}?{query}")).await;
            assert_eq!(page["turns"], json!([]));
            assert_eq!((&page["before_cursor"], &page["after_cursor"]), (&before, &after), "{query}");
            let more = (&page["has_more_before"], &page["has_more_after"]);
            assert_eq!(more, (&json!(!before.is_null()), &json!(!after.is_null())), "{query}");
        }
        let page = get(&api, format!("{turns}?from={}", at(100))).await;
        assert_eq!(page["anchor_id"], json!(at(100)));
        assert_eq!(page["turns"][0]["blocks"][0]["text"], "88.0", "turns come with their blocks");
        let none = get(&api, format!("{turns}?direction=before&from={}", at(0))).await;
        assert_eq!((&none["turns"], &none["has_more_before"]), (&json!([]), &json!(false)));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn paging_down_takes_newest_child_unless_leaf_is_given() {
    for api in apis_on_every_database(Vec::new).await {
        // The main path is 0 1 2 3 4 5; 6 and 7 branch off beside 2, and 8 and 9 follow 5.
        let hangs_on = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(1), Some(6), Some(5), Some(8)];
        let bush = plant_api_tree(&api, 10, |n| hangs_on[n]).await;
        let turns = format!("/api/chats/{}/turns?direction=after&from={}", bush.chat, bush.turns[0].id);
        assert_eq!(ids(&get(&api, &turns).await["turns"]), ids_of(&bush, [1, 6, 7]));
        let with_leaf = get(&api, format!("{turns}&leaf={}", bush.turns[9].id)).await;
        assert_eq!(ids(&with_leaf["turns"]), ids_of(&bush, [1, 2, 3, 4, 5, 8, 9]));
        assert_eq!(with_leaf["siblings"][bush.turns[2].id.to_string()], json!(ids_of(&bush, [2, 6])));
        let elsewhere = format!("/api/chats/{}/turns?from={}&leaf={}", bush.chat, bush.turns[7].id, bush.turns[9].id);
        let (status, problem) = api.call("GET", &elsewhere, None).await;
        assert_eq!((status.as_u16(), &problem["field"]), (422, &json!("leaf")), "{problem}");
        // Without `from`, a page is anchored at the turn that was viewed last, if it lies on the requested path.
        let last_viewed = format!("/api/chats/{}/last-viewed", bush.chat);
        let viewed = json!({ "turn_id": bush.turns[3].id });
        assert!(api.call("PUT", &last_viewed, Some(viewed)).await.0.is_success());
        let base = format!("/api/chats/{}/turns?limit=1", bush.chat);
        assert_eq!(ids(&get(&api, &base).await["turns"]), ids_of(&bush, [3]));
        let leaf = |n: usize| format!("{base}&leaf={}", bush.turns[n].id);
        assert_eq!(ids(&get(&api, leaf(9)).await["turns"]), ids_of(&bush, [3]));
        assert_eq!(ids(&get(&api, leaf(7)).await["turns"]), ids_of(&bush, [7]));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn invalid_query_is_refused_and_missing_turn_is_not_found() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 6, line_parent).await;
        let other = plant_api_tree(&api, 2, line_parent).await;
        let chat = format!("/api/chats/{}", bush.chat);
        let foreign = other.turns[0].id;
        for (query, status, field) in [
            ("turns?limit=-1", 400, "limit"),
            ("turns?limit=0", 400, "limit"),
            ("turns?limit=201", 400, "limit"),
            ("turns?limit=1000000000", 400, "limit"),
            ("turns?limit=99999999999999999999", 400, "limit"),
            ("turns?limit=abc", 400, "limit"),
            ("turns?limit=", 400, "limit"),
            ("turns?limit=1.5", 400, "limit"),
            ("turns?limit=1&limit=200", 400, "limit"),
            ("turns?direction=sideways", 400, "direction"),
            ("turns?direction=", 400, "direction"),
            ("turns?strict=perhaps", 400, "strict"),
            ("turns?from=abc", 400, "from"),
            ("turns?from=", 400, "from"),
            ("turns?from=-1", 400, "from"),
            ("turns?from_turn_id=1", 400, "from_turn_id"),
            ("tree?format=xml", 400, "format"),
            ("tree?depth=3", 400, "depth"),
            ("blocks?limit=0", 400, "limit"),
            ("blocks?limit=501", 400, "limit"),
            ("blocks?skip=-1", 400, "skip"),
            ("blocks?skip=x", 400, "skip"),
            ("blocks?page=2", 400, "page"),
            ("messages?limit=201", 400, "limit"),
            ("groups?leaf=x", 400, "leaf"),
            ("groups?limit=501", 400, "limit"),
            ("groups?skip=-1", 400, "skip"),
        ] {
            let (was, problem) = api.call("GET", &format!("{chat}/{query}"), None).await;
            assert_eq!((was.as_u16(), problem["field"].as_str()), (status, Some(field)), "{query} {problem}");
            assert_eq!(problem["code"], "invalid", "{query}");
        }
        let (_, not_found) = api.call("GET", &format!("/api/chats/{NOBODYS}"), None).await;
        let same = |problem: &Value| json!([problem["status"], problem["code"], problem["detail"]]);
        for path in [
            format!("{chat}/turns?from={NOBODYS}"),
            format!("{chat}/turns?from=99"),
            format!("{chat}/turns?from={foreign}"),
            format!("{chat}/turns?leaf={foreign}"),
            format!("{chat}/groups?leaf={foreign}"),
            format!("{chat}/blocks?leaf={NOBODYS}"),
            format!("{chat}/messages?leaf=7"),
            format!("{chat}/path/{foreign}"),
            format!("{chat}/path/{NOBODYS}"),
            format!("{chat}/path/1"),
            format!("/api/turns/{NOBODYS}/siblings"),
            "/api/turns/1/siblings".into(),
            format!("/api/chats/{NOBODYS}/turns"),
            format!("/api/chats/{NOBODYS}/tree"),
            format!("/api/chats/{NOBODYS}/groups"),
            format!("/api/chats/{NOBODYS}/blocks"),
            format!("/api/chats/{NOBODYS}/messages"),
            format!("/api/chats/{}/tree", bush.chat.to_string().replace('-', "")),
        ] {
            let (status, problem) = api.call("GET", &path, None).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path} {problem}");
            assert_eq!(same(&problem), same(&not_found), "{path}");
        }
        // The last two turns are deleted: no request may start from them, and no page leads to them.
        api.instance.sql("UPDATE turns SET deleted_at = created_at, deletion_id = id WHERE ord > 4").await;
        for path in ["turns?from=", "turns?leaf=", "path/", "groups?leaf=", "blocks?leaf="] {
            let (status, _) = api.call("GET", &format!("{chat}/{path}{}", bush.turns[4].id), None).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        }
        let seen = get(&api, format!("{chat}/turns?direction=after&from={}", bush.turns[0].id)).await;
        assert_eq!((ids(&seen["turns"]), &seen["has_more_after"]), (ids_of(&bush, 1..4), &json!(false)));
        assert_eq!(get(&api, format!("{chat}/tree")).await["nodes"].as_array().unwrap().len(), 4);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn foreign_chats_cannot_be_read() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 4, line_parent).await;
        // The chat now belongs to another user.
        api.instance.sql("INSERT INTO users (id, name, is_local_owner, created_at) \
            SELECT exchange_id, 'b', is_local_owner, created_at FROM (SELECT t.exchange_id, CAST(NULL AS INTEGER) AS x, \
            t.created_at FROM turns t WHERE t.ord = 1) e, (SELECT NOT is_local_owner AS is_local_owner FROM users) u").await;
        api.instance.sql("UPDATE chats SET owner_id = (SELECT id FROM users WHERE name = 'b')").await;
        let chat = format!("/api/chats/{}", bush.chat);
        let turn = bush.turns[1].id;
        for path in [
            format!("{chat}/turns"),
            format!("{chat}/turns?from={turn}"),
            format!("{chat}/tree"),
            format!("{chat}/tree?format=compact"),
            format!("{chat}/path/{turn}"),
            format!("{chat}/groups"),
            format!("{chat}/blocks"),
            format!("{chat}/messages"),
            format!("/api/turns/{turn}/siblings"),
        ] {
            assert_eq!(api.call("GET", &path, None).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn tree_is_sent_once_and_then_not_modified() {
    for api in apis_on_every_database(|| vec![streamed_answer([text_step("x")])]).await {
        let bush = plant_api_tree(&api, 60, pseudo_random_parent).await;
        let path = format!("/api/chats/{}/tree", bush.chat);
        let ask = async |path: String, tag: Option<&str>| {
            let mut request = Request::builder().uri(path).header("host", "127.0.0.1:3000");
            if let Some(tag) = tag {
                request = request.header("if-none-match", tag);
            }
            let response = api.send(request.body(Body::empty()).unwrap()).await;
            let (head, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let tag = head.headers["etag"].to_str().unwrap().to_owned();
            assert_eq!(head.headers["cache-control"], "private, no-cache");
            (head.status, tag, bytes)
        };
        let (status, tag, body) = ask(path.clone(), None).await;
        assert_eq!((status, tag.as_str()), (StatusCode::OK, "\"60\""));
        let tree: Value = serde_json::from_slice(&body).unwrap();
        let nodes: Vec<Value> =
            bush.turns.iter().map(|t| json!({ "id": t.id, "prev_turn_id": t.prev_turn_id })).collect();
        assert_eq!(tree, json!({ "rev": 60, "nodes": nodes }));
        for format in ["", "?format=full", "?format=compact"] {
            let (status, again, body) = ask(format!("{path}{format}"), Some(&tag)).await;
            assert_eq!((status, again, body.len()), (StatusCode::NOT_MODIFIED, tag.clone(), 0));
        }
        let (_, _, body) = ask(format!("{path}?format=compact"), None).await;
        let compact: turnleaf::domain::branches::tree::compact_tree::CompactTree =
            serde_json::from_slice(&body).unwrap();
        let ord_of = |id: Option<TurnId>| id.and_then(|id| bush.turns.iter().find(|t| t.id == id)).map(|t| t.ord);
        let expected: Vec<_> = bush.turns.iter().map(|turn| (turn.ord, ord_of(turn.prev_turn_id))).collect();
        assert_eq!(compact.turns().collect::<Vec<_>>(), expected);
        // A new message changes the compact tree.
        let leaf = bush.turns.iter().rfind(|turn| turn.role == turnleaf::domain::Role::Assistant).unwrap();
        let send = json!({ "text": "more", "prev_turn_id": leaf.id });
        let (status, started) = api.call("POST", &format!("/api/chats/{}/turns", bush.chat), Some(send)).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let (status, newer, _) = ask(path, Some(&tag)).await;
        assert_eq!((status, newer.as_str()), (StatusCode::OK, "\"62\""));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn tree_of_thousand_turns_is_small() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 1_000, |n| n.checked_sub(if n % 20 == 19 { 3 } else { 1 })).await;
        let size = async |query: &str| {
            let path = format!("/api/chats/{}/tree{query}", bush.chat);
            let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
            axum::body::to_bytes(api.send(request).await.into_body(), usize::MAX).await.unwrap().len()
        };
        let (full, compact) = (size("").await, size("?format=compact").await);
        assert!(full <= 100_000 && compact <= 2_500, "{full} {compact}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn path_includes_sibling_versions() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 50, pseudo_random_parent).await;
        for turn in &bush.turns {
            let path = get(&api, format!("/api/chats/{}/path/{}", bush.chat, turn.id)).await;
            let walked: Vec<Value> = bush
                .walk_to_root(turn)
                .iter()
                .map(|t| json!({ "id": t.id, "prev_turn_id": t.prev_turn_id, "ord": t.ord, "role": t.role, "status": t.status }))
                .collect();
            assert_eq!(path, json!({ "turn_id": turn.id, "path": walked }));
            let siblings = get(&api, format!("/api/turns/{}/siblings", turn.id)).await;
            let same_parent: Vec<TurnId> =
                bush.turns.iter().filter(|t| t.prev_turn_id == turn.prev_turn_id).map(|t| t.id).collect();
            assert_eq!(siblings, json!({ "turn_id": turn.id, "siblings": same_parent }));
        }
        api.instance.close().await;
    }
}

#[tokio::test]
async fn blocks_have_unified_names_and_correct_total() {
    for api in apis_on_every_database(|| vec![streamed_answer([thinking_step("hm"), text_step("Hello")])]).await {
        let bush = plant_api_tree(&api, 40, line_parent).await;
        let base = format!("/api/chats/{}/blocks", bush.chat);
        let expected: Vec<(String, String)> = bush
            .turns
            .iter()
            .flat_map(|turn| turn.blocks.iter().map(move |block| (turn.id.to_string(), block.id.to_string())))
            .collect();
        let all = get(&api, &base).await;
        assert_eq!(all["total"], expected.len());
        for (skip, limit) in [(0, 10), (35, 10), (expected.len() - 3, 500), (expected.len(), 5), (4_000_000, 5)] {
            let page = get(&api, format!("{base}?skip={skip}&limit={limit}")).await;
            assert_eq!(page["total"], expected.len(), "the total is not the page's");
            let pairs: Vec<(String, String)> = page["blocks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|b| (b["turn_id"].as_str().unwrap().to_owned(), b["id"].as_str().unwrap().to_owned()))
                .collect();
            assert_eq!(pairs, expected.iter().skip(skip).take(limit).cloned().collect::<Vec<_>>());
        }
        let block = &all["blocks"][0];
        assert_eq!((&block["block_type"], &block["author"]), (&json!("user_text"), &json!("user")));
        assert_eq!((&block["content"], &block["metadata"]), (&json!({ "text": "0.0" }), &json!({})));
        assert_eq!(block["chat_session_id"], json!(bush.chat));
        assert_eq!(get(&api, format!("{base}?leaf=3")).await["total"], 1 + 2 + 3);
        let send = json!({ "text": "hi" });
        let (_, started) = api.call("POST", &format!("/api/chats/{}/turns", bush.chat), Some(send)).await;
        api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
        let last = get(&api, format!("{base}?skip={}", expected.len())).await;
        let types: Vec<&str> =
            last["blocks"].as_array().unwrap().iter().map(|b| b["block_type"].as_str().unwrap()).collect();
        assert_eq!(types, ["user_text", "thinking", "assistant_text"]);
        let numbers: Vec<i64> = get(&api, &base).await["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["sequence_number"].as_i64().unwrap())
            .collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn streaming_reply_is_read_as_far_as_written() {
    let gate = Arc::new(Notify::new());
    let steps = || {
        streamed_answer([
            thinking_step("hm"),
            text_step("Hel"),
            ScriptedStep::WaitForSignal(gate.clone()),
            text_step("lo"),
        ])
    };
    for api in apis_on_every_database(|| vec![steps()]).await {
        let started = api.instance.send("hi").await;
        let (chat, id) = (started.chat.id, started.assistant_turn.id);
        let live = api.instance.service.supervisor().live_turn(id).unwrap();
        while live.with_turn(|turn| turn.content_text()) != "Hel" {
            tokio::task::yield_now().await;
        }
        let turns = get(&api, format!("/api/chats/{chat}/turns")).await;
        assert_eq!(turns["turns"][1]["status"], "streaming");
        assert_eq!(turns["turns"][1]["blocks"][1]["text"], "Hel");
        let blocks = get(&api, format!("/api/chats/{chat}/blocks")).await;
        assert_eq!(blocks["total"], 3);
        assert_eq!(
            (&blocks["blocks"][2]["content"]["text"], &blocks["blocks"][2]["metadata"]["streaming"]),
            (&json!("Hel"), &json!(true))
        );
        let page = get(&api, format!("/api/chats/{chat}/blocks?skip=2&limit=1")).await;
        assert_eq!(page["blocks"], json!([blocks["blocks"][2]]));
        let groups = get(&api, format!("/api/chats/{chat}/groups")).await;
        assert_eq!(groups["groups"][1]["items"][1]["streaming"], true);
        gate.notify_one();
        api.instance.wait_until_ended(id).await;
        let groups = get(&api, format!("/api/chats/{chat}/groups")).await;
        assert_eq!(groups["groups"][1]["items"][1]["text"], "Hello");
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn groups_are_messages_and_replies_and_messages_are_deprecated() {
    for api in apis_on_every_database(|| {
        vec![streamed_answer([thinking_step("hm"), text_step("Hello")]), streamed_answer([text_step("Again")])]
    })
    .await
    {
        let started = api.instance.send("hi").await;
        let chat = started.chat.id;
        api.instance.wait_until_ended(started.assistant_turn.id).await;
        let more = TurnRequest { chat_id: Some(chat), ..message_to_send("and?") };
        let second = api.instance.service.start_turn(api.instance.owner, more).await.unwrap();
        api.instance.wait_until_ended(second.assistant_turn.id).await;
        let groups = get(&api, format!("/api/chats/{chat}/groups")).await["groups"].clone();
        let types: Vec<&str> = groups.as_array().unwrap().iter().map(|g| g["type"].as_str().unwrap()).collect();
        let pair = ["user_message_group", "assistant_message_group"];
        assert_eq!(types, [pair, pair].concat());
        assert_eq!(groups[0]["user_message"]["content"], "hi");
        assert_eq!(groups[0]["exchange_id"], groups[1]["exchange_id"]);
        assert_eq!(groups[1]["is_thinking_mode"], json!(started.exchange.is_thinking_mode));
        assert_eq!(groups[1]["turn_ids"], json!([started.assistant_turn.id]));
        let first = get(&api, format!("/api/chats/{chat}/groups?leaf={}", started.assistant_turn.id)).await;
        assert_eq!(first["groups"].as_array().unwrap().len(), 2);

        let uri = format!("/api/chats/{chat}/messages?skip=1&limit=2");
        let request = Request::builder().uri(&uri).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = api.send(request).await;
        assert_eq!(response.headers()["deprecation"], "@1795219200");
        let links = response.headers()["link"].to_str().unwrap().to_owned();
        assert!(links.contains(&format!("</api/chats/{chat}/blocks>; rel=\"successor-version\"")), "{links}");
        let page = get(&api, &uri).await;
        assert_eq!(page["total"], 4);
        let texts: Vec<(&str, &str)> = page["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| (m["role"].as_str().unwrap(), m["content"].as_str().unwrap()))
            .collect();
        assert_eq!(texts, [("assistant", "Hello"), ("user", "and?")]);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn groups_are_paginated_and_never_split() {
    for api in apis_on_every_database(Vec::new).await {
        let bush = plant_api_tree(&api, 9, |n| n.checked_sub(1)).await;
        // Messages and replies alternate, except that the fifth turn is made a reply, so that three replies form one
        // group.
        api.instance.sql("UPDATE turns SET role = 'assistant' WHERE ord = 5").await;
        let chat = format!("/api/chats/{}/groups?leaf={}", bush.chat, bush.turns[8].id);
        let whole = get(&api, chat.clone()).await;
        let all = whole["groups"].as_array().unwrap();
        assert_eq!(all.len(), 7);
        assert_eq!(all[3]["turn_ids"].as_array().unwrap().len(), 3);
        assert_eq!(whole.get("next_skip"), None, "the shape of a path that is given whole");
        for limit in [1, 2, 3, 7, 8] {
            let (mut together, mut next) = (Vec::new(), Some(0));
            while let Some(skip) = next {
                let page = get(&api, format!("{chat}&skip={skip}&limit={limit}")).await;
                let groups = page["groups"].as_array().unwrap();
                assert!(!groups.is_empty() && groups.len() <= limit, "{page}");
                together.extend(groups.iter().cloned());
                next = page["next_skip"].as_u64();
            }
            assert_eq!(together, *all);
        }
        assert_eq!(get(&api, format!("{chat}&skip=7")).await, json!({ "groups": [] }));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_of_groups_with_very_long_blocks_ends_sooner() {
    let api =
        TestApi::new((0..5).map(|_| streamed_answer([thinking_step(&"x".repeat(3 << 20)), text_step("y")]))).await;
    let mut started = api.instance.send("0").await;
    let chat = started.chat.id;
    for n in 1..5 {
        api.instance.wait_until_ended(started.assistant_turn.id).await;
        let more = TurnRequest { chat_id: Some(chat), ..message_to_send(&n.to_string()) };
        started = api.instance.service.start_turn(api.instance.owner, more).await.unwrap();
    }
    api.instance.wait_until_ended(started.assistant_turn.id).await;
    let mut counts = Vec::new();
    let mut next = Some(0);
    while let Some(skip) = next {
        let page = get(&api, format!("/api/chats/{chat}/groups?skip={skip}")).await;
        counts.push(page["groups"].as_array().unwrap().len());
        next = page["next_skip"].as_u64();
    }
    assert_eq!(counts, [5, 4, 1]);
}

#[tokio::test]
async fn empty_chat_has_empty_pages() {
    for api in apis_on_every_database(Vec::new).await {
        let chat = format!("/api/chats/{}", api.create_chat().await);
        let turns = get(&api, format!("{chat}/turns")).await;
        assert_eq!((&turns["turns"], &turns["anchor_id"]), (&json!([]), &Value::Null));
        assert_eq!(get(&api, format!("{chat}/tree")).await, json!({ "rev": 0, "nodes": [] }));
        let compact = get(&api, format!("{chat}/tree?format=compact")).await;
        assert_eq!(compact, json!({ "rev": 0, "root_ord": null, "prev": [] }));
        assert_eq!(get(&api, format!("{chat}/groups")).await, json!({ "groups": [] }));
        assert_eq!(get(&api, format!("{chat}/blocks")).await, json!({ "blocks": [], "total": 0 }));
        assert_eq!(get(&api, format!("{chat}/messages")).await, json!({ "messages": [], "total": 0 }));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn turns_added_during_paging_are_neither_lost_nor_doubled() {
    for api in apis_on_every_database(|| vec![streamed_answer([text_step("x")]); 12]).await {
        let bush = plant_api_tree(&api, 120, line_parent).await;
        let base = format!("/api/chats/{}/turns", bush.chat);
        let mut seen: Vec<TurnId> = Vec::new();
        let mut page = get(&api, format!("{base}?limit=10&from={}", bush.turns[119].id)).await;
        loop {
            seen.splice(0..0, ids(&page["turns"]));
            let Some(cursor) = page["before_cursor"].as_str() else { break };
            let (status, started) = api.call("POST", &base, Some(json!({ "text": "new" }))).await;
            assert_eq!(status, StatusCode::CREATED, "{started}");
            api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
            page = get(&api, format!("{base}?limit=10&direction=before&from={cursor}")).await;
        }
        assert_eq!(seen, ids_of(&bush, 0..120));
        // A reader that follows the cursors also finds turns that were added meanwhile.
        let mut cursor = Some(bush.turns[119].id.to_string());
        let mut newer: HashSet<TurnId> = HashSet::new();
        while let Some(from) = cursor {
            let page = get(&api, format!("{base}?limit=7&direction=after&from={from}")).await;
            assert!(ids(&page["turns"]).into_iter().all(|id| newer.insert(id)));
            cursor = page["after_cursor"].as_str().map(str::to_owned);
        }
        assert_eq!(newer.len(), 22);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn database_cycle_is_reported_and_reading_terminates() {
    for api in apis_on_every_database(|| vec![streamed_answer([text_step("x")])]).await {
        let bush = plant_api_tree(&api, 10, line_parent).await;
        api.instance
            .sql("UPDATE turns SET prev_turn_id = (SELECT t.id FROM turns t WHERE t.ord = 8) WHERE ord = 4")
            .await;
        let chat = format!("/api/chats/{}", bush.chat);
        let leaf = bush.turns[9].id;
        for path in [
            format!("{chat}/tree"),
            format!("{chat}/tree?format=compact"),
            format!("{chat}/turns?leaf={leaf}&from={leaf}"),
            format!("{chat}/path/{leaf}"),
            format!("{chat}/groups?leaf={leaf}"),
        ] {
            let (status, problem) = api.call("GET", &path, None).await;
            assert_eq!((status.as_u16(), &problem["code"]), (409, &json!("corrupt_tree")), "{path} {problem}");
        }
        // The context of a new reply cannot be read, so the reply reports it and ends.
        let send = json!({ "text": "more", "prev_turn_id": leaf });
        let (status, started) = api.call("POST", &format!("{chat}/turns"), Some(send)).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let turn = started["assistant_turn"]["id"].as_str().unwrap();
        api.read_events(turn, &[]).await;
        assert_eq!(get(&api, format!("/api/turns/{turn}")).await["status"], "error");
        let findings = turnleaf_store::fsck::check(&api.instance.db, turnleaf_store::fsck::CheckMode::Serving);
        let named = format!("{:?}", findings.await.unwrap());
        assert!(named.contains(&bush.turns[3].id.to_string()), "{named}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn chat_and_versions_are_bounded() {
    for api in apis_on_every_database(|| vec![streamed_answer([text_step("x")])]).await {
        // The message has two hundred replies.
        let bush = plant_api_tree(&api, 201, |n| (n > 0).then_some(0)).await;
        let retry = format!("/api/turns/{}/retry", bush.turns[1].id);
        let (status, problem) = api.call("POST", &retry, None).await;
        assert_eq!((status.as_u16(), &problem["code"]), (409, &json!("too_many_siblings")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("200"), "{problem}");
        let siblings = get(&api, format!("/api/turns/{}/siblings", bush.turns[7].id)).await;
        assert_eq!(siblings["siblings"].as_array().unwrap().len(), 200);
        api.instance.sql("UPDATE chats SET next_ord = 50000").await;
        let send = json!({ "text": "one too many", "prev_turn_id": bush.turns[1].id });
        let (status, problem) = api.call("POST", &format!("/api/chats/{}/turns", bush.chat), Some(send)).await;
        assert_eq!((status.as_u16(), &problem["code"]), (409, &json!("too_many_turns")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("50000"), "{problem}");
        assert_eq!(get(&api, format!("/api/chats/{}/tree", bush.chat)).await["nodes"].as_array().unwrap().len(), 201);
        api.instance.close().await;
    }
}
