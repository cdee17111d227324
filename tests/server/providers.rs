//! Providers in the settings, over the API and as pages without script: what is stored and shown, what takes effect
//! at once, and that no API key ever leaves the server.

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use http::{Request, StatusCode};
use leptos::prelude::*;
use serde_json::{Value, json};
use turnleaf::domain::{AccountRole, FailureKind};
use turnleaf::ui::startup_script::{StartupCall, startup_script};
use turnleaf_platform::endpoint::{ProviderApi as Protocol, ProviderEndpoint};
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_service::accounts::Actor;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;

use crate::accounts_api::PASSWORD;
use crate::fakeprov::{FakeProvider, ServerStep};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send};

const KEY: &str = "canary-key-0123456789abcdef4f2a";
const HEADER: &str = "canary-header-0123456789";

/// Starts a server that lists two models to everybody and repeats the API key of the request.
async fn server_with_two_models() -> FakeProvider {
    let list = format!("{{\"data\": [{{\"id\": \"big\"}}, {{\"id\": \"small\"}}], \"seen\": \"{KEY}\"}}");
    FakeProvider::start(vec![vec![ServerStep::Status(200), ServerStep::Bytes(list.into()), ServerStep::Fin]]).await
}

/// Starts a server that refuses every API key with a message that repeats it.
async fn refusing_server() -> FakeProvider {
    let body = format!("{{\"error\": {{\"message\": \"wrong key {KEY}\"}}}}");
    FakeProvider::start(vec![vec![ServerStep::Status(401), ServerStep::Bytes(body.into()), ServerStep::Fin]]).await
}

fn configured_endpoint() -> ProviderEndpoint {
    ProviderEndpoint {
        id: "openai".into(),
        name: "OpenAI".into(),
        api: Protocol::OpenaiChat,
        base_url: "https://api.openai.com/v1".into(),
        api_key: Some("canary-of-the-environment-9876".into()),
        models: vec!["gpt".into()],
        set_by: Some("OPENAI_API_KEY".into()),
        ..ProviderEndpoint::default()
    }
}

async fn api() -> TestApi {
    let registry = ProviderRegistry::new(vec![configured_endpoint()], None, Vec::new(), DemoProvider::new(0.0));
    TestApi::with_server(
        TestServer::with_registry_and_key(tempfile::tempdir().unwrap(), registry, "a key for tests").await,
    )
}

/// Asserts that a page runs no script, or only its own progressive enhancement.
pub fn assert_scripts_are_own(policy: &str, html: &str) {
    if policy.contains("script-src 'none'") {
        return assert!(!html.contains("<script"), "{html}");
    }
    let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    let script =
        startup_script("/pkg", "turnleaf", Some("plain"), StartupCall::Enhance, Some(nonce.to_owned())).to_html();
    assert!(html.matches("<script").count() == 1 && html.contains(&script), "{policy}: {html}");
}

impl TestApi {
    /// Requests a page that the server renders completely.
    pub async fn get_page(&self, path: &str) -> String {
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = self.send(request).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        let html = text(response).await;
        assert_scripts_are_own(&policy, &html);
        html
    }

    /// Posts a form. Returns its status and the redirect target or the page.
    pub async fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> (StatusCode, String) {
        let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let request = Request::builder()
            .method("POST")
            .uri(path)
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(body.join("&")))
            .unwrap();
        let response = self.send(request).await;
        let status = response.status();
        match response.headers().get("location") {
            Some(to) => (status, to.to_str().unwrap().split('#').next().unwrap().to_owned()),
            None => (status, text(response).await),
        }
    }

    async fn add_provider(&self, body: Value) -> Value {
        let (status, provider) = self.call("POST", "/api/providers", Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{provider}");
        provider
    }

    /// Returns the revision by which open pages notice that the available models changed.
    async fn models_rev(&self) -> u64 {
        let (status, glance) = self.call("POST", "/api/page/glance_at_all", Some(json!({}))).await;
        assert_eq!(status, StatusCode::OK, "{glance}");
        glance["models_rev"].as_u64().unwrap()
    }

    /// Returns `provider/model` for every model in the menus, except the demo.
    async fn models(&self, path: &str) -> Vec<String> {
        let (_, models) = self.call("GET", path, None).await;
        let own = models.as_array().unwrap().iter().filter(|model| model["is_demo"] == false);
        own.map(|model| format!("{}/{}", model["provider"].as_str().unwrap(), model["model"].as_str().unwrap()))
            .collect()
    }
}

async fn text(response: http::Response<Body>) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn local_provider(server: &FakeProvider) -> Value {
    json!({
        "name": "My box", "api": "openai_chat", "base_url": server.base_url(), "local_network": true, "key": KEY,
        "headers": { "X-Gateway": HEADER },
    })
}

#[tokio::test]
async fn provider_is_available_from_adding_to_removing() {
    let (api, server) = (api().await, server_with_two_models().await);
    let before = api.models_rev().await;
    let made = api.add_provider(local_provider(&server)).await;
    assert_eq!((&made["id"], &made["locked"]), (&json!("my-box"), &json!(false)));
    assert_eq!(made["key"], json!({ "set": true, "ends_in": "4f2a" }));
    assert_eq!(made["headers"], json!(["x-gateway"]));
    let (status, tested) = api.call("POST", "/api/providers/my-box/test", None).await;
    assert_eq!((status, &tested["state"]), (StatusCode::OK, &json!("working")));
    assert!(tested["sentence"].as_str().unwrap().contains("2 models"), "{tested}");
    let header = |name: &str| {
        server.requests()[0].headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    assert_eq!(header("authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(header("x-gateway").as_deref(), Some(HEADER));

    assert_eq!(api.models("/api/models").await, ["openai/gpt", "my-box/big", "my-box/small"]);
    let with_box = api.models_rev().await;
    assert_ne!(with_box, before, "pages that are open look at the models again");
    assert_eq!(api.models_rev().await, with_box, "and only then");
    let hide = json!({ "hidden_models": ["big"] });
    assert_eq!(api.call("PATCH", "/api/providers/my-box", Some(hide)).await.0, StatusCode::OK);
    assert_eq!(api.models("/api/models").await, ["openai/gpt", "my-box/small"]);
    assert_eq!(api.models("/api/models?all=1").await, ["openai/gpt", "my-box/big", "my-box/small"]);
    let locked_to_hidden = json!({ "provider": "my-box", "model": "big" });
    assert_eq!(api.call("POST", "/api/chats", Some(locked_to_hidden)).await.0, StatusCode::CREATED);

    let default = json!({ "provider": "my-box", "model": "small" });
    assert_eq!(api.call("PUT", "/api/models/default", Some(default)).await.0, StatusCode::NO_CONTENT);
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({}))).await;
    assert_eq!(chat["branches"][0]["model"], "small");
    let path = format!("/c/{}", chat["id"].as_str().unwrap());

    assert_eq!(api.call("DELETE", "/api/providers/my-box", None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(api.models("/api/models?all=1").await, ["openai/gpt"]);
    assert_ne!(api.models_rev().await, with_box);
    assert_eq!(api.call("DELETE", "/api/providers/my-box", None).await.0, StatusCode::NOT_FOUND);
    let (_, again) = api.call("GET", &path.replace("/c/", "/api/chats/"), None).await;
    assert_eq!(again["branches"][0]["provider"], "my-box", "a branch keeps its lock");
    let (_, other) = api.call("POST", "/api/chats", Some(json!({}))).await;
    assert_eq!(other["branches"][0]["provider"], "openai", "the default is gone with its provider");
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn changed_address_clears_key_and_reports_it() {
    let (api, server) = (api().await, server_with_two_models().await);
    api.add_provider(local_provider(&server)).await;
    // Each change triggers a request for the models, which must be over before the next change.
    server.wait_for_requests(1).await;
    let moved = format!("{}/", server.base_url());
    let (_, same) = api.call("PATCH", "/api/providers/my-box", Some(json!({ "base_url": moved }))).await;
    assert_eq!((&same["key"]["set"], &same["notices"]), (&json!(true), &json!([])), "it is the same address");
    server.wait_for_requests(2).await;
    let moved = server.base_url().replace("127.0.0.1", "localhost");
    let (status, changed) = api.call("PATCH", "/api/providers/my-box", Some(json!({ "base_url": moved }))).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(changed["key"], json!({ "set": false, "ends_in": null }));
    assert_eq!(changed["headers"], json!([]));
    assert!(
        changed["notices"][0].as_str().unwrap().contains("the API key and the extra headers were deleted"),
        "{changed}"
    );
    let before = server.requests().len();
    api.call("POST", "/api/providers/my-box/test", None).await;
    let requests = server.requests().split_off(before);
    assert!(!requests.is_empty());
    for request in requests {
        let shown = request.headers.iter().any(|(name, value)| name == "authorization" || value.contains(HEADER));
        assert!(!shown, "a key went to another address: {request:?}");
    }
    let both = json!({ "base_url": server.base_url(), "key": KEY });
    let (_, changed) = api.call("PATCH", "/api/providers/my-box", Some(both)).await;
    assert_eq!((&changed["key"]["set"], &changed["notices"]), (&json!(true), &json!([])));
    let (_, changed) = api.call("PATCH", "/api/providers/my-box", Some(json!({ "key": null }))).await;
    assert_eq!(changed["key"]["set"], false);
}

#[tokio::test]
async fn found_local_server_is_offered_until_dismissed() {
    let server = server_with_two_models().await;
    let candidate = ProviderEndpoint {
        id: "ollama".into(),
        name: "Ollama".into(),
        api: Protocol::OpenaiChat,
        base_url: server.base_url(),
        local_network: true,
        ..ProviderEndpoint::default()
    };
    let registry = ProviderRegistry::new(Vec::new(), None, vec![candidate], DemoProvider::new(0.0));
    registry.refresh().await;
    let api = TestApi::with_server(
        TestServer::with_registry_and_key(tempfile::tempdir().unwrap(), registry, "a key for tests").await,
    );
    let (service, owner) = (&api.instance.service, api.instance.owner);
    let address = server.base_url();
    assert_eq!(service.local_servers(owner).await.unwrap()[0].address, address);
    let (status, _) = api.post_form("/forms/found", &[("address", "http://elsewhere.example/v1")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(api.post_form("/forms/found", &[("address", &address)]).await, (StatusCode::SEE_OTHER, "/".to_owned()));
    assert_eq!(service.local_servers(owner).await.unwrap(), []);
    assert!(!api.models("/api/models").await.contains(&"ollama/big".to_owned()), "it was not accepted");
    let place =
        PlacementRequest { provider: Some("ollama".into()), model: Some("big".into()), ..PlacementRequest::default() };
    let refused = service.start_turn(owner, TurnRequest { place, ..message_to_send("Hello") }).await;
    assert!(refused.is_err(), "{refused:?}");
    assert!(api.get_page("/settings/providers").await.contains("Found on this machine. Use it?"));

    let decide = async |action| api.post_form("/forms/found", &[("address", &address), ("how", action)]).await;
    assert_eq!(decide("use").await, (StatusCode::SEE_OTHER, "/settings/providers?done=saved".to_owned()));
    assert!(api.models("/api/models").await.contains(&"ollama/big".to_owned()));
    let registry = service.supervisor().registry();
    assert_eq!(registry.default_lock(owner).provider, "ollama");
    // The demo is offered beside other models only where that was chosen.
    let has_demo = async || service.models(owner).await.unwrap().iter().any(|model| model.is_demo);
    assert!(!has_demo().await && api.get_page("/settings/providers").await.contains("Show in menus"));
    assert_eq!(api.post_form("/forms/demo", &[("how", "show")]).await.0, StatusCode::SEE_OTHER);
    assert!(has_demo().await && api.get_page("/settings/providers").await.contains("Hide from menus"));
    api.post_form("/forms/demo", &[("how", "hide")]).await;
    assert!(!has_demo().await);
    // The acceptance is stored: it survives a reload of the providers.
    registry.set_accepted_addresses(owner, []);
    service.load_providers(owner).await.unwrap();
    assert_eq!(registry.default_lock(owner).provider, "ollama");
    assert_eq!(decide("stop").await.0, StatusCode::SEE_OTHER);
    assert_eq!(registry.default_lock(owner).provider, "demo");
    assert!(has_demo().await && !api.get_page("/settings/providers").await.contains("/forms/demo"));
    let (status, _) =
        api.post_form("/forms/found", &[("address", "http://elsewhere.example/v1"), ("how", "use")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// Starts a server that lists a model, and answers every request for a reply with 503.
async fn overloaded_server() -> FakeProvider {
    let list = b"{\"data\": [{\"id\": \"big\"}]}".to_vec();
    let busy = vec![ServerStep::Status(503), ServerStep::Bytes(b"{}".to_vec()), ServerStep::Fin];
    FakeProvider::start(vec![vec![ServerStep::Status(200), ServerStep::Bytes(list), ServerStep::Fin], busy]).await
}

#[tokio::test]
async fn provider_retry_count_is_configurable() {
    let (api, server) = (api().await, overloaded_server().await);
    let address = server.base_url();
    let mut body = local_provider(&server);
    (body["retries"], body["silence_seconds"]) = (json!(0), json!(45));
    let made = api.add_provider(body).await;
    assert_eq!((&made["retries"], &made["silence_seconds"]), (&json!(0), &json!(45)));
    // One request is for the models and one for the reply; the reply is not retried.
    server.wait_for_requests(1).await;
    let place =
        PlacementRequest { provider: Some("my-box".into()), model: Some("big".into()), ..PlacementRequest::default() };
    let request = TurnRequest { place, ..message_to_send("Hello") };
    let started = api.instance.service.start_turn(api.instance.owner, request).await.unwrap();
    let turn = api.instance.wait_until_ended(started.assistant_turn.id).await;
    assert_eq!(turn.error.map(|failure| failure.kind), Some(FailureKind::ProviderOverloaded));
    assert_eq!(server.requests().iter().filter(|request| request.method == "POST").count(), 1);

    for (field, value) in [("retries", json!(6)), ("silence_seconds", json!(4)), ("silence_seconds", json!(1801))] {
        let (status, problem) = api.call("PATCH", "/api/providers/my-box", Some(json!({ field: value }))).await;
        assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(field)), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("must be between"), "{problem}");
    }
    // The form keeps the input, opens the section with the error and states the bounds; an empty field restores the
    // default.
    let whole = |retries: &'static str| {
        [
            ("id", "my-box"),
            ("whole", "1"),
            ("name", "Box"),
            ("api", "openai_chat"),
            ("base_url", &address),
            ("local_network", "1"),
            ("retries", retries),
        ]
    };
    for typed in ["6", "often", "-1"] {
        let (status, again) = api.post_form("/forms/providers/change", &whole(typed)).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        assert!(again.contains("Must be between 0 and 5.") && again.contains(&format!("value=\"{typed}\"")), "{again}");
    }
    assert_eq!(api.post_form("/forms/providers/change", &whole("5")).await.0, StatusCode::SEE_OTHER);
    let page = api.get_page("/settings/providers").await;
    assert!(page.contains("Retries") && page.contains("5 times"), "{page}");
    assert!(!page.contains("Response timeout"), "an empty field is as usual again");
    assert_eq!(api.post_form("/forms/providers/change", &whole("")).await.0, StatusCode::SEE_OTHER);
    let (_, all) = api.call("GET", "/api/providers", None).await;
    let own = all.as_array().unwrap().iter().find(|provider| provider["id"] == "my-box").unwrap();
    assert_eq!((&own["retries"], &own["silence_seconds"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn connection_may_keep_responses_where_api_supports_it() {
    let (api, server) = (api().await, server_with_two_models().await);
    let address = server.base_url();
    let mut body = local_provider(&server);
    (body["api"], body["keeps_responses"]) = (json!("openai_responses"), json!(true));
    assert_eq!(api.add_provider(body).await["keeps_responses"], true);
    let registry = api.instance.service.supervisor().registry();
    let keeps = || registry.find(api.instance.owner, "my-box").unwrap().keeps_responses();
    assert!(keeps());
    assert!(api.get_page("/settings/providers").await.contains("Provider stores the conversation"));
    let other = api.call("PATCH", "/api/providers/my-box", Some(json!({ "api": "openai_chat" }))).await;
    assert_eq!((other.0, &other.1["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("keeps_responses")));
    let rename = api.call("PATCH", "/api/providers/my-box", Some(json!({ "name": "Box" }))).await;
    assert_eq!((rename.0, &rename.1["keeps_responses"], keeps()), (StatusCode::OK, &json!(true), true));

    // The form sends both values: a tick, and its absence.
    let whole = |api: &'static str| {
        [
            ("id", "my-box"),
            ("whole", "1"),
            ("name", "Box"),
            ("api", api),
            ("base_url", &address),
            ("local_network", "1"),
        ]
    };
    let ticked = ("keeps_responses", "1");
    let (status, again) =
        api.post_form("/forms/providers/change", &[&whole("openai_chat")[..], &[ticked]].concat()).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(again.contains("Is only available for the openai_responses API."), "{again}");
    let (status, _) =
        api.post_form("/forms/providers/change", &[&whole("openai_responses")[..], &[ticked]].concat()).await;
    assert_eq!((status, keeps()), (StatusCode::SEE_OTHER, true));
    assert_eq!(api.post_form("/forms/providers/change", &whole("openai_responses")).await.0, StatusCode::SEE_OTHER);
    assert!(!keeps());
}

#[tokio::test]
async fn invalid_provider_is_refused_with_its_field() {
    let api = api().await;
    let good = || json!({ "name": "N", "api": "openai_chat", "base_url": "https://a.example/v1" });
    let with = |field: &str, value: Value| {
        let mut body = good();
        body[field] = value;
        body
    };
    for (field, value) in [
        ("base_url", json!("a.example")),
        ("base_url", json!("ftp://a.example")),
        ("base_url", json!("file:///etc/passwd")),
        ("base_url", json!("http://example.com@127.0.0.1/")),
        ("base_url", json!("http://169.254.169.254/latest")),
        ("base_url", json!("http://[::ffff:a9fe:a9fe]/")),
        ("base_url", json!("http://[fd00:ec2::254]/")),
        ("base_url", json!("https://a.example/v1?key=1")),
        ("base_url", json!("https://a.example/v1#x")),
        ("base_url", json!("https://a.example/a/../b")),
        ("base_url", json!("")),
        ("name", json!(" ")),
        ("name", json!("a\nb")),
        ("name", json!("n".repeat(201))),
        ("api", json!("smtp")),
        ("dialect", json!("klingon")),
        ("key", json!("two words")),
        ("key", json!("a\r\nX: y")),
        ("key", json!("")),
        ("headers", json!({ "Host": "evil.example" })),
        ("headers", json!({ "Authorization": "Bearer x" })),
        ("headers", json!({ "transfer-encoding": "chunked" })),
        ("headers", json!({ "X-A": "a\r\nX: y" })),
        ("headers", json!({ "X-A\r\nX": "y" })),
        ("headers", json!({ "X-A": "a", "x-a": "b" })),
        ("models", json!([""])),
        ("hidden_models", json!(["a\0b"])),
        ("default_model", json!(" ")),
        ("keeps_responses", json!(true)),
        ("id", json!("demo")),
        ("id", json!("With Space")),
        ("id", json!("openai")),
    ] {
        let (status, problem) = api.call("POST", "/api/providers", Some(with(field, value.clone()))).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{field} {value}: {problem}");
        assert_eq!((&problem["code"], &problem["field"]), (&json!("invalid"), &json!(field)), "{value}: {problem}");
    }
    for address in ["http://127.0.0.1:1/v1", "http://localhost:1", "http://10.0.0.1", "http://[::ffff:a00:1]/"] {
        let (status, problem) = api.call("POST", "/api/providers", Some(with("base_url", json!(address)))).await;
        let refused = (status, &problem["field"]);
        assert_eq!(refused, (StatusCode::UNPROCESSABLE_ENTITY, &json!("local_network")), "{address}");
    }
    for (field, value) in [("user_id", json!("x")), ("name", json!(1)), ("models", json!("a"))] {
        let (status, problem) = api.call("POST", "/api/providers", Some(with(field, value))).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!(field)));
    }
    let mut named = good();
    named["id"] = json!("n");
    api.add_provider(named.clone()).await;
    let (status, problem) = api.call("POST", "/api/providers", Some(named)).await;
    assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("id")));
    assert_eq!(api.add_provider(good()).await["id"], "n-2", "one of the same name gets another id");
    let rename = api.call("PATCH", "/api/providers/n", Some(json!({ "id": "m" }))).await;
    assert_eq!((rename.0, &rename.1["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("id")));
}

#[tokio::test]
async fn environment_providers_are_listed_and_read_only() {
    let api = api().await;
    let (_, listed) = api.call("GET", "/api/providers", None).await;
    assert_eq!((&listed[0]["id"], &listed[0]["locked"]), (&json!("openai"), &json!(true)));
    assert_eq!((&listed[0]["set_by"], &listed[0]["key"]["ends_in"]), (&json!("OPENAI_API_KEY"), &json!("9876")));
    for (method, body) in [("PATCH", Some(json!({ "name": "x" }))), ("DELETE", None)] {
        let (status, problem) = api.call(method, "/api/providers/openai", body).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("provider_locked")));
        assert!(problem["detail"].as_str().unwrap().contains("OPENAI_API_KEY"), "{problem}");
    }
    for id in ["nobody", "demo", "../x"] {
        let path = format!("/api/providers/{id}");
        assert_eq!(api.call("PATCH", &path, Some(json!({ "name": "x" }))).await.0, StatusCode::NOT_FOUND, "{id}");
    }
    let page = api.get_page("/settings/providers").await;
    assert!(page.contains("Set by OPENAI_API_KEY") && !page.contains("edit=openai"), "{page}");
    // Others use the key and see nothing of it.
    let service = &api.instance.service;
    let bob = service.add_account(Actor::default(), "Bob", AccountRole::User, &PASSWORD.into()).await.unwrap();
    let seen = service.provider(bob, "openai").await.unwrap();
    assert_eq!((seen.key.set, seen.key.ends_in, seen.headers.len()), (true, None, 0));
}

#[tokio::test]
async fn stored_provider_survives_restart_and_undecryptable_key_is_reported() {
    let (first, server) = (api().await, server_with_two_models().await);
    first.add_provider(local_provider(&server)).await;
    first
        .add_provider(
            json!({ "name": "Off", "api": "openai_chat", "base_url": "https://a.example", "is_enabled": false }),
        )
        .await;
    let default = json!({ "provider": "my-box", "model": "small" });
    assert_eq!(first.call("PUT", "/api/models/default", Some(default)).await.0, StatusCode::NO_CONTENT);
    let TestServer { dir, db, .. } = first.instance;
    db.close().await;

    let registry = || ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
    let again = TestApi::with_server(TestServer::with_registry_and_key(dir, registry(), "a key for tests").await);
    let (status, tested) = again.call("POST", "/api/providers/my-box/test", None).await;
    assert_eq!((status, &tested["state"]), (StatusCode::OK, &json!("working")));
    assert_eq!(server.requests().last().unwrap().headers.iter().filter(|(_, v)| v.contains(KEY)).count(), 1);
    let (_, chat) = again.call("POST", "/api/chats", Some(json!({}))).await;
    assert_eq!(chat["branches"][0]["model"], "small");
    let (status, problem) = again.call("POST", "/api/providers/off/test", None).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("provider_off")));
    let TestServer { dir, db, .. } = again.instance;
    db.close().await;

    let lost = TestApi::with_server(TestServer::with_registry_and_key(dir, registry(), "another key").await);
    let (_, provider) = lost.call("GET", "/api/providers", None).await;
    assert_eq!(provider[0]["status"]["state"], "key_unreadable");
    assert!(provider[0]["status"]["sentence"].as_str().unwrap().contains("TURNLEAF_SECRET_KEY"), "{provider}");
    assert!(lost.models("/api/models?all=1").await.is_empty());
    // Renaming the provider loses nothing; a new API key makes it work again.
    let (_, renamed) = lost.call("PATCH", "/api/providers/my-box", Some(json!({ "name": "Mine" }))).await;
    assert_eq!((&renamed["key"]["set"], &renamed["status"]["state"]), (&json!(true), &json!("key_unreadable")));
    let (_, given) = lost.call("PATCH", "/api/providers/my-box", Some(json!({ "key": KEY }))).await;
    assert!(given["notices"][0].as_str().unwrap().contains("replaced"), "{given}");
    let (_, tested) = lost.call("POST", "/api/providers/my-box/test", None).await;
    assert_eq!(tested["state"], "working");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn key_never_appears_in_responses_pages_logs_or_database() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let (api, server) = (api().await, refusing_server().await);
    let mut seen = Vec::new();
    seen.push(api.add_provider(local_provider(&server)).await.to_string());
    for (method, path, body) in [
        ("POST", "/api/providers/my-box/test", None),
        ("GET", "/api/providers", None),
        ("GET", "/api/models?all=1", None),
        ("PATCH", "/api/providers/my-box", Some(json!({ "name": "Box" }))),
        ("POST", "/api/providers", Some(json!({ "name": "x", "api": "openai_chat", "base_url": "x", "key": KEY }))),
        ("POST", "/api/providers", Some(json!({ "name": "x", "key": KEY, "headers": { "Host": HEADER } }))),
    ] {
        seen.push(api.call(method, path, body).await.1.to_string());
    }
    let wrong = [("name", "x"), ("api", "openai_chat"), ("base_url", "nowhere"), ("key", KEY), ("headers", HEADER)];
    let (status, page) = api.post_form("/forms/providers/add", &wrong).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    seen.push(page);
    let wrong = [("id", "my-box"), ("key", "canary-key-0123456789 with a space")];
    let (status, page) = api.post_form("/forms/providers/key", &wrong).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("Must contain only ASCII letters, digits, and symbols"), "{page}");
    seen.push(page);
    for path in ["/settings/providers", "/settings/providers?edit=my-box", "/"] {
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        seen.push(text(api.send(request).await).await);
    }
    seen.push(String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned());
    assert!(seen.last().unwrap().contains("my-box"), "the log is the one that was written to");
    for entry in std::fs::read_dir(api.instance.dir.path()).unwrap().flatten() {
        seen.push(String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned());
    }
    for text in &seen {
        for canary in ["canary-key-0123456789", HEADER, "canary-of-the-environment"] {
            let at = text.find(canary).map(|at| &text[at.saturating_sub(200)..at]);
            assert_eq!(at, None, "{canary} comes out");
        }
    }
}

#[tokio::test]
async fn providers_page_works_without_script() {
    let (api, server) = (api().await, server_with_two_models().await);
    assert_eq!(
        api.get_page("/settings/providers?add=ollama").await.matches("value=\"http://127.0.0.1:11434/v1\"").count(),
        1,
        "a beginning fills the form in"
    );
    let address = server.base_url();
    let typed =
        [("name", "<b>Box"), ("api", "openai_chat"), ("base_url", address.as_str()), ("key", KEY), ("models", "")];
    let (status, again) = api.post_form("/forms/providers/add", &typed).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in ["Must be on for an address", "value=\"&lt;b&gt;Box\"", &address, "Enter the API key again"] {
        assert!(again.contains(part), "{part}: {again}");
    }
    assert!(!again.contains("<b>Box"));
    let (status, to) = api.post_form("/forms/providers/add", &[&typed[..], &[("local_network", "1")]].concat()).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/providers?done=saved&id=b-box"));
    let page = api.get_page(&to).await;
    for part in
        ["Saved.", "Working", "2 models", "API key set · ends in 4f2a", "data-state=\"working\"", "value=\"small\""]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (_, to) = api.post_form("/forms/providers/test", &[("id", "b-box")]).await;
    assert!(api.get_page(&to).await.contains("role=\"status\"><p class=\"said ok\">"));

    // One of the two listed models stays selected and becomes the default.
    let rows = [("id", "b-box"), ("listed", "big"), ("listed", "small"), ("shown", "small"), ("default", "small")];
    assert_eq!(api.post_form("/forms/providers/models", &rows).await.0, StatusCode::SEE_OTHER);
    assert_eq!(api.models("/api/models").await, ["openai/gpt", "b-box/small"]);
    let (_, models) = api.call("GET", "/api/models", None).await;
    assert!(models.as_array().unwrap().iter().any(|model| model["model"] == "small" && model["is_default"] == true));
    // Models that the search did not list are unchanged.
    let rows = [("id", "b-box"), ("q", "sma"), ("listed", "small")];
    api.post_form("/forms/providers/models", &rows).await;
    assert_eq!(api.models("/api/models").await, ["openai/gpt"]);
    let found = api.get_page("/settings/providers?models=b-box&q=sma").await;
    assert!(found.contains("Models (2, 2 hidden)") && !found.contains("name=\"listed\" value=\"big\""), "{found}");

    let whole = [
        ("id", "b-box"),
        ("whole", "1"),
        ("name", "Box"),
        ("api", "openai_chat"),
        ("base_url", address.as_str()),
        ("local_network", "1"),
        ("headers", "X-A: one\r\nX-B: two"),
    ];
    assert_eq!(api.post_form("/forms/providers/change", &whole).await.0, StatusCode::SEE_OTHER);
    let (_, listed) = api.call("GET", "/api/providers", None).await;
    assert_eq!((&listed[1]["name"], &listed[1]["headers"]), (&json!("Box"), &json!(["x-a", "x-b"])));
    assert_eq!(listed[1]["key"]["set"], true, "an empty field keeps the key");
    let no_colon: Vec<_> = whole.iter().map(|(n, v)| (*n, if *n == "headers" { "X-A" } else { *v })).collect();
    let (status, again) = api.post_form("/forms/providers/change", &no_colon).await;
    assert!(status == StatusCode::UNPROCESSABLE_ENTITY && again.contains("Each line must be like"), "{again}");

    let (_, to) = api.post_form("/forms/providers/change", &[("id", "b-box"), ("switch", "off")]).await;
    assert!(api.get_page(&to).await.contains("data-state=\"off\""));
    assert!(api.models("/api/models?all=1").await.iter().all(|model| !model.starts_with("b-box")));
    api.post_form("/forms/providers/change", &[("id", "b-box"), ("switch", "on")]).await;
    let (_, to) = api.post_form("/forms/providers/key", &[("id", "b-box"), ("remove", "1")]).await;
    assert!(api.get_page(&to).await.contains("No API key"));
    let (_, to) = api.post_form("/forms/providers/remove", &[("id", "b-box")]).await;
    let gone = api.get_page(&to).await;
    assert!(gone.contains("Removed.") && !gone.contains("provider-b-box"), "{gone}");
}

#[tokio::test]
async fn address_without_scheme_is_completed_in_form() {
    let (api, server) = (api().await, server_with_two_models().await);
    let address = server.base_url();
    let typed = address.strip_prefix("http://").unwrap();
    let fields = [("name", "Box"), ("api", "openai_chat"), ("base_url", typed), ("local_network", "1"), ("models", "")];
    assert_eq!(api.post_form("/forms/providers/add", &fields).await.0, StatusCode::SEE_OTHER);
    let (_, listed) = api.call("GET", "/api/providers", None).await;
    let stored = listed[1]["base_url"].as_str().unwrap();
    assert!(stored.starts_with(&address), "{stored}");
}

#[tokio::test]
async fn settings_index_lists_groups_and_shows_first_page() {
    let page = api().await.get_page("/settings").await;
    for part in ["<title>Settings · Turnleaf</title>", "plain-columns index", "/settings/providers", "Language"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("href=\"/trash\"") && !page.contains("href=\"/usage\""), "{page}");
}
