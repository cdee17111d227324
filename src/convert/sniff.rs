//! Detects the kind of a file from its first bytes, whatever its name says. The name only distinguishes kinds of
//! text.

use infer::MatcherType;

use crate::{ConversionError, FileKind, archive, encoding};
use turnleaf_domain::documents::image_type::detect_image_type;

/// Number of bytes that are examined.
const HEAD: usize = 8 << 10;
const ZIP: &[u8] = b"PK\x03\x04";
const PDF: &[u8] = b"%PDF-";
const RTF: &[u8] = b"{\\rtf";
/// OLE containers: Office files before 2007, and encrypted ones since.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Returns the kind of a file. The first bytes decide about a polyglot file.
///
/// # Errors
/// [`ConversionError::Empty`]; [`ConversionError::Unsupported`] with a description of the file;
/// [`ConversionError::Damaged`] for a truncated archive.
pub fn sniff(name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
    if bytes.is_empty() {
        return Err(ConversionError::Empty);
    }
    if let Some(kind) = detect_image_type(bytes).and_then(FileKind::of_image) {
        return Ok(kind);
    }
    match bytes {
        _ if bytes.starts_with(PDF) => return Ok(FileKind::Pdf),
        _ if bytes.starts_with(ZIP) => return office_kind(bytes),
        _ if bytes.starts_with(RTF) => return unsupported("an RTF document"),
        _ if bytes.starts_with(OLE) => return unsupported("an old or password-protected Office document"),
        _ => {}
    }
    match encoding::looks_like_text(bytes) {
        true => text_kind(name, bytes),
        false => unsupported(&describe_binary(bytes)),
    }
}

fn unsupported(kind: &str) -> Result<FileKind, ConversionError> {
    Err(ConversionError::Unsupported(kind.to_owned()))
}

/// Distinguishes the Office formats by their parts.
fn office_kind(bytes: &[u8]) -> Result<FileKind, ConversionError> {
    let parts = archive::entries(bytes)?;
    let has = |name: &str| parts.iter().any(|part| part.name == name.as_bytes());
    let has_in = |folder: &str| parts.iter().any(|part| part.name.starts_with(folder.as_bytes()));
    if !has("[Content_Types].xml") {
        return unsupported(if has("mimetype") { "an OpenDocument file or an e-book" } else { "an archive" });
    }
    if has("xl/workbook.bin") {
        return unsupported("a binary workbook (XLSB)");
    }
    match () {
        () if has_in("word/") => Ok(FileKind::Docx),
        () if has_in("ppt/") => Ok(FileKind::Pptx),
        () if has_in("xl/") => Ok(FileKind::Xlsx),
        () => unsupported("an archive"),
    }
}

fn text_kind(name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.trim().to_ascii_lowercase());
    let head = encoding::text_head(bytes, HEAD);
    if matches!(extension.as_deref(), Some("svg" | "svgz")) || first_element(&head) == Some("svg") {
        return unsupported("an SVG image");
    }
    Ok(match extension.as_deref() {
        Some("html" | "htm" | "xhtml") => FileKind::Html,
        Some("md" | "markdown" | "mdown" | "mkd") => FileKind::Markdown,
        Some("csv" | "tsv") => FileKind::Csv,
        None if first_element(&head) == Some("html") => FileKind::Html,
        _ => FileKind::Text,
    })
}

/// Returns the lower-case name of the first element of markup, after comments and processing instructions; for
/// `<!DOCTYPE x` it is `x`. Only the names that matter here are recognized.
fn first_element(text: &str) -> Option<&'static str> {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    loop {
        let inner = rest.strip_prefix('<')?;
        let end = match inner {
            _ if inner.starts_with("!--") => "-->",
            _ if inner.starts_with('?') => "?>",
            _ => break,
        };
        rest = inner.split_once(end)?.1.trim_start();
    }
    let inner = rest.get(1..)?.to_ascii_lowercase();
    let name = inner.strip_prefix("!doctype").map_or(inner.as_str(), str::trim_start);
    let name = name.split(|c: char| !c.is_alphanumeric() && c != ':').next()?;
    ["svg", "html"].into_iter().find(|known| name == *known || name.rsplit(':').next() == Some(known))
}

/// Describes a binary file for people, as far as its format is known.
fn describe_binary(bytes: &[u8]) -> String {
    let Some(known) = infer::get(&bytes[..bytes.len().min(HEAD)]) else { return "a binary file".into() };
    let extension = known.extension().to_ascii_uppercase();
    match known.matcher_type() {
        MatcherType::App => "a program".into(),
        MatcherType::Archive => format!("an archive or a binary file ({extension})"),
        MatcherType::Audio => format!("sound ({extension})"),
        MatcherType::Book => format!("an e-book ({extension})"),
        MatcherType::Doc => format!("a document of this kind ({extension})"),
        MatcherType::Font => format!("a font ({extension})"),
        MatcherType::Image => format!("an image of this kind ({extension})"),
        MatcherType::Video => format!("a video ({extension})"),
        MatcherType::Text | MatcherType::Custom => "a binary file".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_kinds_are_detected_by_file_name() {
        for (name, text, kind) in [
            ("a.md", "# a", FileKind::Markdown),
            ("A.CSV", "a;b", FileKind::Csv),
            ("a.tsv", "a\tb", FileKind::Csv),
            ("a.html", "no markup", FileKind::Html),
            ("a.rs", "fn main() {}", FileKind::Text),
            ("a.txt", "<html>", FileKind::Text),
            ("", "<!-- x --> <!DOCTYPE html><p>", FileKind::Html),
            ("paste", "<?xml version='1.0'?>\n<HTML lang=de>", FileKind::Html),
            ("paste", "text", FileKind::Text),
            ("a.png", "text", FileKind::Text),
            ("a.sh", "#!/bin/sh\n", FileKind::Text),
            ("a.xml", "<?xml version='1.0'?><feed/>", FileKind::Text),
            ("MZ.txt", "MZ is text here, and so is \u{1b}[1mbold", FileKind::Text),
            ("名.md", "\u{feff}名", FileKind::Markdown),
            ("a.", "a", FileKind::Text),
        ] {
            assert_eq!(sniff(name, text.as_bytes()), Ok(kind), "{name}: {text}");
        }
    }

    #[test]
    fn unsupported_file_is_named() {
        let zip = |names: &[&str]| {
            let mut bytes = b"PK\x03\x04".to_vec();
            let start = bytes.len() as u32;
            for name in names {
                bytes.extend(b"PK\x01\x02");
                bytes.extend([0; 24]);
                bytes.extend((name.len() as u16).to_le_bytes());
                bytes.extend([0; 16]);
                bytes.extend(name.bytes());
            }
            let length = bytes.len() as u32 - start;
            bytes.extend(b"PK\x05\x06\0\0\0\0\0\0\0\0");
            bytes.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
            bytes.extend([0, 0]);
            bytes
        };
        assert_eq!(sniff("x.zip", &zip(&["[Content_Types].xml", "word/document.xml"])), Ok(FileKind::Docx));
        assert_eq!(sniff("x", &zip(&["ppt/presentation.xml", "[Content_Types].xml"])), Ok(FileKind::Pptx));
        assert_eq!(sniff("x.docx", &zip(&["[Content_Types].xml", "xl/workbook.xml"])), Ok(FileKind::Xlsx));
        for (name, bytes, word) in [
            ("a.docx", zip(&["word/document.xml"]), "archive"),
            ("a.xlsb", zip(&["[Content_Types].xml", "xl/workbook.bin"]), "XLSB"),
            ("a.odt", zip(&["mimetype", "content.xml"]), "OpenDocument"),
            ("a.png", [b"\x7fELF\x02\x01\x01\0".as_slice(), &[0; 60]].concat(), "program"),
            ("a.png", [b"MZ\x90\0\x03\0\0\0".as_slice(), &[0; 60]].concat(), "program"),
            ("a.doc", [OLE, &[0; 60]].concat(), "password"),
            ("a.rtf", b"{\\rtf1 a}".to_vec(), "RTF"),
            ("a.svg", b"<p>".to_vec(), "SVG"),
            ("a.txt", b"\xef\xbb\xbf <!-- --><!DOCTYPE svg PUBLIC>".to_vec(), "SVG"),
            ("a", b"<?xml version='1.0'?><svg:svg onload='x'>".to_vec(), "SVG"),
            ("a.txt", b"text with \0 in it".to_vec(), "binary"),
            ("a.bmp", [b"BM".as_slice(), &[0; 60]].concat(), "BMP"),
        ] {
            let refused = sniff(name, &bytes).unwrap_err();
            assert!(
                matches!(&refused, ConversionError::Unsupported(kind) if kind.contains(word)),
                "{name}: {refused:?}"
            );
        }
        assert_eq!(sniff("a", b""), Err(ConversionError::Empty));
        assert!(matches!(sniff("a.docx", b"PK\x03\x04"), Err(ConversionError::Damaged(_))));
    }

    #[test]
    fn polyglot_file_is_what_it_starts_with() {
        assert_eq!(sniff("x.html", b"GIF89a/*<script>XSS</script>*/"), Ok(FileKind::Gif));
        assert_eq!(sniff("x.html", b"%PDF-1.4<html>"), Ok(FileKind::Pdf));
        assert_eq!(sniff("x.png", b"<html>%PDF-1.4"), Ok(FileKind::Text));
    }
}
