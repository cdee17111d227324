//! `turnleaf licenses`: the licenses of Turnleaf and the notices of the libraries in the binary.

use crate::server::cli::exit::CliError;
use crate::server::cli::output;
use crate::server::http::site::assets::{NOTICES_FILE, Site};

const OWN: [&str; 2] = [include_str!("../../../LICENSE-MIT"), include_str!("../../../LICENSE-APACHE")];

/// Prints all texts. A build without a site has no notices of libraries and says so.
pub fn run() -> Result<(), CliError> {
    let [mit, apache] = OWN;
    output::print_line(format_args!(
        "Turnleaf is licensed under the MIT License or the Apache License 2.0, at your option.\n\n{mit}\n{apache}"
    ))?;
    match Site::open(None).file(NOTICES_FILE) {
        Some(notices) => output::print_line(format_args!("{}", String::from_utf8_lossy(&notices.bytes))),
        None => output::print_line(format_args!("This build contains no notices of libraries: it has no site.")),
    }
}
