//! Finds the fenced code blocks of a Markdown text, because what looks like a program's own marks is text there.

use std::ops::Range;

/// The closed fences of a text, found while a reader walks forward. An unclosed fence does not count: it may come from
/// a reply that was cut off, and the program's own marks follow it.
pub(crate) struct CodeFences<'t> {
    text: &'t str,
    /// Everything before this is scanned.
    at: usize,
    current: Option<Range<usize>>,
    /// For each fence character, the shortest length that nothing closes from here on.
    unclosed: [usize; 2],
}

impl<'t> CodeFences<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, current: None, unclosed: [usize::MAX; 2] }
    }

    /// Returns the end of the fence that contains a position. Positions must not decrease.
    pub(crate) fn end_at(&mut self, position: usize) -> Option<usize> {
        while self.current.as_ref().is_none_or(|fence| fence.end <= position) {
            self.current = Some(self.next()?);
        }
        self.current.as_ref().filter(|fence| fence.contains(&position)).map(|fence| fence.end)
    }

    /// Continues at a position; the text before it holds no fences that matter.
    pub(crate) fn skip_to(&mut self, position: usize) {
        (self.at, self.current) = (position.min(self.text.len()), None);
    }

    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.text.len() {
            let start = self.at;
            let (mark, length, is_alone) = self.next_line();
            let Some(mark) = mark else { continue };
            // The info string of a backtick fence has no backticks; such a line is inline code.
            let is_inline =
                mark == FenceMark::Backtick && !is_alone && self.text[start..self.at].matches('`').count() > length;
            if is_inline || length >= self.unclosed[mark as usize] {
                continue;
            }
            let inside = self.at;
            while self.at < self.text.len() {
                if matches!(self.next_line(), (Some(closing), count, true) if closing == mark && count >= length) {
                    return Some(start..self.at);
                }
            }
            self.unclosed[mark as usize] = length;
            self.at = inside;
        }
        None
    }

    /// Advances by one line; returns its fence mark, the length of the mark, and whether nothing follows it.
    fn next_line(&mut self) -> (Option<FenceMark>, usize, bool) {
        let rest = &self.text[self.at..];
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        self.at += length;
        // A fence may be indented in a list, or quoted.
        let line = rest[..length].trim_start_matches([' ', '\t', '>']);
        let (mark, c) = match line.as_bytes().first() {
            Some(b'`') => (FenceMark::Backtick, '`'),
            Some(b'~') => (FenceMark::Tilde, '~'),
            _ => return (None, 0, false),
        };
        let rest = line.trim_start_matches(c);
        let count = line.len() - rest.len();
        ((count >= 3).then_some(mark), count, rest.trim().is_empty())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FenceMark {
    Backtick,
    Tilde,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_fences_contain_positions() {
        let table = [
            ("a\n```html\nX\n```\nb", true),
            ("~~~\n```\nX\n~~~", true),
            ("1. see\n\n    ```\n    X\n    ```", true),
            ("> ```\n> X\n> ```", true),
            ("````\n```\nX\n````", true),
            ("```\nX", false),
            ("```a```\nX\n```\n", false),
            ("```\na\n```\nX\n```\nb\n```", false),
            ("~~~\nX\n```\n", false),
            ("````\nX\n```\n", false),
            ("``\nX\n``", false),
            ("X", false),
        ];
        for (text, is_within) in table {
            let at = text.find('X').unwrap();
            assert_eq!(CodeFences::new(text).end_at(at).is_some(), is_within, "{text}");
        }
    }

    #[test]
    fn fences_before_restart_are_forgotten() {
        let text = "```\n<end>\nX\n```\n";
        let mut fences = CodeFences::new(text);
        fences.skip_to(text.find("X").unwrap());
        assert_eq!(fences.end_at(text.find('X').unwrap()), None);
    }

    #[test]
    fn many_unclosed_fences_take_linear_time() {
        let text = "```a\n".repeat(400_000);
        assert_eq!(CodeFences::new(&text).end_at(text.len() - 2), None);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(`|```|~~~|\n| |>|é|x){0,30}") {
            let mut fences = CodeFences::new(&text);
            assert!((0..text.len()).all(|at| fences.end_at(at).is_none_or(|end| end > at)));
        }
    }
}
