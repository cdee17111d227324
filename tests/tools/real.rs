//! Servers that others wrote, from npm. `cargo xtask test peers` installs them and names the place in
//! `TURNLEAF_TEST_MCP`; without it these tests say that they are skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use turnleaf_tools::mcp::{ServerConfig, Servers, State, Transport};
use turnleaf_tools::toolbox::Fate;

use crate::rig::{LONG, call, config, key, patience, program, servers, start, text, until_state};

/// The programs of a package, in a `node_modules`.
fn place(package: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("TURNLEAF_TEST_MCP").map(PathBuf::from) else {
        eprintln!("skipped: TURNLEAF_TEST_MCP does not say where {package} is");
        return None;
    };
    let place = folder.join("@modelcontextprotocol").join(package).join("dist/index.js");
    assert!(place.exists(), "{} is not there", place.display());
    Some(place.display().to_string())
}

fn running(config: ServerConfig) -> Servers {
    let servers = servers(patience());
    servers.put(key("bad"), config);
    servers
}

/// Everything that this server shows, whichever way it is reached.
async fn everything(servers: &Servers) {
    let tools = servers.tools(&key("bad")).await.unwrap();
    let status = servers.status(&key("bad")).unwrap();
    assert_eq!(status.state, State::Ready, "{status:?}");
    for name in ["echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation"] {
        assert!(tools.iter().any(|tool| tool.tool == name), "{name} is not among {tools:?}");
    }
    let echo = tools.iter().find(|tool| tool.tool == "echo").unwrap();
    assert_eq!(echo.schema["properties"]["message"]["type"], "string");
    let outcome = call(servers, "echo", json!({ "message": "héllo 😀" })).await;
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "Echo: héllo 😀"));
    let outcome = call(servers, "get-sum", json!({ "a": 2, "b": 3 })).await;
    assert!(text(&outcome).contains("is 5"), "{outcome:?}");
    let outcome = call(servers, "get-sum", json!({ "a": "two" })).await;
    assert_eq!(outcome.fate, Fate::Failed, "{outcome:?}");
    let outcome = call(servers, "get-tiny-image", json!({})).await;
    assert!(outcome.fate == Fate::Done && text(&outcome).contains("image you requested"), "{outcome:?}");
    let outcome = call(servers, "get-structured-content", json!({ "location": "Chicago" })).await;
    assert_eq!(outcome.result["temperature"], 36, "{outcome:?}");
    let mut running = start(servers, "trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }));
    let mut seen = Vec::new();
    let outcome = loop {
        tokio::select! {
            biased;
            changed = running.progress.changed() => match changed {
                Ok(()) => seen.extend(running.progress.borrow_and_update().clone()),
                Err(_) => break tokio::time::timeout(LONG, running.outcome).await.unwrap(),
            },
            outcome = &mut running.outcome => break outcome,
        }
    };
    assert!(text(&outcome).contains("completed"), "{outcome:?}");
    assert!(seen.iter().any(|told| told.line == "2 of 4" && told.percent == Some(50)), "{seen:?}");
    // What it would ask of the client is not offered to it.
    assert!(tools.iter().all(|tool| !tool.tool.contains("sampling") && !tool.tool.contains("roots")), "{tools:?}");
}

#[tokio::test]
async fn everything_over_standard_input_and_output() {
    let Some(place) = place("server-everything") else { return };
    let servers = running(program(&["node", &place, "stdio"]));
    everything(&servers).await;
    servers.shut_down().await;
}

/// A process that ends with the test.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn everything_over_streamable_http() {
    let Some(place) = place("server-everything") else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("node");
    command.args([&place, "streamableHttp"]).env("PORT", port.to_string());
    let _server = Ending(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let listens = async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG, listens).await.unwrap();
    let url = format!("http://127.0.0.1:{port}/mcp").parse().unwrap();
    let servers = running(config(Transport::Http { url, headers: Vec::new(), local_network: true }));
    everything(&servers).await;
    servers.shut_down().await;
}

fn files(place: &str, folder: &Path) -> ServerConfig {
    let argv = vec!["node".to_owned(), place.to_owned(), folder.display().to_string()];
    config(Transport::Program { argv, env: BTreeMap::new(), folder: None })
}

#[tokio::test]
async fn files_inside_a_folder_and_none_outside() {
    let Some(place) = place("server-filesystem") else { return };
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = std::fs::canonicalize(dir.path()).unwrap();
    std::fs::write(outside.path().join("secret.txt"), "a secret").unwrap();
    let servers = running(files(&place, &folder));
    until_state(&servers, State::Ready).await;
    let path = folder.join("note.txt");
    let outcome = call(&servers, "write_file", json!({ "path": path, "content": "line one\nline two ä" })).await;
    assert_eq!(outcome.fate, Fate::Done, "{outcome:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "line one\nline two ä");
    let outcome = call(&servers, "read_text_file", json!({ "path": path })).await;
    assert!(outcome.fate == Fate::Done && outcome.result.to_string().contains("line two ä"), "{outcome:?}");
    let outcome = call(&servers, "list_directory", json!({ "path": folder })).await;
    assert!(outcome.result.to_string().contains("note.txt"), "{outcome:?}");
    let forbidden = outside.path().join("secret.txt");
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": forbidden })),
        ("read_text_file", json!({ "path": folder.join("../../../../../../etc/passwd") })),
        ("write_file", json!({ "path": forbidden, "content": "mine" })),
        ("list_directory", json!({ "path": outside.path() })),
    ] {
        let outcome = call(&servers, tool, arguments).await;
        assert_eq!(outcome.fate, Fate::Failed, "{tool}: {outcome:?}");
        assert!(text(&outcome).to_lowercase().contains("denied"), "{tool}: {outcome:?}");
    }
    assert_eq!(std::fs::read_to_string(&forbidden).unwrap(), "a secret");
    servers.shut_down().await;
}
