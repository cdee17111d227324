//! Debian's packages: installed where that is possible, named exactly where it is not.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use anyhow::{Result, bail};

use crate::step::{find_program, note, run, succeeds};

/// Whether this process may install and may write below `/usr`.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Installs packages of Debian.
///
/// # Errors
/// There is no apt, or this is not root: the error is the sentence that says what to type.
pub fn install(what_for: &str, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if find_program("apt-get").is_none() {
        bail!("{what_for} is missing. Install it with your system's package manager (Debian calls it: {list})");
    }
    if !is_root() {
        bail!("{what_for} is missing. Run: sudo apt-get install --no-install-recommends {list}");
    }
    note(&format!("{what_for} is missing; installing {list}"));
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    // A new machine has an old list of packages or none.
    if !succeeds(&mut install()) {
        run(Command::new("apt-get").args(["update", "-qq"]))?;
        run(&mut install())?;
    }
    Ok(())
}
