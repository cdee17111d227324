//! What decoding a provider's bytes costs (D1, D2), by a program of its own that is linked with Turnleaf; and how soon a
//! reply is over after the provider's last byte (D3), through the server.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{BenchContext, median};
use crate::report::{BenchFigure, FigureGoal};
use crate::stream::{ReplySource, follow_reply};

const ROUNDS: usize = 20;
/// Twenty pieces at a hundred a second.
const SHORT: &str = "mock-20-100";

/// How many times the bare framer's time an event may take: JSON has to be understood, and that is all.
const OF_THE_FRAMER: f64 = 0.08;
/// Values that hold an event, its text, and what it becomes.
const ALLOCATIONS: f64 = 60.0;

/// D1 and D2: the recordings of every API through its decoder. Left out, and said so, where there are none.
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
            what: api.1,
            unit: "MB/s",
            value: number("megabytes_per_second"),
            goal: FigureGoal::AtLeast(number("megabytes_per_second") / ratio * OF_THE_FRAMER),
            ratio: Some((ratio, "of the bare framer")),
        });
        bench.figures.push(BenchFigure {
            id: "D2",
            what: api.2,
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

/// An API, and what its figures are called.
const NAMES: [(&str, &str, &str); 5] = [
    ("openai_chat", "decoding chat completions", "allocations, chat completions"),
    ("openai_responses", "decoding Responses", "allocations, Responses"),
    ("anthropic", "decoding Anthropic Messages", "allocations, Anthropic Messages"),
    ("gemini", "decoding Gemini", "allocations, Gemini"),
    ("ollama", "decoding Ollama", "allocations, Ollama"),
];

/// D3: from the last piece of the model server, right behind which its end comes, to the end of the events: the ending is
/// stored by then.
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
    let figure = |what, value, bound| BenchFigure {
        id: "D3",
        what,
        unit: "ms",
        value,
        goal: FigureGoal::AtMost(bound),
        ratio: None,
    };
    bench.figures.push(figure("from the last byte to the ending, p50", median(ended), 10.0));
    bench.figures.push(figure("from the last byte to the ending, most of 20", most, 50.0));
    server.stop()
}
