//! Fixtures of the tool server tests: the misbehaving server program, and servers with short timeouts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::timeout;
use turnleaf::domain::{BlockId, ChatId, TurnId, UserId};
use turnleaf_platform::clock::SystemClock;
use turnleaf_platform::ids;
use turnleaf_tools::mcp::{
    McpServerConfig, McpServerKey, McpServerState, McpServerStatus, McpServers, McpTimeouts, McpTransport,
};
use turnleaf_tools::toolbox::{CallResult, RunningCall, ToolCaller};

/// A timeout longer than anything takes on a slow machine; only a hang exceeds it.
pub const LONG: Duration = Duration::from_secs(60);

/// Returns timeouts with enough time for a slow machine and early restarts.
pub fn short_patience() -> McpTimeouts {
    McpTimeouts {
        start: LONG,
        stop: Duration::from_millis(500),
        pong: Duration::from_millis(500),
        backoff: (Duration::from_secs(1), Duration::from_secs(1)),
        steady: LONG,
    }
}

pub fn servers_with_patience(patience: McpTimeouts) -> McpServers {
    McpServers::with_guard(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")), patience, Arc::new(SystemClock))
}

/// Returns the path of the example program; cargo builds it for a run of all tests.
pub fn misbehaving_program() -> String {
    let place = PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")).with_file_name("examples").join("misbehaving_mcp");
    assert!(place.exists(), "build it: cargo build --example misbehaving_mcp --features ssr");
    place.display().to_string()
}

pub fn server_key(server: &str) -> McpServerKey {
    McpServerKey { owner: None, server: server.to_owned() }
}

pub fn server_config(transport: McpTransport) -> McpServerConfig {
    McpServerConfig { name: "Test".into(), transport, start: None, idle: None, total: None, authorization: None }
}

pub fn program_config(argv: &[&str]) -> McpServerConfig {
    let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
    server_config(McpTransport::Program { argv, env: BTreeMap::new(), folder: None })
}

/// Starts one misbehaving server under the name `bad`.
pub fn misbehaving_servers(mode: &str) -> McpServers {
    let servers = servers_with_patience(short_patience());
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), mode]));
    servers
}

/// Starts one misbehaving server with these limits for its calls.
pub fn impatient_servers(mode: &str, idle: Duration, total: Duration) -> McpServers {
    let servers = servers_with_patience(short_patience());
    let config =
        McpServerConfig { idle: Some(idle), total: Some(total), ..program_config(&[&misbehaving_program(), mode]) };
    servers.put(server_key("bad"), config);
    servers
}

pub fn test_caller() -> ToolCaller {
    ToolCaller {
        owner: ids::mint::<UserId>(),
        chat: ids::mint::<ChatId>(),
        turn: ids::mint::<TurnId>(),
        block: ids::mint::<BlockId>(),
    }
}

pub fn start_call(servers: &McpServers, tool: &str, arguments: Value) -> RunningCall {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    servers.call(&server_key("bad"), tool, arguments, test_caller())
}

pub async fn call_tool(servers: &McpServers, tool: &str, arguments: Value) -> CallResult {
    timeout(LONG, start_call(servers, tool, arguments).result).await.expect("the call ends")
}

pub fn outcome_text(outcome: &CallResult) -> String {
    outcome.result.as_str().map_or_else(|| outcome.result.to_string(), str::to_owned)
}

/// Waits until the status of a server matches.
pub async fn wait_for_status(servers: &McpServers, condition: impl Fn(&McpServerStatus) -> bool) -> McpServerStatus {
    let mut changed = servers.subscribe_changes();
    let seen = timeout(LONG, async {
        loop {
            let status = servers.status(&server_key("bad")).expect("it is configured");
            if condition(&status) {
                return status;
            }
            changed.recv().await.expect("somebody keeps it");
        }
    });
    match seen.await {
        Ok(status) => status,
        Err(_) => panic!("it is {:?}", servers.status(&server_key("bad"))),
    }
}

pub async fn wait_for_state(servers: &McpServers, state: McpServerState) -> McpServerStatus {
    wait_for_status(servers, |status| status.state == state).await
}
