//! The command line (contract.md 1): reads the arguments and the configuration, runs one command, and turns its end
//! into an exit code. Results go to standard output, messages to standard error.

mod args;
mod backup;
mod config;
mod database;
mod doctor;
mod exit;
mod export;
mod file_modes;
mod free_space;
mod fsck;
mod import;
mod installation;
mod migrate;
mod print;
mod replay;
mod restore;
mod serve;
mod version;

use std::process::ExitCode;

use clap::Parser;

use crate::server::cli::args::{Args, Command};
use crate::server::cli::exit::{Exit, Failed};
use turnleaf_convert::child;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{Config, Flags};
use turnleaf_tools::mcp::guard;

/// Runs the command that the arguments name; its exit code is the process's.
pub fn run() -> ExitCode {
    file_modes::restrict_umask();
    let args = Args::parse();
    match &args.command {
        // Its exit code is that of the program it runs.
        Some(Command::Guard(of)) if of.is_program => guard::become_program(of.parent, &of.argv),
        Some(Command::Guard(of)) => guard::run(of.parent, &of.argv),
        Some(Command::Convert) => child::run(),
        _ => exit::code(dispatch(args)),
    }
}

fn dispatch(args: Args) -> Result<(), Failed> {
    let json = args.json;
    let flags: Flags = args.settings.into();
    // The configuration is read where it is needed, so a broken one does not stop the other commands.
    let config = || Config::load(&flags, &Environment::of_process());
    match args.command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&config()?, &flags),
        Command::Migrate { dry_run: true } => migrate::run(&config()?, true, json),
        Command::Migrate { dry_run: false } => migrate::run(&closed(config()?), false, json),
        Command::Fsck { repair: true, .. } => fsck::repair(&closed(config()?), json),
        Command::Fsck { quarantine: true, .. } => fsck::list_quarantine(&config()?),
        Command::Fsck { .. } => fsck::run(&config()?, json),
        Command::Replay(replay) => replay::run(replay),
        Command::Backup { file } => backup::run(&closed(config()?), &file),
        Command::Restore { file } => restore::run(&closed(config()?), &file),
        Command::Import(import) if import.dry_run => import::run(&config()?, &import, json),
        Command::Import(import) => import::run(&closed(config()?), &import, json),
        Command::Export(export) => export::run(&config()?, &export),
        Command::Config(command) => config::run(&command, &config()?, json),
        Command::Doctor => doctor::run(&config()?, json),
        Command::Version => version::run(json),
        Command::Guard(_) | Command::Convert => Err(Failed::new(Exit::WrongUse, "it has no configuration")),
    }
}

/// The configuration for a command that writes into the installation, which it leaves closed to other accounts.
fn closed(config: Config) -> Config {
    if let Some(warning) = file_modes::repair(&config) {
        eprintln!("turnleaf: {warning}");
    }
    config
}
