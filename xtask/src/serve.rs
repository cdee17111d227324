//! `cargo xtask serve`: builds both sides and serves them. This half builds optimised and once; `watch` builds fast and
//! again on every change.

pub mod watch;

use anyhow::Result;

use crate::server::{self, CargoProfile};
use crate::step::run as finish;
use crate::workspace;

/// Builds and serves until stopped. The server prints its address itself once it is ready.
///
/// # Errors
/// A step of the build failed, or the server ended badly.
pub fn run(args: &[String]) -> Result<()> {
    let binary = server::build_with_front(CargoProfile::Serve)?;
    let address = args.iter().skip_while(|arg| *arg != "--listen").nth(1);
    eprintln!("==> serve on http://{} (Ctrl+C stops)", address.map_or("127.0.0.1:3000", String::as_str));
    finish(std::process::Command::new(binary).current_dir(workspace::root()).arg("serve").args(args))
}
