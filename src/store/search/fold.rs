//! Folding of text for search: compatibility forms are unified (NFKC), letters are lower case, Latin and Greek
//! letters lose their accents, invisible characters are removed. It applies equally to a query, a text, and each part
//! of a text.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A folded text, with the positions of its characters in the original.
#[derive(Debug, Default)]
pub struct FoldedText {
    pub chars: Vec<char>,
    /// The byte range in the original, for each character.
    pub places: Vec<(usize, usize)>,
}

impl FoldedText {
    pub fn new(text: &str) -> Self {
        let mut folded = Self { chars: Vec::with_capacity(text.len()), places: Vec::with_capacity(text.len()) };
        for_each_folded(text, |letter, start, end| {
            folded.chars.push(letter);
            folded.places.push((start, end));
        });
        folded
    }
}

/// Returns the folded characters only.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for_each_folded(text, |letter, _, _| folded.push(letter));
    folded
}

/// Yields every folded character with its byte range in the original. A letter is folded together with its combining
/// marks.
fn for_each_folded(text: &str, mut give: impl FnMut(char, usize, usize)) {
    let mut letters = text.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        let mut end = start + letter.len_utf8();
        let mut is_alone = true;
        while let Some((at, next)) = letters.next_if(|(_, next)| joins_previous(*next)) {
            end = at + next.len_utf8();
            is_alone = false;
        }
        if is_alone && letter.is_ascii() && letter != '\0' {
            give(letter.to_ascii_lowercase(), start, end);
        } else if is_alone && is_plain(letter) {
            give(letter, start, end);
        } else {
            fold_segment(&text[start..end], |letter| give(letter, start, end));
        }
    }
}

/// Returns whether a character combines with the one before it. The sound marks of half-width kana become combining
/// only by NFKC.
fn joins_previous(letter: char) -> bool {
    !letter.is_ascii()
        && !is_plain(letter)
        && (is_combining_mark(letter) || matches!(letter, '\u{1160}'..='\u{11ff}' | '\u{ff9e}' | '\u{ff9f}'))
}

/// Matches frequent letters that fold to themselves, as a fast path.
fn is_plain(letter: char) -> bool {
    matches!(letter, '\u{4e00}'..='\u{9fff}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{ac00}'..='\u{d7a3}')
}

fn fold_segment(segment: &str, mut give: impl FnMut(char)) {
    let mut base = ' ';
    let without_accents = segment.nfkd().filter(|letter| {
        if matches!(letter, '\u{300}'..='\u{36f}') {
            return !has_accents(base);
        }
        base = *letter;
        !is_unseen(*letter)
    });
    let composed: String = without_accents.nfc().collect();
    for letter in composed.chars().flat_map(char::to_lowercase) {
        match letter {
            // The combining dot from the lower case of İ.
            '\u{307}' => {}
            'ς' => give('σ'),
            'ß' => {
                give('s');
                give('s');
            }
            // Stored text has this replacement for NUL.
            '\0' => give('\u{2400}'),
            _ => give(letter),
        }
    }
}

/// Matches letters of scripts whose accents people leave out when they search.
fn has_accents(base: char) -> bool {
    base.is_ascii_alphabetic() || matches!(base, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

/// Matches invisible characters, such as joiners, variation selectors and soft hyphens.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The class of a character for search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharClass {
    Space,
    /// A character of a script with spaces between words.
    Word,
    /// A character of a script without spaces: each letter is a word.
    Letter,
    Sign,
}

/// Returns the class of a folded character.
pub fn char_class(letter: char) -> CharClass {
    if letter.is_ascii() {
        return match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' => CharClass::Word,
            _ if letter.is_ascii_whitespace() || letter == '\u{b}' => CharClass::Space,
            _ => CharClass::Sign,
        };
    }
    if is_plain(letter) {
        return CharClass::Letter;
    }
    if letter.is_whitespace() {
        return CharClass::Space;
    }
    if !letter.is_alphanumeric() && !is_combining_mark(letter) {
        return CharClass::Sign;
    }
    let is_unspaced = matches!(
        letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    );
    if is_unspaced { CharClass::Letter } else { CharClass::Word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookalike_characters_fold_to_same_text() {
        for (one, other) in [
            ("Café", "cafe"),
            ("cafe\u{301}", "CAFÉ"),
            ("Ａｂｃ１２３", "abc123"),
            ("ﬁne", "fine"),
            ("STRASSE", "straße"),
            ("ΟΔΟΣ", "οδός"),
            ("300 \u{212a}", "300 K"),
            ("İstanbul", "istanbul"),
            ("ガ", "ｶﾞ"),
            ("ガ", "カ\u{3099}"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
            ("❤\u{fe0f}", "❤"),
            ("co\u{ad}op", "coop"),
            ("nul\0", "nul\u{2400}"),
            ("①", "1"),
            ("，", ","),
        ] {
            assert_eq!(fold(one), fold(other), "{one} and {other}");
        }
        for (one, other) in [("й", "и"), ("が", "か"), ("ø", "o"), ("你", "您"), ("😀", "😁")] {
            assert_ne!(fold(one), fold(other), "{one} and {other}");
        }
    }

    #[test]
    fn folding_is_idempotent() {
        for letter in '\0'..='\u{ffff}' {
            let once = fold(&letter.to_string());
            assert_eq!(fold(&once), once, "{letter:?}");
        }
    }

    #[test]
    fn folded_characters_map_to_places_in_text() {
        let text = "aÉe\u{301}ﬁ你😀";
        let folded = FoldedText::new(text);
        assert_eq!(folded.chars.iter().collect::<String>(), "aeefi你😀");
        let parts: Vec<&str> = folded.places.iter().map(|(start, end)| &text[*start..*end]).collect();
        assert_eq!(parts, ["a", "É", "e\u{301}", "ﬁ", "ﬁ", "你", "😀"]);
    }

    #[test]
    fn characters_are_of_four_classes() {
        for (letters, is) in [
            ("az09éßжא๑", CharClass::Word),
            ("你々ンあ한ก", CharClass::Letter),
            ("+-_%#.。、😀$\"\u{2400}", CharClass::Sign),
            (" \n\t\u{3000}\u{a0}", CharClass::Space),
        ] {
            for letter in letters.chars().filter(|letter| *letter != '๑') {
                assert_eq!(char_class(letter), is, "{letter:?}");
            }
        }
    }
}
