//! Excerpts: the beginning of a text on one line, without Markdown syntax, for titles, branches, versions and tree
//! rows.

use std::borrow::Cow;
use std::iter;

/// Returns the first words of a text, at most `chars` characters. A longer text is cut at a word boundary in the
/// second half, if there is one, and ends with "…". Markdown markers are removed unless the text has nothing else.
pub fn first_words(text: &str, chars: usize) -> String {
    let words = join_words(text.lines().map(strip_line_markers), chars);
    if words.is_empty() { join_words(iter::once(text.into()), chars) } else { words }
}

/// Like [`first_words`], for the first line that has words.
pub fn first_line(text: &str, chars: usize) -> String {
    let of_one = |line: Cow<'_, str>| Some(join_words(iter::once(line), chars)).filter(|words| !words.is_empty());
    let signless = text.lines().find_map(|line| of_one(strip_line_markers(line)));
    signless.or_else(|| text.lines().find_map(|line| of_one(line.into()))).unwrap_or_default()
}

/// Capitalizes the first letter.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// Removes Markdown syntax line by line, for excerpts around search hits: headings, tables and links become plain
/// text. Code is unchanged.
pub fn strip_markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.lines() {
        if is_fence(line.trim_start()) {
            is_code = !is_code;
            continue;
        }
        let line = match is_code {
            true => line.into(),
            false => strip_links(strip_code_ticks(self::strip_line_markers(strip_table_row(line)))),
        };
        if line.trim().is_empty() {
            continue;
        }
        if !plain.is_empty() {
            plain.push('\n');
        }
        plain += &line;
    }
    plain
}

/// Removes the edges of a table row. The line below the table head becomes empty.
fn strip_table_row(line: &str) -> &str {
    let row = line.trim();
    match row.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
        Some(cells) if cells.chars().all(|c| matches!(c, '-' | ':' | '|' | ' ')) => "",
        Some(cells) => cells,
        None => line,
    }
}

/// Removes the backticks around code, and in lines without code the asterisks of emphasis.
fn strip_code_ticks(line: Cow<'_, str>) -> Cow<'_, str> {
    match line.matches('`').count() {
        0 => strip_emphasis(&line, "*").map_or(line, Into::into),
        1 => line,
        _ => line.replace('`', "").into(),
    }
}

/// Replaces links and images with their labels.
fn strip_links(line: Cow<'_, str>) -> Cow<'_, str> {
    let (mut plain, mut rest) = (String::new(), line.as_ref());
    while let Some((before, words, after)) = split_at_link(rest) {
        plain += before.strip_suffix('!').unwrap_or(before);
        plain += words;
        rest = after;
    }
    if plain.is_empty() && rest.len() == line.len() { line } else { (plain + rest).into() }
}

/// Splits a line at its first link: the text before it, its label, and the text after it.
fn split_at_link(line: &str) -> Option<(&str, &str, &str)> {
    let middle = line.find("](")?;
    let start = line[..middle].rfind('[')?;
    let end = middle + line[middle..].find(')')?;
    Some((&line[..start], &line[start + 1..middle], &line[end + 1..]))
}

/// Joins the words of the lines with spaces, at most this many characters.
fn join_words<'a>(mut lines: impl Iterator<Item = Cow<'a, str>>, chars: usize) -> String {
    let mut words = String::new();
    let mut count = 0;
    while let Some(line) = lines.next().filter(|_| count <= chars) {
        push_words(&line, chars, &mut words, &mut count);
    }
    if count <= chars {
        return words;
    }
    let last = words.char_indices().next_back().map_or(0, |(at, _)| at);
    let in_second_half = |at: &usize| words[..*at].chars().count() > chars / 2;
    let end = words.rfind(' ').filter(in_second_half).unwrap_or(last);
    words.truncate(words[..end].trim_end().len());
    words.push('…');
    words
}

/// Appends the words of a line, up to one character more than the limit, so that the caller detects the excess.
fn push_words(line: &str, chars: usize, words: &mut String, count: &mut usize) {
    for word in line.split_whitespace() {
        let mut gap = (*count > 0).then_some(' ');
        for c in word.chars().filter(|c| !c.is_control()) {
            for c in gap.take().into_iter().chain([c]) {
                if *count > chars {
                    return;
                }
                words.push(c);
                *count += 1;
            }
        }
    }
}

/// Removes Markdown markers from a line.
fn strip_line_markers(line: &str) -> Cow<'_, str> {
    strip_bold(strip_block_markers(line))
}

/// Removes the markers of headings, list items, quotes, rules and code fences.
fn strip_block_markers(line: &str) -> &str {
    let mut line = line.trim();
    let is_rule = |sign: u8| line.len() > 2 && line.bytes().all(|byte| byte == sign);
    if is_fence(line) || [b'-', b'*', b'_'].into_iter().any(is_rule) {
        return "";
    }
    loop {
        let signs = line.trim_start_matches('#');
        let rest = match line.len() - signs.len() {
            1..=6 => Some(signs),
            _ => ["-", "*", "+", ">"].into_iter().find_map(|sign| line.strip_prefix(sign)),
        };
        match rest {
            Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t']) => line = rest.trim_start(),
            _ => return line,
        }
    }
}

/// Returns true if the line opens or closes a code block.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|rest| !rest.trim_start_matches('`').contains('`'))
}

/// Removes the asterisks around bold words.
fn strip_bold(line: &str) -> Cow<'_, str> {
    strip_emphasis(line, "**").map_or(line.into(), Into::into)
}

/// Removes these markers around words, or returns `None` if the line has none.
fn strip_emphasis(line: &str, sign: &str) -> Option<String> {
    let (mut plain, mut rest) = (String::new(), line);
    while let Some((before, inside, after)) = split_at_emphasis(rest, sign) {
        plain += before;
        plain += inside;
        rest = after;
    }
    (rest.len() < line.len()).then(|| plain + rest)
}

/// Splits a line at its first emphasized words: the text before, inside and after them.
fn split_at_emphasis<'a>(line: &'a str, sign: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let long = sign.len();
    let is_opener = |at: usize| {
        !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '*')
            && line[at + long..].starts_with(|c: char| !c.is_whitespace() && c != '*')
    };
    let (at, _) = line.match_indices(sign).find(|(at, _)| is_opener(*at))?;
    let (before, rest) = (&line[..at], &line[at + long..]);
    let is_closer = |end: usize| !rest[..end].ends_with(|c: char| c.is_whitespace() || c == '*');
    let (end, _) = rest.match_indices(sign).find(|(end, _)| *end > 0 && is_closer(*end))?;
    Some((before, &rest[..end], &rest[end + long..]))
}

#[cfg(test)]
mod tests;
