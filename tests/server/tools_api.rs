//! Tools over HTTP and as pages without script: connected MCP servers, policies, the tools that a chat offers, client
//! tool results, files of results; and the real gate over real rows.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;
use turnleaf::domain::tools::approval::ToolApprovalPolicy;
use turnleaf::domain::tools::tool::ToolOrigin;
use turnleaf::domain::{BlockId, TurnId};
use turnleaf_convert::PlainReader;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport, ToolTrust};
use turnleaf_platform::ids;
use turnleaf_platform::sealing::Keyring;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_store::tools::listings::{self, ListedTool};
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_store::tools::tool_servers;
use turnleaf_tools::toolbox::{GateDecision, ToolCall, ToolCaller};

use crate::http_api::TestApi;
use crate::test_server::{TestServer, delta_step, finish_steps, streamed_answer, text_step};

const HEADER: &str = "canary-header-value-0123456789";
/// A timeout that only a hang exceeds.
const PATIENCE: Duration = Duration::from_secs(60);
const HOSTILE: &str = "</p><script>alert(1)</script> Reads files.\u{202e}";

/// Returns the configuration of a program that does not exist, so no process starts.
pub fn configured_server() -> ToolServerConfig {
    ToolServerConfig {
        id: "notes".into(),
        name: "Notes".into(),
        reach: ToolServerTransport::Program {
            argv: vec!["/nowhere/notes".into(), "--token=canary-argument".into()],
            env: [("TOKEN".to_owned(), "canary-variable".into())].into(),
            folder: None,
        },
        start: None,
        idle: None,
        total: None,
        trusted_tools: vec!["list".into()],
    }
}

/// Returns the API over the real toolbox. Its MCP servers never start, so they offer what is stored.
pub async fn api_with_tools(answers: impl IntoIterator<Item = ScriptedAnswer>) -> TestApi {
    api_with_server_tools(configured_server(), answers).await
}

pub async fn api_with_server_tools(
    server: ToolServerConfig,
    answers: impl IntoIterator<Item = ScriptedAnswer>,
) -> TestApi {
    api_with_provider(server, ScriptedProvider::new("scripted", answers)).await
}

/// Returns the API over the real toolbox with this configured server and this provider.
pub async fn api_with_provider(server: ToolServerConfig, provider: ScriptedProvider) -> TestApi {
    let mut instance = TestServer::new(ScriptedProvider::new("unused", [])).await;
    let tools = ServiceToolbox::new(instance.db.clone(), vec![server], Arc::new(PlainReader));
    let registry =
        ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into(), "model-b".into()])]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let toolbox = Arc::new(tools.clone());
    let supervisor =
        Supervisor::new(instance.db.clone(), Arc::new(registry), toolbox, clock, true, RunTimeouts::default());
    let sealer = Sealer::new(Keyring::from_secret(&"a key for tests".into()));
    instance.service = Service::new(supervisor, instance.owner, sealer).with_tools(tools);
    TestApi::with_server(instance)
}

pub fn tool(name: &str, description: &str) -> ListedTool {
    ListedTool {
        tool: name.into(),
        title: name.into(),
        description: description.into(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        hints: vec!["read only".into()],
        icon: None,
        view: None,
        is_closed_to_views: false,
        is_closed_to_models: false,
    }
}

pub async fn store_offered_tools(api: &TestApi, server: &str, tools: &[ListedTool]) {
    let mut tx = api.instance.db.begin().await.unwrap();
    listings::put(&mut tx, api.instance.owner, server, (tools, ""), SystemClock.now()).await.unwrap();
    tx.commit().await.unwrap();
}

/// Stores an MCP server that offers two tools.
async fn configure_files_server(api: &TestApi) {
    let body = json!({ "name": "Files", "url": "https://files.example/mcp", "headers": { "Authorization": HEADER } });
    let (status, server) = api.call("POST", "/api/tool-servers", Some(body)).await;
    assert_eq!((status, &server["id"]), (StatusCode::CREATED, &json!("files")), "{server}");
    store_offered_tools(api, "files", &[tool("read", HOSTILE), tool("write", "Writes files.")]).await;
}

pub async fn put(api: &TestApi, path: &str, body: Value) -> (StatusCode, Value) {
    api.call("PUT", path, Some(body)).await
}

/// Returns the wire names of the tools that a branch offers.
pub async fn branch_offers(api: &TestApi, branch: &str) -> Vec<String> {
    let (_, branch) = api.call("GET", &format!("/api/branches/{branch}"), None).await;
    let tools = branch["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn server_is_connected_changed_and_removed_and_headers_are_never_exposed() {
    let api = api_with_tools([]).await;
    configure_files_server(&api).await;
    let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
    let stored = &servers[1];
    assert_eq!((&stored["id"], &stored["headers"]), (&json!("files"), &json!(["authorization"])));
    assert_eq!(stored["tools"][0]["hidden_characters"], 1);
    for secret in [HEADER, "canary-argument", "canary-variable"] {
        assert!(!servers.to_string().contains(secret), "{servers}");
        assert!(!api.get_page("/settings/tools").await.contains(secret));
        assert!(!api.get_page("/settings/tools?edit=files").await.contains(secret));
    }
    let row = tool_servers::find(&api.instance.db, api.instance.owner, "files").await.unwrap().unwrap();
    assert!(row.sealed_headers.is_some_and(|sealed| !sealed.contains(HEADER)));

    let policy = json!({ "server": "files", "tool": "read", "policy": "allow" });
    assert_eq!(put(&api, "/api/tool-policies", policy).await.0, StatusCode::OK);
    let change = json!({ "url": "https://elsewhere.example/mcp" });
    let (status, changed) = api.call("PATCH", "/api/tool-servers/files", Some(change)).await;
    assert_eq!((status, &changed["headers"]), (StatusCode::OK, &json!([])), "{changed}");
    assert!(changed["notices"][0].as_str().unwrap().contains("headers were deleted"), "{changed}");
    assert_eq!(changed["tools"], json!([]), "what it offered was another server's");
    assert_eq!(api.call("GET", "/api/tool-policies", None).await.1, json!([]), "and so were its policies");

    let off = json!({ "is_enabled": false });
    let (_, changed) = api.call("PATCH", "/api/tool-servers/files", Some(off)).await;
    assert_eq!(changed["status"]["state"], "off");
    let (status, refused) = api.call("POST", "/api/tool-servers/files/restart", None).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("server_off")));
    assert_eq!(api.call("DELETE", "/api/tool-servers/files", None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(api.call("DELETE", "/api/tool-servers/files", None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn address_is_kept_as_written_and_credentials_of_its_query_are_masked() {
    let api = api_with_tools([]).await;
    const KEY: &str = "tvly-9f8e7d6c5b4a3f2e";
    let url = format!("https://files.example/mcp/?project=1&tavilyApiKey={KEY}");
    let masked = "https://files.example/mcp/?project=1&tavilyApiKey=***";
    let body = json!({ "name": "Files", "url": url, "headers": { "Authorization": HEADER } });
    let (status, server) = api.call("POST", "/api/tool-servers", Some(body)).await;
    assert_eq!((status, &server["url"]), (StatusCode::CREATED, &json!(masked)), "{server}");
    for path in ["/settings/tools", "/settings/tools?edit=files"] {
        let page = api.get_page(path).await;
        assert!(page.contains("tavilyApiKey=***") && !page.contains(KEY), "{path}");
    }
    let row = || tool_servers::find(&api.instance.db, api.instance.owner, "files");
    let before = row().await.unwrap().unwrap();
    assert!(!format!("{before:?}").contains(KEY));
    // The address comes back as it was shown, and nothing changes.
    let change = json!({ "url": masked, "name": "Other" });
    let (status, changed) = api.call("PATCH", "/api/tool-servers/files", Some(change)).await;
    assert_eq!(
        (status, &changed["headers"], &changed["notices"]),
        (StatusCode::OK, &json!(["authorization"]), &json!([]))
    );
    assert_eq!(row().await.unwrap().unwrap().sealed_headers, before.sealed_headers);
    let edited = json!({ "url": "https://files.example/other?tavilyApiKey=***" });
    let (status, refused) = api.call("PATCH", "/api/tool-servers/files", Some(edited)).await;
    assert_eq!((status.as_u16(), &refused["field"]), (422, &json!("url")), "{refused}");
    let moved = json!({ "url": "https://files.example/mcp/?project=2" });
    let (_, changed) = api.call("PATCH", "/api/tool-servers/files", Some(moved)).await;
    assert_eq!((&changed["url"], &changed["headers"]), (&json!("https://files.example/mcp/?project=2"), &json!([])));
}

#[tokio::test]
async fn problem_of_server_has_code_and_is_shown_in_language_of_reader() {
    let api = api_with_tools([]).await;
    // Nothing listens on a port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let body = json!({ "name": "Files", "url": format!("http://127.0.0.1:{port}/mcp"), "local_network": true });
    assert_eq!(api.call("POST", "/api/tool-servers", Some(body)).await.0, StatusCode::CREATED);
    let failed = async {
        loop {
            let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
            if servers[1]["status"]["state"] == "failed" {
                break servers[1]["status"].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let status = timeout(PATIENCE, failed).await.unwrap();
    assert_eq!(status["code"], "no_listener", "{status}");
    let sentence = status["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("No server is listening there (") && sentence.ends_with(")."), "{sentence}");
    assert!(status["args"]["error"].is_string(), "{status}");
    for (language, words) in [("en", sentence), ("zh", "该地址没有服务器在监听（")] {
        let shown = async {
            while !tools_page_in(&api, language).await.contains(words) {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, shown).await.unwrap_or_else(|_| panic!("{language}: {words}"));
    }
}

async fn tools_page_in(api: &TestApi, language: &str) -> String {
    let request = Request::builder().uri("/settings/tools").header("host", "127.0.0.1:3000");
    let response = api.send(request.header("accept-language", language).body(Body::empty()).unwrap()).await;
    String::from_utf8(axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap()
}

#[tokio::test]
async fn limits_of_server_are_set_and_reset() {
    let api = api_with_tools([]).await;
    let body = json!({ "name": "A", "url": "https://a.example/mcp", "start_seconds": 90, "idle_seconds": 300 });
    let (status, server) = api.call("POST", "/api/tool-servers", Some(body)).await;
    let limits = |server: &Value| ["start_seconds", "idle_seconds", "total_seconds"].map(|name| server[name].clone());
    assert_eq!((status, limits(&server)), (StatusCode::CREATED, [json!(90), json!(300), json!(null)]), "{server}");
    let change = json!({ "start_seconds": null, "total_seconds": 1200 });
    let (_, server) = api.call("PATCH", "/api/tool-servers/a", Some(change)).await;
    assert_eq!(limits(&server), [json!(null), json!(300), json!(1200)]);
    for (name, value) in [("start_seconds", 0), ("idle_seconds", 1_801), ("total_seconds", 0)] {
        let (status, refused) = api.call("PATCH", "/api/tool-servers/a", Some(json!({ name: value }))).await;
        assert_eq!((status.as_u16(), &refused["field"]), (422, &json!(name)), "{refused}");
    }
    let form = [("id", "a"), ("whole", "1"), ("name", "A"), ("url", "https://a.example/mcp"), ("idle_seconds", "120")];
    api.post_form("/forms/tools/change", &form).await;
    let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
    assert_eq!(limits(&servers[1]), [json!(null), json!(120), json!(null)]);
}

#[tokio::test]
async fn chat_that_began_before_server_listed_its_tools_gets_them_later() {
    let answers = ["One", "Two", "Three"].map(|text| streamed_answer([text_step(text)]));
    let api = api_with_tools(answers).await;
    let body = json!({ "name": "Files", "url": "https://files.example/mcp" });
    api.call("POST", "/api/tool-servers", Some(body)).await;
    let chosen = json!({ "tools": { "on": ["calculator", "files/*"] } });
    let (_, chat) = api.call("POST", "/api/chats", Some(chosen)).await;
    let branch = chat["branches"][0]["id"].as_str().unwrap();
    let send = |text: &'static str| {
        let (api, path) = (&api, format!("/api/chats/{}/turns", chat["id"].as_str().unwrap()));
        async move {
            let (status, started) = api.call("POST", &path, Some(json!({ "text": text }))).await;
            assert_eq!(status, StatusCode::CREATED, "{started}");
            api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
        }
    };
    send("early").await;
    assert_eq!(branch_offers(&api, branch).await, ["calculator"]);
    store_offered_tools(&api, "files", &[tool("read", "Reads.")]).await;
    send("later").await;
    assert_eq!(branch_offers(&api, branch).await, ["calculator", "files__read"]);
    // The branch keeps what it has now.
    store_offered_tools(&api, "files", &[tool("read", "Reads."), tool("write", "Writes.")]).await;
    send("again").await;
    assert_eq!(branch_offers(&api, branch).await, ["calculator", "files__read"]);
}

#[tokio::test]
async fn invalid_server_is_refused_by_field() {
    let api = api_with_tools([]).await;
    let table = [
        (json!({ "url": "https://a.example/mcp" }), 422, "name"),
        (json!({ "name": "A" }), 422, "url"),
        (json!({ "name": "A", "url": "ftp://a.example" }), 422, "url"),
        (json!({ "name": "A", "url": "http://me:pass@a.example/mcp" }), 422, "url"),
        (json!({ "name": "A", "url": "http://127.0.0.1:9/mcp" }), 422, "local_network"),
        (json!({ "name": "A", "url": "http://[::ffff:7f00:1]/mcp" }), 422, "local_network"),
        (json!({ "name": "A\nB", "url": "https://a.example/mcp" }), 422, "name"),
        (json!({ "id": "a__b", "name": "A", "url": "https://a.example/mcp" }), 422, "id"),
        (json!({ "id": "provider", "name": "A", "url": "https://a.example/mcp" }), 422, "id"),
        (json!({ "id": "notes", "name": "A", "url": "https://a.example/mcp" }), 422, "id"),
        (json!({ "name": "A", "url": "https://a.example/mcp", "headers": { "Host": "b" } }), 422, "headers"),
        (json!({ "name": "A", "url": "https://a.example/mcp", "headers": { "X": "a\r\nb" } }), 422, "headers"),
        // A program is refused, because it would run with the rights of the server.
        (json!({ "name": "A", "command": ["sh", "-c", "id"] }), 403, "command"),
        (json!({ "name": "A", "url": "https://a.example/mcp", "env": {} }), 400, "env"),
    ];
    for (body, expected, field) in table {
        let (status, refused) = api.call("POST", "/api/tool-servers", Some(body.clone())).await;
        assert_eq!((status.as_u16(), &refused["field"]), (expected, &json!(field)), "{body}: {refused}");
    }
    let program = json!({ "command": "sh" });
    assert_eq!(api.call("PATCH", "/api/tool-servers/notes", Some(program)).await.0, StatusCode::FORBIDDEN);
    assert_eq!(api.post_form("/forms/tools/add", &[("name", "A"), ("command", "sh")]).await.0, StatusCode::FORBIDDEN);
    for (method, path) in [("PATCH", "/api/tool-servers/notes"), ("DELETE", "/api/tool-servers/notes")] {
        let (status, refused) = api.call(method, path, (method == "PATCH").then(|| json!({ "name": "B" }))).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("server_locked")), "{refused}");
    }
    let local =
        json!({ "name": "A", "url": "http://127.0.0.1:9/mcp", "local_network": true, "client_request_id": "k" });
    assert_eq!(api.call("POST", "/api/tool-servers", Some(local.clone())).await.0, StatusCode::CREATED);
    assert_eq!(api.call("POST", "/api/tool-servers", Some(local)).await.0, StatusCode::OK);
    assert_eq!(api.call("GET", "/api/tool-servers", None).await.1.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tool_policy_lasts_until_tool_changes() {
    let api = api_with_tools([]).await;
    configure_files_server(&api).await;
    store_offered_tools(&api, "notes", &[tool("list", "Lists."), tool("add", "Adds.")]).await;
    let policy = |server: &str, tool: &str, policy: &str| json!({ "server": server, "tool": tool, "policy": policy });
    let of = |name: &'static str| {
        let api = &api;
        async move {
            let (_, tools) = api.call("GET", "/api/tools", None).await;
            let tools = tools["tools"].as_array().unwrap().clone();
            let tool = tools.into_iter().find(|tool| tool["name"] == name).unwrap();
            (tool["policy"].clone(), tool["policy_set_by"].clone(), tool["has_changed"].clone())
        }
    };
    assert_eq!(of("files/read").await, (json!("ask"), json!("default"), json!(false)));
    assert_eq!(of("notes/list").await, (json!("allow"), json!("configuration"), json!(false)));
    assert_eq!(of("notes/add").await.0, "ask");
    for (server, tool, word) in [("files", "read", "allow"), ("notes", "list", "never")] {
        assert_eq!(put(&api, "/api/tool-policies", policy(server, tool, word)).await.0, StatusCode::OK);
    }
    assert_eq!(of("files/read").await, (json!("allow"), json!("you"), json!(false)));
    assert_eq!(of("notes/list").await.0, "never");
    store_offered_tools(&api, "files", &[tool("read", "Now it deletes.")]).await;
    assert_eq!(of("files/read").await, (json!("ask"), json!("you"), json!(true)));
    for (server, tool) in [("files", "gone"), ("gone", "read"), ("", "gone")] {
        assert_eq!(put(&api, "/api/tool-policies", policy(server, tool, "allow")).await.0, StatusCode::NOT_FOUND);
    }
    let wrong = put(&api, "/api/tool-policies", policy("files", "read", "sometimes")).await;
    assert_eq!(wrong.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn chat_offers_chosen_tools_and_branch_keeps_initial_ones() {
    let api =
        api_with_tools([streamed_answer([text_step("Hello")]), streamed_answer([text_step("Hello again")])]).await;
    configure_files_server(&api).await;
    let chosen = json!({ "tools": { "on": ["files/read"] } });
    let (status, chat) = api.call("POST", "/api/chats", Some(chosen)).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    let (chat, branch) = (chat["id"].as_str().unwrap(), chat["branches"][0]["id"].as_str().unwrap());
    let path = format!("/api/chats/{chat}/tools");
    assert_eq!(branch_offers(&api, branch).await, ["files__read"]);

    // The branch has no messages yet, so it takes the new choice.
    let look_up = json!({ "name": "look_up", "description": "Looks up.", "parameters": { "type": "object" } });
    let (status, tools) = put(&api, &path, json!({ "on": ["files/*"], "client": [look_up] })).await;
    assert_eq!(status, StatusCode::OK, "{tools}");
    assert_eq!(tools["left_out"], json!([]));
    assert_eq!(branch_offers(&api, branch).await, ["files__read", "files__write", "look_up"]);

    let message = json!({ "text": "hi" });
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(message)).await;
    let reply = started["assistant_turn"]["id"].as_str().unwrap();
    api.read_events(reply, &[]).await;
    let never = json!({ "server": "files", "tool": "write", "policy": "never" });
    put(&api, "/api/tool-policies", never).await;
    let (_, tools) = put(&api, &path, json!({ "on": ["files/write", "files/read"] })).await;
    assert_eq!(tools["offered"].as_array().unwrap().len(), 1);
    assert_eq!(tools["left_out"][0]["name"], "files/write");
    assert_eq!(branch_offers(&api, branch).await, ["files__read", "files__write", "look_up"], "it has begun");

    let (_, again) = api.call("POST", &format!("/api/turns/{reply}/retry"), None).await;
    assert_eq!(branch_offers(&api, again["branch"]["id"].as_str().unwrap()).await, ["files__read"]);
    api.read_events(again["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let (status, now) = api.call("POST", &format!("/api/branches/{branch}/tools"), None).await;
    assert_eq!((status, now["tools"].as_array().unwrap().len()), (StatusCode::OK, 1), "{now}");
    assert_eq!(branch_offers(&api, branch).await, ["files__read"]);

    // A copy has the same tools and the same choice.
    let (_, copy) = api.call("POST", &format!("/api/chats/{chat}/copies"), Some(json!({ "turn_id": reply }))).await;
    let copied = copy["chat"]["id"].as_str().unwrap();
    let (_, tools) = api.call("GET", &format!("/api/chats/{copied}/tools"), None).await;
    assert_eq!(tools["on"], json!(["files/write", "files/read"]), "{copy}");
}

#[tokio::test]
async fn choice_of_missing_tool_is_refused() {
    let api = api_with_tools([]).await;
    configure_files_server(&api).await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}/tools");
    let client = |name: &str, parameters: Value| json!({ "client": [{ "name": name, "description": "", "parameters": parameters }] });
    for (choice, field) in [
        (json!({ "on": ["files/delete_all"] }), "tools.on"),
        (json!({ "on": ["gone/*"] }), "tools.on"),
        (json!({ "on": ["no_such_tool"] }), "tools.on"),
        (json!({ "on": ["files/read", "files/read"] }), "tools.on"),
        (client("a b", json!({})), "tools.client"),
        (client("files__read", json!({})), "tools.client"),
        (client("x", json!("none")), "tools.client"),
        (client("x", json!({ "type": "object", "description": "a".repeat(70_000) })), "tools.client"),
    ] {
        let (status, refused) = put(&api, &path, choice.clone()).await;
        assert_eq!((status.as_u16(), &refused["field"]), (422, &json!(field)), "{choice}: {refused}");
        if choice.get("on").is_some() {
            assert_eq!(put(&api, "/api/tools/default", choice).await.0.as_u16(), 422);
        }
    }
    // A tool that was chosen while it existed stays chosen.
    put(&api, &path, json!({ "on": ["files/write"] })).await;
    store_offered_tools(&api, "files", &[tool("read", "Reads.")]).await;
    let (status, tools) = put(&api, &path, json!({ "on": ["files/read", "files/write"] })).await;
    assert_eq!((status, &tools["left_out"][0]["name"]), (StatusCode::OK, &json!("files/write")));
    let (status, default) = put(&api, "/api/tools/default", json!({ "on": ["files/*"] })).await;
    assert_eq!((status, &default["on"]), (StatusCode::OK, &json!(["files/*"])));
    let (_, tools) = api.call("GET", &format!("/api/chats/{}/tools", api.create_chat().await), None).await;
    assert_eq!(tools["on"], json!(["files/*"]));
}

/// Returns a call of a `files` tool in the newest reply of a chat that offers `read`.
async fn call_of(api: &TestApi, tool: &str, arguments: Value) -> ToolCall {
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["files/read"] } }))).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
    api.instance.wait_until_ended(turn).await;
    let caller =
        ToolCaller { owner: api.instance.owner, chat: chat.parse().unwrap(), turn, block: ids::mint::<BlockId>() };
    let origin = ToolOrigin::Server { server: "files".into(), tool: tool.into() };
    ToolCall { caller, origin, arguments, is_from_view: false }
}

#[tokio::test]
async fn permitted_call_runs_and_changed_tool_asks() {
    let api = api_with_tools([streamed_answer([text_step("a")]), streamed_answer([text_step("b")])]).await;
    configure_files_server(&api).await;
    let toolbox = api.instance.service.supervisor().toolbox().clone();
    let refused =
        |gate: &GateDecision| matches!(gate, GateDecision::Refuse(reason) if reason.contains("not available"));
    // The tool exists, but this chat does not offer it.
    let call = call_of(&api, "write", json!({})).await;
    assert!(refused(&toolbox.gate(&call, None).await));
    let call = call_of(&api, "read", json!({ "path": "/a" })).await;
    let GateDecision::Ask(ask) = toolbox.gate(&call, None).await else { panic!("it asks") };
    assert_eq!((ask.server.as_str(), ask.tool.as_str(), &ask.note), ("files", "read", &None));
    assert_eq!(toolbox.gate(&call, Some(&ask.hash)).await, GateDecision::Run);
    let (db, owner, now) = (&api.instance.db, api.instance.owner, SystemClock.now());
    let mut tx = db.begin().await.unwrap();
    let policy = StoredPolicy {
        chat: Some(call.caller.chat),
        server: "files".into(),
        tool: "read".into(),
        host: None,
        policy: ToolApprovalPolicy::Allow,
        schema_hash: Some(ask.schema_hash.clone()),
    };
    tool_policies::put(&mut tx, owner, &policy, now).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    // The description changed between the approval and the call.
    store_offered_tools(&api, "files", &[tool("read", "Reads and sends.")]).await;
    let GateDecision::Ask(again) = toolbox.gate(&call, Some(&ask.hash)).await else { panic!("it asks again") };
    assert!(again.note.is_some_and(|note| note.contains("changed")));
    // A tool that is gone, disabled or replaced never runs.
    store_offered_tools(&api, "files", &[tool("other", "")]).await;
    assert!(refused(&toolbox.gate(&call, Some(&ask.hash)).await));
    store_offered_tools(&api, "files", &[tool("read", HOSTILE)]).await;
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    api.call("PATCH", "/api/tool-servers/files", Some(json!({ "is_enabled": false }))).await;
    assert!(refused(&toolbox.gate(&call, Some(&ask.hash)).await));
    let stranger = ToolCaller { owner: ids::mint(), ..call.caller };
    assert!(refused(&toolbox.gate(&ToolCall { caller: stranger, ..call }, Some(&ask.hash)).await));
}

#[tokio::test]
async fn trusted_tool_runs_unasked_while_unchanged() {
    let api = api_with_tools([streamed_answer([text_step("a")])]).await;
    store_offered_tools(&api, "notes", &[tool("list", "Lists.")]).await;
    let call = call_of_list(&api).await;
    let toolbox = api.instance.service.supervisor().toolbox().clone();
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    store_offered_tools(&api, "notes", &[tool("list", "Lists, and sends it elsewhere.")]).await;
    let GateDecision::Ask(ask) = toolbox.gate(&call, None).await else { panic!("it is another one") };
    assert!(ask.note.is_some_and(|note| note.contains("configuration file")));
    assert!(api.get_page("/settings/tools").await.contains("trusts a different version of its description"));
    store_offered_tools(&api, "notes", &[tool("list", "Lists.")]).await;
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run, "as it was first seen");
    store_offered_tools(&api, "notes", &[tool("list", "Lists, and sends it elsewhere.")]).await;
    let allow = json!({ "server": "notes", "tool": "list", "policy": "allow" });
    assert_eq!(put(&api, "/api/tool-policies", allow).await.0, StatusCode::OK);
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run);
    store_offered_tools(&api, "notes", &[tool("list", "A third one.")]).await;
    assert!(matches!(toolbox.gate(&call, None).await, GateDecision::Ask(_)));
}

#[tokio::test]
async fn pinned_tool_runs_unasked_only_as_pinned_in_configuration() {
    // The configuration file takes the hash that the list of tools shows.
    let api = api_with_tools([]).await;
    store_offered_tools(&api, "notes", &[tool("list", "Lists.")]).await;
    let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
    let listed = servers.as_array().into_iter().flatten().find(|server| server["id"] == "notes").unwrap();
    let sha256 = listed["tools"][0]["sha256"].as_str().unwrap().to_owned();
    let pin = ToolTrust { name: "list".into(), sha256: Some(sha256) };

    let api = api_with_server_tools(
        ToolServerConfig { trusted_tools: vec![pin], ..configured_server() },
        [streamed_answer([text_step("a")])],
    )
    .await;
    // The first description is not the pinned one.
    store_offered_tools(&api, "notes", &[tool("list", "Lists, and sends it elsewhere.")]).await;
    let call = call_of_list(&api).await;
    let toolbox = api.instance.service.supervisor().toolbox().clone();
    let GateDecision::Ask(ask) = toolbox.gate(&call, None).await else { panic!("it is another one") };
    assert!(ask.note.is_some_and(|note| note.contains("configuration file")));
    assert!(api.get_page("/settings/tools").await.contains("trusts a different version of its description"));
    store_offered_tools(&api, "notes", &[tool("list", "Lists.")]).await;
    assert_eq!(toolbox.gate(&call, None).await, GateDecision::Run, "as the file pins it");
    store_offered_tools(&api, "notes", &[tool("list", "Lists, and sends it elsewhere.")]).await;
    assert!(matches!(toolbox.gate(&call, None).await, GateDecision::Ask(_)));
}

/// Returns a call of `notes/list` by a reply that has ended.
pub async fn call_of_list(api: &TestApi) -> ToolCall {
    let (_, chat) = api.call("POST", "/api/chats", Some(json!({ "tools": { "on": ["notes/list"] } }))).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
    api.instance.wait_until_ended(turn).await;
    let caller =
        ToolCaller { owner: api.instance.owner, chat: chat.parse().unwrap(), turn, block: ids::mint::<BlockId>() };
    let origin = ToolOrigin::Server { server: "notes".into(), tool: "list".into() };
    ToolCall { caller, origin, arguments: json!({}), is_from_view: false }
}

/// Returns a chat whose reply called a client tool.
async fn call_waiting_for_client(api: &TestApi) -> (String, Value) {
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn: TurnId = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
    api.instance.wait_until_ended(turn).await;
    api.instance
        .sql(
            "DELETE FROM turn_blocks WHERE block_type = 'tool_result'; \
             UPDATE turn_blocks SET content = REPLACE(content, '\"status\":\"failed\"', '\"status\":\"handed_over\"') \
             WHERE block_type = 'tool_use'",
        )
        .await;
    let (_, turn) = api.call("GET", &format!("/api/turns/{turn}"), None).await;
    (chat, turn)
}

#[tokio::test]
async fn client_answers_each_call_once_and_only_calls_of_reply_before() {
    let calls = delta_step(json!({ "tool_calls": [
        { "index": 0, "id": "c1", "type": "function", "function": { "name": "look_up", "arguments": "{}" } },
        { "index": 1, "id": "c2", "type": "function", "function": { "name": "look_up", "arguments": "{}" } },
    ] }));
    let calling = ScriptedAnswer::Stream([calls].into_iter().chain(finish_steps("tool_calls")).collect());
    let api = TestApi::new([
        calling,
        streamed_answer([text_step("Well")]),
        streamed_answer([text_step("So")]),
        streamed_answer([text_step("So")]),
    ])
    .await;
    let (chat, reply) = call_waiting_for_client(&api).await;
    let path = format!("/api/chats/{chat}/turns");
    let result = |id: &str, result: Value| json!({ "type": "tool_result", "tool_use_id": id, "result": result });
    let message = |content: Vec<Value>| json!({ "content": content, "prev_turn_id": reply["id"] });
    for (content, expected, code) in [
        (vec![result("c9", json!("x"))], 404, "not_found"),
        (vec![result("c1", json!("x")), result("c1", json!("y"))], 409, "already_answered"),
        (vec![result("", json!("x"))], 422, "invalid"),
        (vec![result("c1", json!("x".repeat((1 << 20) + 1)))], 413, "too_large"),
    ] {
        let (status, refused) = api.call("POST", &path, Some(message(content))).await;
        assert_eq!((status.as_u16(), &refused["code"]), (expected, &json!(code)), "{refused}");
    }
    let good = message(vec![
        json!({ "type": "tool_result", "tool_use_id": "c2", "content": { "b": 1, "a": 2 }, "is_error": true }),
        result("c1", json!("found")),
    ]);
    let (status, started) = api.call("POST", &path, Some(good.clone())).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    let blocks = started["user_turn"]["blocks"].as_array().unwrap();
    let of = |id: &str| {
        let calls = reply["blocks"].as_array().unwrap().iter();
        calls.clone().find(|block| block["tool_use_id"] == id).unwrap()["id"].clone()
    };
    assert_eq!(blocks[0]["parent_block_id"], of("c2"));
    assert_eq!((&blocks[0]["tool_name"], &blocks[0]["is_error"]), (&json!("look_up"), &json!(true)));
    assert_eq!(blocks[0]["result"].to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(blocks[1]["parent_block_id"], of("c1"));
    let next = started["assistant_turn"]["id"].as_str().unwrap();
    api.read_events(next, &[]).await;
    let (status, refused) = api.call("POST", &path, Some(good)).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("already_answered")), "{refused}");
    // A later reply has no such call.
    let late = json!({ "content": [result("c1", json!("x"))], "prev_turn_id": next });
    assert_eq!(api.call("POST", &path, Some(late)).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn bytes_of_result_are_given_to_their_owner_and_never_as_document() {
    let api = TestApi::new([streamed_answer([text_step("Hello")])]).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    api.instance
        .sql(
            "INSERT INTO blobs (sha256, mime, byte_count, bytes, created_at) VALUES \
             ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'text/html', 8, x'3c736372697074', '2026-01-01T00:00:00+00:00'), \
             ('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'image/png', 8, x'89504e470d0a1a0a', '2026-01-01T00:00:00+00:00'), \
             ('eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 'text/html', 8, x'89504e470d0a1a0a', '2026-01-01T00:00:00+00:00'), \
             ('cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc', 'image/png', 8, x'89504e470d0a1a0a', '2026-01-01T00:00:00+00:00'); \
             INSERT INTO block_blobs (block_id, sha256) SELECT b.id, o.sha256 FROM turn_blocks b, blobs o \
             WHERE b.author = 'assistant' AND o.sha256 NOT LIKE 'c%'",
        )
        .await;
    let get = |hash: String, known: Option<&'static str>| {
        let mut request = Request::builder().uri(format!("/api/blobs/{hash}")).header("host", "127.0.0.1:3000");
        if let Some(known) = known {
            request = request.header("if-none-match", known);
        }
        api.send(request.body(Body::empty()).unwrap())
    };
    let page = get("a".repeat(64), None).await;
    assert_eq!(page.status(), StatusCode::OK);
    let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/octet-stream");
    assert!(header("content-disposition").starts_with("attachment"));
    assert!(header("content-security-policy").starts_with("sandbox"));
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("cache-control"), "private, max-age=31536000, immutable");
    let picture = get("b".repeat(64), None).await;
    assert_eq!(picture.headers()["content-type"], "image/png");
    assert!(picture.headers().get("content-disposition").is_none());
    // Only re-encoded files are served as images, because the bytes of others may hold anything after their header.
    let other = get("e".repeat(64), None).await;
    assert_eq!(other.headers()["content-type"], "application/octet-stream");
    assert!(other.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
    let tag = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"";
    assert_eq!(get("a".repeat(64), Some(tag)).await.status(), StatusCode::NOT_MODIFIED);
    for unknown in ["c".repeat(64), "d".repeat(64), "A".repeat(64), "a".repeat(63), "..%2f..%2fetc%2fpasswd".into()] {
        assert_eq!(get(unknown.clone(), None).await.status(), StatusCode::NOT_FOUND, "{unknown}");
    }
    api.call("DELETE", &format!("/api/chats/{chat}"), None).await;
    assert_eq!(get("a".repeat(64), Some(tag)).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn foreign_resources_do_not_exist() {
    let api = api_with_tools([streamed_answer([text_step("Hello")])]).await;
    configure_files_server(&api).await;
    let chat = api.create_chat().await;
    let (_, shown) = api.call("GET", &format!("/api/chats/{chat}"), None).await;
    let branch = shown["branches"][0]["id"].as_str().unwrap();
    api.instance
        .sql(
            "INSERT INTO users (id, name, is_local_owner, created_at) \
             VALUES (x'01900000000070008000000000000001', 'B', 0, '2026-01-01T00:00:00+00:00'); \
             UPDATE chats SET owner_id = x'01900000000070008000000000000001'; \
             UPDATE tool_servers SET owner_id = x'01900000000070008000000000000001'; \
             UPDATE tool_listings SET owner_id = x'01900000000070008000000000000001'",
        )
        .await;
    let name = || Some(json!({ "name": "Mine" }));
    for (method, path, body) in [
        ("GET", format!("/api/chats/{chat}/tools"), None),
        ("PUT", format!("/api/chats/{chat}/tools"), Some(json!({ "on": [] }))),
        ("POST", format!("/api/branches/{branch}/tools"), None),
        ("GET", format!("/c/{chat}/tools"), None),
        ("PATCH", "/api/tool-servers/files".to_owned(), name()),
        ("DELETE", "/api/tool-servers/files".to_owned(), None),
        ("POST", "/api/tool-servers/files/restart".to_owned(), None),
        ("PUT", "/api/tool-policies".to_owned(), Some(json!({ "server": "files", "tool": "read", "policy": "allow" }))),
    ] {
        assert_eq!(api.call(method, &path, body).await.0, StatusCode::NOT_FOUND, "{method} {path}");
    }
    let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
    assert_eq!(servers.as_array().unwrap().len(), 1, "only the configuration's: {servers}");
    assert_eq!(put(&api, "/api/tools/default", json!({ "on": ["files/*"] })).await.0.as_u16(), 422);
}

#[tokio::test]
async fn pages_show_untrusted_text_as_text() {
    let api = api_with_tools([streamed_answer([text_step("Hello")])]).await;
    configure_files_server(&api).await;
    let page = api.get_page("/settings/tools").await;
    for part in [
        "&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt; Reads files.",
        "1 hidden character",
        "Set in the configuration file. Change it there.",
        "read-only",
        "https://files.example/mcp",
        "<option value=\"ask\" selected",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script>"), "{page}");
    let chat = api.create_chat().await;
    let page = api.get_page(&format!("/c/{chat}/tools")).await;
    assert!(page.contains("value=\"files/*\"") && !page.contains("<script>"), "{page}");
    assert!(api.get_page(&format!("/c/{chat}/settings")).await.contains(&format!("/c/{chat}/tools")));
}

#[tokio::test]
async fn forms_match_api() {
    let api = api_with_tools([streamed_answer([text_step("Hello")])]).await;
    let typed = [("name", "Maps"), ("url", "http://127.0.0.1:9/mcp"), ("headers", "X-Key: canary-of-a-form")];
    let (status, page) = api.post_form("/forms/tools/add", &typed).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in
        ["value=\"Maps\"", "value=\"http://127.0.0.1:9/mcp\"", "Must be on for an address", "Enter the headers again"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("canary-of-a-form"), "{page}");
    configure_files_server(&api).await;
    let fields = [("server", "files"), ("tool", "read"), ("was", "ask"), ("policy", "never")];
    let saved = (StatusCode::SEE_OTHER, "/settings/tools?done=saved".to_owned());
    assert_eq!(api.post_form("/forms/tools/policies", &fields).await, saved);
    let (_, policies) = api.call("GET", "/api/tool-policies", None).await;
    assert_eq!(policies, json!([{ "server": "files", "tool": "read", "policy": "never" }]));
    assert_eq!(api.post_form("/forms/tools/default", &[("on", "files/*")]).await, saved);
    let off = api.post_form("/forms/tools/change", &[("id", "files"), ("switch", "off")]).await;
    assert_eq!(off.1, "/settings/tools?done=saved&id=files");
    let page = api.get_page("/settings/tools").await;
    assert!(page.contains("data-state=\"off\"") && page.contains("Disabled"), "{page}");

    api.post_form("/forms/tools/change", &[("id", "files"), ("switch", "on")]).await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let branch = started["branch"]["id"].as_str().unwrap();
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    assert_eq!(branch_offers(&api, branch).await, ["files__write"], "what is never allowed is not offered");
    let chose = api.post_form(&format!("/c/{chat}/tools"), &[]).await;
    let back = (StatusCode::SEE_OTHER, format!("/c/{chat}"));
    assert_eq!(chose, back);
    assert_eq!(branch_offers(&api, branch).await, ["files__write"], "the branch was to keep what it has");
    assert!(api.get_page(&format!("/c/{chat}/tools")).await.contains("Use these tools from the next message"));
    assert_eq!(api.post_form(&format!("/c/{chat}/tools"), &[("now", branch)]).await, back);
    assert_eq!(branch_offers(&api, branch).await, Vec::<String>::new());
    assert_eq!(api.post_form("/forms/tools/remove", &[("id", "files")]).await.1, "/settings/tools?done=removed");
}
