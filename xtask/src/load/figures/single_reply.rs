//! Single replies: G5 and G6, the latency that Turnleaf adds to each piece; G7, the maximum throughput.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use hyper::Method;
use serde_json::Value;

use super::{BenchContext, median};
use crate::client::LoopbackClient;
use crate::report::{BenchFigure, FigureGoal};
use crate::stamp::stamps;
use crate::stream::{ReplySample, ReplySource, ReplyTiming, follow_reply, make_chat, text_of_events};
use crate::turnleaf::cpu_seconds_of;

const ROUNDS: usize = 5;
const PACED: &str = "mock-200-50";
const UNPACED: &str = "mock-20000-0";
const UNPACED_PIECES: u64 = 20_000;

/// A relay in a process of its own.
pub struct RelayProcess {
    child: Child,
    pub address: SocketAddr,
}

impl RelayProcess {
    /// Starts a relay of this model server.
    ///
    /// # Errors
    /// The process does not start.
    pub fn start(upstream: SocketAddr) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["relay", "--upstream", &upstream.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("the relay's output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().parse()? })
    }

    /// Returns the processor time used so far in seconds.
    ///
    /// # Errors
    /// The process has ended.
    pub fn cpu_seconds(&self) -> Result<f64> {
        cpu_seconds_of(self.child.id())
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Follows one reply; a failure ends the measurement.
async fn follow_one(source: ReplySource, model: &str) -> Result<ReplyTiming> {
    let reply = follow_reply(source, model.to_owned()).await;
    match &reply.failure {
        Some(failure) => anyhow::bail!("{failure}"),
        None => Ok(reply),
    }
}

/// Measures G5 and G6: the same reply directly from the model server, through the relay and through Turnleaf,
/// alternately.
///
/// # Errors
/// A reply fails.
pub async fn measure_paced(bench: &mut BenchContext) -> Result<()> {
    let relay = RelayProcess::start(bench.model_server)?;
    let server = bench.installation("paced")?.start().await?;
    let chat = make_chat(&mut LoopbackClient::connect(server.address).await?, PACED).await?;
    let through = ReplySource::Turnleaf { address: server.address, chat: Some(chat) };
    let (mut direct, mut relayed, mut ours) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        // Turnleaf comes first, because the first request after the start counts.
        ours.push(follow_one(through.clone(), PACED).await?);
        direct.push(follow_one(ReplySource::Model(bench.model_server), PACED).await?);
        relayed.push(follow_one(ReplySource::Model(relay.address), PACED).await?);
    }
    let all = ours.iter().all(|reply| reply.pieces == direct[0].pieces);
    ensure!(all, "pieces are missing");
    let (direct, relayed, ours) =
        (ReplySample::from_replies(direct), ReplySample::from_replies(relayed), ReplySample::from_replies(ours));
    let added = |figure: fn(&ReplySample, f64) -> f64, quantile| figure(&ours, quantile) - figure(&direct, quantile);
    let figure = |id, name, value, bound| BenchFigure {
        id,
        name,
        unit: "ms",
        value,
        goal: FigureGoal::AtMost(bound),
        ratio: None,
    };
    bench.figures.push(figure(
        "G5",
        "added before the first piece, p50",
        added(ReplySample::first_piece_latency, 0.5),
        3.0,
    ));
    bench.figures.push(figure(
        "G5",
        "added before the first piece, most of five",
        added(ReplySample::first_piece_latency, 1.0),
        8.0,
    ));
    let by_relay = relayed.piece_latency(0.5) - direct.piece_latency(0.5);
    let ratio = (by_relay > 0.0).then(|| (added(ReplySample::piece_latency, 0.5) / by_relay, "of what the relay adds"));
    bench.figures.push(BenchFigure {
        ratio,
        ..figure("G6", "added to each piece, p50", added(ReplySample::piece_latency, 0.5), 0.2)
    });
    bench.figures.push(figure("G6", "added to each piece, p99", added(ReplySample::piece_latency, 0.99), 1.0));
    server.stop()
}

/// Measures G7: the maximum throughput with everything stored; the stored text must equal the followed one.
///
/// # Errors
/// A reply fails, or the stored text differs.
pub async fn measure_unpaced(bench: &mut BenchContext) -> Result<()> {
    let relay = RelayProcess::start(bench.model_server)?;
    let server = bench.installation("unpaced")?.start().await?;
    let mut client = LoopbackClient::connect(server.address).await?;
    let (mut relayed, mut ours) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        relayed.push(
            ReplySample::from_replies(vec![follow_one(ReplySource::Model(relay.address), UNPACED).await?])
                .pieces_per_second(),
        );
        let reply = follow_one(ReplySource::Turnleaf { address: server.address, chat: None }, UNPACED).await?;
        let turn = reply.turn.clone().context("a reply without a turn")?;
        let followed = text_of_events(&reply.bytes);
        let stored = text_of_turn(&client.json(Method::GET, &format!("/api/turns/{turn}"), None).await?);
        ensure!(followed == stored, "stored are {} bytes, followed were {}", stored.len(), followed.len());
        let in_order = stamps(&stored).iter().map(|stamp| stamp.index).eq(0..UNPACED_PIECES);
        ensure!(in_order, "the stored text is not what the model server sent");
        ours.push(ReplySample::from_replies(vec![reply]).pieces_per_second());
    }
    let (relayed, ours) = (median(relayed), median(ours));
    let ratio = Some((ours / relayed, "of the relay"));
    let figure =
        |name, unit, value, bound| BenchFigure { id: "G7", name, unit, value, goal: FigureGoal::AtLeast(bound), ratio };
    bench.figures.push(figure("one reply, no pace, stored", "pieces/s", ours, 50_000.0));
    bench.figures.push(figure("the same, to a relay that parses", "", ours / relayed, 0.45));
    server.stop()
}

/// Returns the text blocks of a turn from the API.
pub fn text_of_turn(turn: &Value) -> String {
    let blocks = turn["blocks"].as_array().or_else(|| turn["turn"]["blocks"].as_array());
    let texts = blocks.into_iter().flatten().filter(|block| block["type"] == "text");
    let own = texts.filter(|block| block["is_error"] != true && block["content"]["is_error"] != true);
    own.filter_map(|block| block["text"].as_str().or_else(|| block["content"]["text"].as_str())).collect()
}
