//! `turnleaf version`: the version of the program.

use serde_json::json;

use crate::server::cli::exit::CliError;
use crate::server::cli::output;
use crate::server::http::site::assets::Site;

/// Prints the version, as JSON also with the build of the embedded site.
pub fn run(json: bool) -> Result<(), CliError> {
    let version = env!("CARGO_PKG_VERSION");
    if json {
        output::print_json(&json!({ "name": "turnleaf", "version": version, "build": Site::open(None).build() }))
    } else {
        output::print_line(format_args!("turnleaf {version}"))
    }
}
