//! The command line (contract.md 1): reads the arguments and the configuration, runs one command, and turns its end
//! into an exit code. Results go to standard output, messages to standard error.

mod args;
mod backup;
mod config;
mod database;
mod doctor;
mod exit;
mod fsck;
mod migrate;
mod print;
mod replay;
mod serve;
mod version;

use std::process::ExitCode;

use clap::Parser;

use crate::server::cli::args::{Args, Command};
use crate::server::cli::exit::Failed;
use crate::server::platform::config::Config;
use crate::server::platform::config::environment::Environment;

/// Runs the command that the arguments name; its exit code is the process's.
pub fn run() -> ExitCode {
    exit::code(dispatch(Args::parse()))
}

fn dispatch(args: Args) -> Result<(), Failed> {
    let json = args.json;
    // The configuration is read where it is needed, so a broken one does not stop the other commands.
    let config = || Config::load(&args.settings.into(), &Environment::of_process());
    match args.command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&config()?),
        Command::Migrate { dry_run } => migrate::run(&config()?, dry_run, json),
        Command::Fsck => fsck::run(&config()?, json),
        Command::Replay(replay) => replay::run(replay),
        Command::Backup { file } => backup::run(&config()?, &file),
        Command::Config(command) => config::run(&command, &config()?, json),
        Command::Doctor => doctor::run(&config()?, json),
        Command::Version => version::run(json),
    }
}
