//! Third-party MCP servers over HTTP: the reference server by both transports and after a restart, and servers as people
//! write them with the SDKs. They are skipped as those in [`crate::third_party_servers`] are.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use turnleaf_tools::mcp::{McpServerConfig, McpServerState, McpTransport};
use turnleaf_tools::toolbox::CallOutcome;

use crate::mcp_fixtures::{LONG, call_tool, outcome_text, server_config, server_key, wait_for_state};
use crate::third_party_servers::{call_every_tool, named_path, package_path, server_file, start_servers};

/// A program that listens at a port of this machine, and is killed when it is dropped.
struct WebProgram {
    child: Child,
    port: u16,
}

impl WebProgram {
    async fn start(argv: &[&str]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::start_at(port, argv).await
    }

    /// Starts the program, and waits until it listens.
    async fn start_at(port: u16, argv: &[&str]) -> Self {
        let mut command = Command::new(argv[0]);
        command.args(&argv[1..]).env("PORT", port.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Self { child, port };
        let listens = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(LONG, listens).await.unwrap();
        started
    }

    fn config(&self, path: &str) -> McpServerConfig {
        let url = format!("http://127.0.0.1:{}{path}", self.port).parse().unwrap();
        server_config(McpTransport::Http { url, headers: Vec::new(), local_network: true })
    }
}

impl Drop for WebProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn reference_server_works_by_both_http_transports() {
    let Some(place) = package_path("server-everything") else { return };
    for (transport, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let web = WebProgram::start(&["node", &place, transport]).await;
        let servers = start_servers(web.config(path));
        call_every_tool(&servers).await;
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn call_after_restart_of_reference_server_runs_in_new_session() {
    let Some(place) = package_path("server-everything") else { return };
    let argv = ["node", &place, "streamableHttp"];
    let web = WebProgram::start(&argv).await;
    let servers = start_servers(web.config("/mcp"));
    let port = web.port;
    let outcome = call_tool(&servers, "echo", json!({ "message": "first" })).await;
    assert_eq!(outcome_text(&outcome), "Echo: first", "{outcome:?}");
    drop(web);
    let _web = WebProgram::start_at(port, &argv).await;
    let outcome = call_tool(&servers, "echo", json!({ "message": "second" })).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "Echo: second"), "{outcome:?}");
    let status = servers.status(&server_key("bad")).unwrap();
    assert_eq!(status.state, McpServerState::Ready, "{status:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn session_that_express_server_forgot_is_reopened_once() {
    let Some(place) = server_file("express_server.mjs") else { return };
    let web = WebProgram::start(&["node", &place]).await;
    let servers = start_servers(web.config("/mcp"));
    wait_for_state(&servers, McpServerState::Ready).await;
    let begun = async || outcome_text(&call_tool(&servers, "begun", json!({})).await);
    assert_eq!(begun().await, "1");
    assert_eq!(outcome_text(&call_tool(&servers, "forget", json!({})).await), "forgotten");
    assert_eq!((begun().await, begun().await), ("2".to_owned(), "2".to_owned()));
    servers.shut_down().await;
}

#[tokio::test]
async fn fastmcp_server_behind_a_redirecting_mount_is_called() {
    let (Some(python), Some(place)) = (named_path("TURNLEAF_TEST_FASTMCP"), server_file("fast_server.py")) else {
        return;
    };
    let web = WebProgram::start(&[&python, &place, "http"]).await;
    let servers = start_servers(web.config("/mcp"));
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    assert_eq!(status.instructions.as_deref(), Some("Use `rows` first."));
    let outcome = call_tool(&servers, "rows", json!({ "count": 2 })).await;
    assert_eq!((outcome.outcome, outcome.result.to_string().matches("row1").count()), (CallOutcome::Done, 1));
    servers.shut_down().await;
}
