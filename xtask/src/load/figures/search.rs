//! The search time in 100,000 turns (S1), measured by a program that is linked with Turnleaf: a server in between
//! would only add its own time.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::BenchContext;
use crate::report::{BenchFigure, FigureGoal};

/// The bound on the 95th percentile in milliseconds.
const MOST: f64 = 50.0;

/// The kinds of query with the names of their figures.
const NAMES: [(&str, [&str; 2]); 7] = [
    ("a rare word", ["searching a rare word, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("a common word", ["a common word, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("two Han characters", ["two Han characters, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("two words", ["two words, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("two common words", ["two common words, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("a beginning of a word", ["a beginning of a word, SQLite, p95", "the same, PostgreSQL, p95"]),
    ("signs", ["words with signs, SQLite, p95", "the same, PostgreSQL, p95"]),
];

/// Measures S1 on SQLite and, if there is a cluster, on PostgreSQL.
///
/// # Errors
/// The program cannot be run.
pub fn measure_search(bench: &mut BenchContext, program: &Path, postgres: Option<&str>) -> Result<()> {
    let file = format!("sqlite://{}", bench.place.path().join("search.db").display());
    on_database(bench, program, 0, &file)?;
    match postgres {
        Some(url) => on_database(bench, program, 1, url),
        None => {
            bench.notes.push("S1 is left out on PostgreSQL: no cluster was given".into());
            Ok(())
        }
    }
}

fn on_database(bench: &mut BenchContext, program: &Path, which: usize, url: &str) -> Result<()> {
    let done =
        Command::new(program).args(["--database", url]).output().with_context(|| program.display().to_string())?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let measured: Value = serde_json::from_str(line)?;
        let number = |name: &str| measured[name].as_f64().unwrap_or(f64::NAN);
        if measured["query"].is_null() {
            bench.notes.push(format!(
                "{:.0} turns were stored and indexed in {:.0} s",
                number("planted"),
                number("seconds")
            ));
            continue;
        }
        let (name, names) =
            NAMES.iter().find(|(name, _)| measured["query"] == *name).context("a query without a name")?;
        let value = number("p95_ms");
        bench.figures.push(BenchFigure {
            id: "S1",
            name: names[which],
            unit: "ms",
            value,
            goal: FigureGoal::AtMost(MOST),
            ratio: None,
        });
        bench.notes.push(format!("{name}: p50 {:.1} ms, the slowest {:.1} ms", number("p50_ms"), number("max_ms")));
    }
    Ok(())
}
