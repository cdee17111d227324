//! A page's text without a parser of pages: for those that no parser should be given, and those in which it finds nothing.
//! One pass, whatever the page holds.

/// Elements that end where they begin, or by themselves.
const NO_NESTING: [&str; 26] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p", "li",
    "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "param",
];
/// Elements whose content is no text of the page.
const NO_TEXT: [&str; 6] = ["script", "style", "noscript", "template", "svg", "iframe"];
/// Elements in a line.
const INLINE: [&str; 14] =
    ["a", "abbr", "b", "code", "em", "i", "kbd", "mark", "small", "span", "strong", "sub", "sup", "u"];

enum Piece<'a> {
    Text(&'a str),
    Begin(&'a str),
    End(&'a str),
}

/// Texts and tags in their order; attributes and comments are left out.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let rest = self.0;
            if rest.is_empty() {
                return None;
            }
            let Some(inner) = rest.strip_prefix('<') else {
                let end = rest.find('<').unwrap_or(rest.len());
                self.0 = &rest[end..];
                return Some(Piece::Text(&rest[..end]));
            };
            if let Some(comment) = inner.strip_prefix("!--") {
                self.0 = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let (is_end, named) = inner.strip_prefix('/').map_or((false, inner), |named| (true, named));
            if !named.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
                self.0 = inner;
                return Some(Piece::Text(&rest[..1]));
            }
            let name = &named[..named.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(named.len())];
            self.0 = after_tag(&named[name.len()..]);
            if name.starts_with(['!', '?']) {
                continue;
            }
            return Some(if is_end { Piece::End(name) } else { Piece::Begin(name) });
        }
    }
}

/// What comes behind the tag, whose quoted values may hold its end.
fn after_tag(rest: &str) -> &str {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return &rest[at + 1..],
            (None, b'"' | b'\'') if rest[..at].trim_end().ends_with('=') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    ""
}

/// Whether elements stand deeper in one another than this, or there are more of them.
pub fn nests_deeper_than(html: &str, levels: usize, elements: usize) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut begun = 0;
    for piece in Pieces(html) {
        match piece {
            Piece::Begin(name) if !NO_NESTING.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
                open.push(name);
                begun += 1;
            }
            Piece::Begin(_) => begun += 1,
            Piece::End(name) if open.last().is_some_and(|last| last.eq_ignore_ascii_case(name)) => drop(open.pop()),
            Piece::End(_) | Piece::Text(_) => {}
        }
        if open.len() > levels || begun > elements {
            return true;
        }
    }
    false
}

/// The title and all text.
pub fn plain_text(html: &str) -> (String, String) {
    let (mut title, mut text) = (String::new(), String::new());
    let mut is_title = false;
    let mut skipped: Option<&str> = None;
    for piece in Pieces(html) {
        match (piece, skipped) {
            (Piece::End(name), Some(open)) if name.eq_ignore_ascii_case(open) => skipped = None,
            (_, Some(_)) => {}
            (Piece::Begin(name), None) => {
                skipped = NO_TEXT.into_iter().find(|known| known.eq_ignore_ascii_case(name));
                is_title = name.eq_ignore_ascii_case("title") && title.is_empty();
                part(&mut text, name);
            }
            (Piece::End(name), None) => {
                is_title = false;
                part(&mut text, name);
            }
            (Piece::Text(words), None) => {
                let place = if is_title { &mut title } else { &mut text };
                push(place, &entities(words));
            }
        }
    }
    (title.trim().to_owned(), text.trim().to_owned())
}

fn part(text: &mut String, name: &str) {
    if !INLINE.iter().any(|known| known.eq_ignore_ascii_case(name)) && !text.is_empty() {
        let kept = text.trim_end_matches([' ', '\n']).len();
        text.truncate(kept);
        text.push('\n');
    }
}

/// Adds words, with one blank for many.
fn push(text: &mut String, words: &str) {
    for c in words.chars() {
        match c.is_whitespace() {
            true if text.ends_with([' ', '\n']) || text.is_empty() => {}
            true => text.push(' '),
            false => text.push(c),
        }
    }
}

fn entities(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let known = piece.split_once(';').filter(|(name, _)| name.len() < 10);
        match known.and_then(|(name, rest)| Some((entity(name)?, rest))) {
            Some((c, rest)) => {
                plain.push(c);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(piece);
            }
        }
    }
    plain
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c != '\0')?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_out_of_tags() {
        let html = "<!DOCTYPE html><TITLE>A &amp; B</TITLE><h1 title='>'>One</h1><!-- <p>no</p> --><p>two <b>bold</b>\n  \
                    three<br>four &lt;x&gt; &#8364; &unknown; 1 < 2</p><script>if (a < b) {}</script>";
        let (title, text) = plain_text(html);
        assert_eq!(title, "A & B");
        assert_eq!(text, "One\ntwo bold three\nfour <x> € &unknown; 1 < 2");
    }

    #[test]
    fn nesting_is_seen_through_ends_that_end_nothing() {
        assert!(!nests_deeper_than("<div><p><p><li><br></div><div></div>", 1, 100));
        assert!(nests_deeper_than("<div></x><div></x><div>", 2, 100));
        assert!(nests_deeper_than("<p><p><p>", 100, 2));
    }
}
