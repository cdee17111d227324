//! The document that draws diagrams (`server::http::site::diagram_frame`): Mermaid's library, which is in the repository
//! as it was published, and the lines that start it. One file, because a document without an origin loads nothing.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// The version in `vendor/mermaid`.
pub const VERSION: &str = "11.17.2";
const DOCUMENT: &str = include_str!("diagram/diagram.html");
/// The place of the library in the document.
const PLACE: &str = "/* library */";
/// The path in the site.
const FILE: &str = "frames/diagram.html";

/// Writes the document into the site.
///
/// # Errors
/// A file cannot be read or written, or the library would end its own element.
pub fn write(site: &Path) -> Result<()> {
    let path = workspace::root().join("vendor/mermaid/mermaid.tiny.js");
    let library = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let file = site.join(FILE);
    fs::create_dir_all(file.parent().unwrap_or(site))?;
    fs::write(&file, document(&library)?).with_context(|| file.display().to_string())
}

/// Returns the document with this library in its script.
fn document(library: &str) -> Result<String> {
    let lower = library.to_ascii_lowercase();
    // With one of them, the script would end elsewhere.
    ensure!(!lower.contains("</script") && !lower.contains("<script"), "the library contains a script element");
    Ok(DOCUMENT.replacen(PLACE, library, 1))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn document_contains_library_and_what_starts_it() {
        let html = document("let a = '</p>';").unwrap();
        assert!(html.contains("<script>let a = '</p>';</script>") && !html.contains(PLACE), "{html}");
        assert!(html.contains("securityLevel: \"strict\"") && html.starts_with("<!doctype html>"), "{html}");
        assert!(document("a = '</SCRIPT>'").is_err());
    }

    #[test]
    fn vendored_library_is_the_one_that_its_readme_names() {
        let folder = workspace::root().join("vendor/mermaid");
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let library = fs::read(folder.join("mermaid.tiny.js")).unwrap();
        let hash: String = Sha256::digest(&library).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(readme.contains(&hash) && readme.contains(&format!("`@mermaid-js/tiny` {VERSION}")), "{hash}");
        document(std::str::from_utf8(&library).unwrap()).unwrap();
    }
}
