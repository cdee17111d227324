//! Parts of long texts: neither the index nor the memory holds a long text whole. A part has a fixed number of
//! characters and overlaps the one before, so that no word of a query is cut. All words of a query must match in one
//! part.

use crate::search::fold::{CharClass, char_class, fold};
use turnleaf_domain::limits;

/// The number of index rows that are reserved for one entry.
pub const ROWS_PER_ENTRY: i64 = limits::SEARCH_PARTS as i64;

/// The prefix of a statement over some rows of the index, which [`push_row`] appends.
pub(super) const WITH_ROWS: &str = "WITH m (word, entry, start) AS (";

const STEP: usize = limits::SEARCH_PART_CHARS - limits::SEARCH_OVERLAP_CHARS;

/// Returns the number of parts of a text with this many characters.
pub fn part_count(chars: usize) -> usize {
    chars.saturating_sub(limits::SEARCH_OVERLAP_CHARS).div_ceil(STEP).clamp(1, limits::SEARCH_PARTS)
}

/// Returns the first character of a part, from 0.
pub fn part_start(part: usize) -> usize {
    part * STEP
}

/// Splits a text into parts.
pub fn split(text: &str) -> Vec<&str> {
    let chars = text.chars().count();
    if part_count(chars) == 1 && chars <= limits::SEARCH_PART_CHARS {
        return vec![text];
    }
    let byte =
        |from: usize, letters: usize| text[from..].char_indices().nth(letters).map_or(text.len(), |(n, _)| from + n);
    let mut from = 0;
    let mut parts = Vec::new();
    for _ in 0..part_count(chars) {
        parts.push(&text[from..byte(from, limits::SEARCH_PART_CHARS)]);
        from = byte(from, STEP);
    }
    parts
}

/// Returns a folded part, after the title of its item. A cut word is left to the part that has it whole.
pub fn folded_part(title: &str, text: &str, part: usize, parts: usize) -> String {
    let folded = fold(text);
    let is_word = |letter: char| char_class(letter) == CharClass::Word;
    let mut shown = folded.as_str();
    if part > 0 {
        shown = shown.trim_start_matches(is_word);
    }
    if part + 1 < parts {
        shown = shown.trim_end_matches(is_word);
    }
    if title.is_empty() { shown.to_owned() } else { format!("{}\n{shown}", fold(title)) }
}

/// Appends an index row: its id, its entry, and the first character of its part, from 1.
pub(super) fn push_row<DB: sqlx::Database>(row: &mut sqlx::query_builder::Separated<'_, DB, &'static str>, word: i64)
where
    i64: for<'q> sqlx::Encode<'q, DB> + sqlx::Type<DB>,
{
    let start = part_start(usize::try_from(word % ROWS_PER_ENTRY).unwrap_or(0)) + 1;
    row.push_bind(word).push_bind(word / ROWS_PER_ENTRY).push_bind(i64::try_from(start).unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_overlap_and_miss_nothing() {
        let most = limits::SEARCH_PART_CHARS;
        for (chars, parts) in [(0, 1), (1, 1), (most, 1), (most + 1, 2), (most + STEP, 2), (most + STEP + 1, 3)] {
            let text: String = (0..chars).map(|n| if n % 7 == 0 { '你' } else { 'a' }).collect();
            let all = split(&text);
            assert_eq!((all.len(), part_count(chars)), (parts, parts), "{chars}");
            let letters: Vec<char> = text.chars().collect();
            for (at, part) in all.iter().enumerate() {
                let characters: Vec<char> = part.chars().collect();
                assert_eq!(characters, letters[part_start(at)..(part_start(at) + most).min(chars)]);
            }
        }
    }

    #[test]
    fn cut_word_is_indexed_in_part_that_holds_it_whole() {
        assert_eq!(folded_part("", "rty tree par", 1, 3), " tree ");
        assert_eq!(folded_part("", "rty tree par", 0, 1), "rty tree par");
        assert_eq!(folded_part("My Title", "Text", 0, 1), "my title\ntext");
    }
}
