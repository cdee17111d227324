//! G10: the server is killed twenty times at random moments while a reply is followed. Text that was displayed for
//! more than a tenth of a second must exist after the restart, and the reply must be marked as interrupted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;

use super::BenchContext;
use super::single_reply::text_of_turn;
use crate::client::LoopbackClient;
use crate::report::{BenchFigure, FigureGoal};
use crate::stamp::{self, PieceStamp, StampScanner, stamps};
use crate::stream::{make_chat, send_message};
use crate::turnleaf::BenchInstallation;

const KILLS: usize = 20;
/// A fast reply that is far from complete when the server is killed.
const MODEL: &str = "mock-4000-200";

/// The loss caused by one kill.
struct KillLoss {
    /// The age of the oldest displayed piece that was lost, in milliseconds; 0 if none was.
    age: f64,
    /// The reply is marked as interrupted.
    is_marked: bool,
}

/// Measures G10.
///
/// # Errors
/// The server does not start again.
pub async fn measure_kill_loss(bench: &mut BenchContext) -> Result<()> {
    let installation = bench.installation("kill")?;
    let mut losses = Vec::new();
    for _ in 0..KILLS {
        losses.push(kill_once(&installation).await?);
    }
    let worst = losses.iter().map(|loss| loss.age).fold(0.0, f64::max);
    let unmarked = losses.iter().filter(|loss| !loss.is_marked).count();
    let damage = f64::from(u8::from(!installation.is_sound()?));
    let figure = |name, unit, value, bound| BenchFigure {
        id: "G10",
        name,
        unit,
        value,
        goal: FigureGoal::AtMost(bound),
        ratio: None,
    };
    bench.figures.push(figure("oldest text lost in 20 kills", "ms old", worst, 100.0));
    bench.figures.push(figure("replies not marked as interrupted", "", unmarked as f64, 0.0));
    bench.figures.push(figure("fsck finds something", "", damage, 0.0));
    Ok(())
}

async fn kill_once(installation: &BenchInstallation) -> Result<KillLoss> {
    let server = installation.start().await?;
    let mut client = LoopbackClient::connect(server.address).await?;
    let chat = make_chat(&mut client, MODEL).await?;
    let turn = send_message(&mut client, &chat, MODEL).await?;
    let body = client.send(Method::GET, &format!("/api/turns/{turn}/events"), None).await?.into_body();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reader = tokio::spawn(collect_stamps(body, Arc::clone(&seen)));
    // The delay is between 0.2 and 1.7 s; the last digits of the clock are random enough.
    tokio::time::sleep(Duration::from_millis(200 + stamp::now_nanos() / 1000 % 1500)).await;
    let killed_at = stamp::now_nanos();
    server.kill()?;
    reader.await.context("the reader")?;
    let server = installation.start().await?;
    let turn =
        LoopbackClient::connect(server.address).await?.json(Method::GET, &format!("/api/turns/{turn}"), None).await?;
    let kept = stamps(&text_of_turn(&turn)).len() as u64;
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    let oldest = seen.iter().filter(|stamp| stamp.index >= kept).map(|stamp| stamp.sent).min();
    let age = oldest.map_or(0.0, |sent| killed_at.saturating_sub(sent) as f64 / 1e6);
    let status = turn["status"].as_str().or_else(|| turn["turn"]["status"].as_str()).unwrap_or_default().to_owned();
    server.stop()?;
    Ok(KillLoss { age, is_marked: status == "error" })
}

/// Collects the displayed pieces until the connection breaks.
async fn collect_stamps(mut body: Incoming, seen: Arc<Mutex<Vec<PieceStamp>>>) {
    let mut scanner = StampScanner::default();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        scanner.feed(&bytes, |stamp| seen.push(stamp));
    }
}
