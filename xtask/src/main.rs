//! The development commands. `cargo xtask serve` and `cargo xtask test` suffice for a newcomer; CONTRIBUTING names
//! the others. Commands install missing tools, or print how to install them.

mod api_collection;
mod bench;
mod budget;
mod chaos;
mod check;
mod dist;
mod front;
mod fuzz;
mod http;
mod linker_script;
mod memory;
mod packages;
mod password_ranking;
mod postgres;
mod price_list;
mod process;
mod real_model;
mod serve;
mod server;
mod startup_order;
mod step;
mod test;
mod toolchain;
mod weigh;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, runs, tests and measures Turnleaf.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build Turnleaf and serve it on http://127.0.0.1:3000.
    Serve {
        /// Build fast without optimization; rebuild and reload when a file changes.
        #[arg(long)]
        dev: bool,
        /// Arguments for `turnleaf serve` itself.
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Build the browser bundle into target/site.
    Front {
        /// Build fast without optimization.
        #[arg(long)]
        dev: bool,
        /// Keep function names, for the browser's profiler.
        #[arg(long, conflicts_with = "dev")]
        names: bool,
    },
    /// Run all checks and tests, or the named parts.
    Test {
        /// fmt, unit, xtask, deny, api, peers, clippy, release, budget, end2end
        parts: Vec<String>,
    },
    /// Approve the current appearance of every page: update the changed pictures in end2end/pictures.
    Pictures,
    /// Update the pictures of docs/gallery and the README, with the fonts of this machine.
    Gallery,
    /// Run the static checks: format, lints of server and browser, licenses, architecture.
    Check,
    /// Build target/dist/turnleaf, one file with the site inside, and test it in an empty directory.
    Dist,
    /// Check the budgets of a release: size, start time, memory at rest, first visit of a browser.
    Budget,
    /// Embed the price list of the locked version of genai-prices.
    Prices,
    /// Embed the hashes of the most common passwords.
    Passwords {
        /// A file with one password a line, the most common first.
        ranking: PathBuf,
    },
    /// Record which functions a start and one page run, so that a release has them side by side.
    Order,
    /// Show the size of sections, crates, layers and generic families in the release binary.
    Weigh {
        /// The number of rows of each table.
        #[arg(long, default_value_t = 25)]
        rows: usize,
    },
    /// Measure the figures G1 to G12, D1 to D3, T1 to T4, L1 to L3, S1 and I1 to I3, or the named ones.
    Bench {
        figures: Vec<String>,
        /// The size of the archives of I1 to I3 in megabytes; real ones have up to 2000.
        #[arg(long, default_value_t = 200)]
        megabytes: usize,
        /// Fail if a figure is worse than the last one of this machine by more than this percentage.
        #[arg(long, value_name = "PERCENT")]
        fail_over: Option<f64>,
    },
    /// Fuzz the parsers of untrusted input: all targets, or the named ones (the directories of fuzz/corpus).
    Fuzz {
        targets: Vec<String>,
        /// The seconds that each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Inject faults into a running server, on SQLite and PostgreSQL, and check its invariants.
    Chaos {
        /// Repeat the run that printed this seed.
        #[arg(long)]
        seed: Option<u64>,
        /// The scenarios: rows, kills, providers, outages, clients, disk, clock. All if none is named.
        scenarios: Vec<String>,
    },
    /// Update docs/api, the collections of the HTTP API for HTTP clients.
    ApiCollection,
    /// Test a conversation with a real model on llama.cpp in a real browser.
    RealModel,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Serve { dev: false, args } => serve::run(&args),
        Command::Serve { dev: true, args } => serve::watch::run(&args),
        Command::Front { dev: true, .. } => front::build_front(front::FrontProfile::Dev).map(drop),
        Command::Front { names: true, .. } => front::build_front(front::FrontProfile::Profile).map(drop),
        Command::Front { .. } => front::build_front(front::FrontProfile::Release).and_then(|front| front.check_size()),
        Command::Test { parts } => test::run(&parts),
        Command::Pictures => test::pictures(),
        Command::Gallery => test::gallery(),
        Command::Check => check::run(),
        Command::Dist => dist::run().map(|_| ()),
        Command::Budget => budget::run(),
        Command::Prices => price_list::run(),
        Command::Passwords { ranking } => password_ranking::run(&ranking),
        Command::Order => startup_order::run_command(),
        Command::Weigh { rows } => weigh::run(rows),
        Command::Bench { figures, megabytes, fail_over } => bench::run(&figures, megabytes, fail_over),
        Command::Fuzz { targets, seconds } => fuzz::run(&targets, seconds),
        Command::Chaos { seed, scenarios } => chaos::run(seed, &scenarios),
        Command::ApiCollection => api_collection::run(),
        Command::RealModel => real_model::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
