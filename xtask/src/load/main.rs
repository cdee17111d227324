//! The load generator of `cargo xtask bench`: a model server that only simulates timing, a relay for comparison, and
//! clients that follow replies through Turnleaf. All traffic stays on loopback, and every loop ends.
//!
//! Every piece of text carries the time at which it left the model server, so that a reader on the same machine can
//! compute its latency, whatever is in between.

mod client;
mod figures;
mod mock;
mod relay;
mod report;
mod stamp;
mod stream;
mod turnleaf;
#[path = "../plant/texts.rs"]
#[expect(dead_code, reason = "texts for the chats of the browser tests")]
mod words;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure a binary.
    Measure {
        #[command(flatten)]
        programs: Box<figures::BenchPrograms>,
        /// The JSON file for the result.
        #[arg(long)]
        out: PathBuf,
        /// The figures to measure: A1, G1 to G12, D1 to D3, K1, K2, T1 to T4, L1 to L3, S1, I1 to I3, R1 to R7. All but R7
        /// if none is named.
        figures: Vec<String>,
    },
    /// Run a minimal relay that parses a model server's stream and writes it again.
    Relay {
        #[arg(long)]
        upstream: SocketAddr,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let done: Result<()> = match Arguments::parse().command {
        Command::Measure { programs, out, figures } => figures::measure(&programs, &out, &figures).await,
        Command::Relay { upstream } => relay::run_relay(upstream).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error:#}");
            ExitCode::FAILURE
        }
    }
}
