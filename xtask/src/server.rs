//! The server build, with the site of [`crate::front`] embedded or next to it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, anyhow};

use crate::front::{self, FrontBundle, FrontProfile};
use crate::process::{RunningProcess, free_port};
use crate::step::{print_note, run, run_step};
use crate::{linker_script, workspace};

/// The Cargo profile of a server with the embedded site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CargoProfile {
    /// The deployed profile, which must keep its budgets.
    Release,
    /// Fast at run time and faster to build, but larger.
    Serve,
}

impl CargoProfile {
    const fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Serve => "serve",
        }
    }

    /// Returns the path of the binary.
    pub fn binary(self) -> PathBuf {
        workspace::target().join(self.name()).join("turnleaf")
    }
}

/// Builds server and browser concurrently until the site is embedded: each ends with minutes of single-threaded work.
///
/// # Errors
/// A step failed, or the bundle is over its budget.
pub fn build_with_front(profile: CargoProfile) -> Result<PathBuf> {
    let (front, library) = std::thread::scope(|scope| {
        let library = scope.spawn(|| library(profile));
        let front = front::build_front(FrontProfile::Release);
        let library = library.join().unwrap_or_else(|_| Err(anyhow!("the build of the server panicked")));
        (front, library)
    });
    let front = front?;
    front.check_size()?;
    library?;
    build_server(&front, profile)
}

/// Compiles everything below the binary.
fn library(profile: CargoProfile) -> Result<()> {
    run_step("compile the server's library", || {
        let mut build = workspace::build_command("build");
        build.args(["--package", "turnleaf", "--lib", "--features", "ssr", "--profile", profile.name()]);
        run(build.args(workspace::path_remapping_flags()))
    })
}

/// Builds the binary with this site embedded.
///
/// # Errors
/// The compiler reports an error.
pub fn build_server(front: &FrontBundle, profile: CargoProfile) -> Result<PathBuf> {
    run_step("compile the server", || {
        link_server(front, profile, &[])?;
        Ok(profile.binary())
    })
}

/// Compiles and links the binary, with further flags for the last crate.
///
/// # Errors
/// The compiler reports an error.
pub fn link_server(front: &FrontBundle, profile: CargoProfile, more: &[&str]) -> Result<()> {
    let mut build = workspace::build_command("rustc");
    build.args(["--package", "turnleaf", "--bin", "turnleaf", "--features", "ssr", "--profile", profile.name()]);
    build.args(workspace::path_remapping_flags()).arg("--").args(link_flags()?).args(more);
    // The code that embeds the site reads the hash, so that a new site creates a new binary.
    run(build.env("TURNLEAF_SITE_HASH", &front.hash))
}

/// Returns the linker flags for LLVM's linker, if Rust includes it for this system: identical functions are merged,
/// and code that is not needed at startup is placed separately.
fn link_flags() -> Result<Vec<String>> {
    if !has_own_lld() {
        print_note("linked as this system links: functions that are alike stay apart, and the binary is larger");
        return Ok(Vec::new());
    }
    let layout = linker_script::write()?;
    let mut flags = vec!["-Clink-arg=-Wl,--icf=all".to_owned(), format!("-Clink-arg=-Wl,-T,{}", layout.display())];
    // Packed relocations save two megabytes of file and memory. The binary itself declares that it requires such a
    // glibc.
    if glibc_version().is_some_and(|version| version >= PACKED_RELOCATIONS) {
        flags.push("-Clink-arg=-Wl,-z,pack-relative-relocs".to_owned());
    }
    Ok(flags)
}

/// Returns true if Rust includes its LLVM linker and links with it: the default on x86-64 Linux, unless a
/// distribution packages it without.
fn has_own_lld() -> bool {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let is_target = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).current_dir(workspace::root()).output();
    let linker = |sysroot: &str| Path::new(sysroot).join("lib/rustlib").join(TARGET).join("bin/gcc-ld/ld.lld");
    is_target && sysroot.is_ok_and(|output| linker(String::from_utf8_lossy(&output.stdout).trim()).exists())
}

/// The first glibc with packed relative relocations. A release runs on systems as new as the one it is built on.
const PACKED_RELOCATIONS: (u32, u32) = (2, 36);

/// Returns the version of this system's glibc.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    version_of(&String::from_utf8_lossy(&output.stdout))
}

/// Parses the version in `glibc 2.36`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Builds a debug binary, which reads the site from `target/site`.
///
/// # Errors
/// The compiler reports an error.
pub fn build_dev() -> Result<PathBuf> {
    let mut build = workspace::build_command("build");
    run(build.args(["--package", "turnleaf", "--bin", "turnleaf", "--features", "ssr"]))?;
    Ok(debug_binary())
}

/// Returns the path of the debug binary, also of the tests' build.
pub fn debug_binary() -> PathBuf {
    workspace::target().join("debug/turnleaf")
}

/// Returns true for environment variables that would configure a server (`docs/reference/api.md 2`).
fn configures(name: &str) -> bool {
    let endings = ["_API_KEY", "_BASE_URL", "_API_KEY_FILE"];
    name.starts_with("TURNLEAF_")
        || ["DATABASE_URL", "HOST", "PORT", "LEPTOS_SITE_ADDR", "OLLAMA_HOST"].contains(&name)
        || endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns a command of a binary, isolated from the person's own configuration.
pub fn bare_command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(configures) {
            command.env_remove(&name);
        }
    }
    command
}

/// Starts a binary on a free port with its own data directory, in the current directory `dir`.
///
/// # Errors
/// The process could not be started.
pub fn start_server(binary: &Path, dir: &Path, environment: &[(&str, &str)]) -> Result<RunningProcess> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = bare_command(binary);
    command.current_dir(dir).args(["serve", "--listen", &address.to_string(), "--data-dir"]).arg(dir.join("state"));
    command.envs(environment.iter().copied());
    RunningProcess::start(&mut command, address, &dir.join("turnleaf.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glibc_version_is_read_and_other_versions_are_not() {
        for (text, version) in
            [("glibc 2.36\n", Some((2, 36))), ("glibc 2.4.1", Some((2, 4))), ("musl", None), ("", None)]
        {
            assert_eq!(version_of(text), version, "{text}");
        }
    }
}
