//! `cargo xtask budget`: fails if a release exceeds its budgets for the size of the binary, the time to the first
//! response without a database, and the memory at rest. [`crate::front`] has the budget for a browser's first visit.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::http;
use crate::process::RunningProcess;
use crate::server::{self, CargoProfile};
use crate::step::{format_size, print_note, run_step};

/// The size of the binary, with the site inside; the goal is 40 MB (`docs/adr/0058-release-profile-and-assets.md`).
const BINARY: u64 = 44_000_000;
/// The time from the start of the process in an empty directory to the first page; the goal is 60 ms.
const START: Duration = Duration::from_millis(100);
/// The resident memory at rest, after one page; the goal was 30 MB.
const MEMORY: u64 = 27_000_000;

/// The number of starts, of which the fastest counts: other load on the machine only makes a start slower.
const TRIES: usize = 10;
/// The rest of a server before its memory is read.
const REST: Duration = Duration::from_secs(10);

/// A figure with its budget.
struct BudgetFigure {
    name: &'static str,
    found: String,
    most: String,
    is_kept: bool,
}

/// Builds a release and checks its budgets.
///
/// # Errors
/// A step of the build failed, the server does not start, or a figure is over its budget.
pub fn run() -> Result<()> {
    check_budget(&server::build_with_front(CargoProfile::Release)?)
}

/// Checks the budgets of a release.
///
/// # Errors
/// The server does not start, or a figure is over its budget.
pub fn check_budget(binary: &Path) -> Result<()> {
    let figures = run_step("measure the release", || measure(binary))?;
    for BudgetFigure { name, found, most, .. } in &figures {
        print_note(&format!("{name}: {found}, of {most} at most"));
    }
    let broken: Vec<_> = figures.iter().filter(|figure| !figure.is_kept).map(|figure| figure.name).collect();
    if !broken.is_empty() {
        bail!("over budget: {}; `cargo xtask weigh` shows what weighs what", broken.join(", "));
    }
    Ok(())
}

fn measure(binary: &Path) -> Result<Vec<BudgetFigure>> {
    let bytes = fs::metadata(binary)?.len();
    let dir = tempfile::Builder::new().prefix("turnleaf-budget").tempdir()?;
    let mut resting = Vec::new();
    let mut quickest = Duration::MAX;
    for attempt in 0..TRIES {
        let folder = dir.path().join(attempt.to_string());
        fs::create_dir(&folder)?;
        let begun = Instant::now();
        let mut running = server::start_server(binary, &folder, &[])?;
        quickest = quickest.min(first_page(&mut running, begun)?);
        resting.push(running);
    }
    let milliseconds = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
    let mut figures = vec![
        BudgetFigure { name: "binary", found: format_size(bytes), most: format_size(BINARY), is_kept: bytes <= BINARY },
        BudgetFigure {
            name: "start to the first page, no database yet",
            found: milliseconds(quickest),
            most: milliseconds(START),
            is_kept: quickest <= START,
        },
    ];
    if cfg!(target_os = "linux") {
        std::thread::sleep(REST);
        let memory = resting.iter().map(RunningProcess::resident_memory).collect::<Result<Vec<_>>>()?;
        let memory = memory.into_iter().min().context("no server was started")?;
        let (found, most, is_kept) = (format_size(memory), format_size(MEMORY), memory <= MEMORY);
        figures.push(BudgetFigure { name: "memory at rest", found, most, is_kept });
    } else {
        print_note("left out: the memory at rest is read from /proc, which this system has not");
    }
    Ok(figures)
}

/// Returns the time until the first page was served.
fn first_page(running: &mut RunningProcess, begun: Instant) -> Result<Duration> {
    let limit = Duration::from_secs(20);
    loop {
        if http::get(running.address, "/", "identity").is_ok_and(|answer| answer.status == 200) {
            return Ok(begun.elapsed());
        }
        running.check_running()?;
        if begun.elapsed() > limit {
            bail!("no page after {} s:\n{}", limit.as_secs(), running.output());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
