//! Third-party MCP servers from npm and PyPI, and servers written with the SDKs that most people use. `cargo xtask test
//! peers` installs them and passes where they are in `TURNLEAF_TEST_MCP`, `TURNLEAF_TEST_SERVERS`,
//! `TURNLEAF_TEST_FASTMCP` and `TURNLEAF_TEST_CHROMIUM`; without those these tests print that they are skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, json};
use turnleaf::domain::tools::elicitation::{ElicitationAnswer, ElicitationFieldType};
use turnleaf_tools::mcp::completion::{ArgumentDraft, ArgumentSubject};
use turnleaf_tools::mcp::{McpServerConfig, McpServerState, McpServers, McpTransport};
use turnleaf_tools::schema::check_arguments;
use turnleaf_tools::toolbox::CallOutcome;

use crate::elicitations::next_question;
use crate::mcp_fixtures::{
    LONG, call_tool, outcome_text, program_config, server_config, server_key, servers_with_patience, short_patience,
    start_call, wait_for_state,
};

/// Returns the path of a package's program; `None` where `TURNLEAF_TEST_MCP` is not set.
pub fn package_path(package: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("TURNLEAF_TEST_MCP").map(PathBuf::from) else {
        eprintln!("skipped: TURNLEAF_TEST_MCP does not say where {package} is");
        return None;
    };
    let place = folder.join("@modelcontextprotocol").join(package).join("dist/index.js");
    assert!(place.exists(), "{} is not there", place.display());
    Some(place.display().to_string())
}

/// Returns the path in an environment variable; `None` where it is not set.
pub fn named_path(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    found
}

/// Returns the path of a file of `xtask/peers/servers`.
pub fn server_file(file: &str) -> Option<String> {
    let place = Path::new(&named_path("TURNLEAF_TEST_SERVERS")?).join(file);
    assert!(place.exists(), "{} is not there", place.display());
    Some(place.display().to_string())
}

pub fn start_servers(config: McpServerConfig) -> McpServers {
    let servers = servers_with_patience(short_patience());
    servers.put(server_key("bad"), config);
    servers
}

/// Calls every tool of the reference server, over either transport.
pub async fn call_every_tool(servers: &McpServers) {
    let tools = servers.tools(&server_key("bad")).await.unwrap();
    let status = servers.status(&server_key("bad")).unwrap();
    assert_eq!(status.state, McpServerState::Ready, "{status:?}");
    for name in ["echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation"] {
        assert!(tools.iter().any(|tool| tool.tool == name), "{name} is not among {tools:?}");
    }
    let echo = tools.iter().find(|tool| tool.tool == "echo").unwrap();
    assert_eq!(echo.schema["properties"]["message"]["type"], "string");
    let outcome = call_tool(servers, "echo", json!({ "message": "héllo 😀" })).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "Echo: héllo 😀"));
    let outcome = call_tool(servers, "get-sum", json!({ "a": 2, "b": 3 })).await;
    assert!(outcome_text(&outcome).contains("is 5"), "{outcome:?}");
    let outcome = call_tool(servers, "get-sum", json!({ "a": "two" })).await;
    assert_eq!(outcome.outcome, CallOutcome::Failed, "{outcome:?}");
    let outcome = call_tool(servers, "get-tiny-image", json!({})).await;
    assert!(
        outcome.outcome == CallOutcome::Done && outcome_text(&outcome).contains("image you requested"),
        "{outcome:?}"
    );
    let outcome = call_tool(servers, "get-structured-content", json!({ "location": "Chicago" })).await;
    assert_eq!(outcome.result["temperature"], 36, "{outcome:?}");
    let mut running = start_call(servers, "trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }));
    let mut seen = Vec::new();
    let outcome = loop {
        tokio::select! {
            biased;
            changed = running.progress.changed() => match changed {
                Ok(()) => seen.extend(running.progress.borrow_and_update().clone()),
                Err(_) => break tokio::time::timeout(LONG, running.result).await.unwrap(),
            },
            outcome = &mut running.result => break outcome,
        }
    };
    assert!(outcome_text(&outcome).contains("completed"), "{outcome:?}");
    assert!(seen.iter().any(|progress| progress.line == "2 of 4" && progress.percent == Some(50)), "{seen:?}");
    // The client does not declare the capabilities that these tools would need.
    assert!(tools.iter().all(|tool| !tool.tool.contains("sampling") && !tool.tool.contains("roots")), "{tools:?}");
}

#[tokio::test]
async fn reference_server_works_over_stdio() {
    let Some(place) = package_path("server-everything") else { return };
    let servers = start_servers(program_config(&["node", &place, "stdio"]));
    call_every_tool(&servers).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn reference_server_asks_with_every_kind_of_field() {
    let Some(place) = package_path("server-everything") else { return };
    let servers = start_servers(program_config(&["node", &place, "stdio"]));
    wait_for_state(&servers, McpServerState::Ready).await;
    let mut call = start_call(&servers, "trigger-elicitation-request", json!({}));
    let question = next_question(&mut call).await;
    let kinds: Vec<(&str, ElicitationFieldType)> =
        question.request.fields.iter().map(|field| (field.name.as_str(), field.field_type)).collect();
    let expected = [
        ("name", ElicitationFieldType::Text),
        ("check", ElicitationFieldType::Boolean),
        ("firstLine", ElicitationFieldType::Text),
        ("email", ElicitationFieldType::Text),
        ("homepage", ElicitationFieldType::Text),
        ("birthdate", ElicitationFieldType::Text),
        ("integer", ElicitationFieldType::Integer),
        ("number", ElicitationFieldType::Number),
        ("untitledSingleSelectEnum", ElicitationFieldType::Choice),
        ("untitledMultipleSelectEnum", ElicitationFieldType::Choices),
        ("titledSingleSelectEnum", ElicitationFieldType::Choice),
        ("titledMultipleSelectEnum", ElicitationFieldType::Choices),
        ("legacyTitledEnum", ElicitationFieldType::Choice),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(question.request.fields[12].options[1].title, "Dogs");
    let given = Map::from_iter([("name".to_owned(), json!("Ada")), ("integer".to_owned(), json!(7))]);
    let given = question.request.check_content(&given).unwrap();
    question.answer.send(ElicitationAnswer::Accept(given)).unwrap();
    let outcome = tokio::time::timeout(LONG, call.result).await.unwrap();
    let text = outcome_text(&outcome);
    assert!(text.contains("- Name: Ada") && text.contains("- Favorite Integer: 7"), "{text}");
    servers.shut_down().await;
}

#[tokio::test]
async fn reference_server_suggests_values_and_links_to_resources() {
    let Some(place) = package_path("server-everything") else { return };
    let servers = start_servers(program_config(&["node", &place, "stdio"]));
    wait_for_state(&servers, McpServerState::Ready).await;
    let key = server_key("bad");
    let catalog = servers.catalog(&key).await.unwrap();
    assert!(catalog.has_suggestions);
    let prompt = || ArgumentSubject::Prompt("completable-prompt".into());
    let template = catalog.templates.iter().find(|template| template.uri.contains("/text/")).unwrap().uri.clone();
    for (subject, argument, value, others, expected) in [
        (prompt(), "department", "S", None, ["Sales", "Support"].as_slice()),
        (prompt(), "name", "", Some(("department", "Support")), ["John", "Kim", "Lee"].as_slice()),
        (prompt(), "name", "", None, [""; 0].as_slice()),
        (ArgumentSubject::Template(template), "resourceId", "7", None, ["7"].as_slice()),
    ] {
        let others = others.into_iter().map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned()));
        let others = others.collect();
        let draft = ArgumentDraft { subject, argument: argument.to_owned(), value: value.to_owned(), others };
        assert_eq!(servers.suggestions(&key, draft.clone()).await.unwrap(), expected, "{draft:?}");
    }
    let outcome = call_tool(&servers, "get-resource-links", json!({ "count": 2 })).await;
    let links = outcome.metadata["resource_links"].as_array().unwrap();
    assert_eq!((links.len(), &links[1]["name"]), (2, &json!("Text Resource 2")), "{outcome:?}");
    let content = servers.read_resource(&key, links[1]["uri"].as_str().unwrap()).await.unwrap();
    assert!(content.is_text && !content.bytes.is_empty());
    servers.shut_down().await;
}

fn files_server_config(place: &str, folder: &Path) -> McpServerConfig {
    let argv = vec!["node".to_owned(), place.to_owned(), folder.display().to_string()];
    server_config(McpTransport::Program { argv, env: BTreeMap::new(), folder: None })
}

#[tokio::test]
async fn filesystem_server_reads_only_inside_its_folder() {
    let Some(place) = package_path("server-filesystem") else { return };
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = std::fs::canonicalize(dir.path()).unwrap();
    std::fs::write(outside.path().join("secret.txt"), "a secret").unwrap();
    let servers = start_servers(files_server_config(&place, &folder));
    wait_for_state(&servers, McpServerState::Ready).await;
    let path = folder.join("note.txt");
    let outcome = call_tool(&servers, "write_file", json!({ "path": path, "content": "line one\nline two ä" })).await;
    assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "line one\nline two ä");
    let outcome = call_tool(&servers, "read_text_file", json!({ "path": path })).await;
    assert!(outcome.outcome == CallOutcome::Done && outcome.result.to_string().contains("line two ä"), "{outcome:?}");
    let outcome = call_tool(&servers, "list_directory", json!({ "path": folder })).await;
    assert!(outcome.result.to_string().contains("note.txt"), "{outcome:?}");
    let forbidden = outside.path().join("secret.txt");
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": forbidden })),
        ("read_text_file", json!({ "path": folder.join("../../../../../../etc/passwd") })),
        ("write_file", json!({ "path": forbidden, "content": "mine" })),
        ("list_directory", json!({ "path": outside.path() })),
    ] {
        let outcome = call_tool(&servers, tool, arguments).await;
        assert_eq!(outcome.outcome, CallOutcome::Failed, "{tool}: {outcome:?}");
        assert!(outcome_text(&outcome).to_lowercase().contains("denied"), "{tool}: {outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(&forbidden).unwrap(), "a secret");
    servers.shut_down().await;
}

#[tokio::test]
async fn picture_of_filesystem_server_is_no_text() {
    use base64::Engine as _;
    let Some(place) = package_path("server-filesystem") else { return };
    let dir = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(dir.path()).unwrap();
    let encoded = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let picture = base64::engine::general_purpose::STANDARD.decode(encoded).unwrap();
    std::fs::write(folder.join("dot.png"), &picture).unwrap();
    let servers = start_servers(files_server_config(&place, &folder));
    wait_for_state(&servers, McpServerState::Ready).await;
    // It states the picture in its content and again in its structured content.
    let outcome = call_tool(&servers, "read_media_file", json!({ "path": folder.join("dot.png") })).await;
    assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
    assert!(!outcome.result.to_string().contains("iVBORw0KGgo"), "{outcome:?}");
    assert_eq!(outcome.blobs.iter().map(|blob| blob.bytes.to_vec()).collect::<Vec<_>>(), [picture]);
    assert_eq!(outcome.metadata["images"].as_array().map(Vec::len), Some(1), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn structured_result_of_memory_server_is_told_once() {
    let Some(place) = package_path("server-memory") else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("memory.jsonl").display().to_string();
    let env = BTreeMap::from([("MEMORY_FILE_PATH".to_owned(), file)]);
    let argv = vec!["node".to_owned(), place];
    let servers = start_servers(server_config(McpTransport::Program { argv, env, folder: None }));
    wait_for_state(&servers, McpServerState::Ready).await;
    let entity = json!({ "name": "UNIQUE", "entityType": "person", "observations": ["likes tea"] });
    let outcome = call_tool(&servers, "create_entities", json!({ "entities": [entity] })).await;
    assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
    assert_eq!(outcome.result.to_string().matches("UNIQUE").count(), 1, "{outcome:?}");
    let outcome = call_tool(&servers, "search_nodes", json!({ "query": "tea" })).await;
    let text = outcome.result.to_string();
    assert_eq!((text.matches("UNIQUE").count(), text.matches("likes tea").count()), (1, 1), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn every_tool_of_zod_server_is_offered_and_called() {
    let Some(place) = server_file("zod_server.mjs") else { return };
    let servers = start_servers(program_config(&["node", &place]));
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    assert!(status.unusable.is_empty(), "{:?}", status.unusable);
    assert_eq!(status.tools.len(), 10, "{:?}", status.tools);
    for (tool, good, bad) in [
        ("email", "a@example.org", "nobody"),
        ("url", "https://de.wikipedia.org/wiki/Köln", "here"),
        ("duration", "P1DT2H", "a day"),
        ("datetime", "2026-01-02T03:04:05Z", "today"),
        ("emoji", "🍃", "x"),
        ("password", "abcdefg1", "short"),
        ("quoted", "'a'", "'a\""),
        ("letters", "叶", "1"),
    ] {
        // The gate checks the arguments before the server does, and must not refuse what the server accepts.
        let listed = status.tools.iter().find(|listed| listed.tool == tool).unwrap();
        assert_eq!(check_arguments(&listed.schema, &json!({ "value": good })), Ok(()), "{tool}");
        assert!(check_arguments(&listed.schema, &json!({ "value": 7 })).is_err(), "{tool}");
        let outcome = call_tool(&servers, tool, json!({ "value": good })).await;
        let expected = (CallOutcome::Done, format!("{tool}: {good}"));
        assert_eq!((outcome.outcome, outcome_text(&outcome)), expected, "{outcome:?}");
        assert_eq!(call_tool(&servers, tool, json!({ "value": bad })).await.outcome, CallOutcome::Failed, "{tool}");
    }
    let tree = json!({ "root": { "name": "a", "children": [{ "name": "b" }] } });
    let listed = status.tools.iter().find(|listed| listed.tool == "tree").unwrap();
    assert_eq!(check_arguments(&listed.schema, &tree), Ok(()));
    assert_eq!(outcome_text(&call_tool(&servers, "tree", tree).await), "tree: 1");
    let outcome = call_tool(&servers, "list", json!({})).await;
    assert_eq!(outcome.result.to_string().matches("UNIQUE").count(), 1, "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn fastmcp_server_tells_rows_once_and_lives_on_after_stop() {
    let (Some(python), Some(place)) = (named_path("TURNLEAF_TEST_FASTMCP"), server_file("fast_server.py")) else {
        return;
    };
    let servers = start_servers(program_config(&[&python, &place]));
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    assert_eq!(status.instructions.as_deref(), Some("Use `rows` first."));
    let outcome = call_tool(&servers, "rows", json!({ "count": 2 })).await;
    assert_eq!(outcome.result.to_string().matches("row1").count(), 1, "{outcome:?}");
    let outcome = call_tool(&servers, "picture", json!({})).await;
    assert_eq!(outcome.metadata["images"].as_array().map(Vec::len), Some(1), "{outcome:?}");
    let before = outcome_text(&call_tool(&servers, "process", json!({})).await);
    let mut running = start_call(&servers, "slow", json!({ "seconds": 60 }));
    let begun = running.progress.wait_for(Option::is_some);
    assert!(tokio::time::timeout(LONG, begun).await.unwrap().is_ok());
    drop(running);
    tokio::time::sleep(4 * short_patience().stop).await;
    assert_eq!(outcome_text(&call_tool(&servers, "process", json!({})).await), before, "it was not restarted");
    servers.shut_down().await;
}

#[tokio::test]
async fn playwright_server_keeps_its_page_after_stop() {
    let (Some(chromium), Some(place)) =
        (named_path("TURNLEAF_TEST_CHROMIUM"), server_file("node_modules/@playwright/mcp/cli.js"))
    else {
        return;
    };
    let argv = ["node", &place, "--headless", "--no-sandbox", "--isolated", "--executable-path", &chromium];
    let servers = start_servers(program_config(&argv));
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    assert!(status.unusable.is_empty(), "{:?}", status.unusable);
    let outcome = call_tool(&servers, "browser_navigate", json!({ "url": "data:text/html,<h1>signed in</h1>" })).await;
    assert_eq!(outcome.outcome, CallOutcome::Done, "{outcome:?}");
    let running = start_call(&servers, "browser_wait_for", json!({ "time": 30 }));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    drop(running);
    tokio::time::sleep(4 * short_patience().stop).await;
    let outcome = call_tool(&servers, "browser_snapshot", json!({})).await;
    assert!(outcome_text(&outcome).contains("signed in"), "{outcome:?}");
    servers.shut_down().await;
}
