//! Keys of the search index: each text has each of its keys once. A key consists of letters and digits only (or of
//! non-ASCII characters), so that neither database applies tokenization rules of its own.
//!
//! A key begins with four characters for the owner and one for the kind, so that other owners' texts are in another
//! range of the index. The next character is its type: `w` a word, or one or two letters of a script without spaces;
//! `a` the prefix of a word; `s` a sign; `t` two adjacent signs; `p` a word with the sign after it, `q` with the sign
//! before it, which make `C++`, `a-b`, `100%` and `foo_bar` quick to find; `f` a location: the chat, the role, the
//! branch, or the model.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::search::SearchKind;
use crate::search::fold::{CharClass, char_class};
use turnleaf_domain::{UserId, limits};
use turnleaf_platform::hex::hex;

/// The version of these rules. A change of it reindexes everything.
pub const RULES_VERSION: i64 = 1;

/// The lengths of prefixes that are keys. For other prefixes a database scans the words that have them.
const BEGINNINGS: [usize; 3] = [3, 4, 6];

/// Returns the prefix of every key of an owner's texts of one kind.
pub fn key_prefix(owner: UserId, kind: SearchKind) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = Sha256::digest(owner.uuid().as_bytes());
    let mut key: String = hash.iter().take(4).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    key.push(match kind {
        SearchKind::Chat => 'c',
        SearchKind::Document => 'd',
        SearchKind::Turn => 't',
    });
    key
}

/// The location of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLocation<'a> {
    Chat(uuid::Uuid),
    Branch(uuid::Uuid),
    Role(&'a str),
    Model(&'a str),
}

impl TextLocation<'_> {
    pub fn key(self) -> String {
        match self {
            Self::Chat(id) => format!("fc{}", id.simple()),
            Self::Branch(id) => format!("fb{}", id.simple()),
            Self::Role(role) if role.bytes().all(|byte| byte.is_ascii_lowercase()) => format!("fr{role}"),
            // A damaged role must not be taken for several words.
            Self::Role(_) => "frunknown".to_owned(),
            Self::Model(model) => {
                format!("fm{}", hex(&Sha256::digest(model.as_bytes())[..8]))
            }
        }
    }
}

/// A key that a matching text must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredKey {
    pub key: String,
    /// Also matches longer keys with this prefix.
    pub is_prefix: bool,
}

/// Returns every key of a folded text.
pub fn text_keys(chars: &[char]) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for_each_part(chars, |part| match part {
        KeyPart::Word { run, .. } => {
            keys.insert(word_key(run));
            keys.extend(BEGINNINGS.iter().filter(|most| run.len() >= **most).map(|most| prefix_key(run, *most)));
        }
        KeyPart::Letters(run) => {
            keys.extend(run.iter().map(|letter| format!("w{letter}")));
            keys.extend(run.windows(2).map(letter_pair_key));
        }
        KeyPart::Sign { sign, before, after } => {
            keys.insert(sign_key(sign));
            if let Some((next, _)) = after.filter(|(next, _)| char_class(*next) == CharClass::Sign) {
                keys.insert(sign_pair_key(sign, next));
            }
            if let (Some(run), true) = (before.run, is_strong(sign) || after.is_some_and(|(next, _)| !is_space(next))) {
                keys.insert(sign_word_key('p', sign, run));
            }
            if let (Some((_, Some(run))), true) =
                (after, is_strong(sign) || before.last.is_some_and(|last| !is_space(last)))
            {
                keys.insert(sign_word_key('q', sign, run));
            }
        }
    });
    keys
}

/// Returns keys that every text with this folded term has: enough to select candidates, not all. Its first word
/// starts at a word boundary; its last one ends at one, unless `may_go_on`.
pub fn term_keys(chars: &[char], may_go_on: bool) -> Vec<RequiredKey> {
    let mut wanted: Vec<RequiredKey> = Vec::new();
    let mut want = |key: String, is_prefix: bool| {
        let one = RequiredKey { key, is_prefix };
        if wanted.len() < limits::SEARCH_KEYS && !wanted.contains(&one) {
            wanted.push(one);
        }
    };
    let goes_on = |run: &[char], end: usize| may_go_on && end == chars.len() && run.len() < limits::SEARCH_WORD_CHARS;
    for_each_part(chars, |part| match part {
        // A word next to a sign is covered by the more selective key of the sign.
        KeyPart::Word { run, end, is_next_to_sign: false } => want_word(&mut want, run, goes_on(run, end)),
        KeyPart::Word { .. } => {}
        KeyPart::Letters([letter]) => want(format!("w{letter}"), false),
        KeyPart::Letters(run) => run.windows(2).for_each(|pair| want(letter_pair_key(pair), false)),
        KeyPart::Sign { sign, before, after } => {
            let mut is_covered = false;
            if let Some(run) = before.run {
                if is_strong(sign) || after.is_some() {
                    want(sign_word_key('p', sign, run), false);
                    is_covered = true;
                } else {
                    want(word_key(run), false);
                }
            }
            if let Some((_, Some(run))) = after {
                let end = before.end + 1 + run.len();
                if is_strong(sign) || before.last.is_some() {
                    want(sign_word_key('q', sign, run), goes_on(run, end));
                    is_covered = true;
                } else {
                    want_word(&mut want, run, goes_on(run, end));
                }
            }
            if let Some((next, None)) = after.filter(|(next, _)| char_class(*next) == CharClass::Sign) {
                want(sign_pair_key(sign, next), false);
                is_covered = true;
            }
            if !is_covered {
                want(sign_key(sign), false);
            }
        }
    });
    wanted
}

/// Requires the key of a word or of a prefix: short prefixes are keys, because a database scans every word with a
/// prefix. A prefix is never shortened, because very many texts may match it, and all of them would be verified.
fn want_word(want: &mut impl FnMut(String, bool), run: &[char], goes_on: bool) {
    if goes_on && BEGINNINGS.contains(&run.len()) {
        want(prefix_key(run, run.len()), false);
    } else {
        want(word_key(run), goes_on);
    }
}

/// The context before a sign.
#[derive(Clone, Copy, Default)]
struct BeforeSign<'a> {
    /// The preceding character.
    last: Option<char>,
    /// The preceding word, if it is one.
    run: Option<&'a [char]>,
    /// The number of characters before the sign.
    end: usize,
}

enum KeyPart<'a> {
    Word {
        run: &'a [char],
        end: usize,
        is_next_to_sign: bool,
    },
    Letters(&'a [char]),
    /// A sign with the character after it, and the word that this starts.
    Sign {
        sign: char,
        before: BeforeSign<'a>,
        after: Option<(char, Option<&'a [char]>)>,
    },
}

fn for_each_part<'a>(chars: &'a [char], mut give: impl FnMut(KeyPart<'a>)) {
    let run_from = |at: usize, is: CharClass| {
        let end = chars[at..].iter().position(|letter| char_class(*letter) != is).map_or(chars.len(), |n| at + n);
        &chars[at..end]
    };
    let is_sign = |at: usize| chars.get(at).is_some_and(|letter| char_class(*letter) == CharClass::Sign);
    let mut at = 0;
    let mut last_word: Option<&[char]> = None;
    while let Some(letter) = chars.get(at) {
        match char_class(*letter) {
            CharClass::Space => at += 1,
            CharClass::Word => {
                let run = run_from(at, CharClass::Word);
                let end = at + run.len();
                give(KeyPart::Word { run, end, is_next_to_sign: (at > 0 && is_sign(at - 1)) || is_sign(end) });
                at = end;
                last_word = Some(run);
                continue;
            }
            CharClass::Letter => {
                let run = run_from(at, CharClass::Letter);
                give(KeyPart::Letters(run));
                at += run.len();
            }
            CharClass::Sign => {
                let before = BeforeSign { last: at.checked_sub(1).map(|at| chars[at]), run: last_word, end: at };
                let word =
                    |next: char| (char_class(next) == CharClass::Word).then(|| run_from(at + 1, CharClass::Word));
                let after = chars.get(at + 1).map(|next| (*next, word(*next)));
                give(KeyPart::Sign { sign: *letter, before, after });
                at += 1;
            }
        }
        last_word = None;
    }
}

fn is_space(letter: char) -> bool {
    char_class(letter) == CharClass::Space
}

/// Returns whether a sign is selective even at the end of a word. Others are ordinary punctuation.
fn is_strong(sign: char) -> bool {
    !matches!(sign, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"' | '\'' | '`' | '*')
        && !matches!(sign, '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{301f}')
}

fn word_key(run: &[char]) -> String {
    let mut key = "w".to_owned();
    key.extend(&run[..run.len().min(limits::SEARCH_WORD_CHARS)]);
    key
}

fn prefix_key(run: &[char], most: usize) -> String {
    let mut key = "a".to_owned();
    key.extend(&run[..most.min(run.len())]);
    key
}

fn letter_pair_key(pair: &[char]) -> String {
    let mut key = "w".to_owned();
    key.extend(pair);
    key
}

fn sign_key(sign: char) -> String {
    format!("s{:x}", u32::from(sign))
}

fn sign_pair_key(one: char, other: char) -> String {
    format!("t{:x}x{:x}", u32::from(one), u32::from(other))
}

fn sign_word_key(side: char, sign: char, run: &[char]) -> String {
    let mut key = format!("{side}{:x}x", u32::from(sign));
    key.extend(&run[..run.len().min(limits::SEARCH_WORD_CHARS)]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::fold::fold;

    fn chars(text: &str) -> Vec<char> {
        fold(text).chars().collect()
    }

    fn wanted(term: &str, may_go_on: bool) -> Vec<String> {
        let keys = term_keys(&chars(term), may_go_on);
        keys.into_iter().map(|one| if one.is_prefix { format!("{}*", one.key) } else { one.key }).collect()
    }

    #[test]
    fn text_has_each_key_once() {
        let keys: Vec<String> = text_keys(&chars("Tree, tree 你好你")).into_iter().collect();
        assert_eq!(keys, ["atre", "atree", "s2c", "wtree", "w你", "w你好", "w好", "w好你"]);
    }

    #[test]
    fn meaningful_signs_are_indexed_with_their_words() {
        assert_eq!(wanted("C++", true), ["p2bxc", "t2bx2b", "s2b"]);
        assert_eq!(wanted("a-b", false), ["p2dxa", "q2dxb"]);
        assert_eq!(wanted("100%", true), ["p25x100"]);
        assert_eq!(wanted("foo_bar", true), ["p5fxfoo", "q5fxbar*"]);
        assert_eq!(wanted("end.", true), ["wend", "s2e"]);
        assert_eq!(wanted("(((", true), ["t28x28", "s28"]);
        assert_eq!(wanted("tree", true), ["atree"]);
        assert_eq!(wanted("trees", true), ["wtrees*"]);
        assert_eq!(wanted("treetop", true), ["wtreetop*"]);
        assert_eq!(wanted("tree", false), ["wtree"]);
        assert_eq!(wanted("GPT模型", true), ["wgpt", "w模型"]);
        assert_eq!(wanted("模", true), ["w模"]);
    }

    #[test]
    fn every_substring_requires_only_keys_of_its_text() {
        let texts = [
            "if (a->b == c::d) { return f(x)[0]; } // 100% of foo_bar, \"quoted\" 'words'",
            "C++ and C#; a-b. 你好，世界！(GPT模型) naïve Ünï",
            "/usr/local/bin/x.sh --flag=value https://example.com/a?b=c&d=%20 😀😀 👍🏽 --- ... ((()))",
            "อาหารไทย อร่อย 학교에서 공부 ガ゛ー word— dash",
        ];
        for text in texts {
            let all = chars(text);
            let keys = text_keys(&all);
            for term in text.split_whitespace() {
                let term = chars(term);
                // Every range from a word start to a word end, and beyond the last word if it may continue.
                for start in 0..term.len() {
                    for end in start + 1..=term.len() {
                        let is_word =
                            |at: usize| term.get(at).is_some_and(|letter| char_class(*letter) == CharClass::Word);
                        if start > 0 && is_word(start) && is_word(start - 1) {
                            continue;
                        }
                        let cuts = is_word(end - 1) && is_word(end);
                        for wanted in term_keys(&term[start..end], cuts) {
                            let is_there = keys
                                .iter()
                                .any(|key| *key == wanted.key || (wanted.is_prefix && key.starts_with(&wanted.key)));
                            let piece: String = term[start..end].iter().collect();
                            assert!(is_there, "{piece} wants {wanted:?} of {text}");
                        }
                    }
                }
            }
        }
    }
}
