//! Import of the tool servers of other programs, as pages without script: the preview, the choice, the values that are
//! asked for, and that no secret is ever rendered or stored in the clear.

use axum::body::Body;
use http::{Request, StatusCode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_store::tools::tool_servers;

use crate::http_api::TestApi;
use crate::test_server::TestServer;

const TOKEN: &str = "ghp_9f8e7d6c5b4a3f2e1d0c";

async fn api() -> TestApi {
    TestApi::with_server(TestServer::new(ScriptedProvider::new("scripted", Vec::new())).await)
}

/// Posts the text, or a file, for the preview.
async fn preview(api: &TestApi, text: &str, file: Option<&str>) -> (StatusCode, String) {
    let mut body = format!("--X\r\ncontent-disposition: form-data; name=\"json\"\r\n\r\n{text}\r\n");
    if let Some(file) = file {
        let head = "--X\r\ncontent-disposition: form-data; name=\"file\"; filename=\"mcp.json\"\r\n\r\n";
        body.push_str(&format!("{head}{file}\r\n"));
    }
    body.push_str("--X--\r\n");
    let request = Request::builder().method("POST").uri("/settings/tools/import").header("host", "127.0.0.1:3000");
    let request = request.header("content-type", "multipart/form-data; boundary=X");
    let response = api.send(request.body(Body::from(body)).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Returns the encrypted text of a preview.
fn sealed(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"sealed\" value=\"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

async fn server_ids(api: &TestApi) -> Vec<String> {
    let (_, servers) = api.call("GET", "/api/tool-servers", None).await;
    servers.as_array().unwrap().iter().map(|server| server["id"].as_str().unwrap().to_owned()).collect()
}

fn servers() -> Value {
    json!({ "mcpServers": {
        "GitHub": { "type": "http", "url": "https://github.example/mcp", "headers": { "Authorization": format!("Bearer {TOKEN}") },
            "autoApprove": ["read"], "timeout": 30000 },
        "Local": { "url": "http://127.0.0.1:9/mcp", "disabled": true },
        "Files": { "command": "npx", "args": ["files"], "env": { "FILES_TOKEN": TOKEN } },
        "Broken": { "url": "ftp://broken.example" },
    } })
}

#[tokio::test]
async fn preview_shows_what_would_happen_and_stores_nothing() {
    let api = api().await;
    assert!(api.get_page("/settings/tools").await.contains("href=\"/settings/tools/import\""));
    assert!(api.get_page("/settings/tools/import").await.contains("name=\"json\""));
    let text = format!("// of another program\n{}", servers());
    for (status, page) in [preview(&api, &text, None).await, preview(&api, "ignored", Some(&text)).await] {
        assert_eq!(status, StatusCode::OK, "{page}");
        for part in [
            "Will be added. Its tools will be named github/tool.",
            "name=\"on\" value=\"0\" checked",
            "https://github.example/mcp",
            "Headers: Authorization",
            "Call timeout: 30 seconds",
            "Not imported: autoApprove",
            "This address is on this machine or the local network.",
            "It will be added disabled.",
            "Left out: Local programs can only be added in the configuration file.",
            "FILES_TOKEN",
            " = { env = ",
            "Left out: url: must start with http:// or https://",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains(TOKEN), "{page}");
        assert_eq!(page.matches("name=\"on\"").count(), 2, "{page}");
    }
    assert_eq!(server_ids(&api).await, Vec::<String>::new());
}

#[tokio::test]
async fn chosen_servers_are_added_with_sealed_headers() {
    let api = api().await;
    let (_, page) = preview(&api, &servers().to_string(), None).await;
    let sealed_text = sealed(&page);
    assert!(!sealed_text.contains("github"), "{sealed_text}");
    let none = api.post_form("/forms/tools/import", &[("sealed", sealed_text.as_str())]).await;
    assert_eq!(none.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(none.1.contains("Select at least one server."), "{}", none.1);
    let fields = [("sealed", sealed_text.as_str()), ("on", "0"), ("on", "1"), ("on", "2"), ("on", "99")];
    let (status, to) = api.post_form("/forms/tools/import", &fields).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/tools?done=imported"));
    assert!(api.get_page(&to).await.contains("Imported."));
    assert_eq!(server_ids(&api).await, ["github", "local"], "programs are never added here");
    let row = tool_servers::find(&api.instance.db, api.instance.owner, "github").await.unwrap().unwrap();
    assert_eq!((row.name.as_str(), row.settings.total_seconds, row.is_enabled), ("GitHub", Some(30), true));
    assert_eq!(row.settings.header_names, ["authorization"]);
    assert!(!format!("{row:?}").contains(TOKEN));
    let local = tool_servers::find(&api.instance.db, api.instance.owner, "local").await.unwrap().unwrap();
    assert_eq!((local.is_enabled, local.settings.local_network), (false, true));
    let (_, policies) = api.call("GET", "/api/tool-policies", None).await;
    assert_eq!(policies, json!([]), "autoApprove is no permission here");

    // The same file again adds nothing; another token is a change that has to be chosen.
    let (_, page) = preview(&api, &servers().to_string(), None).await;
    assert!(page.contains("Left out: It is already connected as GitHub.") && !page.contains("data-import=\"add\""));
    let (_, page) = preview(&api, &servers().to_string().replace(TOKEN, "ghp_0123456789abcdefghij"), None).await;
    assert!(page.contains("data-import=\"change\"") && !page.contains("value=\"0\" checked"), "{page}");
    let before = row.sealed_headers;
    let (status, _) = api.post_form("/forms/tools/import", &[("sealed", sealed(&page).as_str()), ("on", "0")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let row = tool_servers::find(&api.instance.db, api.instance.owner, "github").await.unwrap().unwrap();
    assert_ne!(row.sealed_headers, before);
    assert_eq!(server_ids(&api).await, ["github", "local"]);
}

#[tokio::test]
async fn missing_values_are_asked_for_and_kept() {
    let api = api().await;
    let file = json!({
        "inputs": [{ "type": "promptString", "id": "key", "description": "API key", "password": true }],
        "servers": { "maps": { "type": "http", "url": "https://maps.example/mcp",
            "headers": { "X-Key": "${input:key}", "X-Team": "${env:TEAM}" } } },
    });
    let (status, page) = preview(&api, &file.to_string(), None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("API key (input:key)") && page.contains("name=\"value.1\""), "{page}");
    let sealed_text = sealed(&page);
    assert!(page.contains("name=\"key\" value=\"input:key\""), "{page}");
    let fields =
        [("sealed", sealed_text.as_str()), ("on", "0"), ("key", "input:key"), ("key", "env:TEAM"), ("value.0", TOKEN)];
    let (status, page) = api.post_form("/forms/tools/import", &fields).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("env:TEAM: is required") && page.contains("Entered. Leave empty to keep it."), "{page}");
    assert!(page.contains("name=\"on\" value=\"0\" checked") && !page.contains(TOKEN), "{page}");
    assert_eq!(server_ids(&api).await, Vec::<String>::new());
    let sealed_text = sealed(&page);
    // A value belongs to its key, not to its place in the plan as it is now.
    let fields = [
        ("sealed", sealed_text.as_str()),
        ("on", "0"),
        ("key", "env:GONE"),
        ("key", "env:TEAM"),
        ("value.0", "other"),
        ("value.1", "team"),
    ];
    assert_eq!(api.post_form("/forms/tools/import", &fields).await.0, StatusCode::SEE_OTHER);
    let row = tool_servers::find(&api.instance.db, api.instance.owner, "maps").await.unwrap().unwrap();
    assert_eq!(row.settings.header_names, ["x-key", "x-team"]);
    let secrets = api.instance.service.open_server_import(api.instance.owner, &sealed_text).unwrap();
    assert_eq!(secrets.values["input:key"].expose_secret(), TOKEN);
}

#[tokio::test]
async fn address_with_a_variable_in_its_path_is_left_out() {
    let api = api().await;
    let file = json!({ "mcpServers": { "x": { "url": "https://x.example/${TOKEN}/mcp" } } });
    let (status, page) = preview(&api, &file.to_string(), None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Left out: url: may have variables only in its query"), "{page}");
    assert!(page.contains("https://x.example/${env:TOKEN}/mcp") && !page.contains("name=\"value.0\""), "{page}");
}

#[tokio::test]
async fn unreadable_text_is_shown_again_with_reason() {
    let api = api().await;
    for (text, reason) in [
        ("{ \"mcpServers\": {\n\"a\": oops } }", "Is not valid JSON (line 2)"),
        ("{ \"theme\": \"dark\" }", "Contains no tool servers"),
        ("", "Is required"),
    ] {
        let (status, page) = preview(&api, text, None).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{text}");
        assert!(page.contains(reason), "{reason}: {page}");
        assert!(text.is_empty() || page.contains("oops") || page.contains("theme"), "what was pasted stays: {page}");
    }
    for sealed in ["", "v1:1:2:3"] {
        let (status, page) = api.post_form("/forms/tools/import", &[("sealed", sealed), ("on", "0")]).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.contains("Paste the settings again"), "{page}");
    }
    // A text that was encrypted for one person is of no use to another.
    let (_, page) = preview(&api, &servers().to_string(), None).await;
    let stranger = turnleaf_platform::ids::mint();
    assert!(api.instance.service.open_server_import(stranger, &sealed(&page)).is_none());
    assert!(api.instance.service.open_server_import(api.instance.owner, &sealed(&page)).is_some());
}
