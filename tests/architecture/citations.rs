//! Citations of the project's documents: a comment names a rule by its document and section,
//! `docs/reference/domain.md 4.5`, and a document links another. A citation that does not resolve fails the test.

use std::fs;

use crate::source_file::workspace_root;

/// A cited document, and the section that follows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Citation {
    /// Path from the root of the repository.
    pub document: String,
    /// `4.5`, `S6`, `UX-12`; `None` where the document is cited as a whole.
    pub section: Option<String>,
}

/// Finds the citations of a text: every `docs/….md`, with the section that follows it after one space.
pub fn citations_of(text: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("docs/") {
        let is_word = text[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "/.-_".contains(c));
        let path: String =
            text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || "/._-".contains(*c)).collect();
        let Some(end) = path.rfind(".md").map(|at| at + ".md".len()) else { continue };
        if is_word {
            continue;
        }
        let behind = text[start + end..].trim_start_matches('`');
        found.push(Citation {
            document: path[..end].to_owned(),
            section: behind.strip_prefix(' ').and_then(section_at),
        });
    }
    found
}

/// Parses the section at the start of a text: capital letters and a dash, both optional, then numbers with dots
/// between.
fn section_at(text: &str) -> Option<String> {
    let word: String = text.chars().take_while(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)).collect();
    let word = word.trim_end_matches(['.', '-']);
    let numbers = word.trim_start_matches(|c: char| c.is_ascii_uppercase()).trim_start_matches('-');
    let is_section = !numbers.is_empty() && numbers.chars().all(|c| c.is_ascii_digit() || c == '.');
    (is_section && word.len() - numbers.len() <= 3).then(|| word.to_owned())
}

/// Returns whether a document has a heading, or a row of a table, that begins with this section.
pub fn has_section(document: &str, section: &str) -> bool {
    document.lines().any(|line| {
        let Some(title) = line.strip_prefix('#').or_else(|| line.strip_prefix('|')) else { return false };
        let title = title.trim_start_matches(['#', ' ', '*', '`']);
        title.strip_prefix(section).is_some_and(|rest| {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            rest.chars().next().is_none_or(|c| !c.is_alphanumeric())
        })
    })
}

/// Returns the problem of a citation, or `None` where it resolves.
pub fn unresolved(citation: &Citation) -> Option<String> {
    let Citation { document, section } = citation;
    let Ok(text) = fs::read_to_string(workspace_root().join(document)) else { return Some(format!("no {document}")) };
    let section = section.as_ref()?;
    (!has_section(&text, section)).then(|| format!("{document} has no section {section}"))
}

/// Returns the link targets of a Markdown document that are files, without their anchors.
pub fn links_of(markdown: &str) -> Vec<String> {
    let targets = markdown.match_indices("](").filter_map(|(at, open)| markdown[at + open.len()..].split_once(')'));
    let targets = targets.map(|(target, _)| target.split(['#', ' ']).next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains(':')).map(String::from).collect()
}

mod tests {
    use super::*;

    #[test]
    fn citation_is_document_with_section() {
        let of = |document: &str, section: Option<&str>| Citation {
            document: document.to_owned(),
            section: section.map(String::from),
        };
        for (text, found) in [
            ("(docs/reference/domain.md 4.5, and more)", vec![of("docs/reference/domain.md", Some("4.5"))]),
            ("as `docs/reference/ux.md` S6 says", vec![of("docs/reference/ux.md", Some("S6"))]),
            ("docs/acceptance.md UX-12.", vec![of("docs/acceptance.md", Some("UX-12"))]),
            ("see docs/performance.md. 4 files", vec![of("docs/performance.md", None)]),
            ("docs/a.md and docs/b.md 1", vec![of("docs/a.md", None), of("docs/b.md", Some("1"))]),
            ("docs.rs, docs/picture.png, mydocs/a.md", vec![]),
        ] {
            assert_eq!(citations_of(text), found, "{text}");
        }
    }

    #[test]
    fn section_is_found_by_its_whole_number() {
        let document = "# Title\n\n## 4.5 Merging\n\n### S6: keep\n\n| UX-12 | text |\n\n## 1. First\n";
        for (section, is_there) in
            [("4.5", true), ("4", false), ("4.51", false), ("S6", true), ("UX-12", true), ("UX-1", false), ("1", true)]
        {
            assert_eq!(has_section(document, section), is_there, "{section}");
        }
    }

    #[test]
    fn unknown_document_and_section_are_reported() {
        let missing = Citation { document: "docs/no-such-document.md".to_owned(), section: None };
        assert!(unresolved(&missing).is_some());
        let section = Citation { document: "docs/reference/domain.md".to_owned(), section: Some("99.9".to_owned()) };
        assert!(unresolved(&section).is_some());
    }

    #[test]
    fn links_to_files_are_found_without_anchors() {
        let found = links_of("[a](../b.md#c) ![d](e.png) [f](https://g.h) [i](#j)");
        assert_eq!(found, ["../b.md", "e.png"]);
    }
}
