//! Keys behind the password, on both databases: forms with keys and the export of everything ask for the password, keep
//! what was typed, and put no secret into a page.

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::encoding::url_encoding::encode;
use turnleaf::domain::{AuditVerb, TokenScope};
use turnleaf_platform::search_engine::{SearchEngine, SearchEngineKind};
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::tools::servers::imports::{ImportValues, ServerImport};

use crate::access_control::text;
use crate::account_forms::part;
use crate::account_passwords::{age, with_confirmation};
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, SubmittedForm, TestCredential};

/// A secret that no page shows.
const CANARY: &str = "canary-key-0123456789";
/// An address at which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:9/v1";

/// Returns the body of a form.
fn body(fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    fields.join("&")
}

/// Returns the hidden fields of the form on a page that is sent again.
fn hidden_fields(page: &str, action: &str) -> Vec<(String, String)> {
    let form = part(page, &format!("action=\"{action}\""), "</form>");
    let inputs = form.split("<input ").map(|input| input.split('>').next().unwrap());
    let hidden = inputs.filter(|input| input.contains("type=\"hidden\""));
    hidden.map(|input| (part(input, "name=\"", "\"").to_owned(), part(input, "value=\"", "\"").to_owned())).collect()
}

/// The fields of a form, by their names.
type FormFields<'a> = &'a [(&'a str, &'a str)];

/// Sends a form whose password is asked for. Returns the page that asks, which shows what was typed and no secret.
async fn asked(
    server: &AccountsApi,
    session: &TestCredential,
    path: &str,
    (shown, secret): (FormFields<'_>, FormFields<'_>),
) -> String {
    age(server).await;
    let asked = server.submit(path, session, &body(&[shown, secret].concat())).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN, "{path}: {asked:?}");
    let fields = hidden_fields(&asked.page, path);
    for (name, value) in shown {
        let is_kept = |(kept, kept_value): &(String, String)| kept == name && kept_value == value;
        assert!(fields.iter().any(is_kept), "{path} {name}: {}", asked.page);
    }
    assert!(!asked.page.contains("canary"), "{path}: {}", asked.page);
    asked.page
}

/// Sends the form of a page again, with the password. The session goes on with the cookie of the answer.
async fn complete(server: &AccountsApi, session: &mut TestCredential, path: &str, page: &str) -> SubmittedForm {
    let fields = hidden_fields(page, path);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let done = server.submit(path, session, &with_confirmation(&body(&fields), PASSWORD)).await;
    *session = done.session();
    done
}

/// Sends a form whose password is asked for, and then with the password. Returns the address that it leads to.
async fn confirmed(
    server: &AccountsApi,
    session: &mut TestCredential,
    path: &str,
    fields: (FormFields<'_>, FormFields<'_>),
) -> String {
    let page = asked(server, session, path, fields).await;
    let done = complete(server, session, path, &page).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{path}: {done:?}");
    done.location.split('#').next().unwrap().to_owned()
}

async fn listed(server: &AccountsApi, session: &TestCredential, path: &str) -> Value {
    let (status, listed) = server.call(("GET", path), session, json!({})).await;
    assert_eq!(status, StatusCode::OK, "{path}: {listed}");
    listed
}

#[tokio::test]
async fn forms_of_providers_ask_for_password_and_lose_no_key() {
    for server in AccountsApi::on_every_database().await {
        let mut ann = server.sign_in(OWNER).await;
        let whole =
            [("name", "Box"), ("api", "openai_chat"), ("base_url", NOWHERE), ("models", "m"), ("local_network", "1")];
        let header = format!("X-Secret: {CANARY}");
        let secrets = [("key", CANARY), ("headers", header.as_str())];
        let to = confirmed(&server, &mut ann, "/forms/providers/add", (&whole, &secrets)).await;
        assert_eq!(to, "/settings/providers?done=saved&id=box");
        let of_box = async |session: &TestCredential| {
            let providers = listed(&server, session, "/api/providers").await;
            providers.as_array().unwrap().iter().find(|provider| provider["id"] == "box").unwrap().clone()
        };
        let made = of_box(&ann).await;
        assert_eq!((&made["key"]["set"], &made["headers"]), (&json!(true), &json!(["x-secret"])), "{made}");

        let id = [("id", "box")];
        let other = [("key", "canary-key-of-later-4f2a")];
        let to = confirmed(&server, &mut ann, "/forms/providers/key", (&id, &other)).await;
        assert_eq!(to, "/settings/providers?done=saved&id=box");
        assert_eq!(of_box(&ann).await["key"]["ends_in"], "4f2a");
        let whole = [&[("id", "box"), ("whole", "1")][..], &whole].concat();
        let header = [("headers", "X-Other: canary")];
        let to = confirmed(&server, &mut ann, "/forms/providers/change", (&whole, &header)).await;
        assert_eq!(to, "/settings/providers?done=saved&id=box");
        let changed = of_box(&ann).await;
        assert_eq!((&changed["key"]["set"], &changed["headers"]), (&json!(true), &json!(["x-other"])), "{changed}");

        // A key that is not kept any more is named; the password is not asked for again.
        let page = asked(&server, &ann, "/forms/providers/key", (&id, &other)).await;
        let name = part(&page, "name=\"withheld\" value=\"", "\"");
        let lost = page.replace(name, &"0".repeat(name.len()));
        let refused = complete(&server, &mut ann, "/forms/providers/key", &lost).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        assert!(refused.page.contains("not kept while you entered your password"), "{refused:?}");
        // The switch of a card is about no secret.
        age(&server).await;
        let off = server.submit("/forms/providers/change", &ann, "id=box&switch=off").await;
        assert_eq!(off.status, StatusCode::SEE_OTHER, "{off:?}");
        let to = confirmed(&server, &mut ann, "/forms/providers/remove", (&id, &[])).await;
        assert_eq!(to, "/settings/providers?done=removed");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn forms_of_tools_ask_for_password_and_lose_no_key() {
    for server in AccountsApi::on_every_database().await {
        let mut ann = server.sign_in(OWNER).await;
        let whole = [("name", "Maps"), ("local_network", "1")];
        let secrets = [("url", "http://127.0.0.1:9/mcp?token=canary"), ("headers", "X-Key: canary")];
        let to = confirmed(&server, &mut ann, "/forms/tools/add", (&whole, &secrets)).await;
        assert_eq!(to, "/settings/tools?done=tested&id=maps");
        let whole = [&[("id", "maps"), ("whole", "1")][..], &whole].concat();
        let secrets = [secrets[0], ("headers", "X-Other: canary")];
        let to = confirmed(&server, &mut ann, "/forms/tools/change", (&whole, &secrets)).await;
        assert_eq!(to, "/settings/tools?done=saved&id=maps");
        let made = listed(&server, &ann, "/api/tool-servers").await[0].clone();
        assert_eq!((&made["id"], &made["headers"]), (&json!("maps"), &json!(["x-other"])), "{made}");
        let to = confirmed(&server, &mut ann, "/forms/tools/remove", (&[("id", "maps")], &[])).await;
        assert_eq!(to, "/settings/tools?done=removed");

        let file = json!({
            "inputs": [{ "type": "promptString", "id": "key", "description": "API key", "password": true }],
            "servers": { "charts": { "type": "http", "url": "https://charts.example/mcp", "disabled": true,
                "headers": { "X-Key": "${input:key}" } } },
        });
        let import = ServerImport { text: file.to_string().into(), values: ImportValues::new() };
        let sealed = server.service().seal_server_import(server.api.instance.owner, &import);
        let shown = [("sealed", sealed.as_str()), ("on", "0"), ("key", "input:key")];
        let to = confirmed(&server, &mut ann, "/forms/tools/import", (&shown, &[("value.0", CANARY)])).await;
        assert_eq!(to, "/settings/tools?done=imported");
        let made = listed(&server, &ann, "/api/tool-servers").await[0].clone();
        assert_eq!((&made["id"], &made["headers"]), (&json!("charts"), &json!(["x-key"])), "{made}");

        let shown = [("engine", "brave"), ("url", "http://127.0.0.1:9"), ("local_network", "1")];
        let to = confirmed(&server, &mut ann, "/forms/tools/search", (&shown, &[("key", CANARY)])).await;
        assert_eq!(to, "/settings/tools?done=search_saved");
        assert_eq!(listed(&server, &ann, "/api/web-search").await["engine"], "brave");
        let to = confirmed(&server, &mut ann, "/forms/tools/search/remove", (&[], &[])).await;
        assert_eq!(to, "/settings/tools?done=removed");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn api_by_session_needs_recent_password_for_keys_and_token_does_not() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let token = server.token(server.api.instance.owner, &[TokenScope::Settings, TokenScope::Export]).await;
        let provider = json!({ "name": "Box", "api": "openai_chat", "base_url": NOWHERE, "local_network": true });
        let tools = json!({ "name": "Maps", "url": "http://127.0.0.1:9/mcp", "local_network": true });
        let engine = json!({ "engine": "searxng", "url": "http://127.0.0.1:9", "local_network": true });
        let requests = [
            (("POST", "/api/providers"), provider, StatusCode::CREATED),
            (("PATCH", "/api/providers/box"), json!({ "key": CANARY }), StatusCode::OK),
            (("PATCH", "/api/providers/box"), json!({ "headers": { "X-Key": CANARY } }), StatusCode::OK),
            (("PATCH", "/api/providers/box"), json!({ "base_url": "http://127.0.0.1:8/v1" }), StatusCode::OK),
            (("DELETE", "/api/providers/box"), json!({}), StatusCode::NO_CONTENT),
            (("POST", "/api/tool-servers"), tools, StatusCode::CREATED),
            (("PATCH", "/api/tool-servers/maps"), json!({ "headers": { "X-Key": CANARY } }), StatusCode::OK),
            (("PATCH", "/api/tool-servers/maps"), json!({ "url": "http://127.0.0.1:8/mcp" }), StatusCode::OK),
            (("DELETE", "/api/tool-servers/maps"), json!({}), StatusCode::NO_CONTENT),
            (("PUT", "/api/web-search"), engine, StatusCode::OK),
            (("DELETE", "/api/web-search"), json!({}), StatusCode::NO_CONTENT),
            (("GET", "/api/export"), json!({}), StatusCode::OK),
        ];
        age(&server).await;
        for (route, body, expected) in requests {
            let (status, refused) = server.call(route, &ann, body.clone()).await;
            assert_eq!((status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("password_needed")), "{route:?}");
            let (status, done) = server.call(route, &token, body).await;
            assert_eq!(status, expected, "{route:?}: {done}");
        }
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn export_of_everything_asks_for_password_and_is_recorded() {
    for server in AccountsApi::on_every_database().await {
        let mut ann = server.sign_in(OWNER).await;
        age(&server).await;
        let response = server.send(("GET", "/settings/data/export"), &ann, &[HTML], "").await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        let page = text(response).await;
        assert!(page.contains("Enter your password"), "{page}");
        let done = complete(&server, &mut ann, "/forms/export", &page).await;
        assert_eq!(done.location, "/settings/data?done=confirmed", "{done:?}");
        let page = text(server.send(("GET", &done.location), &ann, &[HTML], "").await).await;
        assert!(page.contains("You can export everything now."), "{page}");
        let response = server.send(("GET", "/settings/data/export"), &ann, &[HTML], "").await;
        assert_eq!(response.headers()["location"], "/api/export");
        let (status, archive) = server.call(("GET", "/api/export"), &ann, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{archive}");
        let filter = AuditFilter { action: Some(AuditVerb::ExportEverything), ..AuditFilter::default() };
        let entries = server.service().audit_log(&filter, None, 9).await.unwrap();
        let owner = Some(server.api.instance.owner);
        assert_eq!(entries.iter().map(|entry| entry.actor).collect::<Vec<_>>(), [owner], "one export");
        server.api.instance.close().await;
    }
}

/// Returns the entries about connections, oldest first, with whether an account did it.
async fn connection_entries(server: &AccountsApi) -> Vec<(String, String, bool)> {
    let log = server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
    assert!(!format!("{log:?}").contains("canary"), "{log:?}");
    let is_such = |verb: &str| ["provider", "tool", "search"].iter().any(|part| verb.contains(part));
    let entries = log.into_iter().rev().filter(|entry| is_such(&entry.verb));
    entries.map(|entry| (entry.verb.clone(), entry.target.clone(), entry.actor.is_some())).collect()
}

#[tokio::test]
async fn connections_are_in_audit_log_without_their_secrets() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let headers = json!({ "X-Key": CANARY });
        let provider =
            json!({ "name": "Box", "api": "openai_chat", "base_url": NOWHERE, "key": CANARY, "local_network": true });
        let tools = json!({ "name": "Maps", "url": "http://127.0.0.1:9/mcp?token=canary", "headers": headers, "local_network": true });
        let engine = json!({ "engine": "brave", "url": "http://127.0.0.1:9", "key": CANARY, "local_network": true });
        for (route, body) in [
            (("POST", "/api/providers"), provider),
            (("PATCH", "/api/providers/box"), json!({ "key": "canary-key-of-later" })),
            (("PATCH", "/api/providers/box"), json!({ "base_url": "http://127.0.0.1:8/v1" })),
            (("PATCH", "/api/providers/box"), json!({ "is_enabled": false })),
            // Nothing is different.
            (("PATCH", "/api/providers/box"), json!({ "name": "Box" })),
            (("DELETE", "/api/providers/box"), json!({})),
            (("POST", "/api/tool-servers"), tools),
            (("PUT", "/api/tool-servers/maps/policy"), json!({ "policy": "allow" })),
            (("PUT", "/api/tool-servers/maps/instructions"), json!({ "offered": false })),
            (("PUT", "/api/tool-policies"), json!({ "tool": "calculator", "policy": "never" })),
            (("PATCH", "/api/tool-servers/maps"), json!({ "name": "Charts", "headers": { "X-Key": "canary" } })),
            (("DELETE", "/api/tool-servers/maps"), json!({})),
            (("PUT", "/api/web-search"), engine),
            (("DELETE", "/api/web-search"), json!({})),
        ] {
            let (status, done) = server.call(route, &ann, body).await;
            assert!(status.is_success(), "{route:?}: {status} {done}");
        }
        let expected = [
            ("add_provider", "box: 127.0.0.1:9, key"),
            ("change_provider", "box: key"),
            ("change_provider", "box: address 127.0.0.1:8, key removed"),
            ("change_provider", "box: off"),
            ("remove_provider", "box"),
            ("add_tool_server", "maps: 127.0.0.1:9, headers"),
            ("set_tool_policy", "maps/*: allow"),
            ("change_tool_server", "maps: instructions off"),
            ("set_tool_policy", "calculator: never"),
            ("change_tool_server", "maps: name, headers"),
            ("remove_tool_server", "maps"),
            ("set_web_search", "brave: 127.0.0.1:9, key"),
            ("remove_web_search", ""),
        ];
        let expected = expected.map(|(verb, target)| (verb.to_owned(), target.to_owned(), true));
        assert_eq!(connection_entries(&server).await, expected);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn reload_of_configuration_is_in_audit_log() {
    for server in AccountsApi::on_every_database().await {
        let engine = |base_url: &str| SearchEngine {
            kind: SearchEngineKind::Searxng,
            base_url: base_url.into(),
            api_key: None,
            local_network: false,
            set_by: Some("a file".into()),
        };
        let (first, second) = (engine("https://search.example"), engine("https://other.example"));
        for configured in [Some(first.clone()), Some(first), Some(second), None] {
            server.service().reload_web_search(configured).await;
        }
        let set = |verb: &str| (verb.to_owned(), "searxng: configuration".to_owned(), false);
        let expected = [set("set_web_search"), set("set_web_search"), set("remove_web_search")];
        assert_eq!(connection_entries(&server).await, expected, "each difference once");
        server.api.instance.close().await;
    }
}
