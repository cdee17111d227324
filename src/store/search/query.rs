//! Queries: the one rule that decides what matches and how well, for both databases.
//!
//! A text matches if it has every word of the query, compared after folding. A word of the query is the text between
//! its spaces, signs included. It starts at the start of a word in the text and ends at the end of one; the last one
//! may be a prefix, once it is long enough to be selective. In scripts without spaces every letter is a word.

use chrono::{DateTime, Utc};

use crate::search::fold::{CharClass, char_class, fold};
use crate::search::keys::{self, RequiredKey};
use turnleaf_domain::{InvalidField, MessageCode, Role, limits};

/// The number of occurrences of one word that are examined in one text.
const OCCURRENCES: usize = 64;

/// A parsed search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQuery {
    terms: Vec<Term>,
    /// The typed text, trimmed.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    text: String,
    chars: Vec<char>,
    /// Its last word may be a prefix.
    may_go_on: bool,
    begins_with_word: bool,
    ends_with_word: bool,
}

/// An occurrence of a query word in a folded text, as a byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    pub start: usize,
    pub end: usize,
    /// The index of the query word.
    pub term: usize,
}

impl TextQuery {
    /// Parses a query. Words match literally; there are no wildcards or operators.
    ///
    /// # Errors
    /// If it has no words, more than [`limits::SEARCH_TERMS`], or is longer than [`limits::SEARCH_CHARS`]; the field
    /// is `q`.
    pub fn new(query: &str) -> Result<Self, InvalidField> {
        if query.chars().count() > limits::SEARCH_CHARS {
            return Err(InvalidField::too_long("q", limits::SEARCH_CHARS));
        }
        let folded = fold(query);
        let words: Vec<&str> =
            folded.split(|letter| char_class(letter) == CharClass::Space).filter(|w| !w.is_empty()).collect();
        if words.is_empty() {
            return Err(InvalidField::new("q", MessageCode::Empty));
        }
        if words.len() > limits::SEARCH_TERMS {
            return Err(InvalidField::new("q", MessageCode::TooManyWords.with("most", limits::SEARCH_TERMS)));
        }
        let terms = words.iter().enumerate().map(|(at, word)| Term::new(word, at + 1 == words.len())).collect();
        Ok(Self { terms, text: query.trim().to_owned() })
    }

    /// Returns the typed text, trimmed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns keys that every matching text has.
    pub(super) fn keys(&self) -> Vec<RequiredKey> {
        let mut wanted: Vec<RequiredKey> = Vec::new();
        for one in self.terms.iter().flat_map(|term| keys::term_keys(&term.chars, term.may_go_on)) {
            if !wanted.contains(&one) {
                wanted.push(one);
            }
        }
        wanted
    }

    /// Returns the occurrences of the words in a folded text, in order; `None` if one of them is missing.
    pub fn all_occurrences(&self, folded: &str) -> Option<Vec<Occurrence>> {
        self.matches(folded).then(|| self.any_occurrences(folded))
    }

    /// Returns the occurrences of any of the words in a folded text, in order.
    pub fn any_occurrences(&self, folded: &str) -> Vec<Occurrence> {
        let places = |(at, term): (usize, &Term)| -> Vec<Occurrence> {
            let some = term.occurrences(folded).take(OCCURRENCES);
            some.map(|(start, end)| Occurrence { start, end, term: at }).collect()
        };
        let mut found: Vec<Occurrence> = self.terms.iter().enumerate().flat_map(places).collect();
        found.sort_unstable();
        found
    }

    /// Returns whether this folded text has all words.
    pub fn matches(&self, folded: &str) -> bool {
        self.terms.iter().all(|term| term.occurrences(folded).next().is_some())
    }

    /// Scores a folded text, `None` if it does not match; more is better. Adjacent words score most, then their
    /// proximity, their number, and the age of the text. The score never depends on the current time, so that pages
    /// of one search are consistent.
    pub fn score(&self, folded: &str, of: Option<Role>, at: DateTime<Utc>) -> Option<i64> {
        let found = self.all_occurrences(folded)?;
        let (start, end) = nearest(&found, self.terms.len());
        let letters: usize = self.terms.iter().map(|term| term.text.len()).sum();
        let between = (end - start).saturating_sub(letters);
        let mut points = match between {
            _ if between < self.terms.len() && self.is_in_order(&found, start) => 60,
            0..=10 => 40,
            11..=50 => 30,
            51..=200 => 20,
            201..=1000 => 10,
            _ => 0,
        };
        if self.terms.last().is_some_and(|term| term.is_whole_in(folded)) {
            points += 10;
        }
        points += 2 * i64::try_from((found.len() / self.terms.len()).min(5)).unwrap_or(0);
        if of == Some(Role::User) {
            points += 4;
        }
        // Two months are worth ten points.
        Some(points + at.timestamp().div_euclid(6 * 24 * 60 * 60))
    }

    /// Returns whether the words occur in the typed order from here on.
    fn is_in_order(&self, found: &[Occurrence], start: usize) -> bool {
        let mut places = found.iter().filter(|place| place.start >= start);
        (0..self.terms.len()).all(|term| places.next().is_some_and(|place| place.term == term))
    }
}

/// Returns the first of the shortest ranges that contain every word.
fn nearest(found: &[Occurrence], terms: usize) -> (usize, usize) {
    let mut last: Vec<Option<Occurrence>> = vec![None; terms];
    let mut best = (0, usize::MAX);
    for place in found {
        if let Some(slot) = last.get_mut(place.term) {
            *slot = Some(*place);
        }
        let Some(start) = last.iter().map(|place| place.map(|place| place.start)).min().flatten() else { continue };
        let end = last.iter().flatten().map(|place| place.end).max().unwrap_or(start);
        if end - start < best.1 - best.0 {
            best = (start, end);
        }
    }
    best
}

impl Term {
    fn new(word: &str, is_last: bool) -> Self {
        let chars: Vec<char> = word.chars().collect();
        let is_word = |letter: Option<&char>| letter.is_some_and(|letter| char_class(*letter) == CharClass::Word);
        let run = chars.iter().rev().take_while(|letter| char_class(**letter) == CharClass::Word).count();
        Self {
            text: word.to_owned(),
            may_go_on: is_last && run >= limits::SEARCH_PREFIX_CHARS,
            begins_with_word: is_word(chars.first()),
            ends_with_word: is_word(chars.last()),
            chars,
        }
    }

    fn occurrences<'a>(&'a self, folded: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
        let step = self.chars.first().map_or(1, |letter| letter.len_utf8());
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let start = from + folded.get(from..)?.find(&self.text)?;
                let end = start + self.text.len();
                if self.fits(folded, start, end) {
                    from = end;
                    return Some((start, end));
                }
                from = start + step;
            }
        })
    }

    fn fits(&self, folded: &str, start: usize, end: usize) -> bool {
        let is_word = |letter: Option<char>| letter.is_some_and(|letter| char_class(letter) == CharClass::Word);
        let begins = !self.begins_with_word || !is_word(folded[..start].chars().next_back());
        begins && (!self.ends_with_word || self.may_go_on || !is_word(folded[end..].chars().next()))
    }

    fn is_whole_in(&self, folded: &str) -> bool {
        let whole = Self { may_go_on: false, ..self.clone() };
        whole.occurrences(folded).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(query: &str, text: &str) -> bool {
        TextQuery::new(query).unwrap().matches(&fold(text))
    }

    #[test]
    fn query_signs_are_literal() {
        for sign in [
            "%",
            "_",
            "100%",
            "a_b",
            "\"",
            "foo\"bar",
            "AND",
            "*",
            "NEAR(",
            "a-b",
            "C++",
            "zz:hello",
            "(((",
            "' OR 1=1--",
        ] {
            assert!(finds(sign, &format!("before {sign} after")), "{sign}");
            assert!(!finds(sign, "before axb 100 zz hello NEA foobar C after"), "{sign}");
        }
    }

    #[test]
    fn words_match_from_start_and_last_word_is_prefix() {
        assert!(finds("tree", "Trees"));
        assert!(finds("old tree", "the trees are old"));
        assert!(!finds("tree", "a subtree"));
        assert!(!finds("tree old", "trees that are old"));
        assert!(!finds("tr", "trees"), "too short to go on");
        assert!(finds("tr", "a tr element"));
        assert!(finds("cafe", "Un Café") && finds("CAFÉ", "cafes"));
        assert!(finds("你好", "你好世界 再见") && finds("界", "你好世界"));
        assert!(!finds("你坏", "你好世界"));
        assert!(finds("模型 gpt", "GPT模型") && finds("GPT模", "用GPT模型"));
        assert!(finds("😀", "hm😀😀") && !finds("😁", "hm😀"));
        assert!(finds("/usr/local", "cd /usr/local/bin"));
        assert!(finds("a-a", "ba-a-a"));
        assert!(finds("학교", "학교에서 공부"));
    }

    #[test]
    fn exceeded_query_bounds_are_named() {
        assert!(TextQuery::new(&"a".repeat(256)).is_ok());
        assert!(TextQuery::new(&"a ".repeat(16)).is_ok());
        for wrong in [&"a".repeat(257), &"a ".repeat(17), "", " \n\u{200b}"] {
            assert_eq!(TextQuery::new(wrong).unwrap_err().field, "q");
        }
    }

    #[test]
    fn nearer_words_score_higher() {
        let at = DateTime::UNIX_EPOCH;
        let query = TextQuery::new("green tree").unwrap();
        let points = |text: &str| query.score(&fold(text), None, at).unwrap();
        let far = format!("green {} tree", "so ".repeat(100));
        let order = ["a green tree", "a tree, green", "green and also a bit of a tree", &far];
        for pair in order.windows(2) {
            assert!(points(pair[0]) > points(pair[1]), "{pair:?}");
        }
        assert!(points("green tree") > points("green trees"));
        assert!(query.score(&fold("green trees"), Some(Role::User), at) > Some(points("green trees")));
        assert!(query.score("green", None, at).is_none());
        let later = at + chrono::TimeDelta::days(60);
        assert!(query.score(&fold("green trees"), None, later) >= Some(points("green trees") + 10));
    }
}
