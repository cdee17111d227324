//! Properties of languages for the scanner.

mod definitions;

pub use definitions::find_language;

/// The scanner that a language needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanguageKind {
    Code,
    Markup,
    Diff,
}

/// A language. Word lists are separated by spaces.
#[derive(Debug)]
pub struct Language {
    /// The names that people and models use, in lower case.
    names: &'static str,
    pub kind: LanguageKind,
    pub line_comments: &'static [&'static str],
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Longer ones first.
    pub quotes: &'static [&'static str],
    keywords: &'static str,
    constants: &'static str,
    types: &'static str,
    traits: u32,
}

impl Language {
    /// `@name` is an attribute.
    pub const AT_ATTRIBUTES: u32 = 1;
    /// `#[…]` is an attribute.
    pub const HASH_ATTRIBUTES: u32 = 1 << 1;
    /// `#name` at the start of a line is an instruction.
    pub const DIRECTIVES: u32 = 1 << 2;
    /// `[…]` at the start of a line is a heading.
    pub const SECTIONS: u32 = 1 << 3;
    /// `'name` is a lifetime or a type.
    pub const LIFETIMES: u32 = 1 << 4;
    /// `$name` is a variable, and a hash starts a comment only after a space.
    pub const SIGILS: u32 = 1 << 5;
    /// `#name` is a value.
    pub const HASHES: u32 = 1 << 6;
    /// Letters may stand before the quotes of a string.
    pub const PREFIXES: u32 = 1 << 7;
    /// Strings may continue over the end of a line.
    pub const LONG_STRINGS: u32 = 1 << 8;
    /// A word may have hyphens in it.
    pub const HYPHENS: u32 = 1 << 9;
    /// A word before a colon is a key.
    pub const COLON_KEYS: u32 = 1 << 10;
    /// A word before an equals sign is a key.
    pub const EQUAL_KEYS: u32 = 1 << 11;
    /// `name!` is a call.
    pub const MACROS: u32 = 1 << 12;
    /// A word with a capital is a type.
    pub const CAPITAL_TYPES: u32 = 1 << 13;
    /// Keywords may be written in any case.
    pub const ANY_CASE: u32 = 1 << 14;

    pub fn has(&self, property: u32) -> bool {
        self.traits & property != 0
    }

    pub fn is_keyword(&self, word: &str) -> bool {
        self.contains_word(self.keywords, word)
    }

    pub fn is_constant(&self, word: &str) -> bool {
        self.contains_word(self.constants, word)
    }

    pub fn is_type(&self, word: &str) -> bool {
        self.contains_word(self.types, word)
    }

    fn contains_word(&self, words: &str, word: &str) -> bool {
        words.split(' ').any(|known| known == word || (self.has(Self::ANY_CASE) && known.eq_ignore_ascii_case(word)))
    }
}
