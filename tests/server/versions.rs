//! Versions: their lists, the end that each leads to, names, and a reply in a person's own words. Over the HTTP API and
//! on both databases where two at once could meet.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::context::{Mode, Reason};
use turnleaf::domain::{Author, Origin, TurnId, TurnStatus};
use turnleaf_providers::scripted::{Answer, Scripted, Step};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::turns::{StartTurn, Started};

use crate::databases::fresh;
use crate::house::{House, answer, message, text, thinking};
use crate::http_api::Api;

fn replies(words: &[&str]) -> Scripted {
    Scripted::new("scripted", words.iter().map(|word| answer([thinking("hm"), text(word)])).collect::<Vec<_>>())
}

async fn say(house: &House, after: &Started, words: &str) -> Started {
    let place = Wanted { prev_turn_id: Some(after.assistant_turn.id), ..Wanted::default() };
    let next = StartTurn { chat_id: Some(after.chat.id), place, ..message(words) };
    let started = house.service.start_turn(house.owner, next).await.unwrap();
    house.ended(started.assistant_turn.id).await;
    started
}

async fn begin(house: &House, words: &str) -> Started {
    let started = house.send(words).await;
    house.ended(started.assistant_turn.id).await;
    started
}

async fn retry(house: &House, turn: TurnId) -> Started {
    let again = house.service.retry_turn(house.owner, turn, Wanted::default(), <_>::default(), None).await.unwrap();
    house.ended(again.assistant_turn.id).await;
    again
}

async fn edit(house: &House, turn: TurnId, words: &str) -> Started {
    house.service.edit_turn(house.owner, turn, message(words)).await.unwrap()
}

async fn leaf(house: &House, started: &Started, at: Option<TurnId>) -> TurnId {
    let path = house.service.path(house.owner, started.chat.id, at, 50).await.unwrap();
    path.turns.last().unwrap().id
}

#[tokio::test]
async fn a_version_leads_to_the_end_that_was_read_last_and_the_chat_opens_there_on_any_device() {
    let house = House::new(replies(&["1", "2", "3", "4", "5"])).await;
    let first = begin(&house, "a").await;
    let second = say(&house, &first, "b").await;
    let third = say(&house, &second, "c").await;
    let other = retry(&house, second.assistant_turn.id).await;
    let beside = retry(&house, third.assistant_turn.id).await;
    let below_first = |at| leaf(&house, &first, at);
    assert_eq!(below_first(None).await, beside.assistant_turn.id);
    assert_eq!(below_first(Some(second.assistant_turn.id)).await, beside.assistant_turn.id, "made last");
    assert_eq!(below_first(Some(other.assistant_turn.id)).await, other.assistant_turn.id);

    house.service.shown(house.owner, first.chat.id, third.assistant_turn.id).await;
    house.service.shown(house.owner, first.chat.id, other.assistant_turn.id).await;
    assert_eq!(below_first(None).await, other.assistant_turn.id, "shown last");
    assert_eq!(below_first(Some(second.assistant_turn.id)).await, third.assistant_turn.id, "of what is below");
    assert_eq!(below_first(Some(first.user_turn.id)).await, other.assistant_turn.id);
    house.check().await;
}

#[tokio::test]
async fn the_list_of_versions_says_what_a_person_chooses_by() {
    let house = House::new(replies(&["one", "two", "three"])).await;
    let first = begin(&house, "a").await;
    let again = retry(&house, first.assistant_turn.id).await;
    say(&house, &again, "b").await;
    let written = edit(&house, first.assistant_turn.id, "# My own\nwords").await;
    let path = house.service.path(house.owner, first.chat.id, None, 50).await.unwrap();
    let versions = house.service.versions(house.owner, first.chat.id, &path.siblings).await.unwrap();
    assert_eq!(versions.len(), 1, "turns with one version have no list");
    let said: Vec<(&str, u64, bool, TurnStatus)> = versions[&written.assistant_turn.id]
        .iter()
        .map(|version| (version.words.as_str(), version.followed_by, version.is_edited, version.status))
        .collect();
    let complete = TurnStatus::Complete;
    assert_eq!(said, [("one", 0, false, complete), ("two", 2, false, complete), ("My own words", 0, true, complete)]);
    let elsewhere = async |id| {
        let turn = house_turn(&house, id).await;
        house.service.elsewhere(house.owner, &turn).await.unwrap().map(|elsewhere| elsewhere.turns)
    };
    let (newest, oldest) = (written.assistant_turn.id, first.assistant_turn.id);
    assert_eq!(elsewhere(newest).await, None);
    assert_eq!(elsewhere(oldest).await, Some(4), "two versions and one exchange came after it");
}

async fn house_turn(house: &House, id: TurnId) -> turnleaf::domain::Turn {
    house.service.turn(house.owner, id).await.unwrap()
}

#[tokio::test]
async fn a_reply_in_a_persons_words_stands_beside_and_is_told_as_plain_text() {
    let provider = replies(&["one", "two", "three"]);
    let log = provider.log();
    let house = House::new(provider).await;
    let first = begin(&house, "a").await;
    let second = say(&house, &first, "b").await;
    let version = edit(&house, second.assistant_turn.id, "In my words.").await;
    assert_eq!((version.branch.origin, &version.branch.lock), (Origin::Edit, &first.branch.lock));
    assert_eq!(version.assistant_turn.prev_turn_id, Some(second.user_turn.id));
    assert_eq!(version.assistant_turn.status, TurnStatus::Complete);
    assert_eq!(version.assistant_turn.blocks[0].author, Author::User);
    assert!(house_turn(&house, version.assistant_turn.id).await.is_edited());
    assert_eq!(log.requests().len(), 2, "nobody is asked");
    assert_eq!(version.branch.name, "edited 2 · b");

    let next = say(&house, &version, "c").await;
    let request: Value = serde_json::from_slice(&log.requests()[2]).unwrap();
    let said: Vec<&str> =
        request["messages"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["a", "one", "b", "In my words.", "c"]);
    let generation = &house.service.generations(house.owner, next.assistant_turn.id).await.unwrap()[0];
    let manifest: turnleaf::domain::context::RequestManifest =
        serde_json::from_value(generation.request_manifest.clone()).unwrap();
    let told: Vec<(Mode, Reason)> = manifest.turns.iter().map(|entry| (entry.mode, entry.reason)).collect();
    let asked = (Mode::Canonical, Reason::FromBlocks);
    let (behind, edited) = ((Mode::Canonical, Reason::BehindModelBreak), (Mode::Canonical, Reason::Edited));
    assert_eq!(told, [asked, behind, asked, edited, asked]);
    house.check().await;
}

#[tokio::test]
async fn the_same_edit_of_a_reply_is_made_once_and_asks_for_nothing() {
    let api = Api::over(House::new(replies(&["one"])).await);
    let first = begin(&api.house, "a").await;
    let path = format!("/api/turns/{}/edit", first.assistant_turn.id);
    let body = json!({ "text": "Mine.", "client_request_id": "e1" });
    let (status, made) = api.call("POST", &path, Some(body.clone())).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(made["assistant_turn"]["blocks"][0]["author"], "user");
    let (status, again) = api.call("POST", &path, Some(body)).await;
    assert_eq!((status, &again["assistant_turn"]["id"]), (StatusCode::OK, &made["assistant_turn"]["id"]));
    let other = json!({ "text": "Other.", "client_request_id": "e1" });
    assert_eq!(api.call("POST", &path, Some(other)).await.0, StatusCode::CONFLICT);
    for (body, field) in [
        (json!({ "text": "x", "model": "model-b" }), "model"),
        (json!({ "text": "x", "params": { "temperature": 0.5 } }), "params"),
        (json!({ "text": "x", "nobody": 1 }), "nobody"),
    ] {
        let (status, problem) = api.call("POST", &path, Some(body)).await;
        assert!(status.is_client_error(), "{problem}");
        assert_eq!(problem["field"], field, "{problem}");
    }
    assert_eq!(api.call("POST", &path, Some(json!({ "text": " " }))).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    api.house.check().await;
}

#[tokio::test]
async fn branches_are_named_after_what_they_begin_with() {
    let house = House::new(replies(&["1", "2", "3", "4", "5", "6"])).await;
    let first = begin(&house, "What is Rust?").await;
    let name = |started: &Started| started.branch.name.clone();
    assert_eq!(name(&first), "main");
    let again = retry(&house, first.assistant_turn.id).await;
    assert_eq!(name(&again), "retry 2 · What is Rust?");
    let edited = edit(&house, first.user_turn.id, "## What is a borrow checker, and why is it there?").await;
    house.ended(edited.assistant_turn.id).await;
    assert_eq!(name(&edited), "What is a borrow checker, and…");
    let same = edit(&house, first.user_turn.id, "What is a borrow checker, and why is it there?").await;
    house.ended(same.assistant_turn.id).await;
    assert_eq!(name(&same), "What is a borrow checker, and… (2)");
    say(&house, &again, "And C?").await;
    let aside = say(&house, &again, "And Zig?").await;
    assert_eq!((name(&aside).as_str(), aside.branch.origin), ("And Zig?", Origin::Fork));
}

#[tokio::test]
async fn fifty_edits_at_once_give_fifty_siblings_and_the_running_reply_goes_on() {
    for fresh in fresh().await {
        // Longer than this test, and never silent for long.
        let piece = || [text("."), Step::Wait(Duration::from_millis(100))];
        let slow = Answer::Stream((0..600).flat_map(|_| piece()).collect());
        let answers = std::iter::once(slow).chain((0..50).map(|_| answer([text("x")])));
        let api = Api::over(House::upon(fresh.db.clone(), Scripted::new("scripted", answers)).await);
        let first = api.house.send("a").await;
        let path = format!("/api/turns/{}/edit", first.user_turn.id);
        let edits = (0..50).map(|n| api.call("POST", &path, Some(json!({ "text": format!("edit {n}") }))));
        let mut ids = Vec::new();
        for (status, made) in futures::future::join_all(edits).await {
            assert_eq!(status, StatusCode::CREATED, "{made}");
            ids.push(made["assistant_turn"]["id"].as_str().unwrap().parse::<TurnId>().unwrap());
        }
        for id in ids {
            assert_eq!(api.house.ended(id).await.status, TurnStatus::Complete);
        }
        let drawn = api.house.service.turn_with_siblings(api.house.owner, first.user_turn.id).await.unwrap();
        assert_eq!(drawn.siblings.len(), 51);
        let names = api.house.service.branches(api.house.owner, first.chat.id).await.unwrap();
        assert_eq!(names.len(), 51);
        let left = house_turn(&api.house, first.assistant_turn.id).await;
        assert!(!left.status.is_terminal(), "{:?}: {:?}", left.status, left.error);
        let stopped = api.house.service.stop_turn(api.house.owner, first.assistant_turn.id).await.unwrap();
        assert!(stopped.content_text().starts_with('.'));
        api.house.check().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn the_name_of_a_retry_never_comes_twice() {
    let house = House::new(replies(&["1", "2", "3"])).await;
    let first = begin(&house, "a").await;
    let name = || async {
        let ids = house.service.retry_ids(house.owner, &[first.assistant_turn.id]).await.unwrap();
        ids[&first.assistant_turn.id].clone()
    };
    let before = name().await;
    assert_eq!(name().await, before, "the same press of the same button");
    let again = retry(&house, first.assistant_turn.id).await;
    let after = name().await;
    assert_ne!(after, before);
    // Hidden as deleting hides it.
    sqlx::query("UPDATE turns SET deleted_at = '2026-01-01T00:00:00Z', deletion_id = zeroblob(16) WHERE id = $1")
        .bind(again.assistant_turn.id.uuid())
        .execute(sqlite(&house))
        .await
        .unwrap();
    assert_eq!(name().await, after);
}

fn sqlite(house: &House) -> &sqlx::SqlitePool {
    match &house.db {
        turnleaf_store::Db::Sqlite { writer, .. } => writer,
        turnleaf_store::Db::Postgres { .. } => panic!("a house is a file unless told otherwise"),
    }
}

#[tokio::test]
async fn where_a_reader_is_can_be_told() {
    let api = Api::over(House::new(replies(&["1", "2", "3", "4"])).await);
    let first = begin(&api.house, "a").await;
    let second = say(&api.house, &first, "b").await;
    retry(&api.house, second.assistant_turn.id).await;
    let path = format!("/api/chats/{}/last-viewed", first.chat.id);
    let seen = json!({ "turn_id": second.assistant_turn.id });
    assert_eq!(api.call("PUT", &path, Some(seen)).await.0, StatusCode::NO_CONTENT);
    assert_eq!(leaf(&api.house, &first, None).await, second.assistant_turn.id);
    // A turn in the middle keeps the way below it.
    let middle = json!({ "turn_id": first.user_turn.id });
    assert_eq!(api.call("PUT", &path, Some(middle)).await.0, StatusCode::NO_CONTENT);
    assert_eq!(leaf(&api.house, &first, None).await, second.assistant_turn.id);
    let (_, chat) = api.call("GET", &format!("/api/chats/{}", first.chat.id), None).await;
    assert_eq!(chat["last_viewed_turn_id"], json!(first.user_turn.id));
    let foreign = begin(&api.house, "elsewhere").await;
    for wrong in [json!(foreign.user_turn.id), json!("0190b5b4-7c1e-7abc-8def-0123456789ab")] {
        let (status, _) = api.call("PUT", &path, Some(json!({ "turn_id": wrong }))).await;
        assert!(status.is_client_error());
    }
    api.house.check().await;
}

#[tokio::test]
async fn a_message_without_an_answer_has_no_version_of_one() {
    let house = House::new(replies(&["1"])).await;
    let first = begin(&house, "a").await;
    let refused = house
        .service
        .edit_turn(house.owner, first.assistant_turn.id, StartTurn { content: Vec::new(), ..message("") })
        .await;
    assert!(matches!(refused, Err(ServiceError::Invalid(_))));
}

/// A form as a browser without script posts it; gives the status and where it leads.
async fn post_form(api: &Api, path: &str, body: &str) -> (StatusCode, String) {
    let request = http::Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(axum::body::Body::from(body.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned()).unwrap_or_default();
    (response.status(), to)
}

async fn page(api: &Api, path: &str) -> (StatusCode, String) {
    let request = http::Request::builder().uri(path).header("host", "127.0.0.1:3000");
    let response = api.send(request.body(axum::body::Body::empty()).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_message_without_a_reply_has_a_form_that_asks_for_one() {
    let api = Api::over(House::new(replies(&["one", "two", "three"])).await);
    let first = begin(&api.house, "a").await;
    let (chat, question) = (first.chat.id, first.user_turn.id);
    let mut reply = first.assistant_turn.id;
    let form = |html: &str| {
        let of =
            format!("name=\"turn_id\" value=\"{question}\"><input type=\"hidden\" name=\"client_request_id\" value=\"");
        html.split(&of).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned())
    };
    let (_, html) = page(&api, &format!("/c/{chat}")).await;
    assert_eq!(form(&html), None, "it has a reply");
    for _ in 0..2 {
        api.house.service.delete_turn(api.house.owner, reply).await.unwrap();
        let (_, html) = page(&api, &format!("/c/{chat}")).await;
        let name = form(&html).filter(|name| !name.is_empty()).unwrap_or_else(|| panic!("{html}"));
        let retried = format!("turn_id={question}&client_request_id={name}");
        let (status, to) = post_form(&api, "/forms/retry", &retried).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        assert_eq!(post_form(&api, "/forms/retry", &retried).await.1, to, "one reply for one press");
        let new: TurnId = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap();
        assert_ne!(new, reply);
        reply = new;
        assert_eq!(api.house.ended(reply).await.prev_turn_id, Some(question));
    }
    api.house.check().await;
}

#[tokio::test]
async fn every_verb_has_a_page_or_a_form_without_script() {
    let api = Api::over(House::new(replies(&["one", "two", "three", "four"])).await);
    let first = begin(&api.house, "a <b>").await;
    let (chat, question, reply) = (first.chat.id, first.user_turn.id, first.assistant_turn.id);

    let (status, html) = page(&api, &format!("/turns/{question}/edit")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        html.contains("a &lt;b&gt;") && html.contains("action=\"/forms/edit\"") && html.matches("<script").count() == 1,
        "{html}"
    );
    let edited = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=other&client_request_id=f1")).await;
    assert_eq!(edited.0, StatusCode::SEE_OTHER);
    assert!(edited.1.starts_with(&format!("/c/{chat}?at=")), "{}", edited.1);
    let again = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=other&client_request_id=f1")).await;
    assert_eq!(again, edited, "a second click makes nothing twice");
    let empty = post_form(&api, "/forms/edit", &format!("turn_id={question}&text=+&client_request_id=f2")).await;
    assert_eq!(empty.0, StatusCode::UNPROCESSABLE_ENTITY);

    let (_, html) = page(&api, &format!("/turns/{reply}/edit")).await;
    assert!(html.contains("Save as new version"), "{html}");
    let (status, html) = page(&api, &format!("/turns/{reply}/again")).await;
    assert!(status == StatusCode::OK && html.contains("<option value=\"scripted/model-b\""), "{html}");
    let retried = format!("turn_id={reply}&model=scripted%2Fmodel-b&client_request_id=f3");
    let (status, to) = post_form(&api, "/forms/retry", &retried).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let turn: TurnId = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap();
    api.house.ended(turn).await;
    let branch = house_turn(&api.house, turn).await.branch_id;
    assert_eq!(api.house.service.branch(api.house.owner, branch).await.unwrap().0.lock.model, "model-b");

    let copy = format!("chat_id={chat}&turn_id={reply}&client_request_id=f4");
    let (status, to) = post_form(&api, "/forms/copy", &copy).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(post_form(&api, "/forms/copy", &copy).await.1, to, "one copy for one press");
    let (_, html) = page(&api, to.trim_end_matches("#latest")).await;
    assert!(html.contains("Copied from") && html.contains(&format!("/c/{chat}?at={reply}")), "{html}");

    let (status, html) = page(&api, &format!("/c/{chat}?from={reply}")).await;
    assert!(status == StatusCode::OK && html.contains("Continue from here"), "{html}");
    let unknown = "0190b5b4-7c1e-7abc-8def-0123456789ab";
    for path in [format!("/turns/{unknown}/edit"), format!("/turns/{unknown}/again"), "/turns/1/edit".to_owned()] {
        assert_eq!(page(&api, &path).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    for (path, body) in [
        ("/forms/edit", format!("turn_id={unknown}&text=x")),
        ("/forms/copy", format!("chat_id={chat}&turn_id=1")),
        ("/forms/copy", format!("chat_id={unknown}&turn_id={reply}")),
    ] {
        assert_eq!(post_form(&api, path, &body).await.0, StatusCode::NOT_FOUND, "{path} {body}");
    }
    api.house.check().await;
}
