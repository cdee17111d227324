//! What a text begins with, in one line and without the signs of Markdown: titles, branches, versions, rows of the tree.

use std::borrow::Cow;
use std::iter;

/// The first words of a text, of at most `chars` characters. A longer text is cut at a word where one ends in the second
/// half, and ends with "…". Signs that only say how a line or a word looks are left out, unless there is nothing else.
pub fn first_words(text: &str, chars: usize) -> String {
    let words = joined(text.lines().map(plain), chars);
    if words.is_empty() { joined(iter::once(text.into()), chars) } else { words }
}

/// The same of the first line alone that says something.
pub fn first_line(text: &str, chars: usize) -> String {
    let of_one = |line: Cow<'_, str>| Some(joined(iter::once(line), chars)).filter(|words| !words.is_empty());
    let signless = text.lines().find_map(|line| of_one(plain(line)));
    signless.or_else(|| text.lines().find_map(|line| of_one(line.into()))).unwrap_or_default()
}

/// The words of these lines with a blank between them, at most so many characters.
fn joined<'a>(mut lines: impl Iterator<Item = Cow<'a, str>>, chars: usize) -> String {
    let mut words = String::new();
    let mut count = 0;
    while let Some(line) = lines.next().filter(|_| count <= chars) {
        add(&line, chars, &mut words, &mut count);
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

/// Adds the words of a line, up to one character more than there may be.
fn add(line: &str, chars: usize, words: &mut String, count: &mut usize) {
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

/// A line without the signs of Markdown.
fn plain(line: &str) -> Cow<'_, str> {
    unmarked(unsigned(line))
}

/// A line without what makes it a heading, an item, a quote or the edge of code.
fn unsigned(line: &str) -> &str {
    let mut line = line.trim();
    let is_fence = line.strip_prefix("```").is_some_and(|rest| !rest.trim_start_matches('`').contains('`'));
    let is_rule = |sign: u8| line.len() > 2 && line.bytes().all(|byte| byte == sign);
    if is_fence || [b'-', b'*', b'_'].into_iter().any(is_rule) {
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

/// A line without the stars around its bold words.
fn unmarked(line: &str) -> Cow<'_, str> {
    let (mut plain, mut rest) = (String::new(), line);
    while let Some((before, inside, after)) = bold(rest) {
        plain += before;
        plain += inside;
        rest = after;
    }
    if rest.len() == line.len() { line.into() } else { (plain + rest).into() }
}

/// What stands before, inside of and behind the first bold words of a line.
fn bold(line: &str) -> Option<(&str, &str, &str)> {
    let is_opener = |at: usize| {
        !line[..at].ends_with(char::is_alphanumeric)
            && line[at + 2..].starts_with(|c: char| !c.is_whitespace() && c != '*')
    };
    let (at, _) = line.match_indices("**").find(|(at, _)| is_opener(*at))?;
    let (before, rest) = (&line[..at], &line[at + 2..]);
    let is_closer = |end: usize| !rest[..end].ends_with(|c: char| c.is_whitespace() || c == '*');
    let (end, _) = rest.match_indices("**").find(|(end, _)| *end > 0 && is_closer(*end))?;
    Some((before, &rest[..end], &rest[end + 2..]))
}

#[cfg(test)]
mod tests;
