//! `cargo xtask serve`: builds Turnleaf and serves it. This module builds optimized and once; `watch` builds fast and
//! again after every change.

pub mod watch;

use anyhow::Result;

use crate::server::{self, CargoProfile};
use crate::step::run as finish;
use crate::workspace;

/// Builds and serves until stopped. The server prints its address when it is ready.
///
/// # Errors
/// A step of the build failed, or the server ended with an error.
pub fn run(args: &[String]) -> Result<()> {
    let binary = server::build_with_front(CargoProfile::Serve)?;
    let address = args.iter().skip_while(|arg| *arg != "--listen").nth(1);
    eprintln!("==> serve on http://{} (Ctrl+C stops)", address.map_or("127.0.0.1:3000", String::as_str));
    finish(std::process::Command::new(binary).current_dir(workspace::root()).arg("serve").args(args))
}
