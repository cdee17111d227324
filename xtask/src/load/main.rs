//! The load generator of `cargo xtask bench`: a model server that is only timing, a relay to compare with, and clients
//! that follow replies through Turnleaf. Everything stays on loopback, every loop has an end.
//!
//! Every piece of text carries the time it left the model server, so that a reader on the same machine knows how long it
//! took, whatever lies between.

mod client;
mod figures;
mod mock;
mod relay;
mod report;
mod stamp;
mod stream;
mod turnleaf;
#[path = "../plant/texts.rs"]
#[expect(dead_code, reason = "what is said in chats of the browser tests")]
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
    /// Measures a binary.
    Measure {
        #[command(flatten)]
        programs: Box<figures::BenchPrograms>,
        /// Where the result goes as JSON.
        #[arg(long)]
        out: PathBuf,
        /// A1, G1 to G12, D1 to D3, K1, K2, T1 to T4, L1 to L3, S1, I1 to I3; all when none is named.
        figures: Vec<String>,
    },
    /// Parses a model server's stream and writes it again, as little as a relay that understands it can do.
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
