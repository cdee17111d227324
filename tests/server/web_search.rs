//! The web search of a person over HTTP and as a page without script: choosing an engine, its key, the test; and the
//! tool in a chat, which asks first and whose results become sources of the reply.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::blocks::sources::collect_sources;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::{ChatId, Content};
use turnleaf_convert::PlainReader;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::sealing::Keyring;
use turnleaf_platform::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::chats::NewChat;
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_service::tools::web_search::WebSearchSettings;
use turnleaf_store::accounts::settings;

use crate::fakeprov::{FakeProvider, ServerStep};
use crate::http_api::TestApi;
use crate::search_engines::{engine_at, response};
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{last_result, pending_approvals, statuses, tool_call_answer};

const KEY: &str = "canary-brave-key-9f8e7d6c5b4a3f2e";

/// Replaces the server's toolbox with the real one, as in a new process over the same database.
async fn with_real_tools(
    mut instance: TestServer,
    configured: Option<SearchEngine>,
    answers: Vec<ScriptedAnswer>,
) -> TestServer {
    let tools =
        ServiceToolbox::new(instance.db.clone(), Vec::new(), Arc::new(PlainReader)).with_search_engine(configured);
    let provider = Arc::new(ScriptedProvider::new("scripted", answers));
    let registry = ProviderRegistry::from_providers(vec![(provider, vec!["model-a".into()])]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let toolbox = Arc::new(tools.clone());
    let supervisor =
        Supervisor::new(instance.db.clone(), Arc::new(registry), toolbox, clock, true, RunTimeouts::default());
    let sealer = Sealer::new(Keyring::from_secret(&"a key for tests".into()));
    instance.service = Service::new(supervisor, instance.owner, sealer).with_tools(tools);
    instance.service.load_tools(instance.owner).await.unwrap();
    instance
}

async fn api(configured: Option<SearchEngine>) -> TestApi {
    let instance = TestServer::new(ScriptedProvider::new("unused", [])).await;
    TestApi::with_server(with_real_tools(instance, configured, Vec::new()).await)
}

async fn set(api: &TestApi, body: Value) -> (StatusCode, Value) {
    api.call("PUT", "/api/web-search", Some(body)).await
}

fn results(count: usize) -> Vec<ServerStep> {
    let result = |n: usize| json!({ "url": format!("https://found.example/{n}"), "title": format!("Page {n}"), "content": "About leaves." });
    response(200, json!({ "results": (0..count).map(result).collect::<Vec<_>>() }).to_string())
}

#[tokio::test]
async fn engine_is_chosen_changed_and_removed_and_key_is_never_returned() {
    let api = api(None).await;
    let (_, search) = api.call("GET", "/api/web-search", None).await;
    assert_eq!((&search["engine"], &search["status"]["state"]), (&json!(null), &json!("off")), "{search}");
    let (status, refused) = api.call("POST", "/api/web-search/test", None).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("search_not_set_up")));

    let (status, search) = set(&api, json!({ "engine": "brave", "key": KEY })).await;
    assert_eq!(status, StatusCode::OK, "{search}");
    assert_eq!((&search["url"], &search["name"]), (&json!("https://api.search.brave.com"), &json!("Brave Search")));
    assert_eq!(search["key"], json!({ "set": true, "ends_in": "3f2e" }));
    assert_eq!((&search["status"]["state"], &search["status"]["code"]), (&json!("not_tested"), &json!("not_tested")));
    let stored = settings::find(&api.instance.db, api.instance.owner, "web_search").await.unwrap().unwrap();
    assert!(!stored.to_string().contains(KEY) && stored["sealed_key"].is_string(), "{stored}");
    assert!(!api.get_page("/settings/tools").await.contains(KEY) && !search.to_string().contains(KEY));

    // The key stays with its engine and address.
    assert_eq!(set(&api, json!({ "engine": "brave" })).await.0, StatusCode::OK);
    for moved in [json!({ "engine": "brave", "url": "https://elsewhere.example" }), json!({ "engine": "tavily" })] {
        let (status, refused) = set(&api, moved).await;
        assert_eq!((status.as_u16(), &refused["field"]), (422, &json!("key")), "{refused}");
    }
    assert_eq!(api.call("DELETE", "/api/web-search", None).await.0, StatusCode::NO_CONTENT);
    let (_, search) = api.call("GET", "/api/web-search", None).await;
    assert_eq!(search["engine"], json!(null));
    assert_eq!(set(&api, json!({ "engine": "brave" })).await.0.as_u16(), 422, "the key is gone");
}

#[tokio::test]
async fn invalid_engine_is_refused_by_field() {
    let api = api(None).await;
    for (body, field) in [
        (json!({ "engine": "google" }), "engine"),
        (json!({ "engine": "" }), "engine"),
        (json!({ "engine": "searxng" }), "url"),
        (json!({ "engine": "searxng", "url": "search.example" }), "url"),
        (json!({ "engine": "searxng", "url": "https://search.example/?q=" }), "url"),
        (json!({ "engine": "searxng", "url": "http://169.254.169.254/", "local_network": true }), "url"),
        (json!({ "engine": "searxng", "url": "http://127.0.0.1:8080" }), "local_network"),
        (json!({ "engine": "searxng", "url": "https://search.example", "key": "k" }), "key"),
        (json!({ "engine": "tavily" }), "key"),
        (json!({ "engine": "tavily", "key": "a b" }), "key"),
        (json!({ "engine": "tavily", "key": "" }), "key"),
    ] {
        let (status, refused) = set(&api, body.clone()).await;
        assert_eq!((status.as_u16(), &refused["field"]), (422, &json!(field)), "{body}: {refused}");
    }
    let (status, refused) = set(&api, json!({ "engine": "brave", "key": "k", "safe": true })).await;
    assert_eq!((status, &refused["field"]), (StatusCode::BAD_REQUEST, &json!("safe")));
    let (status, search) = set(&api, json!({ "engine": "searxng", "url": "https://search.example/sx/search/" })).await;
    assert_eq!((status, &search["url"]), (StatusCode::OK, &json!("https://search.example/sx")));
}

#[tokio::test]
async fn test_reports_number_of_results_or_cause() {
    let api = api(None).await;
    let server = FakeProvider::start(vec![results(3), response(403, ""), results(0)]).await;
    let chosen = json!({ "engine": "searxng", "url": server.base_url(), "local_network": true });
    assert_eq!(set(&api, chosen).await.0, StatusCode::OK);
    for (state, code, found) in [
        ("working", "search_works", json!(3)),
        ("failing", "search_json_disabled", json!(null)),
        ("working", "search_found_nothing", json!(0)),
    ] {
        let (status, search) = api.call("POST", "/api/web-search/test", None).await;
        let tested = &search["status"];
        assert_eq!(status, StatusCode::OK, "{search}");
        assert_eq!((&tested["state"], &tested["code"], &tested["results"]), (&json!(state), &json!(code), &found));
        assert!(tested["checked_at"].is_string() && tested["sentence"].is_string(), "{tested}");
        assert_eq!(api.call("GET", "/api/web-search", None).await.1, search, "the result stays");
    }
}

#[tokio::test]
async fn form_saves_tests_and_keeps_what_was_typed() {
    let api = api(None).await;
    let server = FakeProvider::start(vec![results(2)]).await;
    let url = server.base_url();
    let typed = [("engine", "searxng"), ("url", url.as_str()), ("key", "")];
    let (status, page) = api.post_form("/forms/tools/search", &typed).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains(&format!("value=\"{url}\"")) && page.contains("be on for an address"), "{page}");
    let (status, _) = api.post_form("/forms/tools/search", &[&typed[..], &[("local_network", "1")]].concat()).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let page = api.get_page("/settings/tools?done=search_saved").await;
    assert!(page.contains("SearXNG: Working. Results of the test: 2."), "{page}");
    assert!(page.contains("data-state=\"working\""), "{page}");

    // Another engine does not inherit the address that stands in the field, and the key is not shown again.
    let other = [("engine", "brave"), ("url", url.as_str()), ("key", "bad key")];
    let (status, page) = api.post_form("/forms/tools/search", &other).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("Enter the API key again") && !page.contains("bad key"), "{page}");
    let (status, _) = api.post_form("/forms/tools/search/remove", &[]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert!(api.get_page("/settings/tools").await.contains("Not set up"));
}

#[tokio::test]
async fn configured_engine_is_locked_and_used_by_everybody() {
    let server = FakeProvider::start(vec![results(1)]).await;
    let configured =
        SearchEngine { set_by: Some("the configuration file".into()), ..engine_at(SearchEngineKind::Searxng, &server) };
    let api = api(Some(configured)).await;
    let (_, search) = api.call("GET", "/api/web-search", None).await;
    assert_eq!((&search["engine"], &search["locked"]), (&json!("searxng"), &json!(true)), "{search}");
    for (method, body) in [("PUT", Some(json!({ "engine": "brave", "key": "k" }))), ("DELETE", None)] {
        let (status, refused) = api.call(method, "/api/web-search", body).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("search_locked")), "{refused}");
    }
    let page = api.get_page("/settings/tools").await;
    assert!(
        page.contains("Set in the configuration file") && !page.contains("action=\"/forms/tools/search\""),
        "{page}"
    );
    assert_eq!(api.call("POST", "/api/web-search/test", None).await.1["status"]["results"], json!(1));
    let (_, tools) = api.call("GET", "/api/tools", None).await;
    assert!(tools["default"]["on"].as_array().unwrap().contains(&json!("search_web")), "{tools}");
    api.instance.service.reload_web_search(None).await;
    assert_eq!(api.call("GET", "/api/web-search", None).await.1["engine"], json!(null));
}

#[tokio::test]
async fn first_engine_turns_search_on_in_new_chats() {
    let api = api(None).await;
    let chosen = json!({ "on": ["calculator"] });
    assert_eq!(api.call("PUT", "/api/tools/default", Some(chosen)).await.0, StatusCode::OK);
    let on = || async { api.call("GET", "/api/tools", None).await.1["default"]["on"].clone() };
    set(&api, json!({ "engine": "searxng", "url": "https://search.example" })).await;
    assert_eq!(on().await, json!(["calculator", "search_web"]));
    // It can be turned off, and another engine does not turn it on again.
    api.call("PUT", "/api/tools/default", Some(json!({ "on": ["calculator"] }))).await;
    set(&api, json!({ "engine": "searxng", "url": "https://other.example" })).await;
    assert_eq!(on().await, json!(["calculator"]));
}

async fn chat_with_search(instance: &TestServer) -> ChatId {
    let tools = ToolChoice { on: vec!["search_web".into()], client: Vec::new() };
    let new = NewChat { tools: Some(tools), ..NewChat::default() };
    instance.service.create_chat(instance.owner, new).await.unwrap().value.0.id
}

#[tokio::test]
async fn tool_without_engine_is_left_out_with_reason() {
    let api = api(None).await;
    let chosen = json!({ "tools": { "on": ["search_web"] } });
    let (status, chat) = api.call("POST", "/api/chats", Some(chosen)).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    let path = format!("/api/chats/{}/tools", chat["id"].as_str().unwrap());
    let (_, tools) = api.call("GET", &path, None).await;
    assert_eq!(tools["offered"], json!([]));
    assert_eq!(tools["left_out"][0]["code"], "search_not_set_up", "{tools}");
    set(&api, json!({ "engine": "searxng", "url": "https://search.example" })).await;
    let (_, tools) = api.call("GET", &path, None).await;
    assert_eq!((&tools["offered"][0]["name"], &tools["left_out"]), (&json!("search_web"), &json!([])));
}

#[tokio::test]
async fn search_asks_first_and_its_results_are_sources_of_reply() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("unused", [])).await {
        let server = FakeProvider::start(vec![results(2), response(429, "")]).await;
        let call = || tool_call_answer([], &[("search_web", r#"{"query":"leaves","limit":2}"#)]);
        let script = vec![call(), call(), streamed_answer([text_step("Leaves are green.")])];
        let instance = with_real_tools(instance, None, script).await;
        let chosen = WebSearchSettings {
            engine: "searxng".into(),
            url: Some(server.base_url()),
            key: None,
            local_network: true,
        };
        instance.service.set_web_search(instance.owner, Actor::default(), chosen).await.unwrap();
        let chat = chat_with_search(&instance).await;
        let id = instance.send_to(chat, "What is a leaf?").await.assistant_turn.id;
        let turn = instance.wait_until(id, |turn| !pending_approvals(turn).is_empty()).await;
        let (_, ask) = pending_approvals(&turn).remove(0);
        assert_eq!((ask.title.as_str(), ask.note.as_deref()), ("Web search", None));
        assert_eq!(server.requests().len(), 0, "nothing is sent before the answer");
        instance.decide(id, ApprovalDecision::Allow, None).await.unwrap();

        // Search results are text of strangers, and a query can carry text that the model has read.
        let is_next =
            |turn: &turnleaf::domain::Turn| pending_approvals(turn).iter().any(|(_, next)| next.note.is_some());
        let turn = instance.wait_until(id, is_next).await;
        let (_, exposed) = pending_approvals(&turn).remove(0);
        assert_eq!(exposed.note_code.as_deref(), Some("untrusted_text"));
        instance.decide(id, ApprovalDecision::AllowInChat, None).await.unwrap();
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Done, ToolStatus::Failed]);
        assert_eq!(last_result(&turn), "SearXNG: It is limiting requests (429). Try again later.");
        let found = turn.blocks.iter().find_map(|block| match &block.content {
            Content::ToolResult { result, .. } => Some(result.clone()),
            _ => None,
        });
        let page = |n: usize| json!({ "title": format!("Page {n}"), "url": format!("https://found.example/{n}"), "text": "About leaves." });
        assert_eq!(found.unwrap(), json!({ "engine": "SearXNG", "found": [page(0), page(1)] }));
        let sources = collect_sources(&turn.blocks).list;
        let listed: Vec<(&str, Option<&str>)> =
            sources.iter().map(|source| (source.url.as_str(), source.quote.as_deref())).collect();
        let about = Some("About leaves.");
        assert_eq!(listed, [("https://found.example/0", about), ("https://found.example/1", about)]);
        instance.check_invariants().await;

        // The engine is the same after a restart, and so is the permission for this chat.
        let script = vec![call(), streamed_answer([text_step("Still green.")])];
        let instance = with_real_tools(instance, None, script).await;
        let id = instance.send_to(chat, "And now?").await.assistant_turn.id;
        let turn = instance.wait_until_complete(id).await;
        assert_eq!(statuses(&turn), [ToolStatus::Failed], "{turn:#?}");
        assert_eq!(server.requests().len(), 3);
        instance.close().await;
    }
}
