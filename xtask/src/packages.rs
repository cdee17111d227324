//! The dependencies of commands besides the toolchain: Debian packages, which are installed if possible and named
//! otherwise, the node packages of a lock file, and the Python packages of a requirements file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step::{find_program, print_note, run, run_step, succeeds};

/// Returns true if this process may install packages and write below `/usr`.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Installs Debian packages.
///
/// # Errors
/// There is no apt, or the process is not root: the error is the command to run.
pub fn install_packages(purpose: &str, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if find_program("apt-get").is_none() {
        bail!("{purpose} is missing. Install it with your system's package manager (Debian calls it: {list})");
    }
    if !is_root() {
        bail!("{purpose} is missing. Run: sudo apt-get install --no-install-recommends {list}");
    }
    print_note(&format!("{purpose} is missing; installing {list}"));
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    // A new machine has an outdated package list or none.
    if !succeeds(&mut install()) {
        run(Command::new("apt-get").args(["update", "-qq"]))?;
        run(&mut install())?;
    }
    Ok(())
}

/// Installs the node packages of the lock file in `dir` into `dir`; fast if nothing has changed.
///
/// # Errors
/// Node is missing, or npm failed.
pub fn install_node_packages(purpose: &str, dir: &Path) -> Result<()> {
    for program in ["node", "npm"] {
        if find_program(program).is_none() {
            bail!("{program} is missing: {purpose} need Node.js 20 or newer");
        }
    }
    let (lock, installed) = (dir.join("package-lock.json"), dir.join("node_modules/.lock"));
    // `npm ci` deletes the installed packages first, so it runs only if the lock file has changed.
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

/// Creates a Python environment in `place` with exactly the packages of `requirements`, which pins every version;
/// fast if nothing has changed.
///
/// # Errors
/// Python is missing, or pip failed.
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
