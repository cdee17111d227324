//! Concurrency: G8, five hundred replies; G9, a hundred new chats within a second.

use std::time::Duration;

use anyhow::Result;

use super::BenchContext;
use crate::report::{BenchFigure, FigureGoal};
use crate::stream::{ReplySource, follow_many};

const MODEL: &str = "mock-200-50";

/// Measures G8 against the rate that the model server delivers directly to the same clients.
///
/// # Errors
/// The server does not start. Replies that fail are counted.
pub async fn measure_many_replies(bench: &mut BenchContext) -> Result<()> {
    let (count, ramp) = (500, Duration::from_secs(2));
    let offered = follow_many(&ReplySource::Model(bench.model_server), MODEL, count, ramp).await;
    let server = bench.installation("crowd")?.start().await?;
    let before = server.cpu_seconds()?;
    let ours = follow_many(&ReplySource::Turnleaf { address: server.address, chat: None }, MODEL, count, ramp).await;
    let processor = (server.cpu_seconds()? - before) * 1e6 / ours.pieces as f64;
    let memory = server.memory_bytes(true)? as f64 / 1e6;
    let share = ours.pieces_per_second() / offered.pieces_per_second();
    let figure = |name, unit, value, goal| BenchFigure { id: "G8", name, unit, value, goal, ratio: None };
    let ratio = Some((share, "of offered"));
    bench
        .figures
        .push(BenchFigure { ratio, ..figure("500 replies at 50/s", "of offered", share, FigureGoal::AtLeast(0.98)) });
    bench.figures.push(figure("errors in it", "", ours.failures.len() as f64, FigureGoal::AtMost(0.0)));
    bench.figures.push(figure("first piece, p99", "ms", ours.first_piece_latency(0.99), FigureGoal::AtMost(250.0)));
    bench.figures.push(figure("each piece, p99", "ms", ours.piece_latency(0.99), FigureGoal::AtMost(25.0)));
    bench.figures.push(figure("memory at most", "MB", memory, FigureGoal::AtMost(150.0)));
    bench.figures.push(figure("processor time a piece", "us", processor, FigureGoal::AtMost(40.0)));
    bench.notes.extend(ours.failures.first().map(|failure| format!("G8, the first error: {failure}")));
    server.stop()
}

/// Measures G9.
///
/// # Errors
/// The server does not start. Chats that fail are counted.
pub async fn measure_many_chats(bench: &mut BenchContext) -> Result<()> {
    let server = bench.installation("burst")?.start().await?;
    let source = ReplySource::Turnleaf { address: server.address, chat: None };
    let ours = follow_many(&source, MODEL, 100, Duration::from_secs(1)).await;
    let figure = |name, unit, value, goal| BenchFigure { id: "G9", name, unit, value, goal, ratio: None };
    bench.figures.push(figure(
        "errors, 100 new chats in a second",
        "",
        ours.failures.len() as f64,
        FigureGoal::AtMost(0.0),
    ));
    bench.figures.push(figure(
        "first piece in it, p99",
        "ms",
        ours.first_piece_latency(0.99),
        FigureGoal::AtMost(100.0),
    ));
    bench.notes.extend(ours.failures.first().map(|failure| format!("G9, the first error: {failure}")));
    server.stop()
}
