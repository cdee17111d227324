//! Where the site's files are, and the hash that names this build.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use turnleaf_platform::hex::hex;

use axum::body::Bytes;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

/// What the build put into `target/site`. A build without a site (a plain `cargo build`) has none and serves pages
/// without scripts.
#[derive(RustEmbed)]
#[folder = "target/site"]
#[allow_missing = true]
struct Embedded;

/// Named here so that the compiler embeds the site anew when the build says that it has changed; it cannot see files
/// that were added.
const _SITE_OF_THE_BUILD: Option<&str> = option_env!("TURNLEAF_SITE_HASH");

/// One file with the hash of its bytes in hexadecimal.
pub struct SiteFile {
    pub bytes: Bytes,
    pub hash: String,
}

/// The files of the site.
pub struct Site {
    /// A directory instead of the binary's own files, for development.
    directory: Option<PathBuf>,
    build: String,
}

impl Site {
    /// Takes the site from this directory, or from the binary.
    pub fn open(directory: Option<&Path>) -> Self {
        let mut site = Self { directory: directory.map(Path::to_owned), build: String::new() };
        site.build = site.hash_of_package();
        site
    }

    /// Whether there are no scripts and styles: a build of the server alone.
    pub fn is_empty(&self) -> bool {
        !self.paths().iter().any(|path| path.starts_with("pkg/"))
    }

    /// The name of this build: changes whenever a file under `pkg` does.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// Where pages find their scripts and styles, for `LeptosOptions::site_pkg_dir`.
    pub fn package_dir(&self) -> String {
        format!("pkg/{}", self.build)
    }

    /// The application's style sheet; empty in a build of the server alone.
    pub fn style(&self) -> String {
        let sheet = self.file("pkg/turnleaf.css");
        sheet.map(|sheet| String::from_utf8_lossy(&sheet.bytes).into_owned()).unwrap_or_default()
    }

    /// The file at this path inside the site. Nothing outside of it can be named.
    pub fn file(&self, path: &str) -> Option<SiteFile> {
        let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return None;
        }
        if let Some(directory) = &self.directory {
            let bytes = std::fs::read(directory.join(path)).ok()?;
            return Some(SiteFile { hash: hex(Sha256::digest(&bytes)), bytes: Bytes::from(bytes) });
        }
        let file = Embedded::get(path)?;
        let hash = hex(file.metadata.sha256_hash());
        let bytes = match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Some(SiteFile { bytes, hash })
    }

    /// Names of the files at the root, without their compressed twins.
    pub fn root_files(&self) -> Vec<String> {
        let is_plain = |name: &String| !name.contains('/') && !name.ends_with(".br") && !name.ends_with(".gz");
        self.paths().into_iter().filter(is_plain).collect()
    }

    fn hash_of_package(&self) -> String {
        let mut whole = Sha256::new();
        for path in self.paths().into_iter().filter(|path| path.starts_with("pkg/")) {
            if let Some(file) = self.file(&path) {
                whole.update(&path);
                whole.update(&file.hash);
            }
        }
        hex(&whole.finalize()[..8])
    }

    /// All paths inside the site, sorted.
    fn paths(&self) -> Vec<String> {
        let mut paths = match &self.directory {
            Some(directory) => walk(directory),
            None => Embedded::iter().map(Cow::into_owned).collect(),
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
