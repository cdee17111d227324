//! The thinking mode of exchanges with a model of which it is not known whether it reasons: undecided at the start,
//! turned on by the first reasoning of the reply, and equal live, after a reload, in groups and in exports
//! (docs/reference/domain.md C2).

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::transfer::export::ExportOptions;
use turnleaf::domain::{Capabilities, ExchangeId, ModelParams, Thinking};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::turns::exchanges;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, delta_step, message_to_send, streamed_answer, text_step, thinking_step};

async fn apis_on_every_database(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<TestApi> {
    let unknown = || ScriptedProvider::new("scripted", answers()).with_capabilities(Capabilities::default());
    TestServer::on_every_database(unknown).await.into_iter().map(TestApi::with_server).collect()
}

async fn stored_mode(api: &TestApi, exchange: ExchangeId) -> bool {
    exchanges::find(&api.instance.db, api.instance.owner, exchange).await.unwrap().unwrap().is_thinking_mode
}

/// Returns the thinking mode of the last group, and the kinds of its items.
async fn last_group(api: &TestApi, of: &AcceptedExchange) -> (Value, Vec<String>) {
    let (_, body) = api.call("GET", &format!("/api/chats/{}/groups", of.chat.id), None).await;
    let group = body["groups"].as_array().unwrap().last().unwrap().clone();
    let kinds = group["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap().to_owned());
    (group["is_thinking_mode"].clone(), kinds.collect())
}

/// Returns how often the page of a chat shows a panel of reasoning.
async fn shown_panels(api: &TestApi, of: &AcceptedExchange) -> usize {
    let request = Request::builder().uri(format!("/c/{}", of.chat.id)).header("host", "127.0.0.1:3000");
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let html = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(html.to_vec()).unwrap().matches("data-segment=\"reasoning\"").count()
}

async fn markdown(api: &TestApi, of: &AcceptedExchange) -> String {
    let options = ExportOptions::default();
    let text = api.instance.service.export_markdown(api.instance.owner, of.chat.id, None, options).await.unwrap();
    String::from_utf8(text).unwrap()
}

async fn send(api: &TestApi, thinking: Option<Thinking>) -> AcceptedExchange {
    let params = ModelParams { thinking, ..ModelParams::default() };
    let request = TurnRequest { params, ..message_to_send("hi") };
    api.instance.service.start_turn(api.instance.owner, request).await.unwrap()
}

#[tokio::test]
async fn reasoning_of_unknown_model_is_shown_and_turns_mode_on() {
    let gate = Arc::new(Notify::new());
    let reply = |gate: &Arc<Notify>| {
        streamed_answer([thinking_step("secret plan"), ScriptedStep::WaitForSignal(gate.clone()), text_step("So.")])
    };
    for api in apis_on_every_database(|| vec![reply(&gate), streamed_answer([text_step("Again.")])]).await {
        let started = send(&api, None).await;
        assert!(!started.exchange.is_thinking_mode, "nothing was asked");
        let (id, exchange) = (started.assistant_turn.id, started.exchange.id);
        let live = api.instance.service.supervisor().live_turn(id).unwrap();
        while live.with_turn(|turn| turn.blocks.is_empty()) {
            tokio::task::yield_now().await;
        }
        // Reasoning is shown only once it is stored, together with the mode.
        assert!(stored_mode(&api, exchange).await, "while it streams");
        assert_eq!(last_group(&api, &started).await, (json!(true), vec!["think".to_owned()]));
        assert_eq!(shown_panels(&api, &started).await, 1);
        gate.notify_one();
        api.instance.wait_until_ended(id).await;
        assert!(stored_mode(&api, exchange).await);
        assert_eq!(last_group(&api, &started).await, (json!(true), vec!["think".to_owned(), "text".to_owned()]));
        assert_eq!(shown_panels(&api, &started).await, 1);
        assert!(markdown(&api, &started).await.contains("secret plan"));

        // Another version requests nothing either, so its own reply decides.
        let again =
            api.instance.service.retry_turn(api.instance.owner, id, Default::default(), ModelParams::default(), None);
        let again = again.await.unwrap();
        assert!(!again.exchange.is_thinking_mode);
        api.instance.wait_until_ended(again.assistant_turn.id).await;
        assert!(!stored_mode(&api, again.exchange.id).await);
        assert_eq!(last_group(&api, &started).await, (json!(false), vec!["text".to_owned()]));
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn mode_is_decided_by_request_where_it_says_so() {
    let reply = || streamed_answer([thinking_step("secret plan"), text_step("So.")]);
    for (thinking, is_on, panels) in [(Some(Thinking::Off), false, 0), (Some(Thinking::High), true, 1)] {
        for api in apis_on_every_database(|| vec![reply()]).await {
            let started = send(&api, thinking).await;
            assert_eq!(started.exchange.is_thinking_mode, is_on);
            api.instance.wait_until_ended(started.assistant_turn.id).await;
            assert_eq!(stored_mode(&api, started.exchange.id).await, is_on);
            assert_eq!(last_group(&api, &started).await.0, is_on);
            assert_eq!(shown_panels(&api, &started).await, panels);
            assert_eq!(markdown(&api, &started).await.contains("secret plan"), is_on);
            api.instance.check_invariants().await;
            api.instance.close().await;
        }
    }
}

#[tokio::test]
async fn reasoning_late_in_reply_turns_mode_on_without_moving_what_is_shown() {
    let inline = |text: &str| delta_step(json!({ "content": text }));
    for (answer, kinds, is_on) in [
        (
            streamed_answer([text_step("First."), thinking_step("hm"), text_step("So.")]),
            vec!["text", "think", "text"],
            true,
        ),
        (streamed_answer([inline("<think>hm"), inline("</think>So.")]), vec!["think", "text"], true),
        (streamed_answer([delta_step(json!({ "reasoning_content": "" })), text_step("So.")]), vec!["text"], false),
    ] {
        for api in apis_on_every_database(|| vec![answer.clone()]).await {
            let started = send(&api, None).await;
            api.instance.wait_until_ended(started.assistant_turn.id).await;
            let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            assert_eq!(last_group(&api, &started).await, (json!(is_on), kinds));
            assert_eq!(stored_mode(&api, started.exchange.id).await, is_on);
            api.instance.close().await;
        }
    }
}
