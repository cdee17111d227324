//! The trend of the figures: one line of JSON per measurement, with its date, commit and machine. Figures are
//! compared only with the last ones of the same machine.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::step::{output, print_note};
use crate::workspace;

/// Appends a measurement to the trend, and fails if a figure is worse than the last one of this machine by more than
/// `fail_over` percent.
///
/// # Errors
/// A figure is worse, or a file cannot be read or written.
pub fn append_and_compare(measured: &Path, trend: &Path, fail_over: Option<f64>) -> Result<()> {
    let measured: Value = serde_json::from_slice(&fs::read(measured)?)?;
    let now = entry(&measured, &date()?, &commit(), &machine());
    let before = if trend.exists() { fs::read_to_string(trend)? } else { String::new() };
    let mut file = OpenOptions::new().create(true).append(true).open(trend).context("the trend of the figures")?;
    writeln!(file, "{now}")?;
    let worse = regressions(&before, &now, fail_over.unwrap_or(f64::INFINITY));
    if !worse.is_empty() {
        bail!("worse than the last time on this machine:\n{}", worse.join("\n"));
    }
    print_note(&format!("the figures are a line of {}", trend.display()));
    Ok(())
}

fn entry(measured: &Value, at: &str, commit: &str, machine: &str) -> Value {
    let figures = measured["figures"].as_array().into_iter().flatten();
    let is_number = |figure: &&Value| figure["value"].is_number();
    let short = |figure: &Value| {
        json!({
            "id": figure["id"], "what": figure["what"], "unit": figure["unit"], "value": figure["value"],
            "more_is_better": figure["goal"].get("at_least").is_some(),
        })
    };
    let figures: Vec<Value> = figures.filter(is_number).map(short).collect();
    json!({ "at": at, "commit": commit, "machine": machine, "figures": figures })
}

/// Describes the figures that became worse since they were last measured on the machine.
fn regressions(before: &str, now: &Value, percent: f64) -> Vec<String> {
    let before: Vec<Value> = before.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let figures = |entry: &Value| entry["figures"].as_array().cloned().unwrap_or_default();
    let last = |of: &Value| {
        let mine = before.iter().filter(|entry| entry["machine"] == now["machine"]);
        mine.flat_map(figures).find(|old| old["id"] == of["id"] && old["what"] == of["what"])?["value"].as_f64()
    };
    let describe = |figure: &Value| {
        let (old, new) = (last(figure)?, figure["value"].as_f64()?);
        let more = (new - old) / old.abs() * 100.0;
        let by = if figure["more_is_better"] == true { -more } else { more };
        let (id, name) = (figure["id"].as_str()?, figure["what"].as_str()?);
        // A former value of zero has no percentage.
        (old != 0.0 && by > percent).then(|| format!("{id} {name}: {new:?} after {old:?}, {by:.0} % worse"))
    };
    figures(now).iter().filter_map(describe).collect()
}

fn date() -> Result<String> {
    Ok(output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?.trim().to_owned())
}

/// Returns the commit that is checked out; `unknown` without a repository.
fn commit() -> String {
    let mut git = Command::new("git");
    git.current_dir(workspace::root()).args(["describe", "--always", "--dirty"]);
    output(&mut git).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// Returns the machine's identity: its host name, processor and number of cores.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {} x {count}", name.trim(), model.map_or("?", |(_, model)| model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, goal: &str) -> Value {
        json!({ "figures": [{ "id": "G3", "what": "wire", "unit": "KB", "value": value, "goal": { goal: 1 } }] })
    }

    #[test]
    fn figure_is_compared_with_last_one_of_same_machine() {
        let at = |value, machine| entry(&measured(value, "at_most"), "now", "abc", machine);
        let before = format!("{}\n{}\n{}\n", at(50.0, "mine"), at(100.0, "mine"), at(10.0, "other"));
        assert_eq!(regressions(&before, &at(119.0, "mine"), 20.0), [""; 0]);
        assert_eq!(regressions(&before, &at(121.0, "mine"), 20.0), ["G3 wire: 121.0 after 100.0, 21 % worse"]);
        assert_eq!(regressions(&before, &at(1_000.0, "new"), 20.0), [""; 0]);
        assert_eq!(regressions("", &at(1_000.0, "mine"), 20.0), [""; 0]);
    }

    #[test]
    fn decrease_is_regression_where_more_is_better() {
        let at = |value| entry(&measured(value, "at_least"), "now", "abc", "mine");
        assert_eq!(regressions(&at(100.0).to_string(), &at(150.0), 20.0), [""; 0]);
        assert_eq!(regressions(&at(100.0).to_string(), &at(70.0), 20.0).len(), 1);
    }

    #[test]
    fn unmeasured_figures_are_not_recorded() {
        let nothing = json!({ "figures": [{ "id": "G1", "what": "", "unit": "", "value": null, "goal": {} }] });
        assert_eq!(entry(&nothing, "now", "abc", "mine")["figures"], json!([]));
    }
}
