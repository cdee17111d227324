//! The wasm toolchain: any toolchain with a standard library for wasm. rustup downloads one if it can; otherwise
//! Debian's packages are used, whose library is built once from source.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, bail};

use crate::packages::{install_packages, is_root};
use crate::step::{find_program, output, print_note, run, run_step, run_within, succeeds};
use crate::workspace;

/// The target of browser builds.
pub const WASM: &str = "wasm32-unknown-unknown";
/// The rustup name of Debian's toolchain after it is linked.
const DEBIAN: &str = "debian-web";
const DEBIAN_PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];
/// The time limit of rustup's download.
const RUSTUP_TIME: Duration = Duration::from_secs(120);

/// A toolchain that can build for the browser.
pub struct WasmToolchain {
    /// Its rustup name, or `None` for the active toolchain.
    name: Option<&'static str>,
}

impl WasmToolchain {
    /// Returns a cargo command of this toolchain in the root of the checkout.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut command = workspace::cargo(subcommand);
        if let Some(name) = self.name {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
        command
    }

    /// Returns true if the toolchain has clippy. Debian's does not.
    pub fn has_clippy(&self) -> bool {
        succeeds(self.cargo("clippy").arg("--version"))
    }
}

/// Finds or prepares the toolchain; fast if it is ready.
///
/// # Errors
/// Neither rustup nor Debian's packages are usable: the error explains what to install.
pub fn wasm_toolchain() -> Result<WasmToolchain> {
    if has_wasm(&mut Command::new("rustc")) {
        return Ok(WasmToolchain { name: None });
    }
    if has_wasm(Command::new("rustc").env("RUSTUP_TOOLCHAIN", DEBIAN)) {
        return Ok(WasmToolchain { name: Some(DEBIAN) });
    }
    run_step("prepare the wasm target", || {
        if find_program("rustup").is_none() {
            bail!(
                "the toolchain has no {WASM} standard library and there is no rustup to add it. Install rustup, or the distribution's package of that library"
            );
        }
        let added = run_within(Command::new("rustup").args(["target", "add", WASM]), RUSTUP_TIME)?;
        if added == Some(true) && has_wasm(&mut Command::new("rustc")) {
            return Ok(WasmToolchain { name: None });
        }
        print_note("rustup cannot fetch it here; using Debian's packages instead");
        install_debian_std()?;
        Ok(WasmToolchain { name: Some(DEBIAN) })
    })
}

/// Returns true if a compiler has the standard library for the browser.
fn has_wasm(rustc: &mut Command) -> bool {
    let libdir = output(rustc.args(["--print", "target-libdir", "--target", WASM]));
    libdir.is_ok_and(|dir| has_std(Path::new(dir.trim())))
}

fn has_std(dir: &Path) -> bool {
    let is_std = |name: &str| name.starts_with("libstd-") && name.ends_with(".rlib");
    fs::read_dir(dir).is_ok_and(|files| files.flatten().any(|f| f.file_name().to_str().is_some_and(is_std)))
}

/// Installs Debian's toolchain, builds its wasm library from its own sources, and links it in rustup.
fn install_debian_std() -> Result<()> {
    let rustc = Path::new("/usr/bin/rustc");
    if !rustc.is_file() || !Path::new("/usr/bin/cargo").is_file() || find_program("rust-lld").is_none() {
        install_packages("a Rust toolchain that can build for the browser", &DEBIAN_PACKAGES)?;
    }
    let libdir = output(without_rustup(&mut Command::new(rustc)).args(["--print", "target-libdir", "--target", WASM]))?;
    let library = PathBuf::from(libdir.trim());
    if !has_std(&library) {
        if !is_root() {
            bail!(
                "the wasm standard library must be copied to {}. Run once as root: cargo xtask check",
                library.display()
            );
        }
        run_step("build the wasm standard library (about a minute)", || build_std(rustc, &library))?;
    }
    run(Command::new("rustup").args(["toolchain", "link", DEBIAN, "/usr"]))
}

/// Removes the environment variables of rustup and cargo from a command.
fn without_rustup(command: &mut Command) -> &mut Command {
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}

/// Builds `std` for the browser in an empty crate and copies it to where the compiler looks for it.
fn build_std(rustc: &Path, library: &Path) -> Result<()> {
    // The directory is outside of the checkout, whose workspace and flags would apply.
    let dir = tempfile::Builder::new().prefix("turnleaf-wasm-std").tempdir_in(env::temp_dir())?;
    fs::create_dir(dir.path().join("src"))?;
    fs::write(dir.path().join("src/lib.rs"), "")?;
    fs::write(
        dir.path().join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n",
    )?;
    let mut build = Command::new("/usr/bin/cargo");
    without_rustup(&mut build).current_dir(dir.path());
    build.args(["build", "--release", "--target", WASM, "-Zbuild-std=std,panic_abort"]);
    // Without embedded bitcode, `lto = "fat"` fails.
    build.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Cembed-bitcode=yes");
    run(&mut build)?;
    fs::create_dir_all(library).with_context(|| library.display().to_string())?;
    let built = dir.path().join("target").join(WASM).join("release/deps");
    for file in fs::read_dir(&built)?.flatten() {
        if file.path().extension().is_some_and(|e| e == "rlib") {
            fs::copy(file.path(), library.join(file.file_name()))?;
        }
    }
    if !has_std(library) {
        bail!("the build made no standard library in {}", built.display());
    }
    Ok(())
}
