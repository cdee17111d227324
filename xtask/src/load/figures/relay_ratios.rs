//! R1 to R6: Turnleaf beside the bare relay, which parses a stream, keeps nothing and writes it again. The ratios of one
//! run hold on any machine, unlike the times; `docs/performance.md` has both. R7 is a soak: the memory of a server that
//! streams for ten minutes.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::single_reply::RelayProcess;
use super::{BenchContext, median};
use crate::report::{BenchFigure, FigureGoal};
use crate::stream::{ReplySample, ReplySource, follow_many};
use crate::turnleaf::TurnleafServer;

/// Short replies, one after the other, for the time to the first piece.
const FIRST: &str = "mock-2-50";
const FIRST_ROUNDS: usize = 20;
/// A reply that lasts four seconds.
const PACED: &str = "mock-200-50";
/// A reply that is sent as fast as it goes.
const UNPACED: &str = "mock-20000-0";
const UNPACED_ROUNDS: usize = 5;
/// The soak: replies of half a minute, again and again.
const SOAK: &str = "mock-1500-50";
const SOAK_ROUNDS: usize = 20;
const SOAK_STREAMS: u32 = 100;

/// A load on Turnleaf and on the relay.
struct RelayComparison {
    ours: ReplySample,
    relayed: ReplySample,
    /// Processor time in microseconds a piece.
    our_cpu: f64,
    relay_cpu: f64,
    /// Bytes that Turnleaf caused to be written to the disk.
    written: u64,
}

impl RelayComparison {
    /// Follows replies through a relay, and then through a fresh server.
    async fn measure(bench: &BenchContext, name: &str, model: &str, count: u32, ramp: Duration) -> Result<Self> {
        let relay = RelayProcess::start(bench.model_server)?;
        let relayed = follow_many(&ReplySource::Model(relay.address), model, count, ramp).await;
        let relay_cpu = relay.cpu_seconds()? * 1e6 / relayed.pieces as f64;
        drop(relay);
        let server = bench.installation(name)?.start().await?;
        warm_up(&server).await?;
        let (cpu, written) = (server.cpu_seconds()?, server.written_bytes()?);
        let ours = follow_many(&new_chats(&server), model, count, ramp).await;
        let our_cpu = (server.cpu_seconds()? - cpu) * 1e6 / ours.pieces as f64;
        let written = server.written_bytes()? - written;
        server.stop()?;
        let failure = ours.failures.first().or(relayed.failures.first());
        ensure!(failure.is_none(), "{name}: {failure:?}");
        Ok(Self { ours, relayed, our_cpu, relay_cpu, written })
    }

    fn cpu_ratio(&self) -> f64 {
        self.our_cpu / self.relay_cpu
    }
}

fn new_chats(server: &TurnleafServer) -> ReplySource {
    ReplySource::Turnleaf { address: server.address, chat: None }
}

/// Sends one message, so that what a server does only once is not counted.
async fn warm_up(server: &TurnleafServer) -> Result<()> {
    let one = follow_many(&new_chats(server), FIRST, 1, Duration::ZERO).await;
    one.failures.first().map_or(Ok(()), |failure| anyhow::bail!("{failure}"))
}

fn figure(id: &'static str, name: &'static str, unit: &'static str, value: f64, goal: FigureGoal) -> BenchFigure {
    BenchFigure { id, name, unit, value, goal, ratio: None }
}

/// Measures R1 to R3: one reply at a time, in a new chat each.
///
/// # Errors
/// The server does not start, or a reply fails.
pub async fn measure_single_replies(bench: &mut BenchContext) -> Result<()> {
    let relay = RelayProcess::start(bench.model_server)?;
    let server = bench.installation("beside-relay")?.start().await?;
    warm_up(&server).await?;
    let (relay, ours) = (ReplySource::Model(relay.address), (new_chats(&server)));
    let one = async |source: &ReplySource, model: &str| -> Result<ReplySample> {
        let sample = follow_many(source, model, 1, Duration::ZERO).await;
        let failure = sample.failures.first().cloned();
        failure.map_or(Ok(sample), |failure| Err(anyhow::Error::msg(failure)))
    };
    let (mut first, mut first_relayed) = (vec![], vec![]);
    for _ in 0..FIRST_ROUNDS {
        first_relayed.push(one(&relay, FIRST).await?.first_piece_latency(0.5));
        first.push(one(&ours, FIRST).await?.first_piece_latency(0.5));
    }
    let (mut rate, mut rate_relayed) = (vec![], vec![]);
    for _ in 0..UNPACED_ROUNDS {
        rate_relayed.push(one(&relay, UNPACED).await?.pieces_per_second());
        rate.push(one(&ours, UNPACED).await?.pieces_per_second());
    }
    let (paced_relayed, paced) = (one(&relay, PACED).await?, one(&ours, PACED).await?);
    server.stop()?;
    let added = median(first) - median(first_relayed);
    bench.figures.push(figure(
        "R1",
        "first piece of a new chat, after the relay's",
        "ms",
        added,
        FigureGoal::AtMost(3.0),
    ));
    let latency = paced.piece_latency(0.5) / paced_relayed.piece_latency(0.5);
    bench.figures.push(figure("R2", "each piece, p50", "of relay", latency, FigureGoal::AtMost(2.0)));
    let rate = median(rate) / median(rate_relayed);
    bench.figures.push(figure("R3", "one reply, no pace, stored", "of relay", rate, FigureGoal::AtLeast(0.8)));
    Ok(())
}

/// Measures R4, R5 and R6: many new chats at once.
///
/// # Errors
/// The server does not start, or a reply fails.
pub async fn measure_crowds(bench: &mut BenchContext) -> Result<()> {
    let burst = RelayComparison::measure(bench, "burst-beside-relay", PACED, 100, Duration::from_secs(1)).await?;
    bench.figures.extend([
        figure("R4", "100 new chats: processor time a piece", "of relay", burst.cpu_ratio(), FigureGoal::AtMost(3.0)),
        figure("R4", "first piece in it, p50", "ms", burst.ours.first_piece_latency(0.5), FigureGoal::AtMost(8.0)),
        figure("R4", "first piece in it, p99", "ms", burst.ours.first_piece_latency(0.99), FigureGoal::AtMost(30.0)),
    ]);
    let crowd = RelayComparison::measure(bench, "crowd-beside-relay", PACED, 500, Duration::from_secs(2)).await?;
    let delivered = crowd.ours.pieces_per_second() / crowd.relayed.pieces_per_second();
    bench.figures.extend([
        figure("R5", "500 new chats: pieces a second", "of relay", delivered, FigureGoal::AtLeast(0.99)),
        figure("R5", "processor time a piece", "of relay", crowd.cpu_ratio(), FigureGoal::AtMost(2.0)),
        figure("R5", "each piece, p99", "ms", crowd.ours.piece_latency(0.99), FigureGoal::AtMost(7.0)),
    ]);
    let shown = crowd.ours.text_bytes as f64;
    bench.figures.push(figure(
        "R6",
        "written for a byte of shown text",
        "bytes",
        crowd.written as f64 / shown,
        FigureGoal::AtMost(60.0),
    ));
    Ok(())
}

/// Measures R7: a hundred replies at a time for ten minutes. Memory after the second round counts as its level.
///
/// # Errors
/// The server does not start, or a reply fails.
pub async fn measure_soak(bench: &mut BenchContext) -> Result<()> {
    let server = bench.installation("soak")?.start().await?;
    let mut levels = Vec::new();
    for _ in 0..SOAK_ROUNDS {
        let round = follow_many(&new_chats(&server), SOAK, SOAK_STREAMS, Duration::from_secs(1)).await;
        ensure!(round.failures.is_empty(), "soak: {:?}", round.failures.first());
        levels.push(server.memory_bytes(false)? as f64 / 1e6);
    }
    server.stop()?;
    let is_sound = bench.installation("soak")?.is_sound()?;
    let level = *levels.get(1).context("a soak of one round")?;
    let growth = (levels.last().copied().unwrap_or(level) - level) / level * 100.0;
    bench.figures.extend([
        figure("R7", "memory of 100 replies at a time", "MB", level, FigureGoal::AtMost(80.0)),
        figure("R7", "its growth over ten minutes", "%", growth, FigureGoal::AtMost(5.0)),
        figure("R7", "fsck finds something", "", f64::from(u8::from(!is_sound)), FigureGoal::AtMost(0.0)),
    ]);
    Ok(())
}
