//! Attaching to a draft from another page, over the real router, what a page then saves, and the references in a copied
//! reply.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{ChatId, UserId};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedAnswer;
use turnleaf_service::ServiceError;
use turnleaf_service::turns::messages::MessageBlock;

use crate::documents::{SAMPLE_TEXT, change_owner, document, id, reference_part, send_and_wait};
use crate::fake_file_reader::apis_with_fake_reader;
use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};

const PATH: &str = "/api/drafts/attachments";

fn replies() -> Vec<ScriptedAnswer> {
    vec![streamed_answer([text_step("It is a plan.")])]
}

async fn attach(api: &TestApi, chat: Option<&str>, content: Value) -> (StatusCode, Value) {
    api.call("POST", PATH, Some(json!({ "chat_id": chat, "content": content }))).await
}

fn quoting(mut part: Value, document: &Value, quote: &str) -> Value {
    part["version_timestamp"] = document["version_timestamp"].clone();
    part["quote"] = json!(quote);
    part
}

async fn attachment_count(api: &TestApi, chat: Option<ChatId>) -> usize {
    let draft = api.instance.service.draft(api.instance.owner, chat).await.unwrap();
    draft.and_then(|draft| draft.attachments).map_or(0, |attached| attached.len())
}

#[tokio::test]
async fn concurrent_attachments_are_all_kept() {
    const AT_ONCE: usize = 12;
    for api in apis_with_fake_reader(Vec::new).await {
        let chat = api.create_chat().await;
        let d = document(&api, "D", SAMPLE_TEXT).await;
        let all = (0..AT_ONCE).map(|_| attach(&api, Some(&chat), json!([reference_part(&d, 0, 1)])));
        for (status, made) in futures::future::join_all(all).await {
            assert_eq!(status, StatusCode::OK, "{made}");
        }
        assert_eq!(attachment_count(&api, Some(chat.parse().unwrap())).await, AT_ONCE);
    }
}

#[tokio::test]
async fn text_saved_without_knowing_an_attachment_keeps_it() {
    for api in apis_with_fake_reader(Vec::new).await {
        let chat = api.create_chat().await;
        let chat_id: ChatId = chat.parse().unwrap();
        let d = document(&api, "D", SAMPLE_TEXT).await;
        assert_eq!(attach(&api, Some(&chat), json!([reference_part(&d, 0, 1)])).await.0, StatusCode::OK);
        // A page that loaded the draft before.
        for (changes, rev, attached) in [(json!({ "keeps_attachments": true }), 2, 1), (json!({}), 3, 0)] {
            let mut body = json!({ "chat_id": chat, "draft": { "text": "typed", "attachments": [], "rev": 0 } });
            body.as_object_mut().unwrap().extend(changes.as_object().cloned().unwrap());
            let saved = api.call("POST", "/api/page/save_draft", Some(body)).await;
            assert_eq!(saved, (StatusCode::OK, json!(rev)), "{changes}");
            assert_eq!(attachment_count(&api, Some(chat_id)).await, attached, "{changes}");
        }
        let draft = api.instance.service.draft(api.instance.owner, Some(chat_id)).await.unwrap().unwrap();
        assert_eq!(draft.text, "typed");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn selection_is_attached_to_draft_when_its_quote_matches() {
    for api in apis_with_fake_reader(Vec::new).await {
        let chat = api.create_chat().await;
        let chat_id: ChatId = chat.parse().unwrap();
        let d = document(&api, "D", SAMPLE_TEXT).await;
        let (status, made) = attach(&api, Some(&chat), json!([quoting(reference_part(&d, 3, 4), &d, "世")])).await;
        assert_eq!(status, StatusCode::OK, "{made}");
        let (_, more) = attach(&api, Some(&chat), json!([quoting(reference_part(&d, 2, 3), &d, "😀")])).await;
        assert!(more["rev"].as_i64() > made["rev"].as_i64(), "{more}");
        assert_eq!(attachment_count(&api, Some(chat_id)).await, 2);
        // Without a chat id, the attachment goes to the draft of the new chat.
        let (status, _) = api.call("POST", PATH, Some(json!({ "content": [reference_part(&d, 0, 5)] }))).await;
        assert_eq!((status, attachment_count(&api, None).await), (StatusCode::OK, 1));

        let mut gone = reference_part(&d, 0, 1);
        gone["version_timestamp"] = json!("2020-01-01T00:00:00Z");
        let nobody = ids::mint::<uuid::Uuid>().to_string();
        let mut unknown = reference_part(&d, 0, 1);
        unknown["ref_id"] = json!(nobody);
        for (to, content, status, code) in [
            // This client counted UTF-16 code units instead of characters.
            (&chat, json!([quoting(reference_part(&d, 2, 4), &d, "😀")]), StatusCode::CONFLICT, "selection_mismatch"),
            (&chat, json!([reference_part(&d, 0, 6)]), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (&chat, json!([reference_part(&d, 5, 6)]), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (&chat, json!([reference_part(&d, 2, 2)]), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (&chat, json!([reference_part(&d, -1, 2)]), StatusCode::BAD_REQUEST, "invalid"),
            (&chat, json!([reference_part(&d, "2", 3)]), StatusCode::BAD_REQUEST, "invalid"),
            (&chat, json!([gone]), StatusCode::NOT_FOUND, "version_gone"),
            (&chat, json!([unknown]), StatusCode::NOT_FOUND, "not_found"),
            (&nobody, json!([reference_part(&d, 0, 1)]), StatusCode::NOT_FOUND, "not_found"),
            (&chat, json!([{ "type": "text", "text": "words" }]), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            (&chat, json!([]), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ] {
            let (found, problem) = attach(&api, Some(to), content.clone()).await;
            assert_eq!((found, &problem["code"]), (status, &json!(code)), "{content}: {problem}");
        }
        assert_eq!(attachment_count(&api, Some(chat_id)).await, 2, "what is refused attaches nothing");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn foreign_document_or_chat_cannot_be_attached() {
    for api in apis_with_fake_reader(Vec::new).await {
        let chat = api.create_chat().await;
        let d = document(&api, "Secret", "the secret").await;
        let other: UserId = ids::mint();
        change_owner(&api, other).await;
        let (status, problem) = attach(&api, Some(&chat), json!([reference_part(&d, 0, 3)])).await;
        assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("not_found")));
        // The other user owns the document now, but not the chat.
        let block: MessageBlock = serde_json::from_value(reference_part(&d, 0, 3)).unwrap();
        let refused = api.instance.service.attach_to_draft(other, Some(chat.parse().unwrap()), vec![block]).await;
        assert!(matches!(refused, Err(ServiceError::NotFound)), "{refused:?}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn reply_is_copied_with_its_references() {
    for api in apis_with_fake_reader(replies).await {
        let chat = api.create_chat().await;
        let d = document(&api, "Plan", "one\ntwo\nthree").await;
        let content = json!([reference_part(&d, 4, 7), { "type": "text", "text": "What is it?" }]);
        let started = send_and_wait(&api, &chat, content).await;
        let path = format!("/api/turns/{}/markdown", id(&started["assistant_turn"]));
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let body = axum::body::to_bytes(api.send(request).await.into_body(), usize::MAX).await.unwrap();
        let copied = String::from_utf8(body.into()).unwrap();
        assert!(copied.starts_with("It is a plan.\n\n---\n\n> two\n>\n> — [Plan, line 2](/documents/"), "{copied}");
        assert!(copied.ends_with("#L2)"), "what was asked is no part of the reply: {copied}");
        api.instance.close().await;
    }
}
