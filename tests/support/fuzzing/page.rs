//! Fuzz target of the converter of web pages and HTML files: its tree is bounded and well formed, and extracting text
//! never panics.

use turnleaf::domain::limits;
use turnleaf_convert::page::{extract_all_text, extract_article, tree};

pub fn converter_holds(input: &[u8]) {
    let html = String::from_utf8_lossy(input);
    let Ok(document) = tree::parse(&html) else { return };
    document.tree.validate().unwrap();
    let root = document.root();
    let elements = root.descendants_it().filter(|node| node.is_element());
    let depth = elements.map(|node| node.ancestors_it(None).count()).max().unwrap_or_default();
    assert!(depth <= limits::MARKUP_DEPTH, "{depth} levels");
    let page = extract_article(&html, "https://example.com/a/b").unwrap();
    assert!(page.title.chars().count() <= limits::TITLE_CHARS && !page.title.contains('\n'), "{:?}", page.title);
    extract_all_text(&html).unwrap();
}
