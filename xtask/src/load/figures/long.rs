//! L1 to L3, what a chat of 10,000 turns costs its reader beside one of 50: all as ratios of one run, in Chromium.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Bench, Programs, given};
use crate::report::{Figure, Goal};

const LENGTHS: [&str; 2] = ["50", "10000"];
/// A reply of a few words, at once.
const MODEL: &str = "mock-20-0";

/// L1, L2, L3.
///
/// # Errors
/// A chat cannot be made, or node or Chromium is missing.
pub async fn chats(bench: &mut Bench, programs: &Programs) -> Result<()> {
    let installation = bench.installation("long")?;
    let chats = plant(given(&programs.plant)?, &installation.database()?)?;
    let server = installation.start().await?;
    let mut asked = vec![format!("http://{}", server.address)];
    asked.extend(chats);
    let mut node = Command::new("node");
    let folder = programs.reader.parent().context("the reader lies in no folder")?;
    node.current_dir(folder).arg(&programs.reader).args(&asked);
    let said = output(&mut node)?;
    server.stop()?;
    let number = |what: &str, of: &str| said[what][of].as_f64().with_context(|| format!("{what} {of}: {said}"));
    for (id, name, what, bound, unit, scale) in [
        ("L1", "newest turn of 10,000 shown, beside 50", "shown_ms", 1.5, "ms", 1.0),
        ("L2", "Enter to first word after 10,000, beside 50", "first_word_ms", 1.5, "ms", 1.0),
        ("L3", "browser memory after 1,000 turns, beside 50", "heap_bytes", 2.0, "MB", 1e6),
    ] {
        let (short, long) = (number(what, "short")?, number(what, "long")?);
        bench.figures.push(Figure {
            id,
            what: name,
            unit: "times",
            value: long / short,
            goal: Goal::AtMost(bound),
            ratio: None,
        });
        bench.notes.push(format!("{id}: {:.1} {unit}, beside {:.1} {unit}", long / scale, short / scale));
    }
    Ok(())
}

/// Plants both chats. Gives of each its id and its last turn's.
fn plant(program: &Path, database: &str) -> Result<Vec<String>> {
    let mut plant = Command::new(program);
    let said = output(plant.args(["--database", database, "--model", MODEL]).args(LENGTHS))?;
    let ids = LENGTHS.into_iter().flat_map(|length| ["chat", "leaf"].map(|what| &said[length][what]));
    ids.map(|id| id.as_str().map(str::to_owned).context("no id")).collect()
}

/// What a program says, as JSON.
///
/// # Errors
/// It cannot be run, or failed; what it complained about is on the terminal.
pub fn output(command: &mut Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}
