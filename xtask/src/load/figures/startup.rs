//! G1, the time to the first page; G2, the size and memory of the product at rest.

use std::time::Duration;

use anyhow::Result;

use super::{BenchContext, median};
use crate::client::LoopbackClient;
use crate::report::{BenchFigure, FigureGoal};

const STARTS: usize = 5;
/// The rest of the server before its memory is read.
const REST: Duration = Duration::from_secs(10);

/// Measures G1.
///
/// # Errors
/// The server does not start.
pub async fn measure_start_time(bench: &mut BenchContext) -> Result<()> {
    let mut empty = Vec::new();
    for round in 0..STARTS {
        let server = bench.installation(&format!("empty-{round}"))?.start().await?;
        empty.push(server.started_in);
        server.stop()?;
    }
    let again = bench.installation("empty-0")?;
    let mut warm = Vec::new();
    for _ in 0..STARTS {
        let server = again.start().await?;
        warm.push(server.started_in);
        server.stop()?;
    }
    let figure =
        |name, values, goal| BenchFigure { id: "G1", name, unit: "s", value: median(values), goal, ratio: None };
    bench.figures.push(figure("start to first page", warm, FigureGoal::AtMost(0.08)));
    bench.figures.push(figure("start to first page, empty database", empty, FigureGoal::AtMost(0.25)));
    Ok(())
}

/// Measures G2.
///
/// # Errors
/// The server does not start, or does not serve the files of its page.
pub async fn measure_weight(bench: &mut BenchContext) -> Result<()> {
    let installation = bench.installation("rest")?;
    let server = installation.start().await?;
    let mut client = LoopbackClient::connect(server.address).await?;
    let page = String::from_utf8_lossy(&client.get("/").await?).into_owned();
    for path in assets(&page) {
        client.get(&path).await?;
    }
    tokio::time::sleep(REST).await;
    let memory = server.memory_bytes(false)? as f64 / 1e6;
    let size = std::fs::metadata(&installation.binary)?.len() as f64 / 1e6;
    let figure = |name, value, goal| BenchFigure { id: "G2", name, unit: "MB", value, goal, ratio: None };
    bench.figures.push(figure("memory at rest after one page", memory, FigureGoal::AtMost(30.0)));
    bench.figures.push(figure("binary with everything in it", size, FigureGoal::AtMost(40.0)));
    server.stop()
}

/// Returns the files that a browser fetches for a page, without the query.
fn assets(page: &str) -> Vec<String> {
    let quoted = page.split(['"', '\'']).filter(|text| text.starts_with("/pkg/"));
    let mut paths: Vec<String> = quoted.filter(|text| !text.contains(['<', ' '])).map(String::from).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_of_page_are_found_once() {
        let page = r#"<link href="/pkg/0/a.css"><script>import("/pkg/0/a.js"); load('/pkg/0/a_bg.wasm')</script><link href="/pkg/0/a.js">"#;
        assert_eq!(assets(page), ["/pkg/0/a.css", "/pkg/0/a.js", "/pkg/0/a_bg.wasm"]);
    }
}
