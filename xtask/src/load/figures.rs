//! The measured figures, in the order of the goals. Each starts its own servers with its own data.

mod concurrency;
mod decode;
mod kill;
mod long_chats;
mod page;
mod relay_ratios;
mod search;
mod single_reply;
mod startup;
mod transfer;
mod tree;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::mock;
use crate::report::{BenchFigure, write_report};
use crate::turnleaf::BenchInstallation;

/// The known figures. R7 takes ten minutes and is measured only if it is named. G3 and G4 come from one run, as do G5 and G6, D1 and D2, T1 to T4, I1 to I3, L1 to L3.
const KNOWN: [&str; 36] = [
    "A1", "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G11", "G12", "D1", "D2", "D3", "K1", "K2",
    "T1", "T2", "T3", "T4", "L1", "L2", "L3", "S1", "I1", "I2", "I3", "R1", "R2", "R3", "R4", "R5", "R6", "R7",
];

/// The programs and databases to measure.
#[derive(Debug, Clone, clap::Args)]
pub struct BenchPrograms {
    /// The release binary of the server.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The program that decodes recordings.
    #[arg(long)]
    decode: Option<PathBuf>,
    /// The directory of the recordings.
    #[arg(long)]
    fixtures: PathBuf,
    /// The program that creates long chats.
    #[arg(long)]
    plant: Option<PathBuf>,
    /// The program that measures search.
    #[arg(long)]
    search: Option<PathBuf>,
    /// An empty PostgreSQL database, for figures of both databases.
    #[arg(long)]
    postgres: Option<String>,
    /// The name prefix of three empty PostgreSQL databases, for figures that need their own.
    #[arg(long)]
    postgres_apart: Option<String>,
    #[command(flatten)]
    size: transfer::ArchiveSize,
    /// The node script that measures long chats in a browser.
    #[arg(long)]
    reader: PathBuf,
}

/// The context of all measurements.
pub struct BenchContext {
    binary: Option<PathBuf>,
    place: tempfile::TempDir,
    pub model_server: SocketAddr,
    pub figures: Vec<BenchFigure>,
    /// Remarks on the figures for the reader.
    pub notes: Vec<String>,
}

impl BenchContext {
    /// Returns the installation of this name; the same name means the same data.
    ///
    /// # Errors
    /// The directory cannot be created, or no server was given.
    pub fn installation(&self, name: &str) -> Result<BenchInstallation> {
        let dir = self.place.path().join(name);
        std::fs::create_dir_all(&dir)?;
        let binary = self.binary.clone().context("this is measured on a server: --binary")?;
        Ok(BenchInstallation { binary, dir, model_server: self.model_server, database: None })
    }

    /// Notes the load of the machine, by which the reliability of the figures can be judged.
    fn note_load(&mut self, when: &str) {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?").to_owned();
        self.notes.push(format!("load of the machine {when}: {load}"));
    }
}

/// Measures the named figures, or all, and prints them.
///
/// # Errors
/// A figure is unknown, or a server does not start. A missed goal is no error.
pub async fn measure(programs: &BenchPrograms, out: &Path, names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !KNOWN.contains(&name.as_str())) {
        bail!("there is no figure {unknown}; there are {}", KNOWN.join(", "));
    }
    let is_requested = |name: &str| names.is_empty() || names.iter().any(|requested| requested == name);
    let place = tempfile::Builder::new().prefix("turnleaf-bench").tempdir()?;
    let model_server = mock::start().await?;
    let binary = programs.binary.as_ref().map(|binary| binary.canonicalize()).transpose()?;
    let mut bench = BenchContext { binary, place, model_server, figures: Vec::new(), notes: Vec::new() };
    bench.note_load("before");
    if is_requested("G1") {
        startup::measure_start_time(&mut bench).await?;
    }
    if is_requested("G2") {
        startup::measure_weight(&mut bench).await?;
    }
    if is_requested("G5") || is_requested("G6") {
        single_reply::measure_paced(&mut bench).await?;
    }
    if is_requested("G7") {
        single_reply::measure_unpaced(&mut bench).await?;
    }
    if is_requested("G8") {
        concurrency::measure_many_replies(&mut bench).await?;
    }
    if is_requested("G9") {
        concurrency::measure_many_chats(&mut bench).await?;
    }
    if ["R1", "R2", "R3"].into_iter().any(is_requested) {
        relay_ratios::measure_single_replies(&mut bench).await?;
    }
    if ["R4", "R5", "R6"].into_iter().any(is_requested) {
        relay_ratios::measure_crowds(&mut bench).await?;
    }
    if names.iter().any(|name| name == "R7") {
        relay_ratios::measure_soak(&mut bench).await?;
    }
    if is_requested("G10") {
        kill::measure_kill_loss(&mut bench).await?;
    }
    if is_requested("D1") || is_requested("D2") {
        decode::measure_decoding(&mut bench, require_program(&programs.decode)?, &programs.fixtures)?;
    }
    if is_requested("D3") {
        decode::measure_ending(&mut bench).await?;
    }
    if ["T1", "T2", "T3", "T4"].into_iter().any(is_requested) {
        tree::measure_long_chats(&mut bench, require_program(&programs.plant)?, programs.postgres.as_deref()).await?;
    }
    if is_requested("G11") {
        long_chats::measure_goal_chat(&mut bench, programs).await?;
    }
    if ["L1", "L2", "L3"].into_iter().any(is_requested) {
        long_chats::measure_long_chats(&mut bench, programs).await?;
    }
    page::measure_page(&mut bench, programs, is_requested).await?;
    if is_requested("S1") {
        search::measure_search(&mut bench, require_program(&programs.search)?, programs.postgres.as_deref())?;
    }
    if is_requested("I1") || is_requested("I2") || is_requested("I3") {
        let postgres = programs.postgres_apart.as_deref();
        transfer::measure_transfer(&mut bench, require_program(&programs.plant)?, postgres, programs.size).await?;
    }
    bench.note_load("after");
    write_report(&bench.figures, &bench.notes, out)
}

/// Returns the path of a program that a requested figure needs.
fn require_program(program: &Option<PathBuf>) -> Result<&Path> {
    program.as_deref().context("this is measured by a program that was not given")
}

/// Returns the median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
