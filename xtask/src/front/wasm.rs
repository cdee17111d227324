//! The wasm module: compiled, bound to JavaScript and put in order. No `wasm-opt` after that: binaryen's `-Oz` makes the
//! file a fifth smaller and what goes over the wire in brotli a tenth larger, because it makes near copies differ.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;

use super::{FrontProfile, function_order, short_names, split};
use crate::step::run;
use crate::toolchain::{WASM, WasmToolchain};
use crate::workspace;

/// Compiles the library for the browser; returns where the module lies. Its folder is its own: the server's side has
/// other features and another compiler.
///
/// # Errors
/// The compiler's.
pub fn compile_module(toolchain: &WasmToolchain, effort: FrontProfile) -> Result<PathBuf> {
    let (profile, folder) = match effort {
        FrontProfile::Dev => ("dev", "debug"),
        FrontProfile::Release | FrontProfile::Profile => ("wasm-release", "wasm-release"),
    };
    let target = workspace::target().join("front");
    let mut build = toolchain.cargo("rustc");
    build.args(["--package", "turnleaf", "--lib", "--features", "hydrate", "--target", WASM, "--profile", profile]);
    // Said here and not in the manifest: a server's library would be linked as a whole, for nobody, whenever it is built.
    build.args(["--crate-type", "cdylib"]);
    if effort != FrontProfile::Dev {
        // Where in the source a panic was: a table of 20 KB that nobody reads in a browser; nor what is in a value that is
        // written for those who debug. The compiler has the switches, but wants to be told that they may be used.
        build
            .args(workspace::release_flags(&["-Zlocation-detail=none", "-Zfmt-debug=shallow"]))
            .env("RUSTC_BOOTSTRAP", "1");
    }
    // Without relocations nobody can tell what of the data belongs to which function.
    run(build.arg("--target-dir").arg(&target).args(["--", "-Clink-arg=--emit-relocs"]))?;
    Ok(target.join(WASM).join(folder).join("turnleaf.wasm"))
}

/// Writes the module as `turnleaf.wasm`, its parts beside it, and its JavaScript glue as `turnleaf.js`, the names that the
/// page asks for.
///
/// # Errors
/// The module was not made by the wasm-bindgen that this program was built with, or is damaged.
pub fn bind_module(module: &Path, out: &Path, effort: FrontProfile) -> Result<()> {
    let split = split::split_module(module, out)?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&split.main).out_name("turnleaf").typescript(false).debug(effort == FrontProfile::Dev);
    // Parts ask for functions and globals of the main module by the linker's names.
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
