//! The browser's side: wasm, its glue, the style sheet and the public files, laid out as the server serves them.
//!
//! `target/site/` holds the public files and `pkg/` with the bundle. The server serves the bundle below `pkg/<hash>/`, so
//! that a browser may keep it for ever.

mod names;
mod order;
mod site;
mod split;
mod style;
mod wasm;

use std::fs;

use anyhow::Result;

pub use site::{BUDGET, CEILING, PARTS_CEILING};

use crate::step::{note, size, step};
use crate::{toolchain, workspace};

/// How much time the build may take for the sake of size and speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Quick to build, for work on the code.
    Dev,
    /// Small and quick to run, precompressed, with its size checked.
    Release,
    /// As quick to run, with the names of its functions: for the browser's profiler. Larger, and nobody's to deploy.
    Profile,
}

/// What was built.
pub struct Front {
    /// Changes with any file of the site.
    pub hash: String,
    /// What the bundle weighs; `None` when nothing was compressed.
    pub wire: Option<Wire>,
}

/// What the bundle weighs in brotli, bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wire {
    /// Wasm, glue and style: what each page waits for.
    pub page: u64,
    /// What is fetched when it is first used.
    pub parts: u64,
}

impl Front {
    /// Holds the bundle to its size (performance.md G3) and says how large it is.
    ///
    /// # Errors
    /// It is larger than [`CEILING`], or its parts than [`PARTS_CEILING`].
    pub fn check_size(&self) -> Result<()> {
        let Some(Wire { page, parts }) = self.wire else { return Ok(()) };
        let said = format!(
            "wasm + js + css are {} in brotli, of {} at most and a budget of {}; parts for later are {}, of {} at most",
            size(page),
            size(CEILING),
            size(BUDGET),
            size(parts),
            size(PARTS_CEILING),
        );
        if page > CEILING || parts > PARTS_CEILING {
            anyhow::bail!("too large: {said}");
        }
        note(&said);
        Ok(())
    }
}

/// The release that lies in `target/site`, built where there is none: what the parts of a test run share.
///
/// # Errors
/// As [`build`], and a site that cannot be read.
pub fn built() -> Result<Front> {
    if workspace::site().join("pkg/turnleaf.js.br").exists() {
        return Ok(Front { hash: site::hash(&workspace::site())?, wire: None });
    }
    let front = build(Effort::Release)?;
    front.check_size()?;
    Ok(front)
}

/// Builds the browser's side into `target/site`.
///
/// # Errors
/// A step failed; the error says which.
pub fn build(effort: Effort) -> Result<Front> {
    let toolchain = toolchain::wasm()?;
    let module = step("compile for the browser", || wasm::compile(&toolchain, effort))?;
    let bundle = workspace::target().join("front/bundle");
    if bundle.exists() {
        fs::remove_dir_all(&bundle)?;
    }
    fs::create_dir_all(&bundle)?;
    step("bind the wasm to the browser", || wasm::bind(&module, &bundle, effort))?;
    step("bundle the style sheet", || style::bundle("main", &bundle.join("turnleaf.css"), effort))?;
    step("bundle the sheet of the plain pages", || style::bundle("plain", &bundle.join(site::PLAIN_SHEET), effort))?;
    step("lay out the site", || site::lay_out(&bundle, effort))
}
