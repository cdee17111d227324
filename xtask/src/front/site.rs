//! The layout of `target/site`; in a release, compressible files are replaced with their brotli version.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use super::{FrontBundle, FrontProfile, WireSize, diagram, notices, split};
use crate::workspace;

/// The budget for wasm, glue and style on the wire, without the code parts, in bytes of brotli
/// (`docs/adr/0050-bundle-budget-and-code-splitting.md`).
pub const BUDGET: u64 = 400_000;
/// The hard limit, close to the current size, so that code that belongs into a part is noticed. Raised only by a
/// decision (`docs/adr/0050-bundle-budget-and-code-splitting.md`).
pub const CEILING: u64 = 400_000;
/// The limit for all code parts together.
pub const PARTS_CEILING: u64 = 522_500;
/// The sheet of the server pages, which does not count toward the application.
pub const PLAIN_SHEET: &str = "plain.css";
/// The extensions of compressible files.
const COMPRESSED: &[&str] = &["css", "html", "ico", "js", "json", "svg", "txt", "wasm", "webmanifest"];

/// Replaces the site with the bundle and the public files.
///
/// # Errors
/// A file cannot be read or written.
pub fn lay_out(bundle: &Path, effort: FrontProfile) -> Result<FrontBundle> {
    let site = workspace::site();
    if site.exists() {
        fs::remove_dir_all(&site)?;
    }
    let public = workspace::root().join("public");
    if public.exists() {
        copy(&public, &site)?;
    }
    copy(bundle, &site.join("pkg"))?;
    diagram::write(&site)?;
    let wire = match effort {
        FrontProfile::Dev | FrontProfile::Profile => None,
        FrontProfile::Release => {
            // Only a release is delivered, and the packages take a second to resolve.
            notices::write(&site)?;
            Some(compress(&site)?)
        }
    };
    Ok(FrontBundle { hash: hash(&site)?, wire })
}

/// Hashes the contents of a site: 16 hexadecimal digits.
pub fn hash(site: &Path) -> Result<String> {
    let mut digest = Sha256::new();
    for file in files(site)? {
        let name = file.strip_prefix(site)?.to_string_lossy().into_owned();
        let content = fs::read(&file)?;
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    Ok(digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Lists every file below a directory, in order.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files(from)? {
        let copy = to.join(file.strip_prefix(from)?);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        fs::copy(&file, &copy).with_context(|| copy.display().to_string())?;
    }
    Ok(())
}

/// Replaces compressible files with `.br` files; returns the compressed size of the bundle.
fn compress(site: &Path) -> Result<WireSize> {
    let shrinks = |file: &PathBuf| {
        let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        COMPRESSED.contains(&extension)
    };
    let mut files: Vec<PathBuf> = files(site)?.into_iter().filter(shrinks).collect();
    // The longest files come first, and threads take the next one: brotli is slow and single-threaded.
    files.sort_by_key(|file| std::cmp::Reverse(fs::metadata(file).map_or(0, |about| about.len())));
    let next = AtomicUsize::new(0);
    let work = || -> Result<WireSize> {
        let mut wire = WireSize::default();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let weight = compress_one(file)?;
            if file.starts_with(site.join("pkg")) && !file.ends_with(PLAIN_SHEET) {
                *(if split::is_part(file) { &mut wire.parts } else { &mut wire.page }) += weight;
            }
        }
        Ok(wire)
    };
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("compressing panicked")));
        ended.collect::<Result<Vec<WireSize>>>()
    })?;
    let sum = |of: fn(&WireSize) -> u64| parts.iter().map(of).sum();
    Ok(WireSize { page: sum(|wire| wire.page), parts: sum(|wire| wire.parts) })
}

/// Replaces a file with its brotli version, which the server decompresses for the few clients without brotli. Returns
/// its size.
fn compress_one(file: &Path) -> Result<u64> {
    let content = fs::read(file)?;
    let is_large_text = content.len() > LARGE_TEXT && file.extension().is_none_or(|extension| extension != "wasm");
    let brotli = brotli(&content, if is_large_text { &TEXT_SETTINGS } else { &BROTLI_SETTINGS })?;
    let weight = brotli.len() as u64;
    fs::write(compressed_path(file, "br"), brotli)?;
    fs::remove_file(file)?;
    Ok(weight)
}

/// The parameters that are tried: the block size as a power of two, and the direct distance codes. Small blocks suit
/// a module, because its symbol frequencies change from one kind of function to the next.
const BROTLI_SETTINGS: [(i32, u32, u32); 5] = [(16, 0, 0), (16, 1, 8), (16, 1, 28), (17, 0, 8), (17, 1, 16)];

/// Large texts gain nothing from the other settings, and each attempt takes a quarter of a minute.
const LARGE_TEXT: usize = 300_000;
const TEXT_SETTINGS: [(i32, u32, u32); 1] = [(0, 0, 0)];

/// Compresses a text with the settings that suit one, and returns the result.
///
/// # Errors
/// The encoder failed.
pub fn compress_text(content: &[u8]) -> Result<Vec<u8>> {
    brotli(content, &TEXT_SETTINGS)
}

/// Compresses with all settings and returns the shortest result.
fn brotli(content: &[u8], settings: &[(i32, u32, u32)]) -> Result<Vec<u8>> {
    let written = settings.iter().map(|&(lgblock, distance_postfix_bits, num_direct_distance_codes)| {
        let mut parameters = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, lgblock, ..Default::default() };
        parameters.dist.distance_postfix_bits = distance_postfix_bits;
        parameters.dist.num_direct_distance_codes = num_direct_distance_codes;
        let mut out = Vec::new();
        brotli::BrotliCompress(&mut &content[..], &mut out, &parameters)?;
        Ok(out)
    });
    let all: Vec<Vec<u8>> = written.collect::<Result<_>>()?;
    let shortest = all.into_iter().min_by_key(Vec::len).context("brotli has no way")?;
    // Few programs use these parameters, so the result is verified by decompressing it.
    let mut read = Vec::new();
    brotli::BrotliDecompress(&mut &shortest[..], &mut read)?;
    ensure!(read == content, "brotli reads something else than was written");
    Ok(shortest)
}

/// Returns `a.js.br` for `a.js`.
fn compressed_path(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    #[test]
    fn site_hash_depends_on_content() {
        let one = folder(&[("a.js", "1"), ("snippets/b.js", "2")]);
        let same = folder(&[("a.js", "1"), ("snippets/b.js", "2")]);
        let moved = folder(&[("a.js", "12"), ("snippets/b.js", "")]);
        assert_eq!(hash(one.path()).unwrap(), hash(same.path()).unwrap());
        assert_ne!(hash(one.path()).unwrap(), hash(moved.path()).unwrap());
        assert_eq!(hash(one.path()).unwrap().len(), 16);
    }

    #[test]
    fn compressible_files_are_stored_compressed_and_only_bundle_is_measured() {
        let site = folder(&[
            ("pkg/a.js", &"let a;".repeat(100)),
            ("pkg/split_a.wasm", "part"),
            ("icon.svg", "<svg/>"),
            ("photo.png", "x"),
        ]);
        let wire = compress(site.path()).unwrap();
        assert_eq!(wire.page, fs::metadata(site.path().join("pkg/a.js.br")).unwrap().len());
        assert_eq!(wire.parts, fs::metadata(site.path().join("pkg/split_a.wasm.br")).unwrap().len());
        assert!(site.path().join("icon.svg.br").exists() && !site.path().join("icon.svg").exists());
        assert!(site.path().join("photo.png").exists() && !site.path().join("photo.png.br").exists());
    }
}
