//! The cost of decoding a provider's bytes (D1, D2), measured by a program that is linked with Turnleaf, and the time
//! from the provider's last byte to the end of the reply (D3), measured through the server.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{BenchContext, median};
use crate::report::{BenchFigure, FigureGoal};
use crate::stream::{ReplySource, follow_reply};

const ROUNDS: usize = 20;
/// A reply of twenty pieces at a hundred per second.
const SHORT: &str = "mock-20-100";

/// The share of the bare framer's speed that decoding must reach: JSON has to be parsed, and nothing else may be slow.
const OF_THE_FRAMER: f64 = 0.08;
/// The most allocations per event: for the event, its text, and the result.
const ALLOCATIONS: f64 = 60.0;

/// Measures D1 and D2: decodes the recordings of every API. Skipped with a note if there are none.
///
/// # Errors
/// The program cannot be run.
pub fn measure_decoding(bench: &mut BenchContext, program: &Path, fixtures: &Path) -> Result<()> {
    if !fixtures.is_dir() {
        bench.notes.push(format!("D1 and D2 are left out: there are no recordings in {}", fixtures.display()));
        return Ok(());
    }
    let done = Command::new(program).arg(fixtures).output().with_context(|| program.display().to_string())?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let measured: Value = serde_json::from_str(line)?;
        let api = NAMES.iter().find(|(api, ..)| measured["api"] == *api).context("an API without a name")?;
        let number = |name: &str| measured[name].as_f64().unwrap_or(f64::NAN);
        let ratio = number("of_the_framer");
        bench.figures.push(BenchFigure {
            id: "D1",
            name: api.1,
            unit: "MB/s",
            value: number("megabytes_per_second"),
            goal: FigureGoal::AtLeast(number("megabytes_per_second") / ratio * OF_THE_FRAMER),
            ratio: Some((ratio, "of the bare framer")),
        });
        bench.figures.push(BenchFigure {
            id: "D2",
            name: api.2,
            unit: "an event",
            value: number("allocations_per_event"),
            goal: FigureGoal::AtMost(ALLOCATIONS),
            ratio: None,
        });
        bench.notes.push(format!(
            "{}: {:.0} events/s; {:.0} bytes an event; at most {:.0} KB held at once",
            api.1,
            number("events_per_second"),
            number("bytes") / number("events"),
            number("most_bytes_at_once") / 1e3,
        ));
    }
    Ok(())
}

/// The APIs with the names of their figures.
const NAMES: [(&str, &str, &str); 5] = [
    ("openai_chat", "decoding chat completions", "allocations, chat completions"),
    ("openai_responses", "decoding Responses", "allocations, Responses"),
    ("anthropic", "decoding Anthropic Messages", "allocations, Anthropic Messages"),
    ("gemini", "decoding Gemini", "allocations, Gemini"),
    ("ollama", "decoding Ollama", "allocations, Ollama"),
];

/// Measures D3: the time from the last piece of the model server, which its end follows directly, to the end of the
/// events, when the ending is stored.
///
/// # Errors
/// A reply fails.
pub async fn measure_ending(bench: &mut BenchContext) -> Result<()> {
    let server = bench.installation("ending")?.start().await?;
    let mut ended = Vec::new();
    for _ in 0..ROUNDS {
        let reply = follow_reply(ReplySource::Turnleaf { address: server.address, chat: None }, SHORT.to_owned()).await;
        ensure!(reply.failure.is_none(), "{:?}", reply.failure);
        ensure!(reply.ended_after > 0, "a reply without a piece");
        ended.push(reply.ended_after as f64 / 1e6);
    }
    let most = ended.iter().copied().fold(f64::NAN, f64::max);
    let figure = |name, value, bound| BenchFigure {
        id: "D3",
        name,
        unit: "ms",
        value,
        goal: FigureGoal::AtMost(bound),
        ratio: None,
    };
    bench.figures.push(figure("from the last byte to the ending, p50", median(ended), 10.0));
    bench.figures.push(figure("from the last byte to the ending, most of 20", most, 50.0));
    server.stop()
}
