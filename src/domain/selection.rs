//! Selections of a document: offsets in Unicode scalar values, half open (domain.md C19), and the lines that they lie on,
//! from 1. A line ends with its `\n`; what follows the last one is a line where it is not empty.

/// The text between two offsets; nothing where they are not `start < end <= length`.
pub fn slice(text: &str, start: u64, end: u64) -> Option<&str> {
    if start >= end {
        return None;
    }
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let from = byte_of(text, start)?;
    let length = byte_of(&text[from..], end - start)?;
    Some(&text[from..from + length])
}

/// Where the n-th scalar value begins, or the text ends.
fn byte_of(text: &str, n: usize) -> Option<usize> {
    match text.char_indices().nth(n) {
        Some((at, _)) => Some(at),
        None => (text.chars().count() == n).then_some(text.len()),
    }
}

/// The first and the last line of a selection that lies within the text.
pub fn lines(text: &str, start: u64, end: u64) -> (u64, u64) {
    let breaks_before = |offset: u64| {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        text.chars().take(offset).filter(|c| *c == '\n').count() as u64
    };
    (1 + breaks_before(start), 1 + breaks_before(end.saturating_sub(1)))
}

/// The selection of these lines without the end of the last one. A last line beyond the text's is the text's; nothing
/// where the first one is, or where there is nothing on them.
pub fn of_lines(text: &str, first: u64, last: u64) -> Option<(u64, u64)> {
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
        // The break behind the last line is left out, those between its lines are not.
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

/// How many lines a text has.
pub fn count_lines(text: &str) -> u64 {
    let breaks = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    breaks + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // Half of a family is a selection as good as any.
        assert_eq!(slice("👩\u{200d}👩\u{200d}👧", 1, 3), Some("\u{200d}👩"));
    }

    #[test]
    fn a_selection_lies_on_lines_and_lines_are_a_selection() {
        let text = "one\ntwo\n\nfour";
        for (start, end, on) in [(0, 3, (1, 1)), (0, 4, (1, 1)), (0, 5, (1, 2)), (4, 8, (2, 2)), (9, 13, (4, 4))] {
            assert_eq!(lines(text, start, end), on, "[{start},{end})");
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
            let found = of_lines(text, first, last).and_then(|(start, end)| slice(text, start, end));
            assert_eq!(found, selected, "{first}-{last}");
        }
        assert_eq!(of_lines("", 1, 1), None);
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(count_lines(text), count, "{text:?}");
        }
    }
}
