//! `cargo xtask test api`: property-based tests of the HTTP API. schemathesis (PyPI, pinned in `xtask/schemathesis`)
//! reads the OpenAPI document of a server, generates valid and invalid requests, also in sequences that use earlier
//! results, and checks every response against the document.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::peers::peer_client::PeerClient;
use crate::process::RunningProcess;
use crate::step::{output, run as finish, run_step};
use crate::{api_collection, http, packages, server, workspace};

/// The time limit of the server's start.
const START: Duration = Duration::from_secs(60);
/// An address on which nothing listens, so that generated connections do not make the server call other hosts.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Returns the directory with the pinned packages and the test configuration.
fn schemathesis_dir() -> PathBuf {
    workspace::root().join("xtask/schemathesis")
}

/// Generates a client with a generator of others, which skips what it does not understand and warns.
fn generate_client(turnleaf: &RunningProcess, dir: &Path) -> Result<()> {
    let python = workspace::target().join("api-client");
    packages::create_python_environment(&workspace::root().join("xtask/api-client/requirements.txt"), &python)?;
    let document = dir.join("openapi.json");
    std::fs::write(&document, http::get(turnleaf.address, "/api/openapi.json", "identity")?.body)?;
    let mut generate = Command::new(python.join("bin/openapi-python-client"));
    generate.args(["generate", "--meta", "none", "--fail-on-warning", "--path"]).arg(document);
    generate.arg("--output-path").arg(dir.join("client"));
    // It formats its output with ruff of the same environment.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(python.join("bin")).chain(std::env::split_paths(&path));
    finish(generate.env("PATH", std::env::join_paths(dirs)?))
}

/// Tests the API of a fresh server that has only the demo model, and checks its database afterwards.
///
/// # Errors
/// The preparation failed, or a response does not match its description.
pub fn run() -> Result<()> {
    let binary = super::server()?;
    let python = workspace::target().join("schemathesis");
    run_step("prepare schemathesis", || {
        packages::create_python_environment(&schemathesis_dir().join("requirements.txt"), &python)
    })?;
    let dir = tempfile::Builder::new().prefix("turnleaf-api").tempdir()?;
    let configuration = dir.path().join("config.toml");
    std::fs::write(&configuration, "find_local_servers = false\n")?;
    let configuration = configuration.to_string_lossy().into_owned();
    let environment = [
        ("TURNLEAF_CONFIG", configuration.as_str()),
        ("HTTP_PROXY", NOWHERE),
        ("HTTPS_PROXY", NOWHERE),
        ("NO_PROXY", ""),
    ];
    let mut turnleaf = server::start_server(&binary, dir.path(), &environment)?;
    turnleaf.wait_for("/readyz", START)?;
    run_step("compare the collections", || api_collection::check(&turnleaf))?;
    let talk = PeerClient { address: turnleaf.address };
    let chat = talk.create_chat("demo", "plain")?;
    let turn = talk.send_message(&chat, "Hello!")?.id();
    run_step("generate a client", || generate_client(&turnleaf, dir.path()))?;
    let mut schemathesis = Command::new(python.join("bin/schemathesis"));
    schemathesis.arg("--config-file").arg(schemathesis_dir().join("schemathesis.toml"));
    schemathesis.arg("run").arg(format!("http://{}/api/openapi.json", turnleaf.address));
    schemathesis.env("CHAT", &chat).env("TURN", &turn);
    // It writes its findings to the current directory.
    schemathesis.current_dir(dir.path());
    if let Err(error) = run_step("look for what is not promised", || finish(&mut schemathesis)) {
        bail!("{error:#}\n\nOutput of Turnleaf:\n{}", turnleaf.output());
    }
    drop(turnleaf);
    run_step("check what was stored", || {
        let mut check = server::bare_command(&binary);
        output(check.arg("fsck").arg("--data-dir").arg(dir.path().join("state"))).map(|_| ())
    })
}
