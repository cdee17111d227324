//! Suggested titles: a request of its own behind the path, stored, counted and shown like those of replies. It changes no
//! title by itself.

use std::sync::Arc;

use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::api::error::ApiError;
use turnleaf::domain::{ChatId, Failure, FailureKind, TitleRequestId};
use turnleaf::server::page_data::PageService;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::chats::titles::TitleSuggestion;
use turnleaf_service::turns::generations::GenerationStatus;
use turnleaf_store::chats::title_requests::{self, NewTitleRequest};
use turnleaf_tools::toolbox::NoTools;

use crate::document_pages::get;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, finish_steps, streamed_answer, text_step, thinking_step};

fn reply() -> ScriptedAnswer {
    streamed_answer([text_step("Call it Ada.")])
}

fn refusal() -> ScriptedAnswer {
    ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "Scripted")))
}

/// Sends a message into a new chat and waits for the reply.
async fn start_chat(instance: &TestServer) -> ChatId {
    let started = instance.send("Names for a boat?").await;
    instance.wait_until_ended(started.assistant_turn.id).await;
    started.chat.id
}

async fn suggest(instance: &TestServer, chat: ChatId) -> TitleSuggestion {
    instance.service.suggest_title(instance.owner, chat, None).await.unwrap().value
}

fn conflict(refused: Result<impl Sized, ServiceError>) -> &'static str {
    match refused {
        Err(ServiceError::Conflict { code, .. }) => code,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[tokio::test]
async fn suggestion_is_request_of_its_own_behind_same_prefix() {
    let answers = || [reply(), streamed_answer([thinking_step("Hm."), text_step("**\"Names for a boat\"**\nDone.")])];
    let providers = std::cell::RefCell::new(Vec::new());
    let provider = || {
        let provider = ScriptedProvider::new("scripted", answers());
        providers.borrow_mut().push(provider.log());
        provider
    };
    let instances = TestServer::on_every_database(provider).await;
    for (instance, log) in instances.into_iter().zip(providers.into_inner()) {
        let (service, owner) = (&instance.service, instance.owner);
        let chat = start_chat(&instance).await;
        let before = service.chat(owner, chat).await.unwrap();
        let made = service.suggest_title(owner, chat, Some("key")).await.unwrap();
        let suggestion = made.value;
        assert!(made.is_new);
        assert_eq!(
            (suggestion.status, suggestion.title.as_deref()),
            (GenerationStatus::Complete, Some("Names for a boat"))
        );
        assert_eq!((suggestion.provider.as_str(), suggestion.model.as_str()), ("scripted", "model-a"));
        assert_eq!((suggestion.usage.input_tokens, suggestion.usage.output_tokens), (Some(7), Some(5)));
        assert_eq!(service.chat(owner, chat).await.unwrap().title, before.title, "nothing changes by itself");

        let requests = log.requests();
        let [first, second] = requests.as_slice() else { panic!("{requests:?}") };
        assert_eq!(service.title_request_body(owner, suggestion.id).await.unwrap(), *second);
        let (first, second): (Value, Value) =
            (serde_json::from_slice(first).unwrap(), serde_json::from_slice(second).unwrap());
        let (before, messages) = (first["messages"].as_array().unwrap(), second["messages"].as_array().unwrap());
        assert_eq!(messages[..before.len()], before[..]);
        assert_eq!(messages.len(), before.len() + 2, "{second}");
        assert_eq!(messages[before.len()]["role"], "assistant");
        assert!(messages[before.len() + 1].to_string().contains("Suggest a title"), "{second}");
        assert!(second.get("tools").is_none(), "{second}");
        let response = service.title_response(owner, suggestion.id).await.unwrap();
        assert!(String::from_utf8_lossy(&response).contains("Names for a boat"));

        // The same key is the same suggestion, and nobody else has it.
        let again = service.suggest_title(owner, chat, Some("key")).await.unwrap();
        assert_eq!((again.is_new, &again.value), (false, &suggestion));
        assert_eq!(log.requests().len(), 2);
        let stranger = ids::mint();
        assert!(matches!(service.suggest_title(stranger, chat, None).await, Err(ServiceError::NotFound)));
        assert!(matches!(service.title_suggestion(stranger, suggestion.id).await, Err(ServiceError::NotFound)));
        assert!(matches!(service.title_response(stranger, suggestion.id).await, Err(ServiceError::NotFound)));
        instance.check_invariants().await;

        // It goes with its chat.
        service.delete_chat(owner, chat).await.unwrap();
        assert!(matches!(service.title_suggestion(owner, suggestion.id).await, Err(ServiceError::NotFound)));
        assert_eq!(title_requests::count(&instance.db, owner, chat).await.unwrap(), 1);
        service.empty_trash(owner).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        assert_eq!(title_requests::count(&instance.db, owner, chat).await.unwrap(), 0);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn running_request_is_joined_stopped_with_its_chat_and_ended_at_next_start() {
    let signal = Arc::new(Notify::new());
    let late = || {
        let steps = [ScriptedStep::WaitForSignal(signal.clone()), text_step("Boats")];
        ScriptedAnswer::Stream(steps.into_iter().chain(finish_steps("stop")).collect())
    };
    let provider =
        || ScriptedProvider::new("scripted", [reply(), late(), ScriptedAnswer::Silence, ScriptedAnswer::Silence]);
    let providers = std::cell::RefCell::new(Vec::new());
    let noted = || {
        let provider = provider();
        providers.borrow_mut().push(provider.log());
        provider
    };
    let instances = TestServer::on_every_database_patient(noted).await;
    for (instance, log) in instances.into_iter().zip(providers.into_inner()) {
        let (service, owner) = (instance.service.clone(), instance.owner);
        let chat = start_chat(&instance).await;
        let press = || service.suggest_title(owner, chat, None);
        let (first, second, ()) = tokio::join!(press(), press(), async {
            log.wait_for_requests(2).await;
            while service.supervisor().title_waiter_count() < 2 {
                tokio::task::yield_now().await;
            }
            signal.notify_one();
        });
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(first.value, second.value);
        assert_ne!(first.is_new, second.is_new, "one request for both");
        assert_eq!((first.value.title.as_deref(), log.requests().len()), (Some("Boats"), 2));

        let (stopped, ()) = tokio::join!(press(), async {
            log.wait_for_requests(3).await;
            service.delete_chat(owner, chat).await.unwrap();
        });
        assert!(matches!(stopped, Err(ServiceError::NotFound)));
        service.restore_chat(owner, chat).await.unwrap();
        let last = service.title_requests(owner, chat).await.unwrap().remove(0);
        assert_eq!((last.status, last.title), (GenerationStatus::Cancelled, None));

        let left = tokio::spawn({
            let service = service.clone();
            async move { drop(service.suggest_title(owner, chat, None).await) }
        });
        log.wait_for_requests(4).await;
        left.abort();
        let empty = ScriptedProvider::new("scripted", []);
        let instance = instance.restart_after_kill(empty, Arc::new(NoTools)).await;
        let last = instance.service.title_requests(owner, chat).await.unwrap().remove(0);
        let ended = instance.service.title_suggestion(owner, last.id).await.unwrap();
        assert_eq!(ended.status, GenerationStatus::Error);
        assert_eq!(ended.error.unwrap().kind, FailureKind::ServerRestarted);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn running_request_is_stopped_by_its_owner_and_orphaned_one_ends() {
    let providers = std::cell::RefCell::new(Vec::new());
    let noted = || {
        let answers =
            [reply(), ScriptedAnswer::Silence, ScriptedAnswer::Silence, streamed_answer([text_step("Boats")])];
        let provider = ScriptedProvider::new("scripted", answers);
        providers.borrow_mut().push(provider.log());
        provider
    };
    let instances = TestServer::on_every_database_patient(noted).await;
    for (instance, log) in instances.into_iter().zip(providers.into_inner()) {
        let (service, owner) = (instance.service.clone(), instance.owner);
        let chat = start_chat(&instance).await;
        let stop = || service.stop_title_suggestion(owner, chat);
        assert_eq!(stop().await.unwrap(), None);
        let (stopped, ()) = tokio::join!(service.suggest_title(owner, chat, None), async {
            log.wait_for_requests(2).await;
            let foreign = service.stop_title_suggestion(ids::mint(), chat).await;
            assert!(matches!(foreign, Err(ServiceError::NotFound)));
            let running = service.title_requests(owner, chat).await.unwrap().remove(0);
            assert_eq!(running.status, GenerationStatus::Running);
            assert_eq!(stop().await.unwrap(), Some(running.id));
            let ended = service.title_suggestion(owner, running.id).await.unwrap();
            assert_eq!(ended.status, GenerationStatus::Cancelled, "its end is stored");
        });
        let stopped = stopped.unwrap().value;
        assert_eq!((stopped.status, stopped.title, stopped.error), (GenerationStatus::Cancelled, None, None));
        assert_eq!(stop().await.unwrap(), None);

        let pages = PageService::new(service.clone());
        let (suggested, ()) = tokio::join!(pages.suggest_title(owner, chat), async {
            log.wait_for_requests(3).await;
            pages.stop_title(owner, chat).await.unwrap();
        });
        assert_eq!(suggested.unwrap(), None, "no failure");

        // Nothing drives a request whose end could not be stored.
        let orphan = NewTitleRequest {
            id: ids::mint(),
            turn_id: stopped.turn_id,
            provider: "scripted".into(),
            api: "openai_chat".into(),
            model_requested: "model-a".into(),
            body: "{}".into(),
            manifest: "{}".into(),
            started_at: SystemClock.now(),
        };
        let mut tx = instance.db.begin().await.unwrap();
        assert!(title_requests::insert(&mut tx, owner, &orphan).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(stop().await.unwrap(), Some(orphan.id));
        let ended = service.title_suggestion(owner, orphan.id).await.unwrap();
        assert_eq!(ended.status, GenerationStatus::Cancelled);
        assert_eq!(suggest(&instance, chat).await.title.as_deref(), Some("Boats"));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn failed_request_keeps_its_reason_and_impossible_one_is_refused() {
    let answers = || {
        let unfinished = ScriptedAnswer::Stream(vec![text_step("Names for")]);
        let answers = [reply(), refusal(), streamed_answer([text_step(" \"\" ")]), unfinished, ScriptedAnswer::Silence];
        ScriptedProvider::new("scripted", answers)
    };
    for instance in TestServer::on_every_database(answers).await {
        let (service, owner) = (instance.service.clone(), instance.owner);
        let pages = PageService::new(service.clone());
        let chat = start_chat(&instance).await;
        for (kind, has_response) in
            [(FailureKind::ProviderAuth, false), (FailureKind::NoTitle, true), (FailureKind::ProviderTruncated, true)]
        {
            let failed = suggest(&instance, chat).await;
            assert_eq!((failed.status, failed.title), (GenerationStatus::Error, None));
            assert_eq!(failed.error.unwrap().kind, kind);
            assert_eq!(service.title_response(owner, failed.id).await.is_ok(), has_response, "{kind:?}");
        }
        assert!(matches!(service.suggest_title(owner, ids::mint(), None).await, Err(ServiceError::NotFound)));
        let empty = service.create_chat(owner, Default::default()).await.unwrap().value.0.id;
        assert_eq!(conflict(service.suggest_title(owner, empty, None).await), "title_needs_reply");
        let Err(ApiError::Conflict { code, message }) = pages.suggest_title(owner, empty).await else { panic!() };
        assert_eq!(code, "title_needs_reply");
        assert!(message.contains("once the chat has a complete reply"), "{message}");
        let running = instance.send_to(chat, "And in winter?").await.assistant_turn.id;
        assert_eq!(conflict(service.suggest_title(owner, chat, None).await), "turn_running");
        service.stop_turn(owner, running).await.unwrap();

        // The provider is gone.
        let other = ScriptedProvider::new("other", []);
        let instance = instance.restart_after_kill(other, Arc::new(NoTools)).await;
        let refused = instance.service.suggest_title(owner, chat, None).await;
        assert_eq!(conflict(refused), "model_unavailable");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn api_and_forms_suggest_titles() {
    let title = || streamed_answer([text_step("A \"boat\" & <more>")]);
    let api = TestApi::new([reply(), title(), title(), refusal()]).await;
    let chat = start_chat(&api.instance).await;
    let path = format!("/api/chats/{chat}/title-suggestions");
    let post = async || {
        let request = Request::builder().method("POST").uri(&path).header("host", "127.0.0.1:3000");
        let response = api.send(request.header("idempotency-key", "one").body(Default::default()).unwrap()).await;
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice::<Value>(&bytes).unwrap())
    };
    let (status, made) = post().await;
    assert_eq!(
        (status, &made["title"], &made["status"]),
        (StatusCode::CREATED, &json!("A \"boat\" & <more>"), &json!("complete"))
    );
    let (status, again) = post().await;
    assert_eq!((status, &again), (StatusCode::OK, &made));
    let address = format!("/api/title-suggestions/{}", made["id"].as_str().unwrap());
    assert_eq!(api.call("GET", &address, None).await, (StatusCode::OK, made.clone()));
    for (part, word) in [("request", "Suggest a title"), ("raw", "boat")] {
        let (status, bytes) = get(&api, &format!("{address}/{part}")).await;
        assert!(status == StatusCode::OK && bytes.contains(word), "{part}: {bytes}");
    }
    let nothing = format!("/api/title-suggestions/{}", ids::mint::<TitleRequestId>());
    assert_eq!(api.call("GET", &nothing, None).await.0, StatusCode::NOT_FOUND);
    let (status, usage) = api.call("GET", "/api/usage?group=chat", None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(usage.to_string().contains("\"generations\":2"), "the reply and the title: {usage}");

    // The page proposes the title in the form that renames the chat.
    let chat_id = chat.to_string();
    let (status, to) = api.post_form("/forms/suggest-title", &[("chat_id", &chat_id)]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let page = api.get_page(&to).await;
    assert!(page.contains("action=\"/forms/rename\"") && page.contains("&lt;more&gt;"), "{page}");
    assert!(page.contains("Request as sent") && page.contains("Suggest a title for"), "{page}");
    let fields = [("chat_id", chat_id.as_str()), ("title", "A boat")];
    assert_eq!(api.post_form("/forms/rename", &fields).await.0, StatusCode::SEE_OTHER);
    assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.1["title"], "A boat");
    let settings = api.get_page(&format!("/c/{chat}/settings")).await;
    assert!(settings.contains("action=\"/forms/suggest-title\"") && settings.contains(&format!("href=\"{to}\"")));

    let (_, to) = api.post_form("/forms/suggest-title", &[("chat_id", &chat_id)]).await;
    let page = api.get_page(&to).await;
    assert!(
        page.contains("Scripted rejected the API key.") && page.contains("The raw response was not saved."),
        "{page}"
    );
    let empty = api.create_chat().await;
    let (status, refused) = api.call("POST", &format!("/api/chats/{empty}/title-suggestions"), None).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("title_needs_reply")));
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn api_and_forms_stop_running_request() {
    let provider = ScriptedProvider::new("scripted", [reply(), ScriptedAnswer::Silence, ScriptedAnswer::Silence]);
    let log = provider.log();
    let api = TestApi::with_server(TestServer::new_patient(provider).await);
    let chat = start_chat(&api.instance).await;
    let path = format!("/api/chats/{chat}/title-suggestions");
    let stop = format!("{path}/stop");
    assert_eq!(api.call("POST", &stop, None).await.0, StatusCode::NO_CONTENT, "none runs");
    let ((status, made), ()) = tokio::join!(api.call("POST", &path, None), async {
        log.wait_for_requests(2).await;
        assert_eq!(api.call("POST", &stop, None).await.0, StatusCode::NO_CONTENT);
    });
    assert_eq!((status, &made["status"]), (StatusCode::CREATED, &json!("cancelled")));
    assert!(made.get("title").is_none() && made.get("error").is_none(), "{made}");
    let nothing = format!("/api/chats/{}/title-suggestions/stop", ids::mint::<ChatId>());
    assert_eq!(api.call("POST", &nothing, None).await.0, StatusCode::NOT_FOUND);

    // The pages that show it as running offer to stop it.
    let chat_id = chat.to_string();
    let fields = [("chat_id", chat_id.as_str())];
    let ((_, suggested), stopped) = tokio::join!(api.post_form("/forms/suggest-title", &fields), async {
        log.wait_for_requests(3).await;
        let running = api.instance.service.title_requests(api.instance.owner, chat).await.unwrap().remove(0);
        for page in [format!("/c/{chat}/settings"), format!("/title-suggestions/{}", running.id)] {
            let html = api.get_page(&page).await;
            let actions = ["stop-title", "suggest-title"].map(|form| html.contains(&format!("/forms/{form}\"")));
            assert_eq!(actions, [true, false], "{page}: {html}");
        }
        let (status, to) = api.post_form("/forms/stop-title", &fields).await;
        assert_eq!(status, StatusCode::SEE_OTHER);
        to
    });
    assert_eq!(stopped, suggested);
    let page = api.get_page(&stopped).await;
    assert!(page.contains("The request was stopped.") && page.contains("/forms/suggest-title\""), "{page}");
    let settings = format!("/c/{chat}/settings");
    assert_eq!(api.post_form("/forms/stop-title", &fields).await, (StatusCode::SEE_OTHER, settings));
    api.instance.check_invariants().await;
}
