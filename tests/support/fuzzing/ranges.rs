//! Fuzz targets of document ranges: a reference names a part of the text or nothing, and a selection on a page names
//! the selected words.

use turnleaf::domain::documents::selection::{
    LinePosition, count_lines, line_range, resolve_selection, select_lines, slice,
};

/// Reads four numbers of two bytes each, then the text.
pub fn selection_holds(input: &[u8]) {
    let Some((numbers, text)) = input.split_at_checked(8) else { return };
    let number = |at: usize| u64::from(u16::from_le_bytes([numbers[2 * at], numbers[2 * at + 1]]));
    let text = String::from_utf8_lossy(text);
    let count = text.chars().count() as u64;
    let (start, end) = (number(0) % (count + 2), number(1) % (count + 2));
    let part = slice(&text, start, end);
    assert_eq!(part.is_some(), start < end && end <= count);
    if let Some(part) = part {
        let expected: String = text.chars().skip(start as usize).take((end - start) as usize).collect();
        assert_eq!(part, expected);
        let (first, last) = line_range(&text, start, end);
        assert!(1 <= first && first <= last && last <= count_lines(&text));
        lines_hold(&text, first, last);
    }
    lines_hold(&text, number(2) % 8, number(3) % 8);
    selected_words_are_named(&text, [number(0), number(1), number(2), number(3)]);
}

fn lines_hold(text: &str, first: u64, last: u64) {
    let Some((start, end)) = select_lines(text, first, last) else { return };
    let part = slice(text, start, end).expect("lines are a part of the text");
    assert!(!part.ends_with('\n') || line_range(text, start, end).1 <= last);
    let (from, to) = line_range(text, start, end);
    assert!(first <= from && to <= last, "lines {first} to {last} are {from} to {to}");
}

/// The text as a page shows it: lines without their ends, with each carriage return as a line feed.
fn selected_words_are_named(text: &str, [line, unit, to_line, to_unit]: [u64; 4]) {
    let shown: Vec<String> =
        text.split_inclusive('\n').map(|line| line.trim_end_matches('\n').replace('\r', "\n")).collect();
    let place = |line: u64, unit: u64| LinePosition {
        line: line as usize % (shown.len() + 2),
        unit: unit as usize % (text.encode_utf16().count() + 2),
    };
    let Some(selected) = resolve_selection(0, &shown, place(line, unit), place(to_line, to_unit)) else { return };
    assert_eq!(slice(text, selected.start, selected.end), Some(selected.quote.as_str()));
}
