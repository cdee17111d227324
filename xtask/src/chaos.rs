//! `cargo xtask chaos`: builds the server and what breaks the world around it (`tests/chaos`), and lets it run.

use std::process::Command;

use anyhow::{Result, bail};

use crate::step::{format_command, run_step};
use crate::{server, workspace};

/// Runs the named scenarios, or all.
///
/// # Errors
/// The compiler's, or something did not hold; the table is on the terminal.
pub fn run(seed: Option<u64>, scenarios: &[String]) -> Result<()> {
    run_step("compile the server and the faults", || {
        let mut build = workspace::build_command("build");
        // The features of the tests, so that nothing is compiled twice.
        crate::step::run(build.args(workspace::PRODUCT).args(["--bin", "turnleaf", "--example", "chaos"]))
    })?;
    let mut chaos = Command::new(workspace::target().join("debug/examples/chaos"));
    chaos.arg("--binary").arg(server::debug_binary());
    if let Some(seed) = seed {
        chaos.args(["--seed", &seed.to_string()]);
    }
    if !chaos.args(scenarios).status()?.success() {
        bail!("`{}` found what does not hold; the table is above", format_command(&chaos));
    }
    Ok(())
}
