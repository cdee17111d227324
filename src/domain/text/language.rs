//! Detection of a text's language from its letters, as far as they are conclusive; fonts and screen reader voices
//! follow it (`docs/reference/ux.md 13.4`). Scripts that several languages share yield nothing, because no mark is
//! better than a wrong one.

/// The number of characters examined, without code. Later text has no effect, so that a streaming text keeps its
/// language.
const SAMPLE: usize = 256;
/// The bound on the characters read, code included, so that a long code block is not read again with every delta.
const PASSED: usize = 8 << 10;
/// The lengths at which a streaming text is examined.
const LOOKS: [usize; 3] = [16, 64, SAMPLE];
/// The number of English words required, and their minimum share of all words.
const ENGLISH_HITS: usize = 3;
const ENGLISH_SHARE: usize = 16;
/// Words that nearly every English paragraph contains and related languages do not have.
const ENGLISH: [&str; 16] = [
    "the", "and", "with", "this", "that", "you", "your", "are", "from", "which", "have", "not", "would", "can", "it's",
    "when",
];
/// Characters that occur in only one of the two Chinese scripts, as pairs.
const SIMPLIFIED: &str = "这们个来时说国对学为还会过么开请问点让没给实现";
const TRADITIONAL: &str = "這們個來時說國對學為還會過麼開請問點讓沒給實現";

/// The counts of a text's characters by script.
#[derive(Debug, Default)]
struct CharCounts {
    han: usize,
    simplified: usize,
    traditional: usize,
    kana: usize,
    hangul: usize,
    /// Words of Latin letters, and how many of them are English.
    latin: usize,
    english: usize,
    /// Letters of scripts that identify one language, by index into [`ALONE`].
    alone: [usize; ALONE.len()],
    arabic: usize,
    persian: usize,
    hebrew: usize,
    cyrillic: usize,
    russian: usize,
    ukrainian: usize,
    neither: usize,
    other: usize,
}

/// Scripts that are used, nearly or entirely, by one language today.
const ALONE: [(std::ops::RangeInclusive<char>, &str); 12] = [
    ('\u{370}'..='\u{3ff}', "el"),
    ('\u{530}'..='\u{58f}', "hy"),
    ('\u{a80}'..='\u{aff}', "gu"),
    ('\u{b80}'..='\u{bff}', "ta"),
    ('\u{c00}'..='\u{c7f}', "te"),
    ('\u{c80}'..='\u{cff}', "kn"),
    ('\u{d00}'..='\u{d7f}', "ml"),
    ('\u{d80}'..='\u{dff}', "si"),
    ('\u{e00}'..='\u{e7f}', "th"),
    ('\u{e80}'..='\u{eff}', "lo"),
    ('\u{10a0}'..='\u{10ff}', "ka"),
    ('\u{1780}'..='\u{17ff}', "km"),
];

/// Returns the BCP 47 language of a whole text, or `None` if its letters are not conclusive.
pub fn detect(text: &str) -> Option<&'static str> {
    judge(&count(text.chars(), SAMPLE).0)
}

/// Returns the language of a streaming text, as of the last examined length, so that it changes only a few times and
/// early.
pub fn detect_while_streaming(text: &str) -> Option<&'static str> {
    let (_, seen) = count(text.chars(), SAMPLE);
    let look = LOOKS.into_iter().rev().find(|look| *look <= seen)?;
    judge(&count(text.chars(), look).0)
}

/// Counts the first `most` characters outside of code. Also returns how many there were.
fn count(text: impl Iterator<Item = char>, most: usize) -> (CharCounts, usize) {
    let mut count = CharCounts::default();
    let (mut seen, mut word) = (0, String::new());
    let mut code = CodeScanner::default();
    for letter in text.take(PASSED) {
        if code.consume(letter) {
            count.word(&mut word);
            continue;
        }
        if seen == most {
            break;
        }
        seen += 1;
        let is_latin = letter.is_ascii_alphabetic() || matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
        if is_latin || (letter == '\'' && !word.is_empty()) {
            // The English words in question have only ASCII letters.
            word.push(letter.to_ascii_lowercase());
        } else {
            count.word(&mut word);
            count.letter(letter);
        }
    }
    // A last word that may continue does not count yet.
    if seen < most {
        count.word(&mut word);
    }
    (count, seen)
}

impl CharCounts {
    fn word(&mut self, word: &mut String) {
        if !word.is_empty() {
            self.latin += 1;
            self.english += usize::from(ENGLISH.contains(&word.as_str()));
            word.clear();
        }
    }

    fn letter(&mut self, letter: char) {
        if let Some(at) = ALONE.iter().position(|(script, _)| script.contains(&letter)) {
            self.alone[at] += 1;
            return;
        }
        match letter {
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' => {
                self.han += 1;
                self.simplified += usize::from(SIMPLIFIED.contains(letter));
                self.traditional += usize::from(TRADITIONAL.contains(letter));
            }
            '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' if letter != '・' => {
                self.kana += 1;
            }
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => self.hangul += 1,
            '\u{591}'..='\u{5ea}' => self.hebrew += 1,
            // Ligatures that only Yiddish uses.
            '\u{5ef}'..='\u{5f2}' => (self.hebrew, self.neither) = (self.hebrew + 1, self.neither + 1),
            '\u{620}'..='\u{64a}' => self.arabic += 1,
            // Letters that Persian, Urdu and others added to the alphabet.
            '\u{66e}'..='\u{6d3}' | '\u{6d5}' | '\u{750}'..='\u{77f}' => self.persian += 1,
            'а'..='я' | 'А'..='Я' | 'ё' | 'Ё' => {
                self.cyrillic += 1;
                self.russian += usize::from("ыэёЫЭЁ".contains(letter));
            }
            'ї' | 'є' | 'і' | 'ґ' | 'Ї' | 'Є' | 'І' | 'Ґ' => {
                self.cyrillic += 1;
                self.ukrainian += usize::from("їєЇЄ".contains(letter));
                self.neither += usize::from("іґІҐ".contains(letter));
            }
            '\u{400}'..='\u{52f}' => (self.cyrillic, self.other) = (self.cyrillic + 1, self.other + 1),
            letter if letter.is_alphabetic() => self.other += 1,
            _ => {}
        }
    }
}

/// Returns the language of at least half of the counted characters, if one is identified.
fn judge(count: &CharCounts) -> Option<&'static str> {
    let alone: usize = count.alone.iter().sum();
    let eastern = count.han + count.kana + count.hangul;
    let semitic = count.arabic + count.persian + count.hebrew;
    let all = count.latin + eastern + alone + semitic + count.cyrillic + count.other;
    let is_most = |many: usize| many > 0 && many * 2 >= all;
    if is_most(eastern) {
        return Some(match () {
            () if count.hangul * 2 >= eastern => "ko",
            // A few kana within Chinese text are decoration.
            () if count.kana * 10 >= count.kana + count.han => "ja",
            () if count.traditional > count.simplified => "zh-Hant",
            () => "zh",
        });
    }
    if let Some(at) = count.alone.iter().position(|many| is_most(*many)) {
        return Some(ALONE[at].1);
    }
    if is_most(count.hebrew) {
        return (count.neither == 0).then_some("he");
    }
    if is_most(count.arabic + count.persian) {
        return (count.persian == 0).then_some("ar");
    }
    if is_most(count.cyrillic) {
        return match (count.russian, count.ukrainian) {
            (1.., 0) if count.neither + count.other == 0 => Some("ru"),
            (0, 1..) if count.other == 0 => Some("uk"),
            _ => None,
        };
    }
    let is_english = count.english >= ENGLISH_HITS && count.english * ENGLISH_SHARE >= count.latin;
    (is_most(count.latin) && is_english).then_some("en")
}

/// A scanner for code, fenced or in backticks, which says nothing about the language.
#[derive(Debug, Default)]
struct CodeScanner {
    /// The backticks directly before the current character, if the line began with them.
    ticks: usize,
    is_at_start: bool,
    has_begun: bool,
    is_fenced: bool,
    is_inline: bool,
}

impl CodeScanner {
    /// Returns true if this character belongs to code or its delimiters.
    fn consume(&mut self, letter: char) -> bool {
        let is_at_start = self.is_at_start || !self.has_begun;
        self.has_begun = true;
        match letter {
            '\n' => {
                (self.is_at_start, self.is_inline, self.ticks) = (true, false, 0);
                self.is_fenced
            }
            '`' => {
                self.is_at_start = is_at_start;
                self.ticks += 1;
                match (is_at_start, self.ticks) {
                    (true, 3) => (self.is_fenced, self.is_inline) = (!self.is_fenced, false),
                    (true, 4..) => {}
                    _ if !self.is_fenced => self.is_inline = !self.is_inline,
                    _ => {}
                }
                true
            }
            // The text after an opening fence names its language; nothing follows a closing one.
            _ if is_at_start && self.ticks >= 3 => true,
            ' ' | '\t' | '>' if is_at_start => {
                self.is_at_start = true;
                self.is_fenced
            }
            _ => {
                (self.is_at_start, self.ticks) = (false, 0);
                self.is_fenced || self.is_inline
            }
        }
    }
}

#[cfg(test)]
mod tests;
