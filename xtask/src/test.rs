//! `cargo xtask test`: every check and every test, part by part, with a table at the end. A part that fails does not keep
//! the next from being run, unless that one needs what the first should have made.

mod api;
pub mod browser;
mod parallel_part;
mod peers;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::parallel_part::ParallelPart;
use crate::front::{self, FrontProfile};
use crate::postgres::PostgresCluster;
use crate::step::{format_duration, print_note, run as finish, run_step, succeeds};
use crate::{budget, check, fuzz, packages, server, workspace};

/// A part of the whole, in the order they run: what is quick to fail comes first.
struct TestPart {
    name: &'static str,
    work: fn() -> Result<()>,
    /// The part with which it begins, in a process of its own: it does not use what the machine has.
    with: Option<&'static str>,
}

impl TestPart {
    const fn new(name: &'static str, work: fn() -> Result<()>) -> Self {
        Self { name, work, with: None }
    }

    const fn in_parallel_with(self, with: &'static str) -> Self {
        Self { with: Some(with), ..self }
    }
}

const PARTS: [TestPart; 11] = [
    TestPart::new("fmt", check::format),
    TestPart::new("unit", unit),
    TestPart::new("clippy", clippy),
    TestPart::new("deny", check::deny),
    // With what the tests were built with.
    TestPart::new("fuzz", fuzz::run_all),
    // The end of it is one thread's work for minutes.
    TestPart::new("front", front).in_parallel_with("clippy"),
    TestPart::new("budget", release),
    TestPart::new("xtask", commands),
    TestPart::new("api", api::run),
    // It waits for a minute that a silent provider be given up.
    TestPart::new("peers", peers::run).in_parallel_with("api"),
    TestPart::new("end2end", end2end),
];

/// How a part ended.
struct PartResult {
    name: &'static str,
    time: Duration,
    failure: Option<String>,
}

/// Runs the named parts, or all of them.
///
/// # Errors
/// A part failed, or there is none of a name that was given.
pub fn run(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|part| part.name != name.as_str())) {
        bail!("there is no part `{unknown}`; there are {}", PARTS.map(|part| part.name).join(", "));
    }
    let is_chosen = |part: &&TestPart| names.is_empty() || names.iter().any(|name| name == part.name);
    let mut ended: Vec<PartResult> = Vec::new();
    let mut running: Vec<ParallelPart> = Vec::new();
    for part in PARTS.iter().filter(is_chosen) {
        for other in PARTS.iter().filter(is_chosen).filter(|other| other.with == Some(part.name)) {
            print_note(&format!("{} begins beside {}", other.name, part.name));
            // Where that does not work, it has its turn alone.
            running.extend(ParallelPart::start(other.name).ok());
        }
        let start = Instant::now();
        let begun = running.iter().position(|one| one.name == part.name).map(|at| running.remove(at));
        let failure = match begun {
            Some(one) => run_step(part.name, || one.wait_for_end()),
            None => run_step(part.name, part.work),
        };
        let failure = failure.err().map(|error| format!("{error:#}"));
        if let Some(failure) = &failure {
            eprintln!("\n{failure}\n");
        }
        ended.push(PartResult { name: part.name, time: start.elapsed(), failure });
    }
    summary(&ended)
}

/// The table, and the one line that says it all.
fn summary(ended: &[PartResult]) -> Result<()> {
    println!("\n{:<10} {:>12}", "part", "time");
    for part in ended {
        let word = if part.failure.is_some() { "FAILED" } else { "passed" };
        println!("{:<10} {:>12}  {word}", part.name, format_duration(part.time));
    }
    let failed = ended.iter().filter(|part| part.failure.is_some()).count();
    println!("\n{} passed, {failed} failed", ended.len() - failed);
    if failed > 0 {
        let names: Vec<_> = ended.iter().filter(|part| part.failure.is_some()).map(|part| part.name).collect();
        bail!("failed: {}", names.join(", "));
    }
    Ok(())
}

/// The tests in Rust, against both databases.
fn unit() -> Result<()> {
    let cluster = run_step("start a throwaway PostgreSQL", PostgresCluster::start)?;
    let mut test = if succeeds(workspace::cargo("nextest").arg("--version")) {
        let mut nextest = workspace::cargo("nextest");
        nextest.arg("run").arg("--target-dir").arg(workspace::target());
        nextest.args(["--no-fail-fast", "--status-level", "slow", "--final-status-level", "slow"]);
        nextest
    } else {
        print_note("cargo-nextest is not installed; cargo's own runner is used");
        let mut test = workspace::build_command("test");
        test.arg("--no-fail-fast");
        test
    };
    finish(test.args(workspace::PRODUCT).env("TURNLEAF_TEST_PG", cluster.url()))
}

fn clippy() -> Result<()> {
    run_step("lint the server's side", check::clippy_server)?;
    run_step("lint the browser's side", check::clippy_browser)?;
    run_step("lint the project's commands", check::clippy_xtask)
}

/// The bundle as people get it, held to its budget.
fn front() -> Result<()> {
    front::build_front(FrontProfile::Release)?.check_size()
}

/// The release with that bundle inside.
fn release() -> Result<()> {
    budget::check_budget(&server::build_server(&front::ensure_release()?, server::CargoProfile::Release)?)
}

fn commands() -> Result<()> {
    finish(workspace::build_command("test").args(["--quiet", "--package", "xtask", "--features", "load"]))
}

/// How often a browser test is tried at most, each time on empty data (`end2end/playwright.config.ts`).
const TRIES: usize = 3;
/// How many of them are on PostgreSQL, each on databases of its own.
const ON_POSTGRES: usize = 2;

/// The browser tests, with the bundle of `front` and the server that the Rust tests were built with: the same features
/// and the same profile, so that nothing is compiled twice.
fn end2end() -> Result<()> {
    let (binary, browser) = build_for_browser()?;
    let cluster = run_step("start a throwaway PostgreSQL", PostgresCluster::start)?;
    let databases = cluster.create_databases("end2end", TRIES * ON_POSTGRES)?;
    run_step("run the browser tests", || browser.run_tests(&binary, &workspace::site(), &databases))
}

/// `cargo xtask pictures`: how the pages look now is how they should look. What changed is for a person to see, in the
/// diff of `end2end/pictures`.
///
/// # Errors
/// A step of the build failed, or a page could not be looked at.
pub fn pictures() -> Result<()> {
    // The style is part of the site.
    front()?;
    let (binary, browser) = build_for_browser()?;
    run_step("look at every page", || browser.approve_pictures(&binary, &workspace::site()))
}

/// `cargo xtask gallery`: the pictures that people look at, in docs/gallery and the README, of the pages as they are now. In
/// the fonts of this machine: one has to have the Chinese words.
///
/// # Errors
/// A step of the build failed, no font has Chinese words, or a page could not be looked at.
pub fn gallery() -> Result<()> {
    let fonts = Command::new("fc-list").args([":lang=zh", "file"]).output().map(|said| said.stdout).unwrap_or_default();
    if fonts.is_empty() {
        bail!("no font of this machine has Chinese words; `apt-get install fonts-noto-cjk` brings one");
    }
    front()?;
    let (binary, browser) = build_for_browser()?;
    run_step("take the pictures of the docs", || browser.update_gallery(&binary, &workspace::site()))
}

/// What browser tests run: the server, the site, and what makes long chats.
fn build_for_browser() -> Result<(PathBuf, browser::Browser)> {
    front::ensure_release()?;
    let binary = server()?;
    run_step("compile what makes long chats", || {
        let mut build = workspace::build_command("build");
        finish(build.args(["--package", "xtask", "--bin", "plant"]).args(workspace::LINKED_AS_TESTED))
    })?;
    Ok((binary, run_step("prepare the browser", browser::prepare_browser)?))
}

/// The tests of servers of tools from npm, which the others skip.
fn tools() -> Result<()> {
    let end2end = workspace::root().join("end2end");
    packages::install_node_packages("the tests with other servers of tools", &end2end)?;
    let mut test = workspace::build_command("test");
    test.args(workspace::PRODUCT).args(["--test", "tools", "--", "third_party_servers::"]);
    finish(test.env("TURNLEAF_TEST_MCP", end2end.join("node_modules")))
}

/// The server that the Rust tests were built with.
///
/// # Errors
/// The compiler's.
fn server() -> Result<PathBuf> {
    run_step("compile the server", || {
        finish(workspace::build_command("test").arg("--no-run").args(workspace::PRODUCT))
    })?;
    Ok(server::debug_binary())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_part_fails_run() {
        let ended = |failure: Option<&str>| PartResult {
            name: "fmt",
            time: Duration::ZERO,
            failure: failure.map(String::from),
        };
        assert!(summary(&[ended(None), ended(None)]).is_ok());
        assert!(summary(&[ended(None), ended(Some("broken"))]).is_err());
    }

    #[test]
    fn unknown_part_is_refused_before_anything_runs() {
        assert!(run(&["nonsense".to_owned()]).is_err());
    }
}
