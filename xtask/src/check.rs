//! `cargo xtask check`: everything that can be said without running the product.

use std::process::Command;

use anyhow::{Context, Result};

use crate::step::{print_note, run as finish, run_step, succeeds};
use crate::{toolchain, workspace};

/// Runs all checks; stops at the first that fails.
///
/// # Errors
/// What a check found is on the terminal.
pub fn run() -> Result<()> {
    run_step("format", format)?;
    run_step("architecture", architecture)?;
    run_step("lint the server's side", clippy_server)?;
    run_step("lint the browser's side", clippy_browser)?;
    run_step("compile for the browser", browser)?;
    run_step("lint the project's commands", clippy_xtask)?;
    run_step("licences, sources, advisories", deny)
}

/// # Errors
/// A file is not formatted.
pub fn format() -> Result<()> {
    finish(workspace::cargo("fmt").args(["--all", "--check"])).context("`cargo fmt --all` formats")
}

/// # Errors
/// A rule of `tests/architecture.rs` is broken.
fn architecture() -> Result<()> {
    let mut test = workspace::build_command("test");
    finish(test.args(["--quiet", "--package", "turnleaf", "--features", "ssr", "--test", "architecture"]))
}

/// # Errors
/// A lint.
pub fn clippy_server() -> Result<()> {
    let mut lint = workspace::build_command("clippy");
    finish(lint.args(workspace::PRODUCT).args(["--all-targets", "--", "-D", "warnings"]))
}

/// Has cargo look at what the browser runs.
fn browser_side(mut cargo: Command, more: &[&str]) -> Result<()> {
    let target = workspace::target().join("front");
    cargo.args(["--package", "turnleaf", "--lib", "--features", "hydrate"]).arg("--target-dir").arg(target);
    finish(cargo.args(more))
}

/// Lints what the browser runs. Where the toolchain that builds for the browser has no clippy, the same code with the
/// same features is linted for this machine.
///
/// # Errors
/// A lint.
pub fn clippy_browser() -> Result<()> {
    let wasm = toolchain::wasm_toolchain()?;
    if wasm.has_clippy() {
        return browser_side(wasm.cargo("clippy"), &["--target", toolchain::WASM, "--", "-D", "warnings"]);
    }
    print_note("the toolchain that builds for the browser has no clippy: linting for this machine");
    browser_side(workspace::cargo("clippy"), &["--", "-D", "warnings"])
}

/// Compiles what the browser runs, but makes nothing of it, where no lint has done so. The tests need no such step: they
/// make the bundle.
///
/// # Errors
/// The compiler's.
fn browser() -> Result<()> {
    let wasm = toolchain::wasm_toolchain()?;
    if wasm.has_clippy() { Ok(()) } else { browser_side(wasm.cargo("check"), &["--target", toolchain::WASM]) }
}

/// # Errors
/// A lint.
pub fn clippy_xtask() -> Result<()> {
    let lint = |features: &[&str]| {
        let mut lint = workspace::build_command("clippy");
        lint.args(["--package", "xtask", "--all-targets"]).args(features);
        finish(lint.args(["--", "-D", "warnings"]))
    };
    // Not all at once: Turnleaf would be linted with the features of both.
    lint(&["--features", "load"])?;
    lint(&workspace::LINKED_AS_TESTED)
}

/// Left out, and said so, where `cargo-deny` is not installed.
///
/// # Errors
/// A licence, a source or a banned crate. Advisories are left out where their database cannot be had.
pub fn deny() -> Result<()> {
    if !succeeds(workspace::cargo("deny").arg("--version")) {
        print_note("left out: `cargo install cargo-deny --locked` installs it");
        return Ok(());
    }
    let mut check = workspace::cargo("deny");
    if !succeeds(workspace::cargo("deny").arg("fetch")) {
        print_note("the advisories cannot be fetched here and are left out");
        return finish(check.args(["--offline", "check", "bans", "licenses", "sources"]));
    }
    finish(check.arg("check"))
}
