//! Converts the HTML of an answer back to the Markdown that it was rendered from.

use crate::bounds;
use crate::domain::blocks::sources::is_web_url;
use crate::markdown::escaping::link_target;
use tags::{HtmlTag, HtmlToken, HtmlTokens};
use writer::MarkdownWriter;

pub(super) mod tags;
mod writer;

/// The Markdown of an answer, and the pictures of the export that it shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ConvertedHtml {
    pub text: String,
    /// Addresses without a scheme, with their alternative texts.
    pub pictures: Vec<(String, String)>,
    /// The rest of the text was dropped, because its Markdown would be too large.
    pub is_cut: bool,
}

/// Lists, quotes and tables that are nested deeper than this keep only their text, because each line repeats what it
/// is nested in. The second bound applies to all elements.
const DEPTH: usize = 32;
const OPEN_ELEMENTS: usize = 200;

/// The number of columns up to which rows of a table are filled up with empty cells.
const COLUMNS: usize = 200;

/// The largest number of an item, as Markdown reads it.
const LARGEST_NUMBER: u64 = 999_999_999;

/// Converts HTML to Markdown. Elements without a counterpart keep their text.
pub(super) fn to_markdown(html: &str) -> ConvertedHtml {
    to_markdown_within(html, bounds::CONVERSATION_BYTES)
}

/// Converts HTML to Markdown up to about this number of bytes.
fn to_markdown_within(html: &str, largest: usize) -> ConvertedHtml {
    let mut converter = HtmlConverter::new(largest);
    for token in HtmlTokens::new(html) {
        match token {
            HtmlToken::Text(text) => converter.text(&text),
            HtmlToken::Tag(tag) if tag.is_closing => converter.close(&tag),
            HtmlToken::Tag(tag) => converter.open(&tag),
        }
        if converter.is_full() {
            converter.is_cut = true;
            break;
        }
    }
    converter.finish()
}

/// An element that is open.
enum OpenElement {
    /// The number of the next item; `None` for bullets.
    List(Option<u64>),
    Item,
    Quote,
    Table(Vec<Vec<String>>),
    Row,
    /// A cell, with the writer of the text around the table.
    Cell(Box<MarkdownWriter>),
    Code {
        language: String,
        code: String,
    },
    InlineCode(String),
    /// The mark at both ends.
    Emphasis(&'static str),
    /// The address of a link.
    Link(String),
}

struct HtmlConverter {
    writer: MarkdownWriter,
    open: Vec<(String, OpenElement)>,
    pictures: Vec<(String, String)>,
    /// The bound of the Markdown in bytes.
    largest: usize,
    /// Bytes of the cells of the open table, which are not written yet.
    cell_bytes: usize,
    is_cut: bool,
}

impl HtmlConverter {
    fn new(largest: usize) -> Self {
        Self {
            writer: MarkdownWriter::default(),
            open: Vec::new(),
            pictures: Vec::new(),
            largest,
            cell_bytes: 0,
            is_cut: false,
        }
    }

    fn is_full(&self) -> bool {
        self.writer.len().saturating_add(self.cell_bytes) > self.largest
    }

    fn text(&mut self, text: &str) {
        match self.open.last_mut() {
            Some((_, OpenElement::Code { code, .. } | OpenElement::InlineCode(code))) => code.push_str(text),
            // Text between rows and cells is only layout.
            Some((_, OpenElement::Table(_) | OpenElement::Row)) if text.trim().is_empty() => {}
            _ => self.writer.text(text),
        }
    }

    fn open(&mut self, tag: &HtmlTag) {
        match self.open.last_mut() {
            Some((_, OpenElement::Code { language, code })) => {
                match tag.name.as_str() {
                    "br" => code.push('\n'),
                    "code" if language.is_empty() => *language = language_of(tag),
                    _ => {}
                }
                return;
            }
            Some((_, OpenElement::InlineCode(_))) => return,
            _ => {}
        }
        match tag.name.as_str() {
            "br" => self.writer.hard_break(),
            "hr" => {
                self.writer.paragraph();
                self.writer.raw("---");
                self.writer.paragraph();
            }
            "img" => self.picture(tag),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.writer.paragraph();
                let level = tag.name[1..].parse().unwrap_or(1);
                self.writer.raw(&format!("{} ", "#".repeat(level)));
            }
            "p" | "div" | "section" | "article" | "details" | "summary" | "dl" | "dt" | "dd" => self.writer.paragraph(),
            _ => self.open_element(tag),
        }
    }

    fn open_element(&mut self, tag: &HtmlTag) {
        if self.open.len() >= OPEN_ELEMENTS {
            return;
        }
        let is_deep = self.open.len() >= DEPTH;
        let element = match tag.name.as_str() {
            "ul" | "ol" if !is_deep => {
                // A list within an item follows its text directly.
                match self.open.last() {
                    Some((_, OpenElement::Item)) => self.writer.next_line(),
                    _ => self.writer.paragraph(),
                }
                let start = || tag.attribute("start").and_then(|start| start.parse::<u64>().ok()).unwrap_or(1);
                OpenElement::List((tag.name == "ol").then(|| start().min(LARGEST_NUMBER)))
            }
            "li" if !is_deep => {
                self.close_up_to(&["li"], &["ul", "ol"]);
                self.start_item();
                OpenElement::Item
            }
            "blockquote" if !is_deep => {
                self.writer.paragraph();
                self.writer.push_container(None, "> ");
                OpenElement::Quote
            }
            "pre" => {
                self.writer.paragraph();
                OpenElement::Code { language: language_of(tag), code: String::new() }
            }
            // A table within a table becomes rows of the outer one.
            "table" if !is_deep && !self.is_in_table() => {
                self.writer.paragraph();
                OpenElement::Table(Vec::new())
            }
            "tr" => return self.open_row(),
            "td" | "th" => return self.open_cell(tag),
            "code" | "kbd" | "samp" | "tt" => OpenElement::InlineCode(String::new()),
            "b" | "strong" => OpenElement::Emphasis("**"),
            "i" | "em" => OpenElement::Emphasis("*"),
            "s" | "del" | "strike" => OpenElement::Emphasis("~~"),
            "a" => OpenElement::Link(tag.attribute("href").unwrap_or_default().trim().to_owned()),
            _ => return,
        };
        match &element {
            OpenElement::Emphasis(mark) => self.writer.open_mark(mark),
            OpenElement::Link(address) if is_link(address) => self.writer.open_mark("["),
            _ => {}
        }
        self.open.push((tag.name.clone(), element));
    }

    fn is_in_table(&self) -> bool {
        self.open.iter().any(|(_, element)| matches!(element, OpenElement::Table(_)))
    }

    fn start_item(&mut self) {
        let marker = match self.open.last_mut() {
            Some((_, OpenElement::List(Some(number)))) => {
                let marker = format!("{number}. ");
                *number = (*number + 1).min(LARGEST_NUMBER);
                marker
            }
            _ => "- ".to_owned(),
        };
        self.writer.line();
        let indentation = " ".repeat(marker.len());
        self.writer.push_container(Some(marker), &indentation);
    }

    fn open_row(&mut self) {
        self.close_up_to(&["tr", "td", "th"], &["table"]);
        if let Some((_, OpenElement::Table(rows))) = self.open.last_mut() {
            rows.push(Vec::new());
            self.open.push(("tr".to_owned(), OpenElement::Row));
        } else {
            self.writer.line();
        }
    }

    fn open_cell(&mut self, tag: &HtmlTag) {
        self.close_up_to(&["td", "th"], &["tr", "table"]);
        if matches!(self.open.last(), Some((_, OpenElement::Row))) {
            let around = std::mem::take(&mut self.writer);
            self.open.push((tag.name.clone(), OpenElement::Cell(Box::new(around))));
        } else {
            self.writer.text(" ");
        }
    }

    fn close(&mut self, tag: &HtmlTag) {
        match tag.name.as_str() {
            "p" | "div" | "section" | "article" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "summary" | "dt" | "dd" => {
                // Within code and cells there are no paragraphs.
                if !matches!(self.open.last(), Some((_, OpenElement::Code { .. } | OpenElement::InlineCode(_)))) {
                    self.writer.paragraph();
                }
            }
            name => self.close_up_to(&[name], &["table"]),
        }
    }

    /// Closes the innermost open element with one of these names and everything within it, but nothing beyond the
    /// elements that are named as limits.
    fn close_up_to(&mut self, names: &[&str], limits: &[&str]) {
        let is_named = |open: &str, names: &[&str]| names.contains(&open);
        let mut first = None;
        for (at, (open, _)) in self.open.iter().enumerate().rev() {
            if is_named(open, names) {
                first = Some(at);
                // A row is closed with the cell within it.
                if !is_named(open, &["td", "th"]) {
                    break;
                }
            } else if is_named(open, limits) {
                break;
            }
        }
        let Some(first) = first else { return };
        while self.open.len() > first {
            self.close_innermost();
        }
    }

    fn close_innermost(&mut self) {
        let Some((_, element)) = self.open.pop() else { return };
        match element {
            OpenElement::List(_) => match self.open.last() {
                Some((_, OpenElement::Item)) => self.writer.line(),
                _ => self.writer.paragraph(),
            },
            OpenElement::Item => self.writer.end_item(),
            OpenElement::Quote => {
                self.writer.pop_container();
                self.writer.paragraph();
            }
            OpenElement::Cell(around) => {
                let cell = std::mem::replace(&mut self.writer, *around).finish();
                let cell = cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
                let bytes = cell.len();
                if let Some(row) = self.current_row() {
                    row.push(cell);
                    self.cell_bytes += bytes;
                }
            }
            OpenElement::Row => {}
            OpenElement::Table(rows) => {
                self.cell_bytes = 0;
                self.table(&rows);
            }
            OpenElement::Code { language, code } => {
                self.is_cut |= self.writer.code_block(&language, &code, self.largest);
                self.writer.paragraph();
            }
            OpenElement::InlineCode(code) => self.writer.inline_code(&code),
            OpenElement::Emphasis(mark) => self.writer.close_mark(mark, mark),
            OpenElement::Link(address) => {
                if is_link(&address) {
                    let end = format!("]({})", link_target(&address));
                    self.writer.close_mark("[", &end);
                }
            }
        }
    }

    fn current_row(&mut self) -> Option<&mut Vec<String>> {
        self.open.iter_mut().rev().find_map(|(_, element)| match element {
            OpenElement::Table(rows) => rows.last_mut(),
            _ => None,
        })
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default().min(COLUMNS);
        for (at, row) in rows.iter().filter(|row| !row.is_empty()).enumerate() {
            if self.is_full() {
                self.is_cut = true;
                break;
            }
            // A row with more cells keeps them, but the others are not filled up to it.
            let width = columns.max(row.len());
            let cells: Vec<&str> = (0..width).map(|cell| row.get(cell).map_or("", String::as_str)).collect();
            self.writer.line();
            self.writer.raw(&format!("| {} |", cells.join(" | ")));
            if at == 0 {
                self.writer.line();
                self.writer.raw(&format!("|{}", " --- |".repeat(width)));
            }
        }
        self.writer.paragraph();
    }

    fn picture(&mut self, tag: &HtmlTag) {
        let address = tag.attribute("src").unwrap_or_default().trim();
        let alt = tag.attribute("alt").unwrap_or_default();
        if address.is_empty() {
            self.writer.text(alt);
        } else if is_link(address) {
            let alt = alt.replace(['[', ']', '\n'], " ");
            self.writer.raw(&format!("![{alt}]({})", link_target(address)));
        } else {
            self.pictures.push((address.to_owned(), alt.to_owned()));
        }
    }

    fn finish(mut self) -> ConvertedHtml {
        while !self.open.is_empty() {
            self.close_innermost();
        }
        ConvertedHtml { text: self.writer.finish(), pictures: self.pictures, is_cut: self.is_cut }
    }
}

/// Returns whether an address leads to the web; others are files of the export or do something on Google's page.
fn is_link(address: &str) -> bool {
    is_web_url(address)
}

/// Returns the language of a code block from a class such as `language-rust`.
fn language_of(tag: &HtmlTag) -> String {
    let classes = tag.attribute("class").unwrap_or_default();
    let named = classes.split_whitespace().find_map(|class| class.strip_prefix("language-"));
    named.unwrap_or_default().chars().filter(|c| c.is_ascii_alphanumeric() || "+#-_.".contains(*c)).take(40).collect()
}

#[cfg(test)]
mod tests;
