//! `cargo xtask bench`: builds the binary that people run and the load generator, and lets one measure the other. What is
//! measured, and how, is in `load`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::postgres::Cluster;
use crate::step::{run as finish, step};
use crate::{dist, packages, workspace};

/// Measures the named figures, or all; the result lies in `target/bench.json`.
///
/// # Errors
/// A build failed, or the load generator could not measure. A figure that misses its goal is not an error.
pub fn run(figures: &[String]) -> Result<()> {
    let binary = dist::run()?;
    step("compile the load generator", || {
        let mut build = workspace::build("build");
        build.args(["--release", "--package", "xtask", "--bin", "load", "--no-default-features", "--features", "load"]);
        finish(&mut build)
    })?;
    step("compile what is linked with the server", || {
        let mut build = workspace::build("build");
        build.args(["--release", "--package", "xtask", "--bin", "decode", "--bin", "plant", "--bin", "search"]);
        build.args(["--no-default-features", "--features", "decode"]);
        // As the server is built, of which most is there already.
        finish(build.args(workspace::without_paths()))
    })?;
    packages::node("the long chats", &workspace::end2end())?;
    let programs = workspace::target().join("release");
    let mut load = Command::new(programs.join("load"));
    load.arg("measure").arg("--binary").arg(binary).arg("--out").arg(workspace::target().join("bench.json"));
    load.arg("--decode").arg(programs.join("decode")).arg("--fixtures").arg(fixtures());
    load.arg("--plant").arg(programs.join("plant")).arg("--search").arg(programs.join("search"));
    let is_asked = |figure: &String| figure.starts_with(['S', 'T']);
    let cluster = match figures.is_empty() || figures.iter().any(is_asked) {
        true => Some(Cluster::start()?),
        false => None,
    };
    if let Some(cluster) = &cluster {
        load.arg("--postgres").arg(cluster.url());
    }
    load.arg("--reader").arg(workspace::end2end().join("bench/long_chats.mjs"));
    step("measure", || finish(load.args(figures)))
}

/// The recorded responses, where the tests look for them too.
fn fixtures() -> PathBuf {
    let beside = workspace::root().join("../shared/fixtures");
    std::env::var_os("TURNLEAF_FIXTURES").map_or(beside, PathBuf::from)
}
