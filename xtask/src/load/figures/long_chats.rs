//! Long chats in Chromium, as ratios within one run: G11 compares a chat of 5,000 turns with one of 20; L1 to L3
//! compare 10,000 with 50 and the memory of the page.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{BenchContext, BenchPrograms, require_program};
use crate::report::{BenchFigure, FigureGoal};

/// A reply of a few words, sent at once.
const MODEL: &str = "mock-20-0";

/// Measures G11 with the sizes and bounds of its goal.
///
/// # Errors
/// A chat cannot be created, or node or Chromium is missing.
pub async fn measure_goal_chat(bench: &mut BenchContext, programs: &BenchPrograms) -> Result<()> {
    let measured = measure_two_chats(bench, programs, "five-thousand", ["20", "5000"], None).await?;
    let ratio = |member: &str| {
        Ok::<f64, anyhow::Error>(number(&measured, member, "long")? / number(&measured, member, "short")?)
    };
    let opened = number(&measured, "open_bytes", "long")? / 1e3;
    for (name, unit, value, bound) in [
        ("newest turn of 5,000 shown, beside 20", "times", ratio("shown_ms")?, 1.2),
        ("5,000 turns, to open on the wire", "KB", opened, 200.0),
        ("Enter to first word after 5,000, beside 20", "times", ratio("first_word_ms")?, 1.2),
    ] {
        bench.figures.push(BenchFigure { id: "G11", name, unit, value, goal: FigureGoal::AtMost(bound), ratio: None });
    }
    let short_kb = number(&measured, "open_bytes", "short")? / 1e3;
    bench.notes.push(format!("G11: to open 20 turns, {short_kb:.1} KB"));
    Ok(())
}

/// Measures L1, L2 and L3.
///
/// # Errors
/// A chat cannot be created, or node or Chromium is missing.
pub async fn measure_long_chats(bench: &mut BenchContext, programs: &BenchPrograms) -> Result<()> {
    let measured = measure_two_chats(bench, programs, "long", ["50", "10000"], Some("memory")).await?;
    for (id, name, member, bound, unit, scale) in [
        ("L1", "newest turn of 10,000 shown, beside 50", "shown_ms", 1.5, "ms", 1.0),
        ("L2", "Enter to first word after 10,000, beside 50", "first_word_ms", 1.5, "ms", 1.0),
        ("L3", "browser memory after 1,000 turns, beside 50", "heap_bytes", 2.0, "MB", 1e6),
    ] {
        let (short, long) = (number(&measured, member, "short")?, number(&measured, member, "long")?);
        bench.figures.push(BenchFigure {
            id,
            name,
            unit: "times",
            value: long / short,
            goal: FigureGoal::AtMost(bound),
            ratio: None,
        });
        bench.notes.push(format!("{id}: {:.1} {unit}, beside {:.1} {unit}", long / scale, short / scale));
    }
    Ok(())
}

fn number(measured: &Value, member: &str, of: &str) -> Result<f64> {
    measured[member][of].as_f64().with_context(|| format!("{member} {of}: {measured}"))
}

/// Creates a chat of each length and measures both in the browser.
async fn measure_two_chats(
    bench: &BenchContext,
    programs: &BenchPrograms,
    place: &str,
    lengths: [&str; 2],
    more: Option<&str>,
) -> Result<Value> {
    let installation = bench.installation(place)?;
    let chats = plant(require_program(&programs.plant)?, &installation.database_url()?, lengths)?;
    let server = installation.start().await?;
    let mut node = Command::new("node");
    let folder = programs.reader.parent().context("the reader lies in no folder")?;
    node.current_dir(folder).arg(&programs.reader).arg(format!("http://{}", server.address)).args(&chats).args(more);
    let output_json = output(&mut node)?;
    server.stop()?;
    Ok(output_json)
}

/// Creates both chats. Returns the id of each and of its last turn.
fn plant(program: &Path, database: &str, lengths: [&str; 2]) -> Result<Vec<String>> {
    let mut plant = Command::new(program);
    let output_json = output(plant.args(["--database", database, "--model", MODEL]).args(lengths))?;
    let ids = lengths.into_iter().flat_map(|length| ["chat", "leaf"].map(|id_name| &output_json[length][id_name]));
    ids.map(|id| id.as_str().map(str::to_owned).context("no id")).collect()
}

/// Runs a program and parses its output as JSON.
///
/// # Errors
/// The program cannot be run, or failed; its errors are on the terminal.
pub fn output(command: &mut Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}
