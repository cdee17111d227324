//! What stands within a line: emphasis, code and links.

use super::standing::{attribute, keeps_blanks, words};
use crate::browser::rich::Rich;

/// What emphasis is around a text already.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    is_strong: bool,
    is_slanted: bool,
    is_link: bool,
}

/// The line that is being written.
#[derive(Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Whether a sign of Markdown was written, here or in a block before.
    pub(super) is_marked: bool,
    /// Blanks and line ends count where it is now.
    pub(super) keeps_blanks: bool,
}

/// In one line.
pub(super) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// So many of a sign as are in no run of the text.
pub(super) fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

/// The text with a sign at both ends, and its blanks outside of them.
fn between(sign: &str, text: &str) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    let start = text.len() - text.trim_start().len();
    format!("{}{sign}{inner}{sign}{}", &text[..start], &text[start + inner.len()..])
}

impl Line {
    pub(super) fn write(&mut self, pieces: &[Rich], around: Around) {
        for piece in pieces {
            match piece {
                Rich::Text(text) => self.push_words(text),
                Rich::Element { name, attributes, children } => {
                    let outside = self.keeps_blanks;
                    self.keeps_blanks = keeps_blanks(attributes, outside);
                    self.element(name, attributes, children, around);
                    self.keeps_blanks = outside;
                }
            }
        }
    }

    /// Blanks in a row are one, and none begin a line.
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

    fn element(&mut self, name: &str, attributes: &[(&'static str, String)], children: &[Rich], around: Around) {
        let style = attribute(attributes, "style").unwrap_or_default().replace(' ', "");
        let weighs = |weights: &[&str]| weights.iter().any(|weight| style.contains(&format!("font-weight:{weight}")));
        let is_strong = !weighs(&["normal", "400"])
            && (matches!(name, "b" | "strong") || weighs(&["bold", "600", "700", "800", "900"]));
        let is_slanted =
            !style.contains("font-style:normal") && (matches!(name, "i" | "em") || style.contains("font-style:italic"));
        match name {
            "br" => self.text.push('\n'),
            "script" | "style" | "template" | "title" => {}
            "code" | "kbd" | "samp" | "tt" => {
                let code = in_one_line(&words(children));
                if !code.is_empty() {
                    let fence = fence(&code, 1);
                    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
                    self.is_marked = true;
                    self.text += &format!("{fence}{pad}{code}{pad}{fence}");
                }
            }
            "a" => {
                let text = self.part(children, Around { is_link: true, ..around });
                match attribute(attributes, "href").map(str::trim).filter(|href| leads(href) && !around.is_link) {
                    Some(href) if !text.trim().is_empty() && text.trim() != href => {
                        self.is_marked = true;
                        let href = href.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
                        let link = between("\u{0}", &in_one_line(&text).replace('[', "\\[").replace(']', "\\]"));
                        self.text += &link.replacen('\u{0}', "[", 1).replacen('\u{0}', &format!("]({href})"), 1);
                    }
                    _ => self.push_words(&text),
                }
            }
            "del" | "s" | "strike" => {
                let text = self.part(children, around);
                self.is_marked = true;
                self.text += &between("~~", &text);
            }
            _ => {
                let inner = Around {
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
                // Signs do not reach over lines.
                let lines: Vec<_> = text.split('\n').map(|line| between(sign, line)).collect();
                self.text += &lines.join("\n");
            }
        }
    }

    /// What is inside of an element within a line. The blank before it counts.
    fn part(&mut self, pieces: &[Rich], around: Around) -> String {
        let before = std::mem::take(&mut self.text);
        let is_blank = before.is_empty() || before.ends_with([' ', '\n']);
        self.write(pieces, around);
        let mut text = std::mem::replace(&mut self.text, before);
        // A blank that begins it was left out as one that begins a line.
        let begins_blank = first_text(pieces).is_some_and(|first| first.starts_with([' ', '\t', '\r', '\n', '\u{a0}']));
        if begins_blank && !is_blank {
            text.insert(0, ' ');
        }
        text
    }
}

/// The first words in it.
fn first_text(pieces: &[Rich]) -> Option<&str> {
    pieces.iter().find_map(|piece| match piece {
        Rich::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
        Rich::Element { children, .. } => first_text(children),
    })
}

/// Whether an address leads somewhere from here too.
fn leads(href: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
