//! `cargo xtask test peers`: conversations with model servers that others wrote. Turnleaf's own recordings and fakes show
//! what it was made for; aimock (npm) and llmock (PyPI) know nothing of it. aimock speaks all five APIs when nothing goes
//! wrong; llmock breaks four of them on demand and judges how the client took it. Their versions are pinned in
//! `xtask/peers`. Two servers of tools by the authors of MCP (npm, pinned in `end2end`) are held to what `tests/tools/real`
//! expects of them.

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

/// How long a server may take to start; a Python one on a busy machine takes some seconds.
const START: Duration = Duration::from_secs(60);

/// What is pinned, and the replies that aimock gives.
fn peers_dir() -> PathBuf {
    workspace::root().join("xtask/peers")
}

/// Prepares both servers and talks to them through a Turnleaf of its own.
///
/// # Errors
/// Something cannot be prepared, or a conversation did not go as promised.
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
        bail!("{error:#}\n\nTurnleaf said:\n{}", turnleaf.output());
    }
    drop(turnleaf);
    run_step("check what was stored", || {
        let mut check = server::bare_command(&binary);
        output(check.arg("fsck").arg("--data-dir").arg(dir.path().join("state"))).map(|_| ())
    })
}

/// One endpoint an API at each server.
fn configuration_of(aimock: SocketAddr, llmock: SocketAddr) -> String {
    let mut file = String::from("find_local_servers = false\n");
    let mut add = |id: &str, api: &str, base_url: String| {
        // Writing into a String cannot fail.
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

/// Starts a model server that is told its port.
fn start(mut command: std::process::Command, address: SocketAddr, log: &std::path::Path) -> Result<RunningProcess> {
    let mut running = RunningProcess::start(&mut command, address, log)?;
    running.wait_for("/health", START)?;
    Ok(running)
}
