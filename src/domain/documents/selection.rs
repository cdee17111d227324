//! Selections of a document: offsets in Unicode scalar values, half open (`docs/reference/domain.md C19`), and line
//! numbers from 1. A line ends with its `
//! `; text after the last `
//! ` is a line of its own.

/// Returns the text between two offsets, or `None` unless `start < end <= length`.
pub fn slice(text: &str, start: u64, end: u64) -> Option<&str> {
    if start >= end {
        return None;
    }
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let from = byte_of(text, start)?;
    let length = byte_of(&text[from..], end - start)?;
    Some(&text[from..from + length])
}

/// Returns the byte offset of the n-th scalar value, or of the end.
fn byte_of(text: &str, n: usize) -> Option<usize> {
    match text.char_indices().nth(n) {
        Some((at, _)) => Some(at),
        None => (text.chars().count() == n).then_some(text.len()),
    }
}

/// Returns the first and last line of a selection that lies within the text.
pub fn line_range(text: &str, start: u64, end: u64) -> (u64, u64) {
    let breaks_before = |offset: u64| {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        text.chars().take(offset).filter(|c| *c == '\n').count() as u64
    };
    (1 + breaks_before(start), 1 + breaks_before(end.saturating_sub(1)))
}

/// Returns the selection of these lines, without the last line break. `last` is clamped to the text. Returns `None`
/// if `first` is beyond the text or the lines are empty.
pub fn select_lines(text: &str, first: u64, last: u64) -> Option<(u64, u64)> {
    let last = last.min(count_lines(text));
    if first == 0 || last < first {
        return None;
    }
    let (mut line, mut start, mut end) = (1, 0, 0);
    for (at, c) in (0_u64..).zip(text.chars()) {
        if line > last {
            break;
        }
        if line < first {
            start = at + 1;
        }
        // The line break after the last line is excluded, those between the lines are not.
        if c != '\n' {
            end = at + 1;
        } else {
            line += 1;
            if line <= last && line > first {
                end = at + 1;
            }
        }
    }
    (line >= first && start < end).then_some((start, end))
}

/// Returns the number of lines of a text.
pub fn count_lines(text: &str) -> u64 {
    let breaks = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    breaks + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// A position in the displayed lines: the line from 0, and the offset in UTF-16 code units, as browsers count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinePosition {
    pub line: usize,
    pub unit: usize,
}

/// A selection that was made in the displayed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSelection {
    /// The offsets in the whole text.
    pub start: u64,
    pub end: u64,
    /// The selected text.
    pub quote: String,
    /// The first and last line, from 0 at the first displayed line.
    pub lines: (usize, usize),
}

/// Converts a selection between two displayed positions. `before` is the number of scalar values of the text before
/// the first displayed line; `lines` are the displayed lines without line breaks. Positions beyond the lines are
/// clamped, the line break after the last selected word is excluded, and half of a surrogate pair selects the whole
/// character. Returns `None` for an empty selection.
pub fn resolve_selection(before: u64, lines: &[String], from: LinePosition, to: LinePosition) -> Option<TextSelection> {
    let last = lines.len().checked_sub(1).filter(|_| from != to)?;
    let end_of = |line: usize| LinePosition { line, unit: usize::MAX };
    let (from, mut to) = (from.min(to), from.max(to).min(end_of(last)));
    while to.unit == 0 && to.line > from.line {
        to = end_of(to.line - 1);
    }
    let (mut start, mut quote) = (before, String::new());
    for (at, line) in lines.iter().enumerate().take(to.line + 1) {
        let first = if at == from.line { byte_of_unit(line, from.unit, false) } else { 0 };
        let end = if at == to.line { byte_of_unit(line, to.unit, true) } else { line.len() };
        if at < from.line {
            start += line.chars().count() as u64 + 1;
            continue;
        }
        if at == from.line {
            start += line[..first].chars().count() as u64;
        } else {
            quote.push('\n');
        }
        // Pages replace the carriage returns within a line with line feeds.
        quote.push_str(&line.get(first..end).unwrap_or_default().replace('\n', "\r"));
    }
    let end = start + quote.chars().count() as u64;
    (start < end).then_some(TextSelection { start, end, quote, lines: (from.line, to.line) })
}

/// Returns the byte offset after this many UTF-16 code units of a line. Within a character, it is before or after it.
fn byte_of_unit(line: &str, unit: usize, behind: bool) -> usize {
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units >= unit {
            return at;
        }
        units += c.len_utf16();
        if units > unit {
            return if behind { at + c.len_utf8() } else { at };
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a text as a page displays them.
    fn shown(text: &str) -> Vec<String> {
        text.split_inclusive('\n').map(|line| line.trim_end_matches('\n').replace('\r', "\n")).collect()
    }

    #[test]
    fn browser_selection_is_counted_in_scalar_values() {
        // An e with its accent beside it, a family of three, a carriage return alone, an empty line.
        let text = "你好😀世界\ne\u{301}a👩\u{200d}👩\u{200d}👧\nold\rmac\n\nend\n";
        let lines = shown(text);
        for (from, to, quote) in [
            ((0, 4), (0, 5), "世"),
            ((0, 2), (0, 4), "😀"),
            ((0, 3), (0, 4), "😀"),
            ((0, 2), (0, 3), "😀"),
            ((0, 0), (0, 6), D),
            ((0, 5), (1, 1), "界\ne"),
            ((1, 1), (1, 3), "\u{301}a"),
            ((1, 3), (1, 5), "👩"),
            ((1, 3), (1, 11), "👩\u{200d}👩\u{200d}👧"),
            ((2, 0), (2, 7), "old\rmac"),
            ((2, 4), (4, 1), "mac\n\ne"),
            // A triple click ends where the next line begins.
            ((0, 0), (1, 0), D),
            ((2, 0), (4, 0), "old\rmac\n"),
            // Backwards, and beyond what is shown.
            ((0, 5), (0, 4), "世"),
            ((4, 0), (99, 7), "end"),
            ((3, 0), (4, 99), "\nend"),
            ((0, 0), (99, 0), text.trim_end()),
        ] {
            let place = |(line, unit)| LinePosition { line, unit };
            let selected = resolve_selection(0, &lines, place(from), place(to)).expect(quote);
            assert_eq!(selected.quote, quote, "{from:?} to {to:?}");
            assert_eq!(slice(text, selected.start, selected.end), Some(quote), "{from:?} to {to:?}");
        }
        for (from, to) in [((0, 3), (0, 3)), ((3, 0), (3, 0)), ((3, 0), (4, 0)), ((99, 0), (99, 9))] {
            let place = |(line, unit)| LinePosition { line, unit };
            assert_eq!(resolve_selection(0, &lines, place(from), place(to)), None, "{from:?} to {to:?}");
        }
        assert_eq!(resolve_selection(0, &[], LinePosition::default(), LinePosition { line: 1, unit: 1 }), None);
    }

    #[test]
    fn selection_in_later_lines_is_counted_from_text_start() {
        let text = "one\r\n😀😀\nthree\nfour";
        let before = text.chars().take_while(|c| *c != 't').count() as u64;
        let lines = shown("three\nfour");
        let selected =
            resolve_selection(before, &lines, LinePosition { line: 0, unit: 2 }, LinePosition { line: 1, unit: 2 })
                .unwrap();
        assert_eq!(slice(text, selected.start, selected.end), Some("ree\nfo"));
        assert_eq!((selected.quote.as_str(), selected.lines), ("ree\nfo", (0, 1)));
        // The text has a Windows line ending.
        let lines = shown(text);
        let selected =
            resolve_selection(0, &lines, LinePosition::default(), LinePosition { line: 1, unit: 2 }).unwrap();
        assert_eq!((selected.start, selected.end, selected.quote.as_str()), (0, 6, "one\r\n😀"));
    }

    const D: &str = "你好😀世界";

    #[test]
    fn offsets_are_scalar_values_and_half_open() {
        for (start, end, text) in [(0, 5, Some(D)), (2, 3, Some("😀")), (2, 4, Some("😀世")), (4, 5, Some("界"))]
        {
            assert_eq!(slice(D, start, end), text, "[{start},{end})");
        }
        for (start, end) in [(0, 6), (5, 6), (0, 16), (3, 2), (2, 2), (0, 0), (u64::MAX - 1, u64::MAX)] {
            assert_eq!(slice(D, start, end), None, "[{start},{end})");
        }
        // A part of an emoji sequence is a valid selection.
        assert_eq!(slice("👩\u{200d}👩\u{200d}👧", 1, 3), Some("\u{200d}👩"));
    }

    #[test]
    fn selections_and_line_ranges_convert_both_ways() {
        let text = "one\ntwo\n\nfour";
        for (start, end, on) in [(0, 3, (1, 1)), (0, 4, (1, 1)), (0, 5, (1, 2)), (4, 8, (2, 2)), (9, 13, (4, 4))] {
            assert_eq!(line_range(text, start, end), on, "[{start},{end})");
        }
        for (first, last, selected) in [
            (1, 1, Some("one")),
            (1, 2, Some("one\ntwo")),
            (2, 3, Some("two\n")),
            (3, 4, Some("\nfour")),
            (4, 9, Some("four")),
            (3, 3, None),
            (5, 6, None),
            (0, 1, None),
            (2, 1, None),
        ] {
            let found = select_lines(text, first, last).and_then(|(start, end)| slice(text, start, end));
            assert_eq!(found, selected, "{first}-{last}");
        }
        assert_eq!(select_lines("", 1, 1), None);
        assert_eq!(select_lines("one\ntwo\n", 2, 9), select_lines("one\ntwo\n", 2, 2), "the last break is no line's");
        assert_eq!(select_lines("a\n\n", 2, 9), None);
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(count_lines(text), count, "{text:?}");
        }
    }
}
