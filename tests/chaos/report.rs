//! The report: one row for each scenario and database, printed as a table at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio::task::JoinError;

use crate::scenario_context::ScenarioDatabase;

/// The counters, notes and failures of a scenario.
#[derive(Debug, Default)]
pub struct ScenarioFindings {
    done: BTreeMap<&'static str, usize>,
    notes: Vec<String>,
    failures: Vec<String>,
}

impl ScenarioFindings {
    /// Adds to a counter.
    pub fn count(&mut self, label: &'static str, times: usize) {
        *self.done.entry(label).or_default() += times;
    }

    /// Adds a measurement to the table.
    pub fn add_note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Records a failure.
    pub fn add_failure(&mut self, text: String) {
        eprintln!("FAILED: {text}");
        self.failures.push(text);
    }

    /// Returns a counter.
    pub fn count_of(&self, label: &str) -> usize {
        self.done.get(label).copied().unwrap_or_default()
    }

    pub fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Records a failure if the condition does not hold.
    pub fn check(&mut self, is_so: bool, text: impl FnOnce() -> String) {
        if !is_so {
            self.add_failure(text());
        }
    }
}

pub enum ScenarioOutcome {
    Ran(ScenarioFindings),
    Panicked(String),
    Skipped,
}

/// Returns the panic message of a task.
pub fn panic_message(panicked: JoinError) -> String {
    let Ok(words) = panicked.try_into_panic() else { return "it was cancelled".into() };
    let text = words.downcast_ref::<String>().cloned();
    text.or_else(|| words.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "it panicked".into())
}

/// A row of the table.
pub struct ReportRow {
    scenario: &'static str,
    database: ScenarioDatabase,
    criteria: &'static str,
    done: String,
    failures: Vec<String>,
    is_skipped: bool,
    time: Duration,
    kept: Option<PathBuf>,
}

impl ReportRow {
    pub fn from_outcome(
        scenario: &'static str,
        database: ScenarioDatabase,
        criteria: &'static str,
        outcome: ScenarioOutcome,
        time: Duration,
    ) -> Self {
        let is_skipped = matches!(outcome, ScenarioOutcome::Skipped);
        let (done, failures) = match outcome {
            ScenarioOutcome::Ran(findings) => {
                let counts = findings.done.iter().map(|(label, times)| format!("{times} {label}"));
                (counts.chain(findings.notes.iter().cloned()).collect::<Vec<_>>().join(", "), findings.failures)
            }
            ScenarioOutcome::Panicked(words) => ("did not end".into(), vec![words]),
            ScenarioOutcome::Skipped => ("nothing: PostgreSQL is not installed".into(), Vec::new()),
        };
        Self { scenario, database, criteria, done, failures, is_skipped, time, kept: None }
    }

    pub fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    pub fn kept_in(self, dir: PathBuf) -> Self {
        Self { kept: Some(dir), ..self }
    }

    fn result(&self) -> String {
        match self.failures.len() {
            _ if self.is_skipped => "skipped".into(),
            0 => "passed".into(),
            count => format!("FAILED ({count})"),
        }
    }

    /// Returns the line that is printed when the scenario has ended.
    pub fn table_line(&self) -> String {
        let (name, database, result) = (self.scenario, self.database.name(), self.result());
        format!("{name} on {database}: {result} after {:.0} s ({})", self.time.as_secs_f64(), self.done)
    }
}

/// Prints the table and the failures.
pub fn print_report(rows: &[ReportRow], seed: u64) -> ExitCode {
    let heads = ["scenario", "database", "what was done", "pass criteria", "result", "time"];
    let mut table = vec![heads.map(str::to_owned)];
    table.extend(rows.iter().map(|row| {
        let time = format!("{:.0} s", row.time.as_secs_f64());
        [row.scenario.into(), row.database.name().into(), row.done.clone(), row.criteria.into(), row.result(), time]
    }));
    let widths: Vec<usize> =
        (0..heads.len()).map(|at| table.iter().map(|line| line[at].chars().count()).max().unwrap_or(0)).collect();
    println!("\nseed {seed}");
    for (at, line) in table.iter().enumerate() {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
        if at == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            println!("|-{}-|", rules.collect::<Vec<_>>().join("-|-"));
        }
    }
    let failed: Vec<&ReportRow> = rows.iter().filter(|row| row.has_failed()).collect();
    for row in &failed {
        println!("\n{} on {} failed:", row.scenario, row.database.name());
        row.failures.iter().for_each(|failure| println!("  {failure}"));
        if let Some(dir) = &row.kept {
            println!("  kept: {}", dir.display());
        }
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
