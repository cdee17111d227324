//! `cargo xtask dist`: builds one self-contained file and tests it in an empty directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::server::{self, CargoProfile};
use crate::step::{format_size, print_note, run_step};
use crate::{http, workspace};

/// Builds `target/dist/turnleaf` and tests it.
///
/// # Errors
/// A step failed, or the binary does not serve its page and files.
pub fn run() -> Result<PathBuf> {
    let built = server::build_with_front(CargoProfile::Release)?;
    let dist = workspace::target().join("dist/turnleaf");
    fs::create_dir_all(workspace::target().join("dist"))?;
    fs::copy(&built, &dist)?;
    run_step("try it from an empty folder", || try_out(&dist))?;
    print_note(&format!("{}: {}", dist.display(), format_size(fs::metadata(&dist)?.len())));
    Ok(dist)
}

/// Starts the binary in an empty directory, and fetches the page and the files that it loads.
fn try_out(binary: &Path) -> Result<()> {
    let dir = tempfile::Builder::new().prefix("turnleaf-dist").tempdir()?;
    let mut running = server::start_server(binary, dir.path(), &[])?;
    running.wait_for("/healthz", Duration::from_secs(20))?;
    let page = http::get(running.address, "/", "identity")?;
    ensure!(page.status == 200, "the page answers with {}:\n{}", page.status, running.output());
    let page = page.text();
    for name in ["turnleaf.js", "turnleaf.wasm", "turnleaf.css"] {
        let path = path_of(&page, name).with_context(|| format!("the page does not ask for {name}"))?;
        for encoding in ["br", "gzip"] {
            let file = http::get(running.address, &path, encoding).with_context(|| path.clone())?;
            let (found, cached) = (file.header("content-encoding"), file.header("cache-control"));
            ensure!(file.status == 200, "{path} answers with {}", file.status);
            ensure!(found == encoding, "{path} comes as `{found}` when {encoding} is requested");
            ensure!(cached.contains("immutable"), "{path} may not be cached permanently: Cache-Control is `{cached}`");
            ensure!(!file.body.is_empty(), "{path} is empty");
        }
    }
    Ok(())
}

/// Returns the path of a bundle file in the page, below the directory that is named by the hash.
fn path_of(page: &str, name: &str) -> Option<String> {
    let quoted = page.split(['"', '\'']).filter(|text| text.starts_with("/pkg/") && !text.contains([' ', '<']));
    let in_hashed_folder = |path: &&str| path.split('/').nth(2).is_some_and(|hash| hash.len() >= 16);
    quoted.filter(in_hashed_folder).find(|path| path.ends_with(&format!("/{name}"))).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashed_asset_path_is_found() {
        let page = "<link href=\"/pkg/0123456789abcdef/a.css\"><link href=\"/pkg/0/b.css\">";
        assert_eq!(path_of(page, "a.css").as_deref(), Some("/pkg/0123456789abcdef/a.css"));
        assert_eq!(path_of(page, "b.css"), None);
    }
}
