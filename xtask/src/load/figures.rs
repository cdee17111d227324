//! The figures, in the order of the goals. Each starts servers of its own with data of its own.

mod crowd;
mod decode;
mod kill;
mod long;
mod page;
mod search;
mod single;
mod start;
mod transfer;
mod tree;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::mock;
use crate::report::{Figure, show};
use crate::turnleaf::Installation;

/// What can be asked for; G3 and G4 come from one run, as do G5 and G6, D1 and D2, T1 to T4, I1 to I3, L1 to L3.
const KNOWN: [&str; 29] = [
    "A1", "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G11", "G12", "D1", "D2", "D3", "K1", "K2",
    "T1", "T2", "T3", "T4", "L1", "L2", "L3", "S1", "I1", "I2", "I3",
];

/// What is measured, and on what.
#[derive(Debug, Clone, clap::Args)]
pub struct Programs {
    /// The server that people run, for figures of one.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The program that decodes recordings.
    #[arg(long)]
    decode: Option<PathBuf>,
    /// The folder of the recordings.
    #[arg(long)]
    fixtures: PathBuf,
    /// The program that plants long chats.
    #[arg(long)]
    plant: Option<PathBuf>,
    /// The program that searches in very many turns.
    #[arg(long)]
    search: Option<PathBuf>,
    /// An empty PostgreSQL database, for what is measured on both.
    #[arg(long)]
    postgres: Option<String>,
    /// What the names of three empty PostgreSQL databases begin with, for what must have one of its own.
    #[arg(long)]
    postgres_apart: Option<String>,
    #[command(flatten)]
    size: transfer::Size,
    /// What the browser does in long chats, for node.
    #[arg(long)]
    reader: PathBuf,
}

/// What every measurement needs.
pub struct Bench {
    binary: Option<PathBuf>,
    place: tempfile::TempDir,
    pub model_server: SocketAddr,
    pub figures: Vec<Figure>,
    /// What a reader should know about the figures.
    pub notes: Vec<String>,
}

impl Bench {
    /// A place for data under this name; the same name is the same data.
    ///
    /// # Errors
    /// The folder cannot be made, or no server was given.
    pub fn installation(&self, name: &str) -> Result<Installation> {
        let dir = self.place.path().join(name);
        std::fs::create_dir_all(&dir)?;
        let binary = self.binary.clone().context("this is measured on a server: --binary")?;
        Ok(Installation { binary, dir, model_server: self.model_server, database: None })
    }

    /// How busy the machine was, which tells how far the figures can be trusted.
    fn note_load(&mut self, when: &str) {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?").to_owned();
        self.notes.push(format!("load of the machine {when}: {load}"));
    }
}

/// Measures the named figures, or all, and shows them.
///
/// # Errors
/// A figure is unknown, or a server does not start. A missed goal is no error.
pub async fn measure(programs: &Programs, out: &Path, names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !KNOWN.contains(&name.as_str())) {
        bail!("there is no figure {unknown}; there are {}", KNOWN.join(", "));
    }
    let asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    let place = tempfile::Builder::new().prefix("turnleaf-bench").tempdir()?;
    let model_server = mock::start().await?;
    let binary = programs.binary.as_ref().map(|binary| binary.canonicalize()).transpose()?;
    let mut bench = Bench { binary, place, model_server, figures: Vec::new(), notes: Vec::new() };
    bench.note_load("before");
    if asked("G1") {
        start::time(&mut bench).await?;
    }
    if asked("G2") {
        start::weight(&mut bench).await?;
    }
    if asked("G5") || asked("G6") {
        single::paced(&mut bench).await?;
    }
    if asked("G7") {
        single::unpaced(&mut bench).await?;
    }
    if asked("G8") {
        crowd::many_replies(&mut bench).await?;
    }
    if asked("G9") {
        crowd::many_chats(&mut bench).await?;
    }
    if asked("G10") {
        kill::lost(&mut bench).await?;
    }
    if asked("D1") || asked("D2") {
        decode::recordings(&mut bench, given(&programs.decode)?, &programs.fixtures)?;
    }
    if asked("D3") {
        decode::ending(&mut bench).await?;
    }
    if ["T1", "T2", "T3", "T4"].into_iter().any(asked) {
        tree::long_chats(&mut bench, given(&programs.plant)?, programs.postgres.as_deref()).await?;
    }
    if asked("G11") {
        long::goal(&mut bench, programs).await?;
    }
    if ["L1", "L2", "L3"].into_iter().any(asked) {
        long::chats(&mut bench, programs).await?;
    }
    page::page(&mut bench, programs, asked).await?;
    if asked("S1") {
        search::many_turns(&mut bench, given(&programs.search)?, programs.postgres.as_deref())?;
    }
    if asked("I1") || asked("I2") || asked("I3") {
        let postgres = programs.postgres_apart.as_deref();
        transfer::archives(&mut bench, given(&programs.plant)?, postgres, programs.size).await?;
    }
    bench.note_load("after");
    show(&bench.figures, &bench.notes, out)
}

/// A program without which the asked figure is not to be had.
fn given(program: &Option<PathBuf>) -> Result<&Path> {
    program.as_deref().context("this is measured by a program that was not given")
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
