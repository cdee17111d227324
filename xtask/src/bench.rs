//! `cargo xtask bench`: builds the release binary and the load generator, and runs the measurements. `load` defines
//! what is measured, and how.

mod trend;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::postgres::PostgresCluster;
use crate::step::{run as finish, run_step};
use crate::{dist, packages, workspace};

/// The programs that are linked with the server's crates instead of measuring a running server, and the figures that
/// need them.
const LINKED: [(&str, &[&str]); 3] = [
    ("decode", &["D1", "D2"]),
    ("plant", &["G11", "G12", "K1", "K2", "T1", "T2", "T3", "T4", "L1", "L2", "L3", "I1", "I2", "I3"]),
    ("search", &["S1"]),
];

/// The figures that need no running server, so that its build can be skipped.
const WITHOUT_SERVER: [&str; 3] = ["D1", "D2", "S1"];

/// The figures measured in the browser, besides those with a K or an L.
const IN_BROWSER: [&str; 4] = ["G3", "G4", "G11", "G12"];

/// Measures the named figures, or all. The result is written to `target/bench.json` and appended to
/// `target/bench-trend.jsonl`. Programs that no named figure needs are not built.
///
/// # Errors
/// A build failed, the load generator could not measure, or a figure is worse than the last of this machine by more
/// than `fail_over` percent. A figure that misses its goal is not an error.
pub fn run(figures: &[String], megabytes: usize, fail_over: Option<f64>) -> Result<()> {
    let programs = workspace::target().join("release");
    let mut load = Command::new(programs.join("load"));
    let measured = workspace::target().join("bench.json");
    load.arg("measure").arg("--out").arg(&measured);
    if figures.is_empty() || figures.iter().any(|figure| !WITHOUT_SERVER.contains(&figure.as_str())) {
        load.arg("--binary").arg(dist::run()?);
    }
    run_step("compile the load generator", || {
        let mut build = workspace::build_command("build");
        build.args(["--release", "--package", "xtask", "--bin", "load", "--no-default-features", "--features", "load"]);
        finish(&mut build)
    })?;
    let linked = linked_programs(figures);
    if !linked.is_empty() {
        run_step("compile what is linked with the server", || {
            let mut build = workspace::build_command("build");
            build.args(["--release", "--package", "xtask", "--no-default-features", "--features", "decode"]);
            build.args(linked.iter().flat_map(|name| ["--bin", name]));
            // The same flags as for the server reuse most of its build.
            finish(build.args(workspace::path_remapping_flags()))
        })?;
    }
    for name in linked {
        load.arg(format!("--{name}")).arg(programs.join(name));
    }
    let are_requested =
        |letters: &[char]| figures.is_empty() || figures.iter().any(|figure| figure.starts_with(letters));
    if are_requested(&['K', 'L']) || IN_BROWSER.iter().any(|figure| figures.iter().any(|requested| requested == figure))
    {
        packages::install_node_packages("what is measured in a browser", &workspace::end2end())?;
    }
    if are_requested(&['A']) {
        packages::install_node_packages("Lighthouse", &workspace::end2end().join("bench/lighthouse"))?;
    }
    load.arg("--fixtures").arg(fixtures());
    let cluster = match are_requested(&['S', 'T', 'I']) {
        true => Some(PostgresCluster::start()?),
        false => None,
    };
    if let Some(cluster) = &cluster {
        load.arg("--postgres").arg(cluster.url());
        load.arg("--postgres-apart").arg(cluster.create_databases("transfer", 3)?);
    }
    load.args(["--megabytes", &megabytes.to_string()]);
    load.arg("--reader").arg(workspace::end2end().join("bench/long_chats.mjs"));
    run_step("measure", || finish(load.args(figures)))?;
    trend::append_and_compare(&measured, &workspace::target().join("bench-trend.jsonl"), fail_over)
}

/// Returns the programs of [`LINKED`] that these figures need.
fn linked_programs(figures: &[String]) -> Vec<&'static str> {
    let is_requested = |name: &&str| figures.is_empty() || figures.iter().any(|figure| figure == name);
    LINKED.iter().filter(|(_, used)| used.iter().any(is_requested)).map(|(name, _)| *name).collect()
}

/// Returns the directory of recorded responses, which the tests use too.
fn fixtures() -> PathBuf {
    let shared = workspace::root().join("../shared/fixtures");
    std::env::var_os("TURNLEAF_FIXTURES").map_or(shared, PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_of_requested_figures_are_built() {
        let of = |figures: &[&str]| linked_programs(&figures.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["S1"]), ["search"]);
        assert_eq!(of(&["G1"]), [""; 0]);
        assert_eq!(of(&["T2", "D1"]), ["decode", "plant"]);
        assert_eq!(of(&["I1"]), ["plant"]);
        assert_eq!(of(&[]), ["decode", "plant", "search"]);
    }
}
