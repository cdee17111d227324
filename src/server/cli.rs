//! The command line (docs/reference/api.md 1): parses the arguments, loads the configuration, runs one command, and
//! maps its result to an exit code. Results go to standard output, messages to standard error.

mod accounts;
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
mod groups;
mod import;
mod installation;
mod licenses;
mod migrate;
mod output;
mod replay;
mod restore;
mod serve;
mod tools;
mod version;

use std::process::ExitCode;

use clap::Parser;

use crate::server::cli::args::{CliArgs, CliCommand};
use crate::server::cli::exit::{CliError, CliExitCode};
use turnleaf_convert::child;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{CliFlags, Config};
use turnleaf_tools::mcp::guard;

/// Runs the command of the arguments and returns the exit code of the process.
pub fn run() -> ExitCode {
    file_modes::restrict_umask();
    let args = CliArgs::parse();
    match &args.command {
        // The guard's exit code is that of the program it runs.
        Some(CliCommand::Guard(of)) if of.is_program => guard::become_program(of.parent, &of.argv),
        Some(CliCommand::Guard(of)) => guard::run(of.parent, &of.argv),
        Some(CliCommand::Convert) => child::run(),
        _ => exit::exit_code(dispatch(args)),
    }
}

fn dispatch(args: CliArgs) -> Result<(), CliError> {
    let json = args.json;
    let flags: CliFlags = args.settings.into();
    // The configuration is loaded only by the commands that need it, so a broken one does not stop the others.
    let config = || Config::load(&flags, &Environment::from_process());
    match args.command.unwrap_or(CliCommand::Serve) {
        CliCommand::Serve => serve::run(&config()?, &flags),
        CliCommand::Migrate { dry_run: true } => migrate::run(&config()?, true, json),
        CliCommand::Migrate { dry_run: false } => migrate::run(&with_restricted_files(config()?), false, json),
        CliCommand::Fsck { repair: true, .. } => fsck::repair(&with_restricted_files(config()?), json),
        CliCommand::Fsck { quarantine: true, .. } => fsck::list_quarantine(&config()?),
        CliCommand::Fsck { .. } => fsck::run(&config()?, json),
        CliCommand::Replay(replay) => replay::run(replay),
        CliCommand::Backup { file } => backup::run(&with_restricted_files(config()?), &file),
        CliCommand::Restore { file } => restore::run(&with_restricted_files(config()?), &file),
        CliCommand::Import(import) if import.dry_run => import::run(&config()?, &import, json),
        CliCommand::Import(import) => import::run(&with_restricted_files(config()?), &import, json),
        CliCommand::Tools(command) if command.is_dry_run() => tools::run(&command, &config()?, json),
        CliCommand::Tools(command) => tools::run(&command, &with_restricted_files(config()?), json),
        CliCommand::User(command) => accounts::run_user(&command, &with_restricted_files(config()?), json),
        CliCommand::Group(command) => groups::run(&command, &with_restricted_files(config()?), json),
        CliCommand::Token(command) => accounts::run_token(&command, &with_restricted_files(config()?), json),
        CliCommand::Invite { role } => accounts::run_invite(role, &with_restricted_files(config()?), json),
        CliCommand::Export(export) => export::run(&config()?, &export),
        CliCommand::Config(command) => config::run(&command, &config()?, json),
        CliCommand::Doctor => doctor::run(&config()?, json),
        CliCommand::Licenses => licenses::run(),
        CliCommand::Version => version::run(json),
        CliCommand::Guard(_) | CliCommand::Convert => {
            Err(CliError::new(CliExitCode::WrongUse, "it has no configuration"))
        }
    }
}

/// Returns the configuration for a command that writes into the installation, after restricting file permissions.
fn with_restricted_files(config: Config) -> Config {
    if let Some(warning) = file_modes::repair(&config) {
        eprintln!("turnleaf: {warning}");
    }
    config
}
