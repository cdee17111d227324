//! Splits HTML into texts and tags. Whatever is no tag is text.

use std::borrow::Cow;

use html_escape::decode_html_entities;
use memchr::{memchr, memmem};

/// A piece of HTML.
pub(crate) enum HtmlToken<'h> {
    /// Text with its entities decoded.
    Text(Cow<'h, str>),
    Tag(HtmlTag),
}

/// A tag with its attributes.
pub(crate) struct HtmlTag {
    /// In lower case.
    pub name: String,
    pub is_closing: bool,
    attributes: Vec<(String, String)>,
}

impl HtmlTag {
    /// Returns the value of an attribute, by its name in lower case.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Attributes of one tag that are read.
const ATTRIBUTES: usize = 32;

/// Iterates over the tokens of a text.
pub(crate) struct HtmlTokens<'h> {
    rest: &'h str,
    /// The length of the whole text.
    length: usize,
    /// False once no end of a comment, or of a declaration, was found, so that it is looked for once.
    has_comment_end: bool,
    has_declaration_end: bool,
}

impl<'h> HtmlTokens<'h> {
    pub(crate) fn new(html: &'h str) -> Self {
        Self { rest: html, length: html.len(), has_comment_end: true, has_declaration_end: true }
    }

    /// Returns the position of the next token in the text.
    pub(crate) fn offset(&self) -> usize {
        self.length - self.rest.len()
    }

    fn text(&mut self, length: usize) -> HtmlToken<'h> {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        HtmlToken::Text(decode_html_entities(text))
    }

    /// Returns the length of a comment or declaration at the beginning, which is skipped.
    fn comment_length(&mut self) -> Option<usize> {
        if self.rest.starts_with("<!--") && self.has_comment_end {
            let end = memmem::find(self.rest.as_bytes(), b"-->");
            self.has_comment_end = end.is_some();
            return end.map(|end| end + 3);
        }
        let is_declaration = self.rest.starts_with("<!") || self.rest.starts_with("<?");
        if is_declaration && !self.rest.starts_with("<!--") && self.has_declaration_end {
            let end = memchr(b'>', self.rest.as_bytes());
            self.has_declaration_end = end.is_some();
            return end.map(|end| end + 1);
        }
        None
    }

    /// Skips the content of an element that is no text: everything up to its end.
    fn skip_raw_content(&mut self, name: &str) {
        let is_end = |at: &usize| {
            let end = self.rest.get(at + 2..at + 2 + name.len());
            end.is_some_and(|end| end.eq_ignore_ascii_case(name))
        };
        let end = memmem::find_iter(self.rest.as_bytes(), "</").find(is_end).unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }
}

impl<'h> Iterator for HtmlTokens<'h> {
    type Item = HtmlToken<'h>;

    fn next(&mut self) -> Option<HtmlToken<'h>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let start = memchr(b'<', self.rest.as_bytes()).unwrap_or(self.rest.len());
            if start > 0 {
                return Some(self.text(start));
            }
            if let Some(length) = self.comment_length() {
                self.rest = &self.rest[length..];
                continue;
            }
            let Some((tag, length)) = read_tag(self.rest) else {
                let next = memchr(b'<', &self.rest.as_bytes()[1..]);
                return Some(self.text(next.map_or(self.rest.len(), |next| next + 1)));
            };
            self.rest = &self.rest[length..];
            if !tag.is_closing && matches!(tag.name.as_str(), "script" | "style") {
                self.skip_raw_content(&tag.name);
            }
            return Some(HtmlToken::Tag(tag));
        }
    }
}

/// The length of a tag in bytes; a longer one is text. A picture within the HTML stays below it only if it is small.
const TAG_BYTES: usize = 64 << 10;

/// Reads the tag at the beginning of a text; also returns its length.
fn read_tag(text: &str) -> Option<(HtmlTag, usize)> {
    let rest = &text[1..];
    let is_closing = rest.starts_with('/');
    let name_start = 1 + usize::from(is_closing);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b':';
    let name_length = text.bytes().skip(name_start).take_while(is_name).count();
    if !text[name_start..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mut tag = HtmlTag {
        name: text[name_start..name_start + name_length].to_ascii_lowercase(),
        is_closing,
        attributes: Vec::new(),
    };
    let bytes = text.as_bytes();
    let mut at = name_start + name_length;
    while at < TAG_BYTES {
        match bytes.get(at)? {
            b'>' => return Some((tag, at + 1)),
            b'<' => return None,
            b'/' | b' ' | b'\t' | b'\r' | b'\n' | 0x0c | b'"' | b'\'' | b'=' => at += 1,
            _ => at = read_attribute(text, at, &mut tag)?,
        }
    }
    None
}

/// Reads an attribute; returns the position behind it.
fn read_attribute(text: &str, start: usize, tag: &mut HtmlTag) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| matches!(byte, b'=' | b'<' | b'>' | b'/') || byte.is_ascii_whitespace();
    let name_end = start + bytes[start..].iter().position(is_end)?;
    let name = text.get(start..name_end)?.to_ascii_lowercase();
    let is_value_end = |byte: &u8| matches!(byte, b'<' | b'>') || byte.is_ascii_whitespace();
    let is_space = |byte: &&u8| byte.is_ascii_whitespace();
    let mut at = name_end + bytes[name_end..].iter().take_while(is_space).count();
    let mut value = String::new();
    if bytes.get(at) == Some(&b'=') {
        at += 1;
        at += bytes[at..].iter().take_while(is_space).count();
        let (from, end) = match bytes.get(at)? {
            quote @ (b'"' | b'\'') => (at + 1, at + 1 + memchr(*quote, &bytes[at + 1..])?),
            _ => (at, at + bytes[at..].iter().position(is_value_end)?),
        };
        value = decode_html_entities(text.get(from..end)?).into_owned();
        at = end + usize::from(from != at);
    }
    if tag.attributes.len() < ATTRIBUTES {
        tag.attributes.push((name, value));
    }
    Some(at)
}
