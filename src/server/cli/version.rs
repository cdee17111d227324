//! `turnleaf version`.

use serde_json::json;

use crate::server::cli::exit::Failed;
use crate::server::cli::print;
use crate::server::http::site::assets::Site;

/// Prints the version and the build of the site inside.
pub fn run(json: bool) -> Result<(), Failed> {
    let version = env!("CARGO_PKG_VERSION");
    if json {
        print::json(&json!({ "name": "turnleaf", "version": version, "build": Site::open(None).build() }))
    } else {
        print::line(format_args!("turnleaf {version}"))
    }
}
