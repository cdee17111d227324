//! The scanner of programming languages: one token at a time, each byte visited a bounded number of times.

use super::languages::Language;
use super::runs::HighlightRuns;
use crate::ui::markdown::CodeClass;

/// The maximum length of a recognised attribute in brackets.
const ATTRIBUTE_BYTES: usize = 256;

/// Scans the whole code into runs.
pub fn scan(language: &Language, code: &str, runs: &mut HighlightRuns) {
    let mut at = 0;
    while at < code.len() {
        let (length, class) = token(language, code, at);
        let end = (at + length.max(1)..=code.len()).find(|end| code.is_char_boundary(*end)).unwrap_or(code.len());
        runs.push(end - at, class);
        at = end;
    }
}

/// Returns the length and the class of the token at a position.
fn token(language: &Language, code: &str, at: usize) -> (usize, CodeClass) {
    let rest = &code[at..];
    let first = rest.chars().next().unwrap_or_default();
    let before = code[..at].chars().next_back().unwrap_or('\n');
    if first.is_whitespace() {
        let space = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        return (space, CodeClass::Text);
    }
    if let Some(length) = comment(language, rest, before) {
        return (length, CodeClass::Comment);
    }
    if let Some(length) = attribute(language, rest, before) {
        return (length, CodeClass::Attribute);
    }
    if language.has(Language::DIRECTIVES) && first == '#' && is_line_start(code, at) {
        return (1 + word(&rest[1..], language), CodeClass::Keyword);
    }
    if language.has(Language::SECTIONS) && first == '[' && is_line_start(code, at) {
        return (rest.find('\n').unwrap_or(rest.len()), CodeClass::Heading);
    }
    if let Some(length) = string(language, rest) {
        return (length, CodeClass::String);
    }
    if language.has(Language::LIFETIMES) && first == '\'' {
        return (1 + word(&rest[1..], language), CodeClass::Type);
    }
    if language.has(Language::SIGILS) && matches!(first, '$' | '@' | '%') {
        let name = variable(rest);
        if name > 1 {
            return (name, CodeClass::Variable);
        }
    }
    if first.is_ascii_digit() {
        return (number(rest), CodeClass::Number);
    }
    if language.has(Language::HASHES) && first == '#' {
        return (1 + word(&rest[1..], language), CodeClass::Constant);
    }
    match word(rest, language) {
        0 if "+-*/%=<>!&|^~?:".contains(first) => (1, CodeClass::Operator),
        0 if "()[]{},;.".contains(first) => (1, CodeClass::Punctuation),
        0 => (first.len_utf8(), CodeClass::Text),
        length => word_class(language, rest, length, before),
    }
}

fn is_line_start(code: &str, at: usize) -> bool {
    code[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty())
}

fn comment(language: &Language, rest: &str, before: char) -> Option<usize> {
    for (open, close) in language.block_comments {
        if let Some(inside) = rest.strip_prefix(open) {
            return Some(inside.find(close).map_or(rest.len(), |end| open.len() + end + close.len()));
        }
    }
    let open = language.line_comments.iter().find(|open| rest.starts_with(**open))?;
    // In shells and similar languages a hash inside a word is part of the word.
    let is_comment = *open != "#" || before.is_whitespace() || !language.has(Language::SIGILS);
    is_comment.then(|| rest.find('\n').unwrap_or(rest.len()))
}

/// Matches `@name`, or `#[…]` up to its bracket.
fn attribute(language: &Language, rest: &str, before: char) -> Option<usize> {
    if language.has(Language::AT_ATTRIBUTES) && rest.starts_with('@') && !before.is_alphanumeric() {
        return Some(1 + word(&rest[1..], language)).filter(|length| *length > 1);
    }
    if !language.has(Language::HASH_ATTRIBUTES) || !(rest.starts_with("#[") || rest.starts_with("#![")) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().take(ATTRIBUTE_BYTES).enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return Some(at + 1),
            b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Matches a string with its quotes and prefix: `f"…"`, `r#"…"#`.
fn string(language: &Language, rest: &str) -> Option<usize> {
    let prefix = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    if prefix > 2 || (prefix > 0 && !language.has(Language::PREFIXES)) {
        return None;
    }
    let hashes = rest[prefix..].bytes().take_while(|byte| *byte == b'#').count();
    if hashes > 0 && prefix > 0 && rest[prefix + hashes..].starts_with('"') {
        let close = format!("\"{}", "#".repeat(hashes));
        let start = prefix + hashes + 1;
        return Some(rest[start..].find(&close).map_or(rest.len(), |end| start + end + close.len()));
    }
    let quoted = &rest[prefix..];
    let quote = language.quotes.iter().find(|quote| quoted.starts_with(**quote))?;
    let has_lines = quote.len() > 1 || *quote == "`" || language.has(Language::LONG_STRINGS);
    if language.has(Language::LIFETIMES) && *quote == "'" && !is_character(quoted) {
        return None;
    }
    let mut at = quote.len();
    let bytes = quoted.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' if !has_lines => return None,
            _ if bytes[at..].starts_with(quote.as_bytes()) => return Some(prefix + at + quote.len()),
            _ => at += 1,
        }
    }
    has_lines.then_some(rest.len())
}

/// Returns true when a single quote starts a character, not a lifetime.
fn is_character(quoted: &str) -> bool {
    let mut inside = quoted.chars().skip(1);
    inside.next() == Some('\\') || inside.next() == Some('\'')
}

/// Returns the length of `$name`, `${name}` or `$1`.
fn variable(rest: &str) -> usize {
    let inside = &rest[1..];
    if inside.starts_with('{') {
        return inside.bytes().take(ATTRIBUTE_BYTES).position(|byte| byte == b'}').map_or(1, |end| end + 2);
    }
    let name = inside.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if name == 0 && rest.starts_with('$') && inside.starts_with(['@', '#', '?', '!', '*', '$']) { 2 } else { 1 + name }
}

fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_decimal = !(rest.starts_with("0x") || rest.starts_with("0X"));
    let mut at = 1;
    while at < bytes.len() {
        let follows_exponent = is_decimal && matches!(bytes[at - 1], b'e' | b'E');
        let is_next_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        match bytes[at] {
            b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {}
            b'.' if is_next_digit => {}
            b'+' | b'-' if follows_exponent && is_next_digit => {}
            b'%' if at + 1 == bytes.len() || !is_next_digit => return at,
            _ => return at,
        }
        at += 1;
    }
    at
}

/// Returns the length of the word at the start.
fn word(rest: &str, language: &Language) -> usize {
    let may_start = |c: char| c.is_alphabetic() || c == '_' || (c == '$' && !language.has(Language::SIGILS));
    let starts = rest.chars().next().is_some_and(|c| may_start(c) || (c == '-' && language.has(Language::HYPHENS)));
    if !starts {
        return 0;
    }
    let follows = |c: char| may_start(c) || c.is_alphanumeric() || (c == '-' && language.has(Language::HYPHENS));
    rest.find(|c| !follows(c)).unwrap_or(rest.len())
}

/// Classifies a word by the language's lists, or by its shape and neighbours.
fn word_class(language: &Language, rest: &str, length: usize, before: char) -> (usize, CodeClass) {
    let name = &rest[..length];
    let after = rest[length..].trim_start_matches([' ', '\t']);
    let is_key = language.has(Language::COLON_KEYS) && after.starts_with(':') && !after.starts_with("::")
        || language.has(Language::EQUAL_KEYS) && after.starts_with('=');
    let is_constant = length > 1 && name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
    let class = match () {
        () if is_key => CodeClass::Attribute,
        () if before != '.' && language.is_keyword(name) => CodeClass::Keyword,
        () if language.is_constant(name) => CodeClass::Constant,
        () if language.is_type(name) => CodeClass::Type,
        () if language.has(Language::SECTIONS) => CodeClass::Text,
        () if after.starts_with('!')
            && rest[length..].starts_with('!')
            && language.has(Language::MACROS)
            && !after.starts_with("!=") =>
        {
            return (length + 1, CodeClass::Function);
        }
        () if rest[length..].starts_with('(') => CodeClass::Function,
        () if is_constant => CodeClass::Constant,
        () if language.has(Language::CAPITAL_TYPES) && name.starts_with(char::is_uppercase) => CodeClass::Type,
        () => CodeClass::Text,
    };
    (length, class)
}
