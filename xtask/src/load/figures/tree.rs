//! Long chats on both databases: T1, the tree of a thousand turns; T2 and T3, a page of fifty turns with their blocks
//! at the end and in the middle of ten thousand; T4, a message added to them. Each is compared with a chat of fifty
//! turns.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{BenchContext, median};
use crate::client::LoopbackClient;
use crate::report::{BenchFigure, FigureGoal};
use crate::stream::{ReplySource, follow_reply, send_message};

/// A reply of one piece, so that only the latency before it is measured.
const MODEL: &str = "mock-1-0";
const PAGES: usize = 300;
/// The warm-up requests before the measurement: connections, prepared statements, pages of the file.
const WARM: usize = 10;
const MESSAGES: usize = 15;
/// The lengths of the paths. With its versions the second chat has a thousand turns.
const LENGTHS: [&str; 3] = ["50", "952", "10000"];

/// A generated chat.
struct PlantedChat {
    chat: String,
    leaf: String,
    middle: String,
}

/// Id, description, unit, value, upper bound, and the ratio to the value in a short chat.
type FigureRow = (&'static str, &'static str, &'static str, f64, f64, Option<f64>);

/// Measures T1 to T4 on SQLite and, if there is a cluster, on PostgreSQL.
///
/// # Errors
/// The chats cannot be created, or the server does not start or refuses a request.
pub async fn measure_long_chats(bench: &mut BenchContext, plant: &Path, postgres: Option<&str>) -> Result<()> {
    on_database(bench, plant, "SQLite", None).await?;
    match postgres {
        Some(url) => on_database(bench, plant, "PostgreSQL", Some(url)).await,
        None => {
            bench.notes.push("T1 to T4 are left out on PostgreSQL: no cluster was given".into());
            Ok(())
        }
    }
}

async fn on_database(bench: &mut BenchContext, plant: &Path, name: &str, url: Option<&str>) -> Result<()> {
    let installation = bench.installation(&format!("tree-{name}"))?.with_database(url.map(str::to_owned));
    let [short, thousand, long] = plant_chats(plant, &installation.database_url()?)?;
    let server = installation.start().await?;
    let mut client = LoopbackClient::connect(server.address).await?;
    let mut found: Vec<FigureRow> = Vec::new();

    let tree = format!("/api/chats/{}/tree", thousand.chat);
    let (cold, full) = timed_get(&mut client, &tree).await?;
    let (_, compact) = timed_get(&mut client, &format!("{tree}?format=compact")).await?;
    found.push(("T1", "tree of 1,000 turns, by ids", "KB", full as f64 / 1e3, 100.0, None));
    found.push(("T1", "the same, compact", "KB", compact as f64 / 1e3, 2.5, None));
    found.push(("T1", "the same, the first time", "ms", cold, 100.0, None));
    let again = repeated_gets(&mut client, &tree, PAGES).await?;
    found.push(("T1", "the same, read again, p99", "ms", quantile(&again, 0.99), 100.0, None));
    let unchanged = repeated_conditional_gets(&mut client, &tree).await?;
    found.push(("T1", "the same, unchanged (304), p99", "ms", quantile(&unchanged, 0.99), 10.0, None));

    let end = |of: &PlantedChat| format!("/api/chats/{}/turns?from={}&leaf={}", of.chat, of.leaf, of.leaf);
    let middle = |of: &PlantedChat| format!("/api/chats/{}/turns?from={}&leaf={}", of.chat, of.middle, of.leaf);
    let down = |of: &PlantedChat| format!("/api/chats/{}/turns?direction=after&from={}", of.chat, of.middle);
    for (id, label, path) in [
        ("T2", "50 turns at depth 10,000, p99", &end as &dyn Fn(&PlantedChat) -> String),
        ("T3", "50 turns in the middle of them, p99", &middle),
        ("T3", "50 turns on from the middle, no leaf, p99", &down),
    ] {
        let of_short = repeated_gets(&mut client, &path(&short), PAGES).await?;
        let of_long = repeated_gets(&mut client, &path(&long), PAGES).await?;
        let ratio = quantile(&of_long, 0.5) / quantile(&of_short, 0.5);
        found.push((id, label, "ms", quantile(&of_long, 0.99), 20.0, Some(ratio)));
    }

    let (mut accepted, mut first) = ([vec![], vec![]], [vec![], vec![]]);
    for _ in 0..MESSAGES {
        for (at, of) in [&short, &long].into_iter().enumerate() {
            let start = Instant::now();
            let turn = send_message(&mut client, &of.chat, MODEL).await?;
            accepted[at].push(start.elapsed().as_secs_f64() * 1e3);
            // The reply must end before the next message is sent.
            client.get(&format!("/api/turns/{turn}/events")).await?;
            let through = ReplySource::Turnleaf { address: server.address, chat: Some(of.chat.clone()) };
            let reply = follow_reply(through, MODEL.to_owned()).await;
            ensure!(reply.failure.is_none(), "{:?}", reply.failure);
            first[at].push(reply.first_after as f64 / 1e6);
        }
    }
    let [of_short, of_long] = accepted.map(median);
    found.push((
        "T4",
        "a message is accepted after 10,000 turns",
        "ms",
        of_long,
        of_short * 1.5,
        Some(of_long / of_short),
    ));
    let [of_short, of_long] = first.map(median);
    found.push(("T4", "and the first word comes", "ms", of_long, 120.0, Some(of_long / of_short)));

    bench.figures.extend(found.into_iter().map(|(id, label, unit, value, bound, ratio)| BenchFigure {
        id,
        // The program ends after it prints the table, so the leak is harmless.
        name: format!("{label}, {name}").leak(),
        unit,
        value,
        goal: FigureGoal::AtMost(bound),
        ratio: ratio.map(|ratio| (ratio, "of 50 turns")),
    }));
    server.stop()
}

fn plant_chats(program: &Path, database: &str) -> Result<[PlantedChat; 3]> {
    let mut command = Command::new(program);
    let done = command.args(["--database", database, "--model", MODEL]).args(LENGTHS).output()?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let planted: Value = serde_json::from_slice(&done.stdout)?;
    let text = |length: &str, name: &str| planted[length][name].as_str().map(str::to_owned).context("a planted chat");
    let one = |length: &str| {
        anyhow::Ok(PlantedChat {
            chat: text(length, "chat")?,
            leaf: text(length, "leaf")?,
            middle: text(length, "middle")?,
        })
    };
    Ok([one(LENGTHS[0])?, one(LENGTHS[1])?, one(LENGTHS[2])?])
}

/// Returns the milliseconds until the whole response was read, and its size in bytes.
async fn timed_get(client: &mut LoopbackClient, path: &str) -> Result<(f64, usize)> {
    let start = Instant::now();
    let bytes = client.get(path).await?.len();
    Ok((start.elapsed().as_secs_f64() * 1e3, bytes))
}

async fn repeated_gets(client: &mut LoopbackClient, path: &str, times: usize) -> Result<Vec<f64>> {
    let mut all = Vec::with_capacity(times);
    for n in 0..times + WARM {
        let (time, _) = timed_get(client, path).await?;
        if n >= WARM {
            all.push(time);
        }
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

async fn repeated_conditional_gets(client: &mut LoopbackClient, path: &str) -> Result<Vec<f64>> {
    let tag = client.entity_tag(path).await?;
    let mut all = Vec::with_capacity(PAGES);
    for _ in 0..PAGES {
        let start = Instant::now();
        ensure!(client.is_not_modified(path, &tag).await?, "the tree changed by itself");
        all.push(start.elapsed().as_secs_f64() * 1e3);
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

/// Returns a quantile of sorted values.
fn quantile(sorted: &[f64], quantile: f64) -> f64 {
    let at = (sorted.len() as f64 * quantile).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_is_value_not_exceeded_by_that_share() {
        let values: Vec<f64> = (1..=300).map(f64::from).collect();
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.99), quantile(&values, 1.0)), (150.0, 297.0, 300.0));
        assert!(quantile(&[], 0.5).is_nan());
    }
}
