//! Structure of rich text before it is converted: the block that contains all of it, whether whitespace is preserved,
//! and which text would begin a block at the beginning of a line.

use crate::browser::rich_text::RichText;

/// Returns the concatenated text.
pub(super) fn plain_text(pieces: &[RichText]) -> String {
    let word = |piece: &RichText| match piece {
        RichText::Text(text) => text.clone(),
        RichText::Element { name, .. } if name == "br" => "\n".to_owned(),
        RichText::Element { children, .. } => plain_text(children),
    };
    pieces.iter().map(word).collect()
}

pub(super) fn find_attribute<'a>(attributes: &'a [(&'static str, String)], wanted: &str) -> Option<&'a str> {
    attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
}

pub(super) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Returns the level of a heading. Rendered replies have theirs in a class, because their elements are below the headings
/// of the page.
pub(super) fn heading_level(name: &str, attributes: &[(&'static str, String)]) -> usize {
    let written = find_attribute(attributes, "class").and_then(|class| class.strip_prefix("md-h"));
    let level = written.and_then(|level| level.parse().ok()).filter(|level| (1..=6).contains(level));
    level.unwrap_or_else(|| name.as_bytes().last().map_or(1, |digit| usize::from(digit - b'0')))
}

/// Returns the one block that contains everything, if there is one.
pub(super) fn only_block(pieces: &[RichText]) -> Option<(&str, &[RichText])> {
    let mut some = pieces.iter().filter(|piece| match piece {
        RichText::Text(text) => !text.trim().is_empty(),
        RichText::Element { name, .. } => !matches!(name.as_str(), "meta" | "style" | "link" | "title"),
    });
    let (Some(RichText::Element { name, children, .. }), None) = (some.next(), some.next()) else { return None };
    match name.as_str() {
        "div" | "span" | "article" | "section" => only_block(children),
        name => Some((name, children)),
    }
}

/// Returns whether a text begins with syntax that is a block only at the beginning of a line.
pub(super) fn starts_block(text: &str) -> bool {
    let is_numbered = || text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    ["# ", "## ", "### ", "#### ", "##### ", "###### ", "```", "- ", "> ", "| ", "---"]
        .iter()
        .any(|sign| text.starts_with(sign))
        || is_numbered()
}

/// Returns whether an element preserves whitespace, given that of its surroundings (`outside`).
pub(super) fn keeps_blanks(attributes: &[(&'static str, String)], outside: bool) -> bool {
    let style = find_attribute(attributes, "style").unwrap_or_default().replace(' ', "");
    let has_any = |values: &[&str]| values.iter().any(|value| style.contains(value));
    if has_any(&["white-space:pre", "white-space:break-spaces", "white-space-collapse:preserve"]) {
        return true;
    }
    outside && !has_any(&["white-space:normal", "white-space:nowrap", "white-space-collapse:collapse"])
}

/// Returns whether whitespace is preserved somewhere in the pieces.
pub(super) fn has_kept_blanks(pieces: &[RichText]) -> bool {
    pieces.iter().any(|piece| match piece {
        RichText::Text(_) => false,
        RichText::Element { attributes, children, .. } => keeps_blanks(attributes, false) || has_kept_blanks(children),
    })
}

pub(super) fn has_blocks(pieces: &[RichText]) -> bool {
    const BLOCKS: [&str; 16] = [
        "p",
        "div",
        "ul",
        "ol",
        "table",
        "pre",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "section",
        "article",
    ];
    pieces.iter().any(|piece| match piece {
        RichText::Element { name, children, .. } => BLOCKS.contains(&name.as_str()) || has_blocks(children),
        RichText::Text(_) => false,
    })
}
