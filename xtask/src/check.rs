//! `cargo xtask check`: every check that does not run the product.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::{output, print_note, run as finish, run_step, succeeds};
use crate::{front, toolchain, workspace};

/// Runs all checks; stops at the first that fails.
///
/// # Errors
/// A check failed; its output is on the terminal.
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

/// Fails on the lints of a build made with [`workspace::lint_while_compiling`]: cargo repeats what the compiler has
/// printed about packages that are up to date.
///
/// # Errors
/// A lint, or the compiler reports an error.
pub fn report_lints(build: &mut Command) -> Result<()> {
    let printed = output(build.arg("--message-format=json"))?;
    let lints = lints_in(&printed);
    if !lints.is_empty() {
        bail!("{}", lints.into_iter().collect::<String>());
    }
    Ok(())
}

/// Returns the warnings in cargo's JSON, each once: a file that is part of several targets is linted with each.
fn lints_in(printed: &str) -> BTreeSet<String> {
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let warnings =
        messages.filter(|line| line["reason"] == "compiler-message" && line["message"]["level"] == "warning");
    warnings.filter_map(|line| line["message"]["rendered"].as_str().map(String::from)).collect()
}

/// Runs a cargo command on the code of the browser.
fn browser_side(mut cargo: Command, more: &[&str]) -> Result<()> {
    let target = workspace::target().join("front");
    cargo.args(["--package", "turnleaf", "--lib", "--features", "hydrate"]).arg("--target-dir").arg(target);
    finish(cargo.args(more))
}

/// Lints the code of the browser, also the parts that only development builds have. It uses the macros that the build of
/// the bundle has compiled, which has the same profile and the same `RUSTC_BOOTSTRAP`. If the wasm toolchain has no clippy,
/// the same code with the same features is linted for the host.
///
/// # Errors
/// A lint.
pub fn clippy_browser() -> Result<()> {
    const DEVELOPMENT: &str = "build.rustflags=[\"-Cdebug-assertions=on\"]";
    let wasm = toolchain::wasm_toolchain()?;
    if wasm.has_clippy() {
        let mut lint = wasm.cargo("clippy");
        lint.env("RUSTC_BOOTSTRAP", "1").args(["--config", DEVELOPMENT]);
        let profile = ["--target", toolchain::WASM, "--profile", front::WASM_PROFILE];
        return browser_side(lint, &[profile.as_slice(), &["--", "-D", "warnings"]].concat());
    }
    print_note("the toolchain that builds for the browser has no clippy: linting for this machine");
    browser_side(workspace::cargo("clippy"), &["--", "-D", "warnings"])
}

/// Type-checks the code of the browser for wasm, unless the lint has done so. The tests need no such step, because
/// they build the bundle.
///
/// # Errors
/// The compiler reports an error.
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
    // The steps are separate, because otherwise Turnleaf would be linted with the features of both.
    lint(&["--features", "load"])?;
    lint(&workspace::LINKED_AS_TESTED)
}

/// Checks dependencies with `cargo-deny`; skipped with a note if it is not installed.
///
/// # Errors
/// A license, a source or a banned crate is not allowed. Advisories are skipped if their database cannot be fetched.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_cargo_output_are_lints() {
        let line = |reason: &str, level: &str, rendered: &str| {
            serde_json::json!({ "reason": reason, "message": { "level": level, "rendered": rendered } }).to_string()
        };
        let printed = [
            line("compiler-message", "warning", "unused import"),
            line("compiler-message", "warning", "unused import"),
            line("compiler-message", "note", "a note"),
            line("compiler-artifact", "warning", "an artifact"),
            "no JSON".to_owned(),
        ];
        assert_eq!(lints_in(&printed.join("\n")), BTreeSet::from(["unused import".to_owned()]));
    }
}
