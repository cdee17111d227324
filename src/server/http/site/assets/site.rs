//! The source of the site's files (the binary or a directory), and the hash that names the build.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use turnleaf_platform::hex::hex;

use axum::body::Bytes;
use brotli_decompressor::Decompressor;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::{EmbeddedFile, RustEmbed};
use sha2::{Digest, Sha256};

/// The files that were compiled into the binary: lookup by path, and all paths.
struct EmbeddedFiles {
    get: fn(&str) -> Option<EmbeddedFile>,
    paths: fn() -> Vec<String>,
}

/// The files of the binary, which registers them once. The library is compiled without the site, so that both can be
/// built at the same time.
static EMBEDDED: OnceLock<EmbeddedFiles> = OnceLock::new();

/// Registers the files inside the binary, for [`Site::open`]. A process that registers none serves pages without
/// scripts.
pub fn register_embedded<S: RustEmbed>() {
    // The first registration stays: there is one binary in a process.
    let _ = EMBEDDED.set(EmbeddedFiles { get: S::get, paths: || S::iter().map(Cow::into_owned).collect() });
}

/// One file, with the hash of its stored bytes in hexadecimal.
pub struct SiteFile {
    pub bytes: Bytes,
    pub hash: String,
}

/// File name endings of compressed files.
const COMPRESSED: [&str; 2] = [".br", ".gz"];
/// Buffer size of the decompressor.
const PIECE: usize = 64 << 10;

/// The files of the site.
pub struct Site {
    /// A directory that replaces the embedded files, for development.
    directory: Option<PathBuf>,
    build: String,
    /// A cache of files in gzip by path: each is compressed at the first request that needs it.
    gzipped: Mutex<HashMap<String, Bytes>>,
}

impl Site {
    /// Opens the site in this directory, or the one in the binary.
    pub fn open(directory: Option<&Path>) -> Self {
        let mut site =
            Self { directory: directory.map(Path::to_owned), build: String::new(), gzipped: Mutex::default() };
        site.build = site.hash_of_package();
        site
    }

    /// Returns whether the site has no scripts and styles, as in a build of the server alone.
    pub fn is_empty(&self) -> bool {
        !self.paths().iter().any(|path| path.starts_with("pkg/"))
    }

    /// Returns the name of this build, which changes whenever a file under `pkg` does.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// Returns the directory of scripts and styles, for `LeptosOptions::site_pkg_dir`.
    pub fn package_dir(&self) -> String {
        format!("pkg/{}", self.build)
    }

    /// Returns the application's style sheet for a page that has no other file: without its fonts, which are files. It
    /// is empty in a build of the server alone.
    pub fn style(&self) -> String {
        let sheet = self.file("pkg/turnleaf.css");
        sheet.map(|sheet| without_fonts(&String::from_utf8_lossy(&sheet.bytes))).unwrap_or_default()
    }

    /// Returns the uncompressed file at this path. A release stores files that compression makes smaller in brotli
    /// only.
    pub fn file(&self, path: &str) -> Option<SiteFile> {
        self.stored_file(path).or_else(|| {
            let SiteFile { bytes, hash } = self.stored_file(&format!("{path}.br"))?;
            let mut plain = Vec::new();
            Decompressor::new(&*bytes, PIECE).read_to_end(&mut plain).ok()?;
            Some(SiteFile { bytes: plain.into(), hash })
        })
    }

    /// Returns the file in gzip. Blocks while it compresses, once for each file.
    pub fn gzipped_file(&self, path: &str) -> Option<Bytes> {
        let mut known = self.gzipped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = known.get(path) {
            return Some(bytes.clone());
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&self.file(path)?.bytes).ok()?;
        let bytes = Bytes::from(gzip.finish().ok()?);
        known.insert(path.to_owned(), bytes.clone());
        Some(bytes)
    }

    /// Returns the hash of the stored bytes of the file, which all its encodings share.
    pub fn file_hash(&self, path: &str) -> Option<String> {
        self.stored_file(path).or_else(|| self.stored_file(&format!("{path}.br"))).map(|file| file.hash)
    }

    /// Returns the file that is stored under this name. Paths cannot leave the site.
    pub fn stored_file(&self, path: &str) -> Option<SiteFile> {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return None;
        }
        if let Some(directory) = &self.directory {
            let bytes = std::fs::read(directory.join(path)).ok()?;
            return Some(SiteFile { hash: hex(Sha256::digest(&bytes)), bytes: Bytes::from(bytes) });
        }
        let file = (EMBEDDED.get()?.get)(path)?;
        let hash = hex(file.metadata.sha256_hash());
        let bytes = match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Some(SiteFile { bytes, hash })
    }

    /// Returns the names of the files at the root, each once for all its encodings.
    pub fn root_files(&self) -> Vec<String> {
        let plain = |name: String| {
            let ending = COMPRESSED.into_iter().find(|ending| name.ends_with(ending));
            ending.and_then(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
        };
        let mut names: Vec<String> = self.paths().into_iter().filter(|name| !name.contains('/')).map(plain).collect();
        names.sort();
        names.dedup();
        names
    }

    fn hash_of_package(&self) -> String {
        let mut whole = Sha256::new();
        for path in self.paths().into_iter().filter(|path| path.starts_with("pkg/")) {
            if let Some(file) = self.stored_file(&path) {
                whole.update(&path);
                whole.update(&file.hash);
            }
        }
        hex(&whole.finalize()[..8])
    }

    /// Returns all paths inside the site, sorted.
    fn paths(&self) -> Vec<String> {
        let mut paths = match &self.directory {
            Some(directory) => walk(directory),
            None => EMBEDDED.get().map(|files| (files.paths)()).unwrap_or_default(),
        };
        paths.sort();
        paths
    }
}

fn walk(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

/// Removes the `@font-face` rules of a style sheet.
fn without_fonts(sheet: &str) -> String {
    let mut parts = sheet.split("@font-face");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once('}').map_or("", |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn font_rules_are_removed_from_style() {
        let sheet = "a{b:c}@font-face{font-family:M;src:url(m.woff2)}d{e:f}@font-face{src:url(n)}";
        assert_eq!(without_fonts(sheet), "a{b:c}d{e:f}");
        assert_eq!(without_fonts("a{b:c}"), "a{b:c}");
    }
}
