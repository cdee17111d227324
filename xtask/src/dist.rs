//! `cargo xtask dist`: one file that holds everything, tried from an empty folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::front::{self, Effort};
use crate::step::{note, size, step};
use crate::{http, server, workspace};

/// Builds `target/dist/turnleaf` and tries it.
///
/// # Errors
/// A step failed, or the binary does not serve what it should.
pub fn run() -> Result<PathBuf> {
    let front = front::build(Effort::Release)?;
    front.check_size()?;
    let built = server::release(&front)?;
    let dist = workspace::target().join("dist/turnleaf");
    fs::create_dir_all(workspace::target().join("dist"))?;
    fs::copy(&built, &dist)?;
    step("try it from an empty folder", || try_out(&dist, &front.hash))?;
    note(&format!("{}: {}", dist.display(), size(fs::metadata(&dist)?.len())));
    Ok(dist)
}

/// Starts the binary where there is nothing, and looks at the page and what it loads.
fn try_out(binary: &Path, hash: &str) -> Result<()> {
    let dir = tempfile::Builder::new().prefix("turnleaf-dist").tempdir()?;
    let mut running = server::start(binary, dir.path(), &[])?;
    running.wait_for("/healthz", Duration::from_secs(20))?;
    let page = http::get(running.address, "/", "identity")?;
    ensure!(page.status == 200, "the page answers with {}:\n{}", page.status, running.said());
    for name in ["turnleaf.js", "turnleaf_bg.wasm", "turnleaf.css"] {
        let path = format!("/pkg/{hash}/{name}");
        // The wasm's address is put together by the page's own script.
        let is_named = name.ends_with(".wasm") || page.text().contains(&path);
        ensure!(is_named, "the page does not ask for {path}");
        for encoding in ["br", "gzip"] {
            let file = http::get(running.address, &path, encoding).with_context(|| path.clone())?;
            let (found, cached) = (file.header("content-encoding"), file.header("cache-control"));
            ensure!(file.status == 200, "{path} answers with {}", file.status);
            ensure!(found == encoding, "{path} comes as `{found}` when {encoding} is asked for");
            ensure!(cached.contains("immutable"), "{path} may not be kept for ever: Cache-Control is `{cached}`");
            ensure!(!file.body.is_empty(), "{path} is empty");
        }
    }
    if page.text().contains("data-reload") {
        bail!("the page holds the reload code of `cargo xtask serve --dev`");
    }
    Ok(())
}
