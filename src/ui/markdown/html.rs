//! The only writer of HTML: closed lists of elements and attributes, everything else is escaped text. The output is
//! well-formed XML as well, so that a test can parse it strictly. Rendered text and tool output use it
//! ([`crate::ui::tool_rendering`]).

use super::math::{MathAttribute, MathElement, MathStep, MathTree};
use super::part::Markup;

/// The closed list of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    A,
    Blockquote,
    Button,
    Code,
    Del,
    Details,
    Div,
    Em,
    Form,
    H4,
    H5,
    H6,
    Kbd,
    Li,
    Math(MathElement),
    Ol,
    P,
    Pre,
    Span,
    Strong,
    Sub,
    Summary,
    Sup,
    Table,
    Tbody,
    Td,
    Th,
    Thead,
    Tr,
    Ul,
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::Blockquote => "blockquote",
            Self::Button => "button",
            Self::Code => "code",
            Self::Del => "del",
            Self::Details => "details",
            Self::Div => "div",
            Self::Em => "em",
            Self::Form => "form",
            Self::H4 => "h4",
            Self::H5 => "h5",
            Self::H6 => "h6",
            Self::Kbd => "kbd",
            Self::Li => "li",
            Self::Math(element) => element.name(),
            Self::Ol => "ol",
            Self::P => "p",
            Self::Pre => "pre",
            Self::Span => "span",
            Self::Strong => "strong",
            Self::Sub => "sub",
            Self::Summary => "summary",
            Self::Sup => "sup",
            Self::Table => "table",
            Self::Tbody => "tbody",
            Self::Td => "td",
            Self::Th => "th",
            Self::Thead => "thead",
            Self::Tr => "tr",
            Self::Ul => "ul",
        }
    }
}

/// The closed list of attributes. `Href` takes only a checked target ([`super::target`]) or an address of our own,
/// `Action` only a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    Action,
    AriaLabel,
    Class,
    DataBlockId,
    DataBlockType,
    DataCopy,
    Dir,
    Download,
    Href,
    Id,
    Math(MathAttribute),
    Method,
    Open,
    Rel,
    Role,
    Scope,
    Start,
    Tabindex,
    Target,
    Title,
    Type,
}

impl Attribute {
    fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::AriaLabel => "aria-label",
            Self::Class => "class",
            Self::DataBlockId => "data-block-id",
            Self::DataBlockType => "data-block-type",
            Self::DataCopy => "data-copy",
            Self::Dir => "dir",
            Self::Download => "download",
            Self::Href => "href",
            Self::Id => "id",
            Self::Math(attribute) => attribute.name(),
            Self::Method => "method",
            Self::Open => "open",
            Self::Rel => "rel",
            Self::Role => "role",
            Self::Scope => "scope",
            Self::Start => "start",
            Self::Tabindex => "tabindex",
            Self::Target => "target",
            Self::Title => "title",
            Self::Type => "type",
        }
    }
}

/// An HTML text that is being written. It closes elements in the correct order.
#[derive(Debug, Default)]
pub struct Html {
    out: String,
    open: Vec<Element>,
}

impl Html {
    /// Opens an element.
    pub fn open(&mut self, element: Element, attributes: &[(Attribute, &str)]) {
        self.out.push('<');
        self.out.push_str(element.name());
        for (attribute, value) in attributes {
            self.out.push(' ');
            self.out.push_str(attribute.name());
            self.out.push_str("=\"");
            escape(value, &mut self.out);
            self.out.push('"');
        }
        self.out.push('>');
        self.open.push(element);
    }

    /// Closes the innermost open element.
    pub fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(element.name());
            self.out.push('>');
        }
    }

    /// Returns where the attributes of the element end that was opened last, before anything is in it.
    pub(super) fn attributes_end(&self) -> usize {
        self.out.len() - 1
    }

    /// Opens the disclosure whose attributes end here to the reader; later places move.
    pub(super) fn show_disclosure(&mut self, attributes_end: usize) {
        self.out.insert_str(attributes_end, " open=\"\"");
    }

    /// Writes an element that contains only text.
    pub fn text_element(&mut self, element: Element, attributes: &[(Attribute, &str)], text: &str) {
        self.open(element, attributes);
        self.text(text);
        self.close();
    }

    /// Writes escaped text.
    pub fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// Writes text that [`escape`] has already processed.
    pub fn push_escaped(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes an image of our own server, loaded lazily. With a size, its space is reserved.
    pub fn image(&mut self, address: &str, alt: &str, size: Option<(u32, u32)>) {
        self.out.push_str("<img loading=\"lazy\" decoding=\"async\" src=\"");
        escape(address, &mut self.out);
        self.out.push_str("\" alt=\"");
        escape(alt, &mut self.out);
        if let Some((width, height)) = size {
            self.out.push_str(&format!("\" width=\"{width}\" height=\"{height}"));
        }
        self.out.push_str("\"/>");
    }

    /// Writes a hidden field of a form.
    pub fn hidden_field(&mut self, name: &'static str, value: &str) {
        for part in ["<input type=\"hidden\" name=\"", name, "\" value=\""] {
            self.out.push_str(part);
        }
        escape(value, &mut self.out);
        self.out.push_str("\"/>");
    }

    /// Writes a line break.
    pub fn line_break(&mut self) {
        self.out.push_str("<br/>");
    }

    /// Writes a thematic break.
    pub fn thematic_break(&mut self) {
        self.out.push_str("<hr/>");
    }

    /// Writes a formula.
    pub(super) fn formula(&mut self, formula: &MathTree) {
        for step in formula.steps() {
            match step {
                MathStep::Open(element, attributes) => {
                    let attributes: Vec<_> =
                        attributes.iter().map(|(name, value)| (Attribute::Math(*name), value.as_str())).collect();
                    self.open(Element::Math(*element), &attributes);
                }
                MathStep::Text(text) => self.text(text),
                MathStep::Close => self.close(),
            }
        }
    }

    /// Returns the markup; open elements are closed.
    pub fn finish(mut self) -> Markup {
        while !self.open.is_empty() {
            self.close();
        }
        Markup::from_writer(self.out)
    }
}

/// Escapes text for elements and quoted attributes. Control characters are not allowed in HTML and are shown as their
/// pictures. A carriage return would be read as a line feed, so it becomes a reference.
pub fn escape(text: &str, out: &mut String) {
    out.reserve(text.len());
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let replacement = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            b'\r' => "&#13;",
            b'\t' | b'\n' | b' '..=b'~' | 0x80.. => continue,
            0..0x20 | 0x7f => "",
        };
        out.push_str(&text[written..at]);
        written = at + 1;
        if replacement.is_empty() {
            out.push(picture(byte));
        } else {
            out.push_str(replacement);
        }
    }
    out.push_str(&text[written..]);
}

/// Reverses [`escape`], except for control characters.
pub fn unescape(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    marks.into_iter().fold(text.to_owned(), |text, (reference, mark)| text.replace(reference, mark))
}

/// Returns the picture of an ASCII control character.
fn picture(control: u8) -> char {
    let code = if control == 0x7f { 0x2421 } else { 0x2400 + u32::from(control) };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}
