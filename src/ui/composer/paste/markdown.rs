//! Rich text to Markdown: headings, lists, links, emphasis, code, quotes and tables. Everything else stays as plain
//! text. Nothing is escaped, because people read and edit the result in the box.

mod inline;
mod structure;

use crate::browser::rich_text::RichText;
use inline::{InlineContext, MarkdownLine, fence_for, to_one_line};
use structure::{
    find_attribute, has_blocks, has_kept_blanks, heading_level, is_heading, keeps_blanks, only_block, plain_text,
    starts_block,
};

/// Converts these pieces to Markdown; none where the result would be the plain text. `is_line_begun` means that it
/// follows other text on its line, where a block cannot begin.
pub fn from_rich_text(pieces: &[RichText], is_line_begun: bool) -> Option<String> {
    // Browsers wrap a copied phrase in the block around it: such a phrase is not a block.
    match only_block(pieces) {
        Some(("pre", inside)) if !plain_text(inside).trim_matches('\n').contains('\n') => {
            let code = plain_text(inside).trim().to_owned();
            let fence = fence_for(&code, 1);
            return (!code.is_empty()).then(|| format!("{fence}{code}{fence}"));
        }
        Some((name, _)) if is_line_begun && is_heading(name) => return None,
        _ => {}
    }
    let mut page = PasteWriter::default();
    page.blocks(pieces);
    let is_marked = page.line.is_marked && !page.is_plain;
    let mut text = page.finish();
    if is_line_begun && starts_block(&text) {
        text.insert_str(0, "\n\n");
    }
    if text.ends_with("```") {
        // Text typed next must not become part of the code.
        text.push('\n');
    }
    (is_marked && !text.is_empty()).then_some(text)
}

/// Returns whether the position after this text is inside a code fence, where Markdown does not apply.
pub fn is_in_code(before: &str) -> bool {
    before.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

/// The spacing between a block and the next one.
#[derive(Clone, Copy, PartialEq)]
enum BlockSpacing {
    /// A line; similar lines follow it directly.
    Line,
    Paragraph,
    List,
}

/// The blocks written so far and the current line.
#[derive(Default)]
struct PasteWriter {
    blocks: Vec<(BlockSpacing, String)>,
    line: MarkdownLine,
    /// True for code in a table, as diffs and files are rendered: plain text is better there.
    is_plain: bool,
}

/// Collects all elements with one of these names, except those inside of another `within`.
fn elements<'a>(pieces: &'a [RichText], names: &[&str], within: &[&str], found: &mut Vec<(&'a str, &'a [RichText])>) {
    for piece in pieces {
        let RichText::Element { name, children, .. } = piece else { continue };
        if names.contains(&name.as_str()) {
            found.push((name, children));
        } else if within.contains(&name.as_str()) {
            elements(children, names, within, found);
        }
    }
}

impl PasteWriter {
    /// Ends the current line.
    fn end(&mut self, kind: BlockSpacing) {
        let line = std::mem::take(&mut self.line.text);
        let line = line.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        if !line.trim().is_empty() {
            self.blocks.push((kind, line.trim_end().trim_start_matches('\n').to_owned()));
        }
    }

    fn mark(&mut self, kind: BlockSpacing, text: String) {
        self.line.is_marked = true;
        self.blocks.push((kind, text));
    }

    fn finish(mut self) -> String {
        self.end(BlockSpacing::Paragraph);
        let mut text = String::new();
        let mut before = None;
        for (kind, block) in self.blocks {
            text += match before {
                None => "",
                Some(BlockSpacing::Line) if kind == BlockSpacing::Line => "\n",
                Some(_) => "\n\n",
            };
            text += &block;
            before = Some(kind);
        }
        text
    }

    /// Returns the content of a block as one line.
    fn line_of(&mut self, pieces: &[RichText]) -> String {
        let mut line = MarkdownLine::default();
        line.write(pieces, InlineContext::default());
        self.line.is_marked |= line.is_marked;
        to_one_line(&line.text)
    }

    /// Converts the content of a block with a writer of its own.
    fn nested(&mut self, pieces: &[RichText]) -> Self {
        let line = MarkdownLine { keeps_blanks: self.line.keeps_blanks, ..MarkdownLine::default() };
        let mut page = Self { line, ..Self::default() };
        page.blocks(pieces);
        page.end(BlockSpacing::Paragraph);
        self.line.is_marked |= page.line.is_marked;
        self.is_plain |= page.is_plain;
        page
    }

    fn blocks(&mut self, pieces: &[RichText]) {
        for piece in pieces {
            match piece {
                RichText::Element { name, attributes, children } => {
                    let outside = self.line.keeps_blanks;
                    self.line.keeps_blanks = keeps_blanks(attributes, outside);
                    self.block(piece, name, attributes, children);
                    self.line.keeps_blanks = outside;
                }
                RichText::Text(_) => self.line.write(std::slice::from_ref(piece), InlineContext::default()),
            }
        }
    }

    fn block(&mut self, piece: &RichText, name: &str, attributes: &[(&'static str, String)], children: &[RichText]) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end(BlockSpacing::Paragraph);
                let heading = self.line_of(children);
                if !heading.is_empty() {
                    let level = heading_level(name, attributes);
                    self.mark(BlockSpacing::Paragraph, format!("{} {heading}", "#".repeat(level)));
                }
            }
            "p" => {
                self.end(BlockSpacing::Paragraph);
                self.blocks(children);
                self.end(BlockSpacing::Paragraph);
            }
            "ul" | "ol" => {
                self.end(BlockSpacing::Paragraph);
                let first = find_attribute(attributes, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
                let list = self.list(children, (name == "ol").then_some(first));
                if !list.is_empty() {
                    self.mark(BlockSpacing::List, list);
                }
            }
            "pre" => {
                self.end(BlockSpacing::Paragraph);
                let code = plain_text(children);
                let (code, fence) = (code.trim_matches('\n'), fence_for(&code, 3));
                self.mark(BlockSpacing::Paragraph, format!("{fence}{}\n{code}\n{fence}", language(piece)));
            }
            "blockquote" => {
                self.end(BlockSpacing::Paragraph);
                let quote = self.nested(children).finish();
                if !quote.is_empty() {
                    let lines = quote.lines().map(|line| format!("> {line}").trim_end().to_owned());
                    self.mark(BlockSpacing::Paragraph, lines.collect::<Vec<_>>().join("\n"));
                }
            }
            "hr" => {
                self.end(BlockSpacing::Paragraph);
                self.mark(BlockSpacing::Paragraph, "---".to_owned());
            }
            "table" => {
                self.is_plain |= has_kept_blanks(children);
                self.table(children);
            }
            "script" | "style" | "button" | "head" | "title" | "template" | "noscript" => {}
            "div" | "section" | "article" | "main" | "header" | "footer" | "aside" | "nav" | "figure"
            | "figcaption" | "address" | "dl" | "dt" | "dd" | "details" | "summary" | "form" | "fieldset" | "li"
            | "tr" | "center" => {
                self.end(BlockSpacing::Line);
                self.blocks(children);
                self.end(BlockSpacing::Line);
            }
            // Some programs put whole blocks inside inline elements.
            _ if has_blocks(children) => self.blocks(children),
            _ => self.line.write(std::slice::from_ref(piece), InlineContext::default()),
        }
    }

    /// Writes list items, each with its nested content indented; `number` is that of the first one.
    fn list(&mut self, pieces: &[RichText], number: Option<usize>) -> String {
        let mut items: Vec<String> = Vec::new();
        for piece in pieces {
            let RichText::Element { name, children, .. } = piece else { continue };
            let sign = number.map_or_else(|| "- ".to_owned(), |first| format!("{}. ", first + items.len()));
            let inner = match name.as_str() {
                // Some programs put the list of an item beside the item.
                "ul" | "ol" => self.nested(std::slice::from_ref(piece)),
                _ => self.nested(children),
            };
            let mut text = String::new();
            for (at, (kind, block)) in inner.blocks.iter().enumerate() {
                text += match kind {
                    _ if at == 0 => "",
                    BlockSpacing::List | BlockSpacing::Line => "\n",
                    BlockSpacing::Paragraph => "\n\n",
                };
                text += block;
            }
            if text.is_empty() {
                continue;
            }
            let indented = text
                .replace('\n', &format!("\n{}", " ".repeat(sign.len())))
                .replace(&format!("\n{}\n", " ".repeat(sign.len())), "\n\n");
            match items.last_mut().filter(|_| matches!(name.as_str(), "ul" | "ol")) {
                Some(item) => *item += &format!("\n{}{indented}", " ".repeat(sign.len())),
                None => items.push(format!("{sign}{indented}")),
            }
        }
        items.join("\n")
    }

    fn table(&mut self, pieces: &[RichText]) {
        self.end(BlockSpacing::Paragraph);
        let mut rows = Vec::new();
        elements(pieces, &["tr"], &["thead", "tbody", "tfoot"], &mut rows);
        let cells = rows.iter().map(|(_, row)| {
            let mut cells = Vec::new();
            elements(row, &["td", "th"], &[], &mut cells);
            cells
        });
        let cells: Vec<Vec<_>> = cells.collect();
        let width = cells.iter().map(Vec::len).max().unwrap_or(0);
        // A table with one column is used for layout.
        if width < 2 {
            return cells.iter().flatten().for_each(|(_, cell)| {
                self.blocks(cell);
                self.end(BlockSpacing::Line);
            });
        }
        let mut lines = Vec::new();
        for row in cells.iter().filter(|row| !row.is_empty()) {
            let mut line: String = "|".to_owned();
            for at in 0..width {
                let cell = row.get(at).map(|(_, cell)| self.line_of(cell)).unwrap_or_default();
                line += &format!(" {} |", cell.replace('|', "\\|"));
            }
            lines.push(line);
            if lines.len() == 1 {
                lines.push(format!("|{}", " --- |".repeat(width)));
            }
        }
        self.mark(BlockSpacing::Paragraph, lines.join("\n"));
    }
}

/// Returns the language that a code block declares.
fn language(piece: &RichText) -> String {
    let RichText::Element { attributes, children, .. } = piece else { return String::new() };
    let class = find_attribute(attributes, "class").unwrap_or_default();
    let own =
        class.split_whitespace().find_map(|class| class.strip_prefix("language-").or(class.strip_prefix("lang-")));
    match own {
        Some(own) => own.chars().filter(|c| c.is_ascii_alphanumeric() || "+-#_.".contains(*c)).collect(),
        None => children.iter().map(language).find(|found| !found.is_empty()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
