//! `cargo xtask test`: runs every check and test, part by part, and prints a table at the end. After a failed part
//! the others still run, unless one needs its result.

mod api;
pub mod browser;
mod parallel_part;
mod peers;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::parallel_part::ParallelPart;
use crate::front::{self, FrontProfile};
use crate::postgres::PostgresCluster;
use crate::step::{format_duration, print_note, run as finish, run_step, succeeds};
use crate::{budget, check, memory, packages, server, workspace};

/// A part of the test run. The order is the execution order: parts that fail fast come first.
struct TestPart {
    name: &'static str,
    work: fn() -> Result<()>,
    /// The part with which it starts concurrently, in a process of its own, because it does not use the whole
    /// machine.
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

const PARTS: [TestPart; 10] = [
    TestPart::new("fmt", check::format),
    TestPart::new("unit", unit),
    TestPart::new("xtask", commands),
    TestPart::new("deny", check::deny),
    TestPart::new("api", api::run),
    // This part waits a minute for the timeout of a silent provider.
    TestPart::new("peers", peers::run).in_parallel_with("api"),
    // The lints of what the parts before have compiled, and of the browser's side. The generator of requests uses one core.
    TestPart::new("clippy", clippy).in_parallel_with("api"),
    // The bundle and the release end with minutes on one core, and many tests wait for a clock. The parts above need
    // neither.
    TestPart::new("release", build_release).in_parallel_with("unit"),
    TestPart::new("budget", check_budget),
    TestPart::new("end2end", end2end),
];

/// The result of a part.
struct PartResult {
    name: &'static str,
    time: Duration,
    failure: Option<String>,
}

/// Runs the named parts, or all.
///
/// # Errors
/// A part failed, or a name is unknown.
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
            // If the process cannot be started, the part runs later by itself.
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

/// Prints the table and the summary.
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

/// Runs the Rust tests on both databases.
fn unit() -> Result<()> {
    let cluster = run_step("start a throwaway PostgreSQL", PostgresCluster::start)?;
    let mut test = if succeeds(workspace::cargo("nextest").arg("--version")) {
        let mut nextest = workspace::cargo("nextest");
        nextest.arg("run").arg("--target-dir").arg(workspace::target());
        nextest.args(["--no-fail-fast", "--status-level", "slow", "--final-status-level", "slow"]);
        // One more than there are processors, because many tests wait for a clock.
        let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
        nextest.arg(format!("--test-threads={threads}"));
        nextest
    } else {
        print_note("cargo-nextest is not installed; cargo's own runner is used");
        let mut test = workspace::build_command("test");
        test.arg("--no-fail-fast");
        test
    };
    let test = workspace::lint_while_compiling(&mut test).args(workspace::PRODUCT);
    let files = memory::shared_dir("turnleaf-unit");
    if let Some(dir) = &files {
        test.env("TMPDIR", dir.path());
    }
    finish(test.env("TURNLEAF_TEST_PG", cluster.url()))
}

/// Returns the command that compiles tests as the other parts do.
fn compile_tests(packages: &[&str]) -> Command {
    let mut compile = workspace::build_command("test");
    workspace::lint_while_compiling(&mut compile).arg("--no-run").args(packages);
    compile
}

/// The tests of the commands that need nothing of Turnleaf.
const COMMANDS: [&str; 4] = ["--package", "xtask", "--features", "load"];

fn clippy() -> Result<()> {
    run_step("lint the browser's side", check::clippy_browser)?;
    if workspace::clippy_compiler().is_none() {
        run_step("lint the server's side", check::clippy_server)?;
        return run_step("lint the project's commands", check::clippy_xtask);
    }
    run_step("lint the server's side", || check::report_lints(&mut compile_tests(&workspace::PRODUCT)))?;
    run_step("lint the project's commands", || {
        check::report_lints(&mut compile_tests(&COMMANDS))?;
        let mut linked = compile_tests(&["--package", "xtask"]);
        check::report_lints(linked.args(workspace::LINKED_AS_TESTED))
    })
}

/// Builds the bundle and the release with it, and checks the size of the bundle.
fn build_release() -> Result<()> {
    server::build_with_front(server::CargoProfile::Release).map(drop)
}

/// The release that this run has built.
static RELEASE: OnceLock<PathBuf> = OnceLock::new();

/// Checks the budgets of the release.
fn check_budget() -> Result<()> {
    let binary = server::build_server(&front::ensure_release()?, server::CargoProfile::Release)?;
    budget::check_budget(RELEASE.get_or_init(|| binary))
}

fn commands() -> Result<()> {
    let mut test = workspace::build_command("test");
    finish(workspace::lint_while_compiling(&mut test).arg("--quiet").args(COMMANDS))
}

/// The attempts of a browser test, each on empty data (`end2end/playwright.config.ts`).
const TRIES: usize = 3;
/// The number of tests on PostgreSQL, each with databases of its own.
const ON_POSTGRES: usize = 2;

/// Runs the browser tests with the release if this run has built it: it needs a fraction of the processor. Else with the
/// server of the Rust tests, which takes less time to compile.
fn end2end() -> Result<()> {
    let (binary, browser) = build_for_browser()?;
    let cluster = run_step("start a throwaway PostgreSQL", PostgresCluster::start)?;
    let databases = cluster.create_databases("end2end", TRIES * ON_POSTGRES)?;
    run_step("run the browser tests", || browser.run_tests(&binary, &workspace::site(), &databases))
}

/// Builds the bundle, whose size `cargo xtask front` and the release check.
fn build_front() -> Result<()> {
    front::build_front(FrontProfile::Release).map(drop)
}

/// `cargo xtask pictures`: approves the current appearance of the pages. A person reviews the changes in the diff of
/// `end2end/pictures`.
///
/// # Errors
/// A step of the build failed, or a page could not be captured.
pub fn pictures() -> Result<()> {
    // The style is part of the site.
    build_front()?;
    let (binary, browser) = build_for_browser()?;
    run_step("look at every page", || browser.approve_pictures(&binary, &workspace::site()))
}

/// `cargo xtask gallery`: updates the pictures in docs/gallery and the README from the current pages, with the fonts
/// of this machine, one of which must support Chinese.
///
/// # Errors
/// A step of the build failed, no font supports Chinese, or a page could not be captured.
pub fn gallery() -> Result<()> {
    let fonts =
        Command::new("fc-list").args([":lang=zh", "file"]).output().map(|output| output.stdout).unwrap_or_default();
    if fonts.is_empty() {
        bail!("no font of this machine has Chinese words; `apt-get install fonts-noto-cjk` brings one");
    }
    build_front()?;
    let (binary, browser) = build_for_browser()?;
    run_step("take the pictures of the docs", || browser.update_gallery(&binary, &workspace::site()))
}

/// Builds what the browser tests run: the server, the site, and the generator of long chats.
fn build_for_browser() -> Result<(PathBuf, browser::Browser)> {
    front::ensure_release()?;
    let binary = RELEASE.get().map_or_else(server, |release| Ok(release.clone()))?;
    run_step("compile what makes long chats", || {
        let mut build = workspace::build_command("build");
        let build = workspace::lint_while_compiling(&mut build).args(["--package", "xtask", "--bin", "plant"]);
        finish(build.args(workspace::LINKED_AS_TESTED))
    })?;
    Ok((binary, run_step("prepare the browser", browser::prepare_browser)?))
}

/// Runs the tests with third-party tool servers from npm and PyPI and an authorization server from npm, which the other
/// parts skip.
fn tools() -> Result<()> {
    let end2end = workspace::root().join("end2end");
    packages::install_node_packages("the tests with other servers of tools", &end2end)?;
    let servers = workspace::root().join("xtask/peers/servers");
    packages::install_node_packages("the tests with other servers of tools", &servers)?;
    let python = workspace::target().join("peers/fastmcp");
    packages::create_python_environment(&servers.join("requirements.txt"), &python)?;
    let chromium = browser::chromium()?;
    for target in ["tools", "server"] {
        let mut test = workspace::build_command("test");
        let third_party = ["--test", target, "--", "third_party_"];
        workspace::lint_while_compiling(&mut test).args(workspace::PRODUCT).args(third_party);
        test.env("TURNLEAF_TEST_MCP", end2end.join("node_modules")).env("TURNLEAF_TEST_SERVERS", &servers);
        test.env("TURNLEAF_TEST_FASTMCP", python.join("bin/python")).env("TURNLEAF_TEST_CHROMIUM", &chromium);
        finish(&mut test)?;
    }
    Ok(())
}

/// Builds the server with the features of the Rust tests.
///
/// # Errors
/// The compiler reports an error.
pub fn server() -> Result<PathBuf> {
    run_step("compile the server", || finish(&mut compile_tests(&workspace::PRODUCT)))?;
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
    fn parallel_part_begins_before_its_end_is_awaited() {
        for (at, part) in PARTS.iter().enumerate() {
            let Some(with) = part.with else { continue };
            assert!(PARTS[..at].iter().any(|earlier| earlier.name == with), "{} with {with}", part.name);
        }
    }

    #[test]
    fn unknown_part_is_refused_before_anything_runs() {
        assert!(run(&["nonsense".to_owned()]).is_err());
    }
}
