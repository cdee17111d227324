//! Literal, case-insensitive text search within a chat.

use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMatcher {
    folded: String,
}

impl TextMatcher {
    /// Creates a matcher for a query, in which nothing is a wildcard or operator.
    ///
    /// # Errors
    /// The query is blank, or longer than [`limits::FIND_CHARS`]; the field is called `q`.
    pub fn new(query: &str) -> Result<Self, InvalidField> {
        if query.trim().is_empty() {
            return Err(InvalidField::new("q", MessageCode::Empty));
        }
        if query.chars().count() > limits::FIND_CHARS {
            return Err(InvalidField::too_long("q", limits::FIND_CHARS));
        }
        // Stored text has this symbol in place of NUL.
        Ok(Self { folded: query.replace('\0', "\u{2400}").chars().flat_map(fold_case).collect() })
    }

    /// Returns a literal for a database prefilter, because databases fold case differently. Every match contains it
    /// once ASCII letters are lower case, except for letters that are [`is_case_ambiguous`]. It is the longest run of
    /// characters with ASCII case or no case, and may be empty.
    pub fn prefilter_literal(&self) -> &str {
        let runs = self.folded.split(|letter| !is_case_stable(letter));
        // The last letter may be the first half of the lower case of İ.
        let runs = runs.map(|run| run.strip_suffix('i').unwrap_or(run));
        runs.max_by_key(|run| run.len()).unwrap_or_default()
    }

    /// Returns true if the text contains the query.
    pub fn is_match(&self, text: &str) -> bool {
        text.chars().flat_map(fold_case).collect::<String>().contains(&self.folded)
    }

    /// Returns the context of the first match on one line, bounded: the text before it, the match as written, and the
    /// text after it. Returns `None` without a match.
    pub fn excerpt(&self, text: &str) -> Option<[String; 3]> {
        let (start, end) = self.find_first(text)?;
        let before: Vec<char> = text[..start].chars().rev().take(limits::FIND_BEFORE).collect();
        let after = &text[end..];
        let mut parts = [
            before.iter().rev().collect::<String>(),
            text[start..end].to_owned(),
            after.chars().take(limits::FIND_AFTER).collect(),
        ];
        if parts[0].len() < start {
            parts[0].insert(0, '…');
        }
        if parts[2].len() < after.len() {
            parts[2].push('…');
        }
        Some(parts.map(|part| part.replace(char::is_whitespace, " ")))
    }

    /// Returns the byte range of the first match. Lower case may have another length in bytes, so offsets in the
    /// folded text are mapped back to the original.
    fn find_first(&self, text: &str) -> Option<(usize, usize)> {
        let mut folded = String::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            folded.extend(fold_case(letter));
            places.resize(folded.len(), (at, at + letter.len_utf8()));
        }
        let start = folded.find(&self.folded)?;
        let last = start + self.folded.len() - 1;
        Some((places.get(start)?.0, places.get(last)?.1))
    }
}

/// Folds the case of a letter independently of its context, so that a query and any part of a text fold equally. A
/// final sigma folds to a sigma.
fn fold_case(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|small| if small == 'ς' { 'σ' } else { small })
}

/// Returns true if only one letter folds to this one, or two ASCII letters. U+0307 is part of the lower case of İ.
fn is_case_stable(letter: char) -> bool {
    letter.is_ascii() || (!letter.is_lowercase() && !letter.is_uppercase() && letter != '\u{307}')
}

/// Returns true for letters that non-ASCII letters also fold to: the Kelvin sign becomes k, and a database with
/// Turkish rules lowers I to ı.
pub fn is_case_ambiguous(letter: char) -> bool {
    matches!(letter, 'i' | 'k')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(query: &str) -> TextMatcher {
        TextMatcher::new(query).unwrap()
    }

    #[test]
    fn every_character_matches_literally() {
        for sign in
            ["%", "_", "100%", "a_b", "\"", "foo\"bar", "*", "NEAR(", "a-b", "C++", "(((", "' OR 1=1--", "\\", "!"]
        {
            assert!(matcher(sign).is_match(&format!("before {sign} after")), "{sign}");
            assert!(!matcher(sign).is_match("before axb 100 NEA after"), "{sign}");
        }
    }

    #[test]
    fn match_ignores_case_and_accepts_two_chinese_characters() {
        assert!(matcher("STRASSE über").is_match("die Strasse Über dem Fluss"));
        assert!(matcher("你好").is_match("你好世界 再见"));
        assert!(!matcher("你坏").is_match("你好世界 再见"));
    }

    #[test]
    fn letter_matches_regardless_of_position() {
        for (query, text) in [
            ("ΟΔΟΣ", "η οδος"),
            ("οδος", "Η ΟΔΟΣ"),
            ("ΣΟΦΟΣ", "ο σοφος"),
            ("οδοσ", "ΟΔΟΣ 5"),
            ("300 k", "at 300 \u{212a}"),
            ("300 \u{212a}", "at 300 K"),
            ("İstan", "in İstanbul"),
        ] {
            assert!(matcher(query).is_match(text), "{query} in {text}");
            assert!(matcher(query).excerpt(text).is_some(), "{query} in {text}");
        }
    }

    #[test]
    fn only_ascii_case_pairs_fold_to_case_stable_letters() {
        for letter in '\0'..=char::MAX {
            for small in fold_case(letter).filter(|small| is_case_stable(*small) && !is_case_ambiguous(*small)) {
                assert_eq!(letter.to_ascii_lowercase(), small, "{letter:?}");
            }
            let small: Vec<char> = fold_case(letter).collect();
            assert!(small.len() == 1 || small == ['i', '\u{307}'], "{letter:?}");
        }
    }

    #[test]
    fn prefilter_literal_is_in_every_matching_text() {
        assert_eq!(matcher("Kiwi").prefilter_literal(), "kiw");
        assert_eq!(matcher("i\u{307}b").prefilter_literal(), "b");
        assert_eq!(matcher("C++ 你好").prefilter_literal(), "c++ 你好");
        assert_eq!(matcher("Überfluss").prefilter_literal(), "berfluss");
        assert_eq!(matcher("ÄÖ").prefilter_literal(), "");
    }

    #[test]
    fn excerpt_shows_hit_as_written() {
        assert_eq!(matcher("tree").excerpt("A\nTREE grows").unwrap(), ["A ", "TREE", " grows"]);
        let long = format!("{}İx Tree{}", "a".repeat(500), "b".repeat(500));
        let [before, hit, after] = matcher("TREE").excerpt(&long).unwrap();
        assert_eq!(hit, "Tree");
        assert!(before.starts_with('…') && before.ends_with("İx "), "{before}");
        assert!(after.ends_with('…') && after.chars().count() == limits::FIND_AFTER + 1, "{after}");
        assert_eq!(matcher("x").excerpt("y"), None);
    }

    #[test]
    fn invalid_query_names_its_field() {
        assert!(TextMatcher::new(&"ä".repeat(limits::FIND_CHARS)).is_ok());
        assert_eq!(TextMatcher::new(&"ä".repeat(limits::FIND_CHARS + 1)).unwrap_err().field, "q");
        assert_eq!(TextMatcher::new(" \n").unwrap_err().field, "q");
    }
}
