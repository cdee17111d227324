//! `cargo xtask chaos`: builds the server and the fault injection program (`tests/chaos`), and runs it.

use std::process::Command;

use anyhow::{Result, bail};

use crate::step::{format_command, run_step};
use crate::{server, workspace};

/// Runs the named scenarios, or all.
///
/// # Errors
/// The build fails, or an invariant does not hold; the table is on the terminal.
pub fn run(seed: Option<u64>, scenarios: &[String]) -> Result<()> {
    run_step("compile the server and the faults", || {
        let mut build = workspace::build_command("build");
        // The features of the tests avoid a second compilation.
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
