//! `cargo xtask test peers`: conversations with third-party mock model servers. Turnleaf's own recordings and fakes
//! share its assumptions; aimock (npm) and llmock (PyPI) do not (`docs/adr/0059-independent-provider-judges.md`).
//! aimock implements all five APIs without faults; llmock injects faults into four of them and judges the client's
//! reaction. Their versions are pinned in `xtask/peers`. Tool servers by the authors of MCP and an authorization server, which
//! is an identity provider, too (npm, pinned in `end2end`), Playwright's server, and servers written with the TypeScript SDK
//! and with FastMCP (pinned in `xtask/peers/servers`) run the tests in `tests/tools/third_party_servers.rs`,
//! `tests/tools/third_party_web_servers.rs`, `tests/server/third_party_sign_in.rs` and
//! `tests/server/third_party_identity.rs`.

mod aimock;
mod llmock;
pub mod peer_client;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use self::peer_client::PeerClient;
use crate::process::RunningProcess;
use crate::step::{output, run_step};
use crate::{packages, server, workspace};

/// The time limit of a server's start; a Python server on a busy machine takes some seconds.
const START: Duration = Duration::from_secs(60);

/// Returns the directory with the pinned packages and aimock's replies.
fn peers_dir() -> PathBuf {
    workspace::root().join("xtask/peers")
}

/// Prepares both servers and tests conversations through a separate Turnleaf server.
///
/// # Errors
/// The preparation failed, or a conversation did not go as expected.
pub fn run() -> Result<()> {
    let binary = super::server()?;
    run_step("use the servers of tools that others wrote", super::tools)?;
    run_step("prepare aimock", || packages::install_node_packages("the tests with other model servers", &peers_dir()))?;
    let python = workspace::target().join("peers/llmock");
    run_step("prepare llmock", || packages::create_python_environment(&peers_dir().join("requirements.txt"), &python))?;
    let dir = tempfile::Builder::new().prefix("turnleaf-peers").tempdir()?;
    let aimock = run_step("start aimock", || aimock::start(dir.path()))?;
    let llmock = run_step("start llmock", || llmock::start(&python, dir.path()))?;
    let configuration = dir.path().join("config.toml");
    std::fs::write(&configuration, configuration_of(aimock.address, llmock.address))?;
    let mut turnleaf =
        server::start_server(&binary, dir.path(), &[("TURNLEAF_CONFIG", &configuration.to_string_lossy())])?;
    turnleaf.wait_for("/readyz", START)?;
    let talk = PeerClient { address: turnleaf.address };
    let done = run_step("talk to aimock", || aimock::check_conversations(&talk, aimock.address)).and_then(|()| {
        run_step("talk to llmock (its silence takes a minute)", || llmock::check_faults(&talk, llmock.address))
    });
    if let Err(error) = done {
        bail!("{error:#}\n\nOutput of Turnleaf:\n{}", turnleaf.output());
    }
    drop(turnleaf);
    run_step("check what was stored", || {
        let mut check = server::bare_command(&binary);
        output(check.arg("fsck").arg("--data-dir").arg(dir.path().join("state"))).map(|_| ())
    })
}

/// Returns a configuration with one endpoint per API for each server.
fn configuration_of(aimock: SocketAddr, llmock: SocketAddr) -> String {
    let mut file = String::from("find_local_servers = false\n");
    let mut add = |id: &str, api: &str, base_url: String| {
        // Writing to a string cannot fail.
        let _ = write!(
            file,
            "[[providers]]\nid = \"{id}-{api}\"\napi = \"{api}\"\nbase_url = \"{base_url}\"\napi_key = \"a-key-of-nobody\"\nmodels = [\"plain\"]\n"
        );
    };
    for (api, path) in [("openai_chat", "/v1"), ("openai_responses", "/v1"), ("anthropic", ""), ("gemini", "/v1beta")] {
        add("aimock", api, format!("http://{aimock}{path}"));
    }
    add("aimock", "ollama", format!("http://{aimock}"));
    for (api, path) in llmock::APIS {
        add("llmock", api, format!("http://{llmock}{path}"));
    }
    file
}

/// Starts a model server on the given address.
fn start(mut command: std::process::Command, address: SocketAddr, log: &std::path::Path) -> Result<RunningProcess> {
    let mut running = RunningProcess::start(&mut command, address, log)?;
    running.wait_for("/health", START)?;
    Ok(running)
}
