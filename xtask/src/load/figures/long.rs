//! L1 to L3, what a chat of 10,000 turns costs its reader beside one of 50: all as ratios of one run, in Chromium.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Bench, Programs};
use crate::report::{Figure, Goal};

const SHORT: u32 = 50;
const LONG: u32 = 10_000;
/// The replies of the round: a few words, at once.
const MODEL: &str = "openai/mock-20-0";

/// L1, L2, L3.
///
/// # Errors
/// A chat cannot be made, or node or Chromium is missing.
pub async fn chats(bench: &mut Bench, programs: &Programs) -> Result<()> {
    let installation = bench.installation("long")?;
    let server = installation.start().await?;
    let database = format!("sqlite://{}", installation.dir.join("state/turnleaf.db").display());
    let mut asked = vec![format!("http://{}", server.address)];
    for turns in [SHORT, LONG] {
        asked.extend(grow(&programs.grow, &database, turns)?);
    }
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

/// Makes a chat of so many turns. Gives its id and its last turn's.
fn grow(program: &Path, database: &str, turns: u32) -> Result<[String; 2]> {
    let mut grow = Command::new(program);
    grow.args(["--database", database, "--turns", &turns.to_string(), "--model", MODEL]);
    let said = output(&mut grow)?;
    let text = |value: &Value| value.as_str().map(str::to_owned).context("no id");
    let turns = said["turns"].as_array().context("no turns")?;
    Ok([text(&said["chat"])?, text(turns.last().context("no turns")?)?])
}

fn output(command: &mut Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}
