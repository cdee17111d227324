//! `cargo xtask prices`: compresses the price list of the crate `genai-prices` into the source of the providers, which
//! embed it instead of the crate's own copy: a tenth of its 0.8 MB.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::front::compress_text;
use crate::step::{format_size, output, print_note};
use crate::workspace;

/// Writes the list of the locked version of the crate.
///
/// # Errors
/// The sources of the crate cannot be found, or the file cannot be written.
pub fn run() -> Result<()> {
    let compressed = compress_text(&crate_list()?)?;
    print_note(&format!("the price list has {}", format_size(compressed.len() as u64)));
    fs::write(embedded_file(), compressed)?;
    Ok(())
}

fn embedded_file() -> PathBuf {
    workspace::root().join("src/providers/prices/list.json.br")
}

/// Returns the list in the sources of the crate.
fn crate_list() -> Result<Vec<u8>> {
    let metadata = output(workspace::cargo("metadata").args(["--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let found = packages.iter().find(|package| package["name"] == "genai-prices");
    let manifest = found.and_then(|package| package["manifest_path"].as_str()).context("genai-prices is not locked")?;
    let file = Path::new(manifest).with_file_name("data").join("prices.json");
    fs::read(&file).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_list_is_that_of_locked_crate() {
        let mut embedded = Vec::new();
        brotli::BrotliDecompress(&mut &*fs::read(embedded_file()).unwrap(), &mut embedded).unwrap();
        assert!(embedded == crate_list().unwrap(), "`cargo xtask prices` writes the list anew");
    }
}
