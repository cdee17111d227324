//! The recorded provider responses: beside the repository, or where TURNLEAF_FIXTURES points.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One recorded response.
pub struct FixtureRecording {
    /// `folder/name`, for messages of failed assertions.
    pub name: String,
    pub body: Vec<u8>,
    /// Metadata of the recording: provider, model, request, events.
    pub about: Value,
}

/// Returns the folder of the recordings.
pub fn fixtures_root() -> PathBuf {
    let sibling = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures");
    std::env::var_os("TURNLEAF_FIXTURES").map_or(sibling, PathBuf::from)
}

/// Reads the recordings of a folder, by name. Returns `None`, with a visible message, when there are no fixtures.
pub fn recordings(folder: &str, ending: &str) -> Option<Vec<FixtureRecording>> {
    let root = fixtures_root();
    let Ok(files) = std::fs::read_dir(root.join(folder)) else {
        eprintln!("skipped: fixtures not found ({})", root.join(folder).display());
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    let read = |path: &PathBuf| FixtureRecording {
        name: format!("{folder}/{}", path.file_stem().unwrap().to_string_lossy()),
        body: std::fs::read(path).unwrap(),
        about: serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap(),
    };
    Some(paths.iter().map(read).collect())
}
