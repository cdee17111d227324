//! The project's own commands. `cargo xtask serve` and `cargo xtask test` are all that a newcomer needs; the README
//! names the rest. What a command needs it installs, or says exactly how.

mod bench;
mod budget;
mod chaos;
mod check;
mod dist;
mod front;
mod fuzz;
mod http;
mod packages;
mod postgres;
mod process;
mod real_model;
mod serve;
mod server;
mod step;
mod test;
mod toolchain;
mod weigh;
mod workspace;

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
    /// Build both sides and serve on http://127.0.0.1:3000.
    Serve {
        /// Build fast instead of small and quick; rebuild and reload when a file changes.
        #[arg(long)]
        dev: bool,
        /// Arguments for `turnleaf serve` itself.
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Build the browser's side into target/site.
    Front {
        /// Build fast instead of small and quick.
        #[arg(long)]
        dev: bool,
        /// Keep the names of functions, for the browser's profiler.
        #[arg(long, conflicts_with = "dev")]
        names: bool,
    },
    /// Run every check and every test, or the named parts of them.
    Test {
        /// fmt, unit, clippy, deny, fuzz, front, budget, xtask, api, peers, end2end
        parts: Vec<String>,
    },
    /// Take how every page looks now as approved: the pictures in end2end/pictures that differ are written anew.
    Pictures,
    /// Take the pictures of docs/gallery and of the README anew, in the fonts of this machine.
    Gallery,
    /// What can be checked without running: format, lints of both sides, licences, architecture.
    Check,
    /// Make target/dist/turnleaf, one file with the site inside, and try it from an empty folder.
    Dist,
    /// Hold a release to its budgets: size, start, memory at rest, the first visit of a browser.
    Budget,
    /// Show what weighs what in the release binary: sections, crates, rooms, generic families.
    Weigh {
        /// How many rows each table has.
        #[arg(long, default_value_t = 25)]
        rows: usize,
    },
    /// Measure the figures G1 to G12, D1 to D3, T1 to T4, L1 to L3, S1 and I1 to I3, or the named ones.
    Bench {
        figures: Vec<String>,
        /// How large the archives of I1 to I3 are, in millions of bytes; up to 2000 is what people have.
        #[arg(long, default_value_t = 200)]
        megabytes: usize,
        /// Fail when a figure is worse than the last of this machine by more than so many percent.
        #[arg(long, value_name = "PERCENT")]
        fail_over: Option<f64>,
    },
    /// Fuzz what reads bytes of strangers: all targets, or the named ones (the folders of fuzz/corpus).
    Fuzz {
        targets: Vec<String>,
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Break what a server depends on while it works, on SQLite and PostgreSQL, and hold it to its promises.
    Chaos {
        /// Repeats the run that printed this number.
        #[arg(long)]
        seed: Option<u64>,
        /// rows, kills, providers, outages, clients, disk, clock; all when none is named
        scenarios: Vec<String>,
    },
    /// Hold a conversation with a real model on llama.cpp in a real browser.
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
        Command::Weigh { rows } => weigh::run(rows),
        Command::Bench { figures, megabytes, fail_over } => bench::run(&figures, megabytes, fail_over),
        Command::Fuzz { targets, seconds } => fuzz::run(&targets, seconds),
        Command::Chaos { seed, scenarios } => chaos::run(seed, &scenarios),
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
