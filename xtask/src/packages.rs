//! What commands need beside the toolchain: Debian's packages, installed where that is possible and named exactly where it
//! is not; the node packages of a lock file; the Python packages of a list.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::{find_program, print_note, run, run_step, succeeds};

/// Whether this process may install and may write below `/usr`.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Installs packages of Debian.
///
/// # Errors
/// There is no apt, or this is not root: the error is the sentence that says what to type.
pub fn install_packages(what_for: &str, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if find_program("apt-get").is_none() {
        bail!("{what_for} is missing. Install it with your system's package manager (Debian calls it: {list})");
    }
    if !is_root() {
        bail!("{what_for} is missing. Run: sudo apt-get install --no-install-recommends {list}");
    }
    print_note(&format!("{what_for} is missing; installing {list}"));
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

/// Installs the node packages that the lock file in `dir` names, in `dir` itself; quick when nothing has changed.
///
/// # Errors
/// Node is missing, or npm's own.
pub fn install_node_packages(what_for: &str, dir: &Path) -> Result<()> {
    for program in ["node", "npm"] {
        if find_program(program).is_none() {
            bail!("{program} is missing: {what_for} need Node.js 20 or newer");
        }
    }
    let (lock, installed) = (dir.join("package-lock.json"), dir.join("node_modules/.lock"));
    // `npm ci` begins by deleting what is there; that is for when the lock file has changed.
    if fs::read(&lock).ok() == fs::read(&installed).ok() {
        return Ok(());
    }
    run_step("install the node packages", || {
        let mut install = Command::new("npm");
        install.current_dir(dir).args(["ci", "--no-audit", "--no-fund"]);
        run(install.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))?;
        fs::copy(&lock, &installed)?;
        Ok(())
    })
}

/// Makes `place` a Python environment with exactly the packages of the list `requirements`, which names every version;
/// quick when nothing has changed.
///
/// # Errors
/// Python is missing, or pip's own.
pub fn create_python_environment(requirements: &Path, place: &Path) -> Result<()> {
    let installed = place.join("requirements.txt");
    if fs::read(requirements).ok() == fs::read(&installed).ok() {
        return Ok(());
    }
    if !succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
        install_packages("Python with venv", &["python3", "python3-venv"])?;
    }
    run_step("install the Python packages", || {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(place))?;
        let mut pip = Command::new(place.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary"]);
        run(pip.args([":all:", "--requirement"]).arg(requirements))?;
        fs::copy(requirements, &installed).with_context(|| installed.display().to_string())?;
        Ok(())
    })
}
