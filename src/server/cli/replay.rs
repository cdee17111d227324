//! `turnleaf replay`: parses a provider's raw response and prints the result. Needs no database and no configuration.

use std::io::Read;
use std::path::Path;

use crate::server::cli::args::ReplayArgs;
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::output;
use turnleaf_providers::replay::{ReplayOptions, replay};

/// Reads the file, or standard input for `-`, and prints one JSON object.
pub fn run(args: ReplayArgs) -> Result<(), CliError> {
    let body =
        read(&args.file).map_err(|error| CliError::could_not(&format!("read {}", args.file.display()), error))?;
    let options = ReplayOptions {
        api: args.api,
        dialect: args.dialect,
        http_status: args.http_status,
        chunk: args.chunk,
        with_next_message: args.next,
    };
    let shown = replay(&options, &body).map_err(|error| CliError::new(CliExitCode::WrongUse, error))?;
    output::print_json(&shown)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.as_os_str() != "-" {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
