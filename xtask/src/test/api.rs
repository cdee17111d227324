//! `cargo xtask test api`: requests that nobody thought of. schemathesis (PyPI, pinned in `xtask/schemathesis`) reads the
//! description that a server gives of itself, makes requests of it that fit and that do not, one by one and one after the
//! other with what the ones before made, and holds every answer against it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::peers::peer_client::PeerClient;
use crate::step::{output, run as finish, run_step};
use crate::{packages, server, workspace};

/// How long the server may take to start.
const START: Duration = Duration::from_secs(60);
/// Nobody listens there. Connections that are made up must not make the server call strangers.
const NOWHERE: &str = "http://127.0.0.1:9";

/// What is pinned, and how it is used.
fn schemathesis_dir() -> PathBuf {
    workspace::root().join("xtask/schemathesis")
}

/// Tries the API of a fresh server that has the demo model alone, and checks what is left in its database.
///
/// # Errors
/// Something cannot be prepared, or an answer is not as described.
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
    let talk = PeerClient { address: turnleaf.address };
    let chat = talk.create_chat("demo", "plain")?;
    let turn = talk.send_message(&chat, "Hello!")?.id();
    let mut schemathesis = Command::new(python.join("bin/schemathesis"));
    schemathesis.arg("--config-file").arg(schemathesis_dir().join("schemathesis.toml"));
    schemathesis.arg("run").arg(format!("http://{}/api/openapi.json", turnleaf.address));
    schemathesis.env("CHAT", &chat).env("TURN", &turn);
    // It keeps what it learned in the current directory.
    schemathesis.current_dir(dir.path());
    if let Err(error) = run_step("look for what is not promised", || finish(&mut schemathesis)) {
        bail!("{error:#}\n\nTurnleaf said:\n{}", turnleaf.output());
    }
    drop(turnleaf);
    run_step("check what was stored", || {
        let mut check = server::bare_command(&binary);
        output(check.arg("fsck").arg("--data-dir").arg(dir.path().join("state"))).map(|_| ())
    })
}
