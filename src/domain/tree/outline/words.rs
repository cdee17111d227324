//! The first words of a turn, as trees, versions and branches show them.

use std::borrow::Cow;
use std::iter;

/// The beginning of a text in one line, at most `chars` characters; a longer one ends with "…". The signs of Markdown
/// that only say how a line or a word looks are left out, unless there is nothing else.
pub fn first_words(text: &str, chars: usize) -> String {
    let lines = text.lines().map(|line| unmarked(unsigned(line)));
    let words = joined(lines, chars);
    if words.is_empty() { joined(iter::once(text.into()), chars) } else { words }
}

/// The words of these lines with a blank between them, at most so many characters.
fn joined<'a>(mut lines: impl Iterator<Item = Cow<'a, str>>, chars: usize) -> String {
    let mut words = String::new();
    let mut count = 0;
    while let Some(line) = lines.next().filter(|_| count < chars) {
        add(&line, chars, &mut words, &mut count);
    }
    words
}

fn add(line: &str, chars: usize, words: &mut String, count: &mut usize) {
    for word in line.split_whitespace() {
        if *count >= chars {
            return;
        }
        if *count > 0 {
            words.push(' ');
            *count += 1;
        }
        for c in word.chars() {
            if *count >= chars {
                words.truncate(words.trim_end().len());
                words.push('…');
                *count += 1;
                return;
            }
            words.push(c);
            *count += 1;
        }
    }
}

/// A line without what makes it a heading, an item, a quote or the edge of code.
fn unsigned(line: &str) -> &str {
    let mut line = line.trim();
    let is_fence = line.strip_prefix("```").is_some_and(|rest| !rest.trim_start_matches('`').contains('`'));
    if is_fence || (line.len() > 2 && line.bytes().all(|byte| byte == b'-')) {
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
