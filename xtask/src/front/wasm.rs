//! The wasm module: compiled, bound to JavaScript, made small.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;

use super::Effort;
use crate::packages::install;
use crate::step::{find_program, note, run, size, succeeds};
use crate::toolchain::{WASM, WasmToolchain};
use crate::workspace;

/// Compiles the library for the browser; returns where the module lies. Its folder is its own: the server's side has
/// other features and another compiler.
///
/// # Errors
/// The compiler's.
pub fn compile(toolchain: &WasmToolchain, effort: Effort) -> Result<PathBuf> {
    let (profile, folder) = match effort {
        Effort::Dev => ("dev", "debug"),
        Effort::Release => ("wasm-release", "wasm-release"),
    };
    let target = workspace::target().join("front");
    let mut build = toolchain.cargo("build");
    build.args(["--package", "turnleaf", "--lib", "--features", "hydrate", "--target", WASM, "--profile", profile]);
    run(build.arg("--target-dir").arg(&target))?;
    Ok(target.join(WASM).join(folder).join("turnleaf.wasm"))
}

/// Writes the module and its JavaScript glue as `turnleaf.wasm` and `turnleaf.js`, the names that the page asks for.
///
/// # Errors
/// The module was not made by the wasm-bindgen that this program was built with.
pub fn bind(module: &Path, out: &Path, effort: Effort) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("turnleaf").typescript(false).debug(effort == Effort::Dev);
    if effort == Effort::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    bindgen.web(true).and_then(|bindgen| bindgen.generate(out)).map_err(|error| anyhow!("{error:#}"))?;
    fs::rename(out.join("turnleaf_bg.wasm"), out.join("turnleaf.wasm"))?;
    Ok(())
}

/// Lets binaryen optimise the module for size. Without binaryen the module works and is larger.
///
/// # Errors
/// The file cannot be replaced.
pub fn shrink(module: &Path) -> Result<()> {
    if find_program("wasm-opt").is_none()
        && let Err(error) = install("wasm-opt", &["binaryen"])
    {
        note(&format!("left as it is: {error:#}"));
        return Ok(());
    }
    let small = module.with_extension("small");
    let before = fs::metadata(module)?.len();
    let mut command = Command::new("wasm-opt");
    // Debian's binaryen refuses the features of a recent compiler unless told to take all.
    command.args(["-Oz", "--all-features"]).arg(module).arg("-o").arg(&small);
    if !succeeds(&mut command) {
        note("left as it is: wasm-opt does not take this module");
        return Ok(());
    }
    fs::rename(&small, module)?;
    note(&format!("{} -> {}", size(before), size(fs::metadata(module)?.len())));
    Ok(())
}
