//! The scanner of HTML, XML and similar languages, with embedded scripts and styles.

use super::runs::HighlightRuns;
use super::{languages, scanner};
use crate::ui::markdown::CodeClass;

/// Scans the whole code into runs.
pub fn scan(code: &str, runs: &mut HighlightRuns) {
    let mut rest = code;
    while !rest.is_empty() {
        let (length, class) = match rest.find(['<', '&']) {
            None => (rest.len(), CodeClass::Text),
            Some(0) if rest.starts_with("<!--") => {
                (rest.find("-->").map_or(rest.len(), |end| end + 3), CodeClass::Comment)
            }
            Some(0) if rest.starts_with('&') => entity(rest),
            Some(0) => {
                rest = tag(rest, runs);
                continue;
            }
            Some(text) => (text, CodeClass::Text),
        };
        runs.push(length, class);
        rest = &rest[length..];
    }
}

fn entity(rest: &str) -> (usize, CodeClass) {
    let name = rest[1..].bytes().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    if name > 0 && rest[1 + name..].starts_with(';') { (name + 2, CodeClass::Constant) } else { (1, CodeClass::Text) }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "-_:.@*#".contains(c)
}

/// Scans one tag, with its content if it is a script or a style. Returns the rest.
fn tag<'a>(code: &'a str, runs: &mut HighlightRuns) -> &'a str {
    let mark = 1 + code[1..].bytes().take_while(|byte| matches!(byte, b'/' | b'!' | b'?')).count();
    runs.push(mark, CodeClass::Punctuation);
    let mut rest = &code[mark..];
    let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let name = &rest[..end];
    runs.push(end, CodeClass::Tag);
    rest = &rest[end..];
    while let Some(first) = rest.chars().next() {
        let (length, class) = match first {
            '<' => return rest,
            '>' => {
                runs.push(1, CodeClass::Punctuation);
                return if mark == 1 { inside(name, &rest[1..], runs) } else { &rest[1..] };
            }
            '"' | '\'' => (rest[1..].find(first).map_or(rest.len(), |end| end + 2), CodeClass::String),
            '=' => (1, CodeClass::Operator),
            '/' | '?' => (1, CodeClass::Punctuation),
            c if is_name(c) => (rest.find(|c| !is_name(c)).unwrap_or(rest.len()), CodeClass::Attribute),
            c => (c.len_utf8(), CodeClass::Text),
        };
        runs.push(length, class);
        rest = &rest[length..];
    }
    rest
}

/// Scans the content of `<script>` or `<style>` up to its end.
fn inside<'a>(name: &str, rest: &'a str, runs: &mut HighlightRuns) -> &'a str {
    let (language, close) = match name {
        "script" => ("js", "</script"),
        "style" => ("css", "</style"),
        _ => return rest,
    };
    let (inner, after) = rest.split_at(rest.find(close).unwrap_or(rest.len()));
    match languages::find_language(language) {
        Some(language) => scanner::scan(language, inner, runs),
        None => runs.push(inner.len(), CodeClass::Text),
    }
    after
}
