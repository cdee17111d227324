//! The browser's side: wasm, its glue, the style sheet and the public files, laid out as the server serves them.
//!
//! `target/site/` holds the public files and `pkg/` with the bundle. The server serves the bundle below `pkg/<hash>/`, so
//! that a browser may keep it for ever.

mod function_order;
mod short_names;
mod site;
mod split;
mod style;
mod wasm;

use std::fs;

use anyhow::Result;

pub use site::{BUDGET, CEILING, PARTS_CEILING};

use crate::step::{format_size, print_note, run_step};
use crate::{toolchain, workspace};

/// How much time the build may take for the sake of size and speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontProfile {
    /// Quick to build, for work on the code.
    Dev,
    /// Small and quick to run, precompressed, with its size checked.
    Release,
    /// As quick to run, with the names of its functions: for the browser's profiler. Larger, and nobody's to deploy.
    Profile,
}

/// What was built.
pub struct FrontBundle {
    /// Changes with any file of the site.
    pub hash: String,
    /// What the bundle weighs; `None` when nothing was compressed.
    pub wire: Option<WireSize>,
}

/// What the bundle weighs in brotli, bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct WireSize {
    /// Wasm, glue and style: what each page waits for.
    pub page: u64,
    /// What is fetched when it is first used.
    pub parts: u64,
}

impl FrontBundle {
    /// Holds the bundle to its size (performance.md G3) and says how large it is.
    ///
    /// # Errors
    /// It is larger than [`CEILING`], or its parts than [`PARTS_CEILING`].
    pub fn check_size(&self) -> Result<()> {
        let Some(WireSize { page, parts }) = self.wire else { return Ok(()) };
        let said = format!(
            "wasm + js + css are {} in brotli, of {} at most and a budget of {}; parts for later are {}, of {} at most",
            format_size(page),
            format_size(CEILING),
            format_size(BUDGET),
            format_size(parts),
            format_size(PARTS_CEILING),
        );
        if page > CEILING || parts > PARTS_CEILING {
            anyhow::bail!("too large: {said}");
        }
        print_note(&said);
        Ok(())
    }
}

/// The release that lies in `target/site`, built where there is none: what the parts of a test run share.
///
/// # Errors
/// As [`build`], and a site that cannot be read.
pub fn ensure_release() -> Result<FrontBundle> {
    if workspace::site().join("pkg/turnleaf.js.br").exists() {
        return Ok(FrontBundle { hash: site::hash(&workspace::site())?, wire: None });
    }
    let front = build_front(FrontProfile::Release)?;
    front.check_size()?;
    Ok(front)
}

/// Builds the browser's side into `target/site`.
///
/// # Errors
/// A step failed; the error says which.
pub fn build_front(effort: FrontProfile) -> Result<FrontBundle> {
    let toolchain = toolchain::wasm_toolchain()?;
    let module = run_step("compile for the browser", || wasm::compile_module(&toolchain, effort))?;
    let bundle = workspace::target().join("front/bundle");
    if bundle.exists() {
        fs::remove_dir_all(&bundle)?;
    }
    fs::create_dir_all(&bundle)?;
    run_step("bind the wasm to the browser", || wasm::bind_module(&module, &bundle, effort))?;
    run_step("bundle the style sheet", || style::bundle_styles("main", &bundle.join("turnleaf.css"), effort))?;
    run_step("bundle the sheet of the plain pages", || {
        style::bundle_styles("plain", &bundle.join(site::PLAIN_SHEET), effort)
    })?;
    run_step("lay out the site", || site::lay_out(&bundle, effort))
}
