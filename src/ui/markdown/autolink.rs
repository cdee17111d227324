//! Autolinks in running text: http, https, `www.` and mail addresses become links, as on GitHub. A single pass looks
//! at each byte a bounded number of times.

use super::target::LinkTarget;

/// A stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AutolinkPiece<'a> {
    Text(&'a str),
    Link(&'a str, LinkTarget),
}

/// Splits a text into plain text and addresses.
pub fn split_at_links(text: &str) -> Vec<AutolinkPiece<'_>> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    // Text before `done` has been emitted; no address can start before `at`.
    let (mut done, mut at) = (0, 0);
    while let Some(offset) = bytes[at..].iter().position(|byte| matches!(byte, b'h' | b'H' | b'w' | b'W' | b'@')) {
        let found = at + offset;
        match address_at(text, done, found) {
            AutolinkMatch::Nothing => at = found + 1,
            AutolinkMatch::NotALink(end) => at = end,
            AutolinkMatch::Link(start, end, target) => {
                if start > done {
                    pieces.push(AutolinkPiece::Text(&text[done..start]));
                }
                pieces.push(AutolinkPiece::Link(&text[start..end], target));
                (done, at) = (end, end);
            }
        }
    }
    if done < text.len() {
        pieces.push(AutolinkPiece::Text(&text[done..]));
    }
    pieces
}

enum AutolinkMatch {
    Nothing,
    /// A candidate that turned out to be no address, up to here.
    NotALink(usize),
    Link(usize, usize, LinkTarget),
}

fn address_at(text: &str, done: usize, found: usize) -> AutolinkMatch {
    if text.as_bytes()[found] == b'@' {
        return mail_around(text, done, found);
    }
    let rest = &text[found..];
    let (prefix, needs_dot) = match ["https://", "http://", "www."].into_iter().find(|p| starts_with(rest, p)) {
        Some("www.") => (0, true),
        Some(scheme) => (scheme.len(), false),
        None => return AutolinkMatch::Nothing,
    };
    // An address cannot start in the middle of a word. Words of scripts without spaces may come right before it.
    if text[done..found].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric() || c == '/') {
        return AutolinkMatch::Nothing;
    }
    let end = found + prefix + rest[prefix..].find(ends_address).unwrap_or(rest.len() - prefix);
    let end = found + trim_end(&text[found..end]).len();
    if end <= found + prefix {
        return AutolinkMatch::NotALink(found + prefix.max(1));
    }
    let address = &text[found..end];
    let target = if needs_dot { LinkTarget::parse(&format!("https://{address}")) } else { LinkTarget::parse(address) };
    match target.filter(|target| !needs_dot || target.host().trim_end_matches('.').matches('.').count() >= 2) {
        Some(target) => AutolinkMatch::Link(found, end, target),
        None => AutolinkMatch::NotALink(end),
    }
}

fn mail_around(text: &str, done: usize, at_sign: usize) -> AutolinkMatch {
    let bytes = text.as_bytes();
    let local = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_');
    let start = at_sign - bytes[done..at_sign].iter().rev().take_while(|byte| local(byte)).count();
    let domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let end = at_sign + 1 + bytes[at_sign + 1..].iter().take_while(|byte| domain(byte)).count();
    let address = text[start..end].trim_end_matches('.');
    let name = &address[(at_sign + 1 - start).min(address.len())..];
    let is_mail = name.contains('.') && !name.contains('_') && !address.ends_with('-') && !address.starts_with('.');
    match LinkTarget::parse_mail(address).filter(|_| is_mail) {
        Some(target) => AutolinkMatch::Link(start, start + address.len(), target),
        None => AutolinkMatch::NotALink(end.max(at_sign + 1)),
    }
}

/// Returns whether `text` begins with an ASCII prefix, ignoring case.
fn starts_with(text: &str, prefix: &str) -> bool {
    text.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Returns whether a character ends an address in running text: spaces, brackets of markup, quotes, full-width
/// punctuation.
fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '`' | '\\' | '“' | '”' | '‘' | '’' | '«' | '»')
        || matches!(c, '\u{3000}'..='\u{3020}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}')
}

/// Trims the punctuation that belongs to the sentence, and closing brackets that were opened outside.
fn trim_end(address: &str) -> &str {
    let count = |wanted: u8| address.bytes().filter(|byte| *byte == wanted).count();
    let mut round = count(b')').saturating_sub(count(b'('));
    let mut square = count(b']').saturating_sub(count(b'['));
    let mut end = address.len();
    for byte in address.bytes().rev() {
        match byte {
            b'?' | b'!' | b'.' | b',' | b':' | b';' | b'*' | b'_' | b'~' | b'\'' | b'|' => {}
            b')' if round > 0 => round -= 1,
            b']' if square > 0 => square -= 1,
            _ => break,
        }
        end -= 1;
    }
    &address[..end]
}
