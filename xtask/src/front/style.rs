//! The bundler of style sheets: one file with all its imports.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use lightningcss::bundler::{Bundler, FileProvider};
use lightningcss::stylesheet::{MinifyOptions, ParserOptions, PrinterOptions};
use lightningcss::targets::{Browsers, Targets};

use super::FrontProfile;
use crate::workspace;

/// The oldest supported browsers: those with `:has()`, nesting, `popover` and `content-visibility`.
fn targets() -> Targets {
    let version = |major: u32, minor: u32| Some(major << 16 | minor << 8);
    let browsers =
        Browsers { chrome: version(123, 0), firefox: version(125, 0), safari: version(18, 0), ..Browsers::default() };
    Targets::from(browsers)
}

/// Bundles `style/<name>.css`, and in a release minifies it, into `out`.
///
/// # Errors
/// A sheet cannot be read or parsed; the error names the file and the position.
pub fn bundle_styles(name: &str, out: &Path, effort: FrontProfile) -> Result<()> {
    let files = FileProvider::new();
    let mut bundler = Bundler::new(&files, None, ParserOptions::default());
    let main = workspace::root().join(format!("style/{name}.css"));
    let mut sheet = bundler.bundle(&main).map_err(|error| anyhow!("{error}"))?;
    let targets = targets();
    sheet.minify(MinifyOptions { targets, ..MinifyOptions::default() }).map_err(|error| anyhow!("{error}"))?;
    let options = PrinterOptions { minify: effort == FrontProfile::Release, targets, ..PrinterOptions::default() };
    fs::write(out, sheet.to_css(options)?.code)?;
    Ok(())
}
