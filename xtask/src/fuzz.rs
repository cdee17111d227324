//! `cargo xtask fuzz`: runs libFuzzer on every parser of untrusted input, each for a bounded time. Only Turnleaf's
//! own packages and some parsers are instrumented (`fuzz/rustc`), with the compiler of every other build, so the
//! other dependencies are not rebuilt.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::step::{find_program, print_note, run as finish, run_step};
use crate::workspace;

/// The number of targets that run concurrently.
const AT_ONCE: usize = 2;
/// The time for one input; a parser that takes longer has a bug.
const SECONDS_PER_INPUT: u32 = 20;
/// The memory for one input. An archive that expands to more has exceeded its bounds.
const MEGABYTES: u32 = 2048;

/// The packages compiled with some optimization, which gains more runs than it costs: ours and the parsers. Packages
/// that many others depend on are excluded, because those would be rebuilt.
const OPTIMISED: [&str; 12] = [
    "dom_query",
    "dom_smoothie",
    "html5ever",
    "markup5ever",
    "selectors",
    "turnleaf",
    "turnleaf-convert",
    "turnleaf-domain",
    "turnleaf-interchange",
    "turnleaf-platform",
    "turnleaf-providers",
    "turnleaf-tools",
];

/// The result of a target.
struct FuzzOutcome {
    target: String,
    /// The number of executions, and of code edges that they reached.
    runs: u64,
    edges: u64,
    /// Inputs with more coverage than the corpus.
    finds: usize,
    /// The path of the input that crashed the target.
    crash: Option<PathBuf>,
    log: PathBuf,
}

/// Fuzzes the named targets, or all, each for this many seconds.
///
/// # Errors
/// A target does not exist, the build failed, or an input crashed.
pub fn run(names: &[String], seconds: u32) -> Result<()> {
    let targets = targets()?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        bail!("there is no fuzz target `{unknown}`; there are {}", targets.join(", "));
    }
    let chosen: Vec<String> = targets.into_iter().filter(|name| names.is_empty() || names.contains(name)).collect();
    if !cfg!(unix) || ["c++", "g++", "clang++"].iter().all(|name| find_program(name).is_none()) {
        print_note("SKIPPED: libFuzzer is built with a C++ compiler, and there is none (`apt-get install g++`)");
        return Ok(());
    }
    let program = run_step("build the fuzz targets", build)?;
    let outcomes = run_step(&format!("fuzz {} targets for {seconds} s each", chosen.len()), || {
        fuzz_all(&program, &chosen, seconds)
    })?;
    report(&outcomes)
}

/// Lists the targets: each has a directory in the corpus (`tests/fuzz_corpus.rs` checks this).
fn targets() -> Result<Vec<String>> {
    let entries = fs::read_dir(corpus()).with_context(|| corpus().display().to_string())?;
    let mut names: Vec<String> = entries.flatten().map(|one| one.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn corpus() -> PathBuf {
    workspace::root().join("fuzz/corpus")
}

fn build() -> Result<PathBuf> {
    let mut build = workspace::build_command("build");
    build.args(["--package", "turnleaf-fuzz"]).env("RUSTC_WORKSPACE_WRAPPER", workspace::root().join("fuzz/rustc"));
    for package in OPTIMISED {
        build.args(["--config", &format!("profile.dev.package.{package}.opt-level=1")]);
    }
    finish(&mut build)?;
    Ok(workspace::target().join("debug/turnleaf-fuzz"))
}

fn fuzz_all(program: &Path, targets: &[String], seconds: u32) -> Result<Vec<FuzzOutcome>> {
    let waiting = Mutex::new(targets.iter().collect::<VecDeque<_>>());
    let next = || waiting.lock().ok()?.pop_front();
    let outcomes = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    let fuzzed = std::iter::from_fn(next).map(|target| fuzz(program, target, seconds));
                    fuzzed.collect::<Result<Vec<_>>>()
                })
            })
            .collect();
        let ended = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a worker broke down")));
        ended.collect::<Result<Vec<_>>>()
    })?;
    let mut outcomes: Vec<FuzzOutcome> = outcomes.into_iter().flatten().collect();
    outcomes.sort_by(|one, other| one.target.cmp(&other.target));
    Ok(outcomes)
}

/// Runs one target on a copy of its corpus: a person decides which finds to keep.
fn fuzz(program: &Path, target: &str, seconds: u32) -> Result<FuzzOutcome> {
    let dir = workspace::target().join("fuzz").join(target);
    let crashes = dir.join("crashes");
    fs::create_dir_all(&crashes).with_context(|| crashes.display().to_string())?;
    let finds = dir.join("finds");
    if finds.exists() {
        fs::remove_dir_all(&finds)?;
    }
    fs::create_dir_all(&finds)?;
    let log = dir.join("log");
    let output = File::create(&log).with_context(|| log.display().to_string())?;
    let mut fuzzer = Command::new(program);
    fuzzer.env("TURNLEAF_FUZZ_TARGET", target).current_dir(&dir);
    // libFuzzer writes its finds into the first directory.
    fuzzer.arg(&finds).arg(corpus().join(target));
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={SECONDS_PER_INPUT}"));
    fuzzer.arg(format!("-rss_limit_mb={MEGABYTES}")).arg(format!("-artifact_prefix={}/", crashes.display()));
    fuzzer.args(["-print_final_stats=1", "-close_fd_mask=0"]);
    fuzzer.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let status = fuzzer.status().with_context(|| format!("cannot start {}", program.display()))?;
    let log_text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let crash = log_text.lines().rev().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
    let crash = match (status.success(), crash) {
        (true, _) => None,
        (false, Some(path)) => Some(PathBuf::from(path.trim())),
        (false, None) => bail!("{target} ended ({status}) without an input; its output is {}", log.display()),
    };
    Ok(FuzzOutcome {
        target: target.to_owned(),
        runs: number_behind(&log_text, "stat::number_of_executed_units:"),
        edges: number_behind(&log_text, " cov: "),
        finds: fs::read_dir(&finds)?.count(),
        crash,
        log,
    })
}

/// Returns the number after the last occurrence of these words.
fn number_behind(text: &str, words: &str) -> u64 {
    let behind = text.rsplit_once(words).map_or("", |(_, behind)| behind.trim_start());
    behind.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Prints the table, and the paths of the crashing inputs.
fn report(outcomes: &[FuzzOutcome]) -> Result<()> {
    println!("\n{:<18} {:>12} {:>8} {:>8}", "target", "executions", "edges", "finds");
    for FuzzOutcome { target, runs, edges, finds, crash, .. } in outcomes {
        let word = if crash.is_some() { "  CRASHED" } else { "" };
        println!("{target:<18} {runs:>12} {edges:>8} {finds:>8}{word}");
    }
    let crashed: Vec<String> = outcomes
        .iter()
        .filter_map(|one| {
            Some(format!("{}: {} (output: {})", one.target, one.crash.as_ref()?.display(), one.log.display()))
        })
        .collect();
    if !crashed.is_empty() {
        bail!("inputs were found that do not hold:\n{}", crashed.join("\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_run_figures_are_read_from_output() {
        let output =
            "#2\tINITED cov: 12 ft: 13\n#9\tNEW    cov: 345 ft: 9 corp: 3/9b\nstat::number_of_executed_units: 6789\n";
        assert_eq!(number_behind(output, " cov: "), 345);
        assert_eq!(number_behind(output, "stat::number_of_executed_units:"), 6789);
        assert_eq!(number_behind(output, "stat::peak_rss_mb:"), 0);
    }

    #[test]
    fn crash_fails_run_and_names_its_input() {
        let outcome = |crash: Option<&str>| FuzzOutcome {
            target: "sse".to_owned(),
            runs: 1,
            edges: 2,
            finds: 0,
            crash: crash.map(PathBuf::from),
            log: PathBuf::from("log"),
        };
        assert!(report(&[outcome(None)]).is_ok());
        let error = report(&[outcome(None), outcome(Some("crashes/crash-1"))]).unwrap_err().to_string();
        assert!(error.contains("sse: crashes/crash-1"), "{error}");
    }

    #[test]
    fn unknown_target_is_refused_before_anything_is_built() {
        let error = run(&["nonsense".to_owned()], 1).unwrap_err().to_string();
        assert!(error.contains("nonsense") && error.contains("json_bounds"), "{error}");
    }
}
