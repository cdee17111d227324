//! Unread chats and notifications: what ends while nobody looks is unread on every device until one shows it, and the
//! notifications are derived from it.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::{Failure, FailureKind, TurnStatus};
use turnleaf::server::page_data::PageService;
use turnleaf_platform::ids;
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::notifications::NotificationSubject;

use crate::bad_imports::{conversation, mapping_node};
use crate::http_api::TestApi;
use crate::interchange::import_file;
use crate::test_server::{TestServer, streamed_answer, text_step};

fn failure() -> ScriptedAnswer {
    ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "Scripted")))
}

#[tokio::test]
async fn chat_is_unread_from_end_of_reply_until_any_device_shows_it() {
    let answers = || {
        let answer = || streamed_answer([text_step("ok")]);
        ScriptedProvider::new("scripted", [answer(), failure(), ScriptedAnswer::Silence])
    };
    for instance in TestServer::on_every_database(answers).await {
        let pages = PageService::new(instance.service.clone());
        let (owner, stranger) = (instance.owner, ids::mint());
        let unread = async |viewer, showing| pages.status(viewer, showing, String::new()).await.unwrap().unread;
        let started = instance.send("first").await;
        let chat = started.chat.id;
        instance.wait_until_ended(started.assistant_turn.id).await;
        assert_eq!(unread(owner, None).await, [chat]);
        assert_eq!(unread(stranger, Some(chat)).await, [], "not those of somebody else");
        assert!(pages.list_chats(owner, None, 0).await.unwrap()[0].unread);

        // The poll of a page that shows the chat, and the page itself, read it.
        assert_eq!(unread(owner, Some(chat)).await, []);
        assert!(!pages.list_chats(owner, None, 0).await.unwrap()[0].unread);
        let failed = instance.send_to(chat, "second").await.assistant_turn.id;
        assert_eq!(instance.wait_until_ended(failed).await.status, TurnStatus::Error);
        assert_eq!(unread(owner, None).await, [chat]);
        pages.chat(owner, Some(chat), None, None, None).await.unwrap();
        assert_eq!(unread(owner, None).await, []);

        // A stopped reply counts as read.
        let place = async |unread| pages.place_chat(owner, chat, None, None, Some(unread)).await.unwrap();
        place(true).await;
        assert_eq!(unread(owner, None).await, [chat]);
        place(false).await;
        let stopped = instance.send("third").await;
        instance.service.stop_turn(owner, stopped.assistant_turn.id).await.unwrap();
        instance.wait_until_ended(stopped.assistant_turn.id).await;
        assert_eq!(unread(owner, None).await, []);

        // A chat in Trash is not unread, and returns as it went.
        place(true).await;
        instance.service.delete_chat(owner, chat).await.unwrap();
        assert_eq!(unread(owner, None).await, []);
        instance.service.restore_chat(owner, chat).await.unwrap();
        assert_eq!(unread(owner, None).await, [chat]);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn reply_that_was_read_while_it_ran_is_unread_once_it_ends() {
    let signal = Arc::new(Notify::new());
    let answers = || {
        let steps = [text_step("first words"), ScriptedStep::WaitForSignal(signal.clone()), text_step(" and the rest")];
        ScriptedProvider::new("scripted", [streamed_answer(steps)])
    };
    for instance in TestServer::on_every_database_patient(answers).await {
        let (service, owner) = (&instance.service, instance.owner);
        let pages = PageService::new(service.clone());
        let started = instance.send("first").await;
        let (chat, reply) = (started.chat.id, started.assistant_turn.id);
        instance.wait_until(reply, |turn| turn.content_text() == "first words").await;
        // Every way of reading.
        pages.chat(owner, Some(chat), None, None, None).await.unwrap();
        pages.status(owner, Some(chat), String::new()).await.unwrap();
        pages.place_chat(owner, chat, None, None, Some(false)).await.unwrap();
        service.mark_chat_read(owner, chat).await;
        service.mark_all_read(owner).await.unwrap();
        // Only ended replies can be marked.
        pages.place_chat(owner, chat, None, None, Some(true)).await.unwrap();
        assert!(!service.is_chat_unread(owner, chat).await.unwrap());
        signal.notify_one();
        assert_eq!(instance.wait_until_ended(reply).await.status, TurnStatus::Complete);
        assert!(service.is_chat_unread(owner, chat).await.unwrap());
        service.mark_chat_read(owner, chat).await;
        assert!(!service.is_chat_unread(owner, chat).await.unwrap());
        instance.close().await;
    }
}

#[tokio::test]
async fn api_and_forms_mark_chats_as_read_and_unread() {
    let api = TestApi::new([streamed_answer([text_step("ok")])]).await;
    let empty = api.create_chat().await;
    let started = api.instance.send("a <title>").await;
    let chat = started.chat.id.to_string();
    api.instance.wait_until_ended(started.assistant_turn.id).await;
    let path = format!("/api/chats/{chat}");
    let is_unread = async || -> Value {
        let (_, listed) = api.call("GET", "/api/chats", None).await;
        let shown = api.call("GET", &path, None).await.1["unread"].clone();
        let of_list = listed.as_array().unwrap().iter().find(|listed| listed["id"] == json!(chat)).unwrap();
        assert_eq!(of_list["unread"], shown);
        shown
    };
    assert_eq!(is_unread().await, json!(true));
    assert!(api.get_page("/chats").await.contains("new reply"));
    for unread in [false, true] {
        let (status, _) = api.call("PATCH", &path, Some(json!({ "unread": unread }))).await;
        assert_eq!((status, is_unread().await), (StatusCode::OK, json!(unread)));
    }
    // A chat without replies stays read.
    let nothing = format!("/api/chats/{empty}");
    assert_eq!(api.call("PATCH", &nothing, Some(json!({ "unread": true }))).await.0, StatusCode::OK);
    assert_eq!(api.call("GET", &nothing, None).await.1["unread"], json!(false));
    let (status, to) = api.post_form("/forms/chats", &[("chat", &chat), ("deed", "mark-read")]).await;
    assert_eq!((status, is_unread().await), (StatusCode::SEE_OTHER, json!(false)));
    assert!(api.get_page(&to).await.contains("Marked 1 chat as read."));
    api.post_form("/forms/chats", &[("chat", &chat), ("deed", "mark-unread")]).await;
    assert_eq!(is_unread().await, json!(true));

    let page = api.get_page("/notifications").await;
    let link = format!("href=\"/c/{chat}?at={}\"", started.assistant_turn.id);
    assert!(page.contains(&link) && page.contains("a &lt;title&gt;") && page.contains("Reply complete."), "{page}");
    assert_eq!(is_unread().await, json!(true), "the list of notifications is not the reply");
    let (status, to) = api.post_form("/forms/notifications", &[]).await;
    assert_eq!((status, is_unread().await), (StatusCode::SEE_OTHER, json!(false)));
    let page = api.get_page(&to).await;
    assert!(page.contains("Everything is marked as read.") && page.contains("No notifications."), "{page}");
}

#[tokio::test]
async fn notifications_list_ended_replies_and_imports_of_their_owner() {
    let answers = || ScriptedProvider::new("scripted", [streamed_answer([text_step("ok")]), failure()]);
    for instance in TestServer::on_every_database(answers).await {
        let (service, owner) = (&instance.service, instance.owner);
        let first = instance.send("first").await;
        instance.wait_until_ended(first.assistant_turn.id).await;
        let second = instance.send("second").await;
        instance.wait_until_ended(second.assistant_turn.id).await;
        let replies = async |viewer| {
            let listed = service.notifications(viewer).await.unwrap();
            let replies = listed.into_iter().filter_map(|notification| match notification.subject {
                NotificationSubject::EndedReply { turn_id, status, .. } => Some((turn_id, status)),
                _ => None,
            });
            replies.collect::<Vec<_>>()
        };
        let expected = [(second.assistant_turn.id, TurnStatus::Error), (first.assistant_turn.id, TurnStatus::Complete)];
        assert_eq!(replies(owner).await, expected, "the newest first");
        assert_eq!(replies(ids::mint()).await, []);
        service.mark_chat_read(owner, second.chat.id).await;
        assert_eq!(replies(owner).await, expected[1..]);

        let new_imports = async |viewer| service.count_new_imports(viewer).await.unwrap();
        assert_eq!(new_imports(owner).await, 0);
        let nodes = [mapping_node("q", None, "user", "Question"), mapping_node("a", Some("q"), "assistant", "Answer")];
        let file = serde_json::to_vec(&[conversation("one", &nodes)]).unwrap();
        assert_eq!(import_file(&instance, "chats.json", &file, false).await.imported, 1);
        assert_eq!((new_imports(owner).await, new_imports(ids::mint()).await), (1, 0));
        let imports = async || {
            let listed = service.notifications(owner).await.unwrap().into_iter();
            let imports = listed.filter(|one| matches!(one.subject, NotificationSubject::Import(_)));
            imports.map(|import| (import.at, import.is_new)).collect::<Vec<_>>()
        };
        let listed = imports().await;
        let [(Some(at), true)] = listed[..] else { panic!("{listed:?}") };
        service.mark_notifications_seen(owner, at).await;
        assert_eq!((new_imports(owner).await, imports().await), (0, vec![(Some(at), false)]));
        assert_eq!(replies(owner).await, expected[1..], "seeing the list reads no reply");

        service.mark_all_read(owner).await.unwrap();
        assert_eq!(replies(owner).await, []);
        instance.close().await;
    }
}
