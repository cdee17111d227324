//! Many at once: G8, five hundred replies; G9, a hundred new chats within a second.

use std::time::Duration;

use anyhow::Result;

use super::Bench;
use crate::report::{Figure, Goal};
use crate::stream::{Source, many};

const MODEL: &str = "mock-200-50";

/// G8. Offered is what the model server delivers straight to the same clients.
///
/// # Errors
/// The server does not start. Replies that fail are counted.
pub async fn many_replies(bench: &mut Bench) -> Result<()> {
    let (count, ramp) = (500, Duration::from_secs(2));
    let offered = many(&Source::Model(bench.model_server), MODEL, count, ramp).await;
    let server = bench.installation("crowd")?.start().await?;
    let before = server.processor()?;
    let ours = many(&Source::Turnleaf { address: server.address, chat: None }, MODEL, count, ramp).await;
    let processor = (server.processor()? - before) * 1e6 / ours.pieces as f64;
    let memory = server.memory(true)? as f64 / 1e6;
    let share = ours.rate() / offered.rate();
    let figure = |what, unit, value, goal| Figure { id: "G8", what, unit, value, goal, ratio: None };
    let ratio = Some((share, "of offered"));
    bench.figures.push(Figure { ratio, ..figure("500 replies at 50/s", "of offered", share, Goal::AtLeast(0.98)) });
    bench.figures.push(figure("errors in it", "", ours.failures.len() as f64, Goal::AtMost(0.0)));
    bench.figures.push(figure("first piece, p99", "ms", ours.first(0.99), Goal::AtMost(250.0)));
    bench.figures.push(figure("each piece, p99", "ms", ours.latency(0.99), Goal::AtMost(25.0)));
    bench.figures.push(figure("memory at most", "MB", memory, Goal::AtMost(150.0)));
    bench.figures.push(figure("processor time a piece", "us", processor, Goal::AtMost(40.0)));
    bench.notes.extend(ours.failures.first().map(|failure| format!("G8, the first error: {failure}")));
    server.stop()
}

/// G9.
///
/// # Errors
/// The server does not start. Chats that fail are counted.
pub async fn many_chats(bench: &mut Bench) -> Result<()> {
    let server = bench.installation("burst")?.start().await?;
    let source = Source::Turnleaf { address: server.address, chat: None };
    let ours = many(&source, MODEL, 100, Duration::from_secs(1)).await;
    let figure = |what, unit, value, goal| Figure { id: "G9", what, unit, value, goal, ratio: None };
    bench.figures.push(figure("errors, 100 new chats in a second", "", ours.failures.len() as f64, Goal::AtMost(0.0)));
    bench.figures.push(figure("first piece in it, p99", "ms", ours.first(0.99), Goal::AtMost(100.0)));
    bench.notes.extend(ours.failures.first().map(|failure| format!("G9, the first error: {failure}")));
    server.stop()
}
