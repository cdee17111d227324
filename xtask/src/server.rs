//! The server's side, with the site of [`crate::front`] inside it or beside it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::front::Front;
use crate::process::{Running, free_port};
use crate::step::{run, step};
use crate::workspace;

/// Builds the binary that people run: optimised, the site inside.
///
/// # Errors
/// The compiler's.
pub fn release(front: &Front) -> Result<PathBuf> {
    step("compile the server", || {
        link(front, &[])?;
        Ok(workspace::target().join("release/turnleaf"))
    })
}

/// Compiles and links the release, the last crate with more flags.
///
/// # Errors
/// The compiler's.
pub fn link(front: &Front, more: &[&str]) -> Result<()> {
    let mut build = workspace::build("rustc");
    build.args(["--package", "turnleaf", "--bin", "turnleaf", "--features", "ssr", "--release"]);
    build.args(workspace::without_paths()).arg("--").args(link_flags()).args(more);
    // Read by the code that embeds the site, so that a new site makes a new binary.
    run(build.env("TURNLEAF_SITE_HASH", &front.hash))
}

/// What the linker is told where it is LLVM's, which Rust brings along for this system: functions that are alike to the
/// byte are one, and code that is not needed at once lies apart.
fn link_flags() -> Vec<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return Vec::new();
    }
    let layout = workspace::root().join("src/server/link/code_order.ld");
    vec!["-Clink-arg=-Wl,--icf=all".to_owned(), format!("-Clink-arg=-Wl,-T,{}", layout.display())]
}

/// Builds a binary for work on the code; it reads the site from `target/site`.
///
/// # Errors
/// The compiler's.
pub fn dev() -> Result<PathBuf> {
    let mut build = workspace::build("build");
    run(build.args(["--package", "turnleaf", "--bin", "turnleaf", "--features", "ssr"]))?;
    Ok(debug_binary())
}

/// Where a build for work on the code, or the tests' build, leaves the binary.
pub fn debug_binary() -> PathBuf {
    workspace::target().join("debug/turnleaf")
}

/// Names of the environment that would configure a server (contract.md 2).
fn configures(name: &str) -> bool {
    let endings = ["_API_KEY", "_BASE_URL", "_API_KEY_FILE"];
    name.starts_with("TURNLEAF_")
        || ["DATABASE_URL", "HOST", "PORT", "LEPTOS_SITE_ADDR", "OLLAMA_HOST"].contains(&name)
        || endings.iter().any(|ending| name.ends_with(ending))
}

/// A call of a binary that knows nothing of the person's own configuration.
pub fn plain(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(configures) {
            command.env_remove(&name);
        }
    }
    command
}

/// Starts a binary on a free port with a data directory of its own, in the current directory `dir`.
///
/// # Errors
/// It could not be started.
pub fn start(binary: &Path, dir: &Path, environment: &[(&str, &str)]) -> Result<Running> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = plain(binary);
    command.current_dir(dir).args(["serve", "--listen", &address.to_string(), "--data-dir"]).arg(dir.join("state"));
    command.envs(environment.iter().copied());
    Running::start(&mut command, address, &dir.join("turnleaf.log"))
}
