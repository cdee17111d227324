//! Where things lie, and how cargo is called so that every build shares one `target`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The top of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Everything that is built. Not `$CARGO_TARGET_DIR`: the files below are named in places that do not read it.
pub fn target() -> PathBuf {
    root().join("target")
}

/// What the browser gets: public files, and below `pkg/<hash>/` the bundle.
pub fn site() -> PathBuf {
    target().join("site")
}

/// The packages that are the product. xtask is tested by itself: together, cargo would build the dependencies that they
/// share with the features of both.
pub const PRODUCT: [&str; 7] =
    ["--workspace", "--exclude", "xtask", "--exclude", "turnleaf-fuzz", "--features", "turnleaf/ssr"];

/// The features with which what is linked with Turnleaf is built beside its tests: those have the clock that can be
/// paused, and with other features all that is below Turnleaf would be compiled once more.
pub const LINKED_AS_TESTED: [&str; 3] = ["--no-default-features", "--features", "decode,tokio/test-util"];

/// The Playwright tests.
pub fn end2end() -> PathBuf {
    root().join("end2end")
}

/// A call of cargo at the top of the checkout, without what the cargo that runs this program has set for itself.
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

/// What tells cargo to write into what it builds no path of the machine that it is built on: two machines make the same
/// file, and it says nothing of either. For what people get; a build for work on the code has paths that editors open.
pub fn path_remapping_flags() -> Vec<String> {
    release_flags(&[])
}

/// [`path_remapping_flags`] with more flags for the compiler: cargo takes them from one place only.
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

/// A call of cargo that builds into the checkout's own `target`.
pub fn build_command(subcommand: &str) -> Command {
    let mut command = cargo(subcommand);
    command.arg("--target-dir").arg(target());
    command
}
