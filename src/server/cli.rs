//! The command line (contract.md 1): reads the arguments and the configuration, runs one command, and turns its end
//! into an exit code. Results go to standard output, messages to standard error.

mod args;
mod config;
mod database;
mod exit;
mod print;
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
    let command = args.command.unwrap_or(Command::Serve);
    // These need no configuration, so a broken one does not stop them.
    match &command {
        Command::Version => return version::run(json),
        _ => {}
    }
    let config = Config::load(&args.settings.into(), &Environment::of_process())?;
    match command {
        Command::Serve => serve::run(&config),
        Command::Config(command) => config::run(&command, &config, json),
        _ => Ok(()),
    }
}
