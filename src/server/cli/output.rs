//! Results on standard output. Someone may have closed it (`turnleaf … | head`), which is no reason to panic.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use crate::server::cli::exit::CliError;

/// One line of a result.
pub fn print_line(text: impl Display) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::could_not("print the result", error))
        }
        _ => Ok(()),
    }
}

/// A result as one JSON value, indented for people who look at it all the same.
pub fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| CliError::could_not("print the result", error))?;
    print_line(text)
}
