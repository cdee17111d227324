//! The paths of the workspace, and cargo commands that share one `target`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::find_program;

/// Returns the root of the checkout.
pub fn root() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.parent().unwrap_or(crate_dir).to_path_buf()
}

/// Returns the target directory. `$CARGO_TARGET_DIR` is ignored, because the files below are named in places that do
/// not read it.
pub fn target() -> PathBuf {
    root().join("target")
}

/// Returns the site directory: the public files, and below `pkg/<hash>/` the bundle.
pub fn site() -> PathBuf {
    target().join("site")
}

/// The packages of the product. xtask is tested separately: together, cargo would build shared dependencies with the
/// features of both.
pub const PRODUCT: [&str; 7] =
    ["--workspace", "--exclude", "xtask", "--exclude", "turnleaf-fuzz", "--features", "turnleaf/ssr"];

/// The features with which the programs linked with Turnleaf are built next to its tests. The tests need the pausable
/// clock; other features would compile everything below Turnleaf again.
pub const LINKED_AS_TESTED: [&str; 3] = ["--no-default-features", "--features", "decode,tokio/test-util"];

/// Returns the directory of the Playwright tests.
pub fn end2end() -> PathBuf {
    root().join("end2end")
}

/// Returns a cargo command in the root of the checkout, without the variables that the running cargo has set.
pub fn cargo(subcommand: &str) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).arg(subcommand);
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(own) {
            command.env_remove(&name);
        }
    }
    command.env_remove("CARGO").env_remove("CARGO_TARGET_DIR");
    command
}

/// Returns the flags that remove machine paths from build output, so that builds are reproducible and reveal nothing
/// about the machine. For releases; debug builds keep paths that editors can open.
pub fn path_remapping_flags() -> Vec<String> {
    release_flags(&[])
}

/// Returns [`path_remapping_flags`] with further compiler flags: cargo accepts them from only one source.
pub fn release_flags(more: &[&str]) -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.map(|home| home.join("registry/src")).and_then(|sources| std::fs::read_dir(sources).ok());
    let registries = sources.into_iter().flatten().flatten().map(|registry| (registry.path(), "crates"));
    let flags: Vec<String> = registries
        .chain([(root(), ".")])
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .chain(more.iter().map(|flag| (*flag).to_owned()))
        .map(|flag| format!("\"{flag}\""))
        .collect();
    vec!["--config".to_owned(), format!("build.rustflags=[{}]", flags.join(","))]
}

/// Returns the compiler that lints what it compiles, if clippy is installed.
pub fn clippy_compiler() -> Option<PathBuf> {
    find_program("clippy-driver")
}

/// Lets clippy's compiler build the packages of the workspace, so that the lints of the tests cost no second check of
/// everything (`crate::check::report_lints` shows them). Without clippy, the plain compiler builds.
pub fn lint_while_compiling(command: &mut Command) -> &mut Command {
    if let Some(clippy) = clippy_compiler() {
        command.env("RUSTC_WORKSPACE_WRAPPER", clippy);
    }
    command
}

/// Returns a cargo command that builds into the checkout's own `target`.
pub fn build_command(subcommand: &str) -> Command {
    let mut command = cargo(subcommand);
    command.arg("--target-dir").arg(target());
    command
}
