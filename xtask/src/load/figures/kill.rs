//! G10: the server is killed while a reply is followed, twenty times at random moments. What had been shown, and was older
//! than a tenth of a second, must be there after the next start, and the reply must say that it was interrupted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;

use super::Bench;
use super::single::text_of_turn;
use crate::client::Client;
use crate::report::{Figure, Goal};
use crate::stamp::{self, Scanner, Stamp, stamps};
use crate::stream::{make_chat, send_message};
use crate::turnleaf::Installation;

const KILLS: usize = 20;
/// Fast, and far from over when the kill comes.
const MODEL: &str = "mock-4000-200";

/// What one kill cost.
struct Loss {
    /// The age of the oldest piece that was shown and is gone, milliseconds; 0 when nothing is gone.
    age: f64,
    /// The reply is marked as interrupted.
    is_marked: bool,
}

/// G10.
///
/// # Errors
/// The server does not start again.
pub async fn lost(bench: &mut Bench) -> Result<()> {
    let installation = bench.installation("kill")?;
    let mut losses = Vec::new();
    for _ in 0..KILLS {
        losses.push(kill_once(&installation).await?);
    }
    let worst = losses.iter().map(|loss| loss.age).fold(0.0, f64::max);
    let unmarked = losses.iter().filter(|loss| !loss.is_marked).count();
    let damage = f64::from(u8::from(!installation.is_sound()?));
    let figure =
        |what, unit, value, bound| Figure { id: "G10", what, unit, value, goal: Goal::AtMost(bound), ratio: None };
    bench.figures.push(figure("oldest text lost in 20 kills", "ms old", worst, 100.0));
    bench.figures.push(figure("replies not marked as interrupted", "", unmarked as f64, 0.0));
    bench.figures.push(figure("fsck finds something", "", damage, 0.0));
    Ok(())
}

async fn kill_once(installation: &Installation) -> Result<Loss> {
    let server = installation.start().await?;
    let mut client = Client::connect(server.address).await?;
    let chat = make_chat(&mut client, MODEL).await?;
    let turn = send_message(&mut client, &chat, MODEL).await?;
    let body = client.send(Method::GET, &format!("/api/turns/{turn}/events"), None).await?.into_body();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reader = tokio::spawn(watch(body, Arc::clone(&seen)));
    // Between 0.2 and 1.7 s; the clock's last digits are random enough.
    tokio::time::sleep(Duration::from_millis(200 + stamp::now() / 1000 % 1500)).await;
    let killed_at = stamp::now();
    server.kill()?;
    reader.await.context("the reader")?;
    let server = installation.start().await?;
    let turn = Client::connect(server.address).await?.json(Method::GET, &format!("/api/turns/{turn}"), None).await?;
    let kept = stamps(&text_of_turn(&turn)).len() as u64;
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    let oldest = seen.iter().filter(|stamp| stamp.index >= kept).map(|stamp| stamp.sent).min();
    let age = oldest.map_or(0.0, |sent| killed_at.saturating_sub(sent) as f64 / 1e6);
    let status = turn["status"].as_str().or_else(|| turn["turn"]["status"].as_str()).unwrap_or_default().to_owned();
    server.stop()?;
    Ok(Loss { age, is_marked: status == "error" })
}

/// Notes what is shown until the connection breaks.
async fn watch(mut body: Incoming, seen: Arc<Mutex<Vec<Stamp>>>) {
    let mut scanner = Scanner::default();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        scanner.feed(&bytes, |stamp| seen.push(stamp));
    }
}
