//! Charset detection of pages as browsers do it (WHATWG Encoding and HTML, "determining the character encoding"):
//! byte order mark, HTTP header, declaration in the page, else UTF-8.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use crate::result::decode_lossy;
use turnleaf_providers::page_fetcher::FetchedPage;

/// Number of bytes that are searched for a declaration.
const PRESCAN: usize = 1024;

/// Decodes a page; returns its text and the number of invalid sequences. Unknown labels are ignored.
pub fn decode_page(page: &FetchedPage) -> (String, usize) {
    let (encoding, mark) = match Encoding::for_bom(&page.body) {
        Some((encoding, mark)) => (encoding, mark),
        None => (declared_encoding(page).unwrap_or(UTF_8), 0),
    };
    let bytes = page.body.get(mark..).unwrap_or_default();
    if encoding == UTF_8 {
        return decode_lossy(bytes);
    }
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    let invalid = if has_errors { text.matches(char::REPLACEMENT_CHARACTER).count() } else { 0 };
    (text.into_owned(), invalid)
}

fn declared_encoding(page: &FetchedPage) -> Option<&'static Encoding> {
    let by_server = page.charset.as_deref().and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
    by_server.or_else(|| {
        let head = &page.body[..page.body.len().min(PRESCAN)];
        let label = if page.is_markup() { meta_label(head) } else { None };
        let label = label.or_else(|| if page.content_type.ends_with("xml") { xml_label(head) } else { None })?;
        let encoding = Encoding::for_label_no_replacement(&label)?;
        // The declaration was readable as single bytes, so a UTF-16 label is wrong and means UTF-8.
        Some(match encoding {
            wide if wide == UTF_16BE || wide == UTF_16LE => UTF_8,
            own if own == X_USER_DEFINED => WINDOWS_1252,
            other => other,
        })
    })
}

/// Returns the label of an XML declaration.
fn xml_label(head: &[u8]) -> Option<Vec<u8>> {
    let end = head.iter().position(|byte| *byte == b'>')?;
    let declaration = head.strip_prefix(b"<?xml").and(head.get(..end))?;
    let at = find(declaration, b"encoding")? + b"encoding".len();
    let rest = declaration[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, rest) = rest.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    rest.iter().position(|byte| byte == quote).map(|end| rest[..end].to_vec())
}

/// Returns the label of the first `meta` element that declares one.
fn meta_label(head: &[u8]) -> Option<Vec<u8>> {
    let mut rest = head;
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            // `<!-->` is a comment, too.
            rest = &rest[2 + find(&rest[2..], b"-->")?..];
        } else if is_meta(rest) {
            let (attributes, after) = attributes(&rest[b"<meta".len()..]);
            if let Some(label) = label_of(&attributes) {
                return Some(label);
            }
            rest = after;
        } else if rest.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
            // Attributes are skipped as a whole, because they may contain `<`.
            rest = attributes_behind_name(&rest[1..]);
        } else {
            rest = &rest[1..];
        }
    }
    None
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

fn attributes_behind_name(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>').unwrap_or(rest.len());
    attributes(&rest[end..]).1
}

/// Name and value of an attribute.
type HtmlAttribute = (Vec<u8>, Vec<u8>);

fn label_of(attributes: &[HtmlAttribute]) -> Option<Vec<u8>> {
    let value = |name: &[u8]| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice());
    if let Some(label) = value(b"charset") {
        return Some(label.to_vec());
    }
    let is_type = value(b"http-equiv").is_some_and(|name| name.eq_ignore_ascii_case(b"content-type"));
    let content = value(b"content").filter(|_| is_type)?.to_ascii_lowercase();
    let rest = content[find(&content, b"charset")? + b"charset".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\''));
    Some(rest[..end.unwrap_or(rest.len())].to_vec())
}

/// Returns the attributes of an element with lower-case names, and the input after the element.
fn attributes(mut rest: &[u8]) -> (Vec<HtmlAttribute>, &[u8]) {
    let mut all = Vec::new();
    loop {
        rest = skip_while(rest, |byte| byte.is_ascii_whitespace() || byte == b'/');
        match rest.first() {
            None => return (all, rest),
            Some(b'>') => return (all, &rest[1..]),
            Some(_) => {}
        }
        // The first character of a name may be one that would otherwise end it.
        let length = 1 + rest[1..].iter().take_while(|byte| !is_name_end(**byte)).count();
        let name = rest[..length].to_ascii_lowercase();
        rest = skip_while(&rest[length..], |byte| byte.is_ascii_whitespace());
        let mut value = Vec::new();
        if let Some(behind) = rest.strip_prefix(b"=") {
            rest = skip_while(behind, |byte| byte.is_ascii_whitespace());
            let (length, skipped) = match rest.first() {
                Some(quote @ (b'"' | b'\'')) => {
                    rest = &rest[1..];
                    (rest.iter().take_while(|byte| *byte != quote).count(), 1)
                }
                _ => (rest.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'>').count(), 0),
            };
            value = rest[..length].to_vec();
            rest = rest.get(length + skipped..).unwrap_or_default();
        }
        all.push((name, value));
    }
}

fn is_name_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=')
}

fn skip_while(rest: &[u8], is_between: impl Fn(u8) -> bool) -> &[u8] {
    &rest[rest.iter().take_while(|byte| is_between(**byte)).count()..]
}

fn find(bytes: &[u8], words: &[u8]) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words)
}

#[cfg(test)]
mod tests;
