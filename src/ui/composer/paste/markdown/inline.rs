//! Inline content: emphasis, code and links.

use super::structure::{find_attribute, keeps_blanks, plain_text};
use crate::browser::rich_text::RichText;

/// The emphasis that already surrounds a text.
#[derive(Clone, Copy, Default)]
pub(super) struct InlineContext {
    is_strong: bool,
    is_slanted: bool,
    is_link: bool,
}

/// The line that is being written.
#[derive(Default)]
pub(super) struct MarkdownLine {
    pub(super) text: String,
    /// True if Markdown syntax was written, here or in an earlier block.
    pub(super) is_marked: bool,
    /// True if whitespace is preserved at this point.
    pub(super) keeps_blanks: bool,
}

/// Joins the text into one line.
pub(super) fn to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a fence that is longer than any run of backticks in the text.
pub(super) fn fence_for(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

/// Surrounds the text with a sign and keeps its outer whitespace outside.
fn surround(sign: &str, text: &str) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    let start = text.len() - text.trim_start().len();
    format!("{}{sign}{inner}{sign}{}", &text[..start], &text[start + inner.len()..])
}

impl MarkdownLine {
    pub(super) fn write(&mut self, pieces: &[RichText], around: InlineContext) {
        for piece in pieces {
            match piece {
                RichText::Text(text) => self.push_words(text),
                RichText::Element { name, attributes, children } => {
                    let outside = self.keeps_blanks;
                    self.keeps_blanks = keeps_blanks(attributes, outside);
                    self.element(name, attributes, children, around);
                    self.keeps_blanks = outside;
                }
            }
        }
    }

    /// Appends text with whitespace collapsed, and none at the beginning of a line.
    fn push_words(&mut self, text: &str) {
        for c in text.chars() {
            if self.keeps_blanks {
                match c {
                    '\r' => {}
                    '\n' if self.text.is_empty() => {}
                    '\u{a0}' => self.text.push(' '),
                    c => self.text.push(c),
                }
                continue;
            }
            let is_blank = matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{a0}');
            match is_blank {
                true if self.text.is_empty() || self.text.ends_with([' ', '\n']) => {}
                true => self.text.push(' '),
                false => self.text.push(c),
            }
        }
    }

    fn element(
        &mut self,
        name: &str,
        attributes: &[(&'static str, String)],
        children: &[RichText],
        around: InlineContext,
    ) {
        let style = find_attribute(attributes, "style").unwrap_or_default().replace(' ', "");
        let weighs = |weights: &[&str]| weights.iter().any(|weight| style.contains(&format!("font-weight:{weight}")));
        let is_strong = !weighs(&["normal", "400"])
            && (matches!(name, "b" | "strong") || weighs(&["bold", "600", "700", "800", "900"]));
        let is_slanted =
            !style.contains("font-style:normal") && (matches!(name, "i" | "em") || style.contains("font-style:italic"));
        match name {
            "br" => self.text.push('\n'),
            "script" | "style" | "button" | "template" | "title" => {}
            "code" | "kbd" | "samp" | "tt" => {
                let code = to_one_line(&plain_text(children));
                if !code.is_empty() {
                    let fence = fence_for(&code, 1);
                    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
                    self.is_marked = true;
                    self.text += &format!("{fence}{pad}{code}{pad}{fence}");
                }
            }
            "a" => {
                let text = self.part(children, InlineContext { is_link: true, ..around });
                match find_attribute(attributes, "href")
                    .map(str::trim)
                    .filter(|href| is_absolute_link(href) && !around.is_link)
                {
                    Some(href) if !text.trim().is_empty() && text.trim() != href => {
                        self.is_marked = true;
                        let href = href.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
                        let link = surround("\u{0}", &to_one_line(&text).replace('[', "\\[").replace(']', "\\]"));
                        self.text += &link.replacen('\u{0}', "[", 1).replacen('\u{0}', &format!("]({href})"), 1);
                    }
                    _ => self.push_words(&text),
                }
            }
            "del" | "s" | "strike" => {
                let text = self.part(children, around);
                self.is_marked = true;
                self.text += &surround("~~", &text);
            }
            _ => {
                let inner = InlineContext {
                    is_strong: around.is_strong || is_strong,
                    is_slanted: around.is_slanted || is_slanted,
                    ..around
                };
                let (strong, slanted) = (is_strong && !around.is_strong, is_slanted && !around.is_slanted);
                let sign = match (strong, slanted) {
                    (true, true) => "***",
                    (true, false) => "**",
                    (false, true) => "*",
                    (false, false) => return self.write(children, inner),
                };
                let text = self.part(children, inner);
                self.is_marked |= !text.trim().is_empty();
                // Emphasis does not span lines.
                let lines: Vec<_> = text.split('\n').map(|line| surround(sign, line)).collect();
                self.text += &lines.join("\n");
            }
        }
    }

    /// Returns the content of an inline element. Whitespace before it is taken into account.
    fn part(&mut self, pieces: &[RichText], around: InlineContext) -> String {
        let before = std::mem::take(&mut self.text);
        let is_blank = before.is_empty() || before.ends_with([' ', '\n']);
        self.write(pieces, around);
        let mut text = std::mem::replace(&mut self.text, before);
        // Leading whitespace was dropped as if it began a line.
        let begins_blank = first_text(pieces).is_some_and(|first| first.starts_with([' ', '\t', '\r', '\n', '\u{a0}']));
        if begins_blank && !is_blank {
            text.insert(0, ' ');
        }
        text
    }
}

/// Returns the first text among the pieces.
fn first_text(pieces: &[RichText]) -> Option<&str> {
    pieces.iter().find_map(|piece| match piece {
        RichText::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
        RichText::Element { children, .. } => first_text(children),
    })
}

/// Returns whether an address is absolute, so that it also works from here.
fn is_absolute_link(href: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
