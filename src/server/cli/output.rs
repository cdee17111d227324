//! Results on standard output. A closed pipe (`turnleaf … | head`) is not an error.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use crate::server::cli::exit::CliError;

/// Prints one line of a result.
pub fn print_line(text: impl Display) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::could_not("print the result", error))
        }
        _ => Ok(()),
    }
}

/// Prints a result as one JSON value, indented for readability.
pub fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::could_not("print the result", error))?;
    print_line(text)
}
