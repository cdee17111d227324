//! The browser bundle: wasm, its glue, the style sheet and the public files, in the layout that the server serves.
//!
//! `target/site/` holds the public files and `pkg/` with the bundle. The server serves the bundle below
//! `pkg/<hash>/`, so that browsers can cache it permanently.

mod diagram;
mod function_order;
mod notices;
mod short_names;
mod site;
mod split;
mod style;
mod wasm;

use std::fs;

use anyhow::Result;

pub use site::{BUDGET, CEILING, PARTS_CEILING, compress_text};
pub use wasm::WASM_PROFILE;

use crate::step::{format_size, print_note, run_step};
use crate::{toolchain, workspace};

/// The trade-off between build time, size and speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontProfile {
    /// Fast to build, for development.
    Dev,
    /// Small and fast, precompressed, with its size checked.
    Release,
    /// Fast, with function names for the browser's profiler. Larger, and not for deployment.
    Profile,
}

/// The result of a build.
pub struct FrontBundle {
    /// The hash of all files of the site.
    pub hash: String,
    /// The compressed size of the bundle; `None` if nothing was compressed.
    pub wire: Option<WireSize>,
}

/// The size of the bundle in brotli, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct WireSize {
    /// Wasm, glue and style, which every page waits for.
    pub page: u64,
    /// The code parts, which are loaded when first used.
    pub parts: u64,
}

impl FrontBundle {
    /// Checks the size of the bundle (`docs/adr/0050-bundle-budget-and-code-splitting.md`) and prints it.
    ///
    /// # Errors
    /// The bundle is larger than [`site::CEILING`], or its parts than [`site::PARTS_CEILING`].
    pub fn check_size(&self) -> Result<()> {
        let Some(WireSize { page, parts }) = self.wire else { return Ok(()) };
        let summary = format!(
            "wasm + js + css are {} in brotli, of {} at most and a budget of {}; parts for later are {}, of {} at most",
            format_size(page),
            format_size(CEILING),
            format_size(BUDGET),
            format_size(parts),
            format_size(PARTS_CEILING),
        );
        if page > CEILING || parts > PARTS_CEILING {
            anyhow::bail!("too large: {summary}");
        }
        print_note(&summary);
        Ok(())
    }
}

/// Returns the release in `target/site`, and builds it if there is none: the parts of a test run share it.
///
/// # Errors
/// Same as [`build_front`], and for a site that cannot be read.
pub fn ensure_release() -> Result<FrontBundle> {
    if workspace::site().join("pkg/turnleaf.js.br").exists() {
        return Ok(FrontBundle { hash: site::hash(&workspace::site())?, wire: None });
    }
    let front = build_front(FrontProfile::Release)?;
    front.check_size()?;
    Ok(front)
}

/// Builds the browser bundle into `target/site`.
///
/// # Errors
/// A step failed; the error names it.
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
