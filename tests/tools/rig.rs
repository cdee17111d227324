//! What the tests of servers stand on: the misbehaving server as a program, and servers with little patience.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::timeout;
use turnleaf::domain::{BlockId, ChatId, TurnId, UserId};
use turnleaf_platform::clock::SystemClock;
use turnleaf_platform::ids;
use turnleaf_tools::mcp::{Patience, ServerConfig, ServerKey, Servers, State, Status, Transport};
use turnleaf_tools::toolbox::{Caller, Outcome, Running};

/// Longer than anything takes on a slow machine: only what hangs is caught by it.
pub const LONG: Duration = Duration::from_secs(60);

/// Servers that wait as long as a slow machine needs, and are begun anew at once.
pub fn patience() -> Patience {
    Patience {
        start: LONG,
        stop: Duration::from_millis(500),
        backoff: (Duration::from_millis(1), Duration::from_millis(1)),
        window: LONG,
    }
}

pub fn servers(patience: Patience) -> Servers {
    Servers::with(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")), patience, Arc::new(SystemClock))
}

/// The example beside the program; cargo builds it for a run of all tests.
pub fn misbehaving() -> String {
    let place = PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")).with_file_name("examples").join("misbehaving_mcp");
    assert!(place.exists(), "build it: cargo build --example misbehaving_mcp --features ssr");
    place.display().to_string()
}

pub fn key(server: &str) -> ServerKey {
    ServerKey { owner: None, server: server.to_owned() }
}

pub fn config(transport: Transport) -> ServerConfig {
    ServerConfig { name: "Test".into(), transport, idle: None, total: None }
}

pub fn program(argv: &[&str]) -> ServerConfig {
    let argv = argv.iter().map(|argument| (*argument).to_owned()).collect();
    config(Transport::Program { argv, env: BTreeMap::new(), folder: None })
}

/// One misbehaving server under the name `bad`.
pub fn bad(mode: &str) -> Servers {
    let servers = servers(patience());
    servers.put(key("bad"), program(&[&misbehaving(), mode]));
    servers
}

/// With limits for its calls.
pub fn hasty(mode: &str, idle: Duration, total: Duration) -> Servers {
    let servers = servers(patience());
    let config = ServerConfig { idle: Some(idle), total: Some(total), ..program(&[&misbehaving(), mode]) };
    servers.put(key("bad"), config);
    servers
}

pub fn caller() -> Caller {
    Caller {
        owner: ids::mint::<UserId>(),
        chat: ids::mint::<ChatId>(),
        turn: ids::mint::<TurnId>(),
        block: ids::mint::<BlockId>(),
    }
}

pub fn start(servers: &Servers, tool: &str, arguments: Value) -> Running {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    servers.call(&key("bad"), tool, arguments, caller())
}

pub async fn call(servers: &Servers, tool: &str, arguments: Value) -> Outcome {
    timeout(LONG, start(servers, tool, arguments).outcome).await.expect("the call ends")
}

pub fn text(outcome: &Outcome) -> String {
    outcome.result.as_str().map_or_else(|| outcome.result.to_string(), str::to_owned)
}

/// Waits until a server is such as it should be.
pub async fn until(servers: &Servers, what: impl Fn(&Status) -> bool) -> Status {
    let mut changed = servers.changed();
    let seen = timeout(LONG, async {
        loop {
            let status = servers.status(&key("bad")).expect("it is configured");
            if what(&status) {
                return status;
            }
            changed.recv().await.expect("somebody keeps it");
        }
    });
    match seen.await {
        Ok(status) => status,
        Err(_) => panic!("it is {:?}", servers.status(&key("bad"))),
    }
}

pub async fn until_state(servers: &Servers, state: State) -> Status {
    until(servers, |status| status.state == state).await
}
