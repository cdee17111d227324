//! Compiles the wasm module, binds it to JavaScript and reorders it. `wasm-opt` is not used: binaryen's `-Oz` makes
//! the file a fifth smaller but its brotli version a tenth larger, because it makes near copies differ.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;

use super::{FrontProfile, function_order, short_names, split};
use crate::step::run;
use crate::toolchain::{WASM, WasmToolchain};
use crate::workspace;

/// The Cargo profile of the bundle that is deployed.
pub const WASM_PROFILE: &str = "wasm-release";

/// Compiles the library for the browser and returns the path of the module. It has its own target directory, because
/// the server has other features and another compiler.
///
/// # Errors
/// The compiler reports an error.
pub fn compile_module(toolchain: &WasmToolchain, effort: FrontProfile) -> Result<PathBuf> {
    let (profile, folder) = match effort {
        FrontProfile::Dev => ("dev", "debug"),
        FrontProfile::Release | FrontProfile::Profile => (WASM_PROFILE, WASM_PROFILE),
    };
    let target = workspace::target().join("front");
    let mut build = toolchain.cargo("rustc");
    build.args(["--package", "turnleaf", "--lib", "--features", "hydrate", "--target", WASM, "--profile", profile]);
    // The crate type is set here and not in the manifest, because every server build would then link the library
    // needlessly.
    build.args(["--crate-type", "cdylib"]);
    if effort != FrontProfile::Dev {
        // Panic locations are a table of 20 KB that no one reads in a browser, and so are the contents of `Debug`
        // output. The compiler's switches for both are unstable and need `RUSTC_BOOTSTRAP`.
        build
            .args(workspace::release_flags(&["-Zlocation-detail=none", "-Zfmt-debug=shallow"]))
            .env("RUSTC_BOOTSTRAP", "1");
    }
    // Without relocations, data cannot be assigned to functions.
    run(build.arg("--target-dir").arg(&target).args(["--", "-Clink-arg=--emit-relocs"]))?;
    Ok(target.join(WASM).join(folder).join("turnleaf.wasm"))
}

/// Writes the module as `turnleaf.wasm` with its parts, and its JavaScript glue as `turnleaf.js`, the names that the
/// page loads.
///
/// # Errors
/// The module was built with another wasm-bindgen version than this program, or is damaged.
pub fn bind_module(module: &Path, out: &Path, effort: FrontProfile) -> Result<()> {
    let split = split::split_module(module, out)?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&split.main).out_name("turnleaf").typescript(false).debug(effort == FrontProfile::Dev);
    // Parts refer to functions and globals of the main module by the linker's names.
    bindgen.keep_lld_exports(true).demangle(effort == FrontProfile::Profile);
    if effort == FrontProfile::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    bindgen.web(true).and_then(|bindgen| bindgen.generate(out)).map_err(|error| anyhow!("{error:#}"))?;
    split::join_loader(&out.join("turnleaf.js"), out)?;
    let bound = out.join("turnleaf_bg.wasm");
    if effort == FrontProfile::Release {
        let glue = out.join("turnleaf.js");
        let (module, script) = short_names::shorten_names(&fs::read(&bound)?, &fs::read_to_string(&glue)?)?;
        fs::write(&bound, module)?;
        fs::write(&glue, minifier::js::minify(&script).to_string())?;
        for module in split.parts.iter().chain([&bound]) {
            fs::write(module, function_order::reorder_functions(&fs::read(module)?)?)?;
        }
    }
    fs::rename(bound, out.join("turnleaf.wasm"))?;
    Ok(())
}
