//! The page in Chromium: G3, G4 and G12, a first visit and a long Markdown reply while it streams; K1 and K2, typing
//! with a large page; A1, the Lighthouse score.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{BenchContext, BenchPrograms, long_chats, require_program};
use crate::mock::markdown::END;
use crate::report::{BenchFigure, FigureGoal};

/// The models of a long reply, in pieces of six characters.
const BURST: &str = "mock-3000-0-md";
const PACED: &str = "mock-3000-200-md";
/// A reply of 100 KB.
const HUGE: &str = "mock-17000-0-md";
/// The number of turns of the chat in which text is typed.
const LONG: &str = "5000";
const SHORT: &str = "2";
/// Measured by a separate program.
const LIGHTHOUSE: &str = "lighthouse";

/// Measures the requested figures; the first visit is G3 and G4.
///
/// # Errors
/// A chat cannot be created, or node or Chromium is missing.
pub async fn measure_page(
    bench: &mut BenchContext,
    programs: &BenchPrograms,
    is_requested: impl Fn(&str) -> bool,
) -> Result<()> {
    if is_requested("G3") || is_requested("G4") {
        let measured = on_server(bench, programs, "first-visit", None, "load").await?;
        let figure = |id, figure_name, unit, value: f64, bound| BenchFigure {
            id,
            name: figure_name,
            unit,
            value,
            goal: FigureGoal::AtMost(bound),
            ratio: None,
        };
        let number = |name: &str| number(&measured, name);
        bench.figures.extend([
            figure("G3", "first visit, on the wire", "KB", number("wire")? / 1e3, 400.0),
            figure("G3", "first visit, requests", "", number("requests")?, 15.0),
            figure("G4", "first visit, something is seen", "ms", number("paint")?, 285.0),
            figure("G4", "first visit, Enter would send", "ms", number("enter")?, 540.0),
            figure("G4", "first visit, memory of script and module", "MB", number("held")? / 1e6, 11.0),
        ]);
    }
    if is_requested("G12") {
        let measured = on_server(bench, programs, "burst", Some((BURST, SHORT)), "answer").await?;
        let figure = |figure_name, unit, value: f64, bound| BenchFigure {
            id: "G12",
            name: figure_name,
            unit,
            value,
            goal: FigureGoal::AtMost(bound),
            ratio: None,
        };
        let burst = [
            figure("3,000 pieces at once, main thread", "ms", number(&measured, "busy")?, 590.0),
            figure("the same, longest task", "ms", number(&measured, "longest")?, 50.0),
        ];
        let measured = on_server(bench, programs, "paced", Some((PACED, SHORT)), "answer").await?;
        let paced = [
            figure("3,000 pieces at 200/s, main thread", "ms", number(&measured, "busy")?, 4_500.0),
            figure("the same, longest task", "ms", number(&measured, "longest")?, 50.0),
            figure("the same, frames left out", "%", number(&measured, "dropped")? * 100.0, 5.0),
        ];
        bench.figures.extend(burst.into_iter().chain(paced));
    }
    if is_requested("K1") {
        let measured = on_server(bench, programs, "typing", Some((BURST, LONG)), "typing").await?;
        let figure_name = "slowest key in a chat of 5,000 turns";
        bench.figures.push(BenchFigure {
            id: "K1",
            name: figure_name,
            unit: "ms",
            value: number(&measured, "slowest")?,
            goal: FigureGoal::AtMost(50.0),
            ratio: None,
        });
    }
    if is_requested("K2") {
        let measured = on_server(bench, programs, "keys", Some((HUGE, SHORT)), "keys").await?;
        let figure_name = "keys to next paint (INP) while 100 KB come, CPU 4 times slower";
        bench.figures.push(BenchFigure {
            id: "K2",
            name: figure_name,
            unit: "ms",
            value: number(&measured, "next_paint")?,
            goal: FigureGoal::AtMost(200.0),
            ratio: None,
        });
        let (slowest, pressed) = (number(&measured, "slowest")?, number(&measured, "pressed")?);
        bench.notes.push(format!("K2: the slowest of {pressed} keys took {slowest} ms"));
    }
    if is_requested("A1") {
        let measured = on_server(bench, programs, "lighthouse", None, LIGHTHOUSE).await?;
        for (figure_name, name, bound) in [
            ("Lighthouse, performance", "performance", 95.0),
            ("Lighthouse, accessibility", "accessibility", 100.0),
            ("Lighthouse, best practices", "best-practices", 100.0),
        ] {
            let value = number(&measured, name)?;
            bench.figures.push(BenchFigure {
                id: "A1",
                name: figure_name,
                unit: "",
                value,
                goal: FigureGoal::AtLeast(bound),
                ratio: None,
            });
        }
        bench.notes.push(format!("A1: points were lost by {}", measured["lost"].as_str().unwrap_or_default()));
    }
    Ok(())
}

fn number(measured: &Value, name: &str) -> Result<f64> {
    measured[name].as_f64().with_context(|| format!("{name}: {measured}"))
}

/// Starts a server with one chat of this length and model, and measures there.
async fn on_server(
    bench: &BenchContext,
    programs: &BenchPrograms,
    name: &str,
    chat: Option<(&str, &str)>,
    measurement: &str,
) -> Result<Value> {
    let installation = bench.installation(name)?;
    let chat = chat
        .map(|(model, turns)| -> Result<String> {
            let mut plant = Command::new(require_program(&programs.plant)?);
            let planted =
                long_chats::output(plant.args(["--database", &installation.database_url()?, "--model", model, turns]))?;
            planted[turns]["chat"].as_str().map(str::to_owned).context("no id")
        })
        .transpose()?;
    let server = installation.start().await?;
    let mut node = Command::new("node");
    let folder: &Path = programs.reader.parent().context("the reader lies in no folder")?;
    let script = if measurement == LIGHTHOUSE { "lighthouse/measure.mjs" } else { "page.mjs" };
    node.current_dir(folder).arg(folder.join(script)).arg(format!("http://{}", server.address)).arg(measurement);
    let output_json =
        long_chats::output(node.args(chat.as_deref().into_iter().flat_map(|chat| [chat, END])).stdin(Stdio::null()));
    server.stop()?;
    output_json
}
