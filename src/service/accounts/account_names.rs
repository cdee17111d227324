//! Names of accounts as they are compared: compatibility forms are unified (NFKC), letters are lower case, and letters
//! of other alphabets that look like Latin ones count as these. So nobody takes a name that others read as somebody
//! else's.

use unicode_normalization::UnicodeNormalization;

use turnleaf_domain::accounts::account::check_account_name;
use turnleaf_domain::{InvalidField, limits};
use turnleaf_platform::random::random_token;
use turnleaf_store::accounts::users::AccountNames;

/// Cyrillic and Greek letters, in lower case, with the Latin letters that they look like.
const LOOK_ALIKES: &[(char, char)] = &[
    ('а', 'a'),
    ('в', 'b'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('һ', 'h'),
    ('н', 'h'),
    ('і', 'i'),
    ('ї', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('ѕ', 's'),
    ('т', 't'),
    ('ѵ', 'v'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('у', 'y'),
    ('ү', 'y'),
    ('α', 'a'),
    ('β', 'b'),
    ('γ', 'y'),
    ('ε', 'e'),
    ('η', 'n'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('μ', 'm'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('ı', 'i'),
    ('ɑ', 'a'),
    ('ɡ', 'g'),
];

/// Maximum number of characters that are added to a suggested name.
const SUFFIX_CHARS: usize = 9;

/// A valid name with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedName {
    pub name: String,
    pub key: String,
}

impl CheckedName {
    /// Validates a name.
    pub(super) fn new(name: &str) -> Result<Self, InvalidField> {
        let name = check_account_name(&name.nfc().collect::<String>())?;
        let key = name_key(&name);
        Ok(Self { name, key })
    }

    pub(super) fn names(&self) -> AccountNames<'_> {
        AccountNames { name: &self.name, key: &self.key }
    }
}

/// Returns names for a new account whose person did not choose one: those that another service calls the person by, in
/// the form that a name has here, then with a number, and last with random characters.
pub(super) fn suggested_names(names: &[String]) -> impl Iterator<Item = String> + use<> {
    let is_allowed = |c: &char| c.is_alphanumeric() || "._-+@".contains(*c);
    let plain = |name: &String| {
        let with_dots = name.trim().nfc().map(|c| if c.is_whitespace() { '.' } else { c });
        with_dots.filter(is_allowed).take(limits::ACCOUNT_NAME_CHARS - SUFFIX_CHARS).collect::<String>()
    };
    let base = names.iter().map(plain).find(|name| !name.is_empty()).unwrap_or_else(|| "user".to_owned());
    let random = format!("{base}-{}", &random_token()[..SUFFIX_CHARS - 1]);
    let numbered = (2..=limits::NEW_ACCOUNT_NAMES).map({
        let base = base.clone();
        move |number| format!("{base}{number}")
    });
    std::iter::once(base).chain(numbered).chain([random])
}

/// Returns the key of a name as it was typed.
pub(super) fn name_key(name: &str) -> String {
    let folded = name.trim().nfkc().flat_map(char::to_lowercase);
    folded.map(|c| LOOK_ALIKES.iter().find(|(other, _)| *other == c).map_or(c, |(_, latin)| *latin)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_equal() {
        for (one, other) in [
            ("Ann", "ann"),
            ("ann ", " ANN"),
            // Cyrillic а, Greek ο, full width letters.
            ("ann", "\u{430}nn"),
            ("bob", "b\u{3bf}b"),
            ("ann", "\u{ff21}\u{ff2e}\u{ff2e}"),
            ("РОРОV", "popov"),
            ("josé", "jose\u{301}"),
        ] {
            assert_eq!(name_key(one), name_key(other), "{one} {other}");
        }
        for (one, other) in [("ann", "anna"), ("jose", "josé"), ("小明", "小名"), ("ann1", "annl")] {
            assert_ne!(name_key(one), name_key(other), "{one} {other}");
        }
    }

    #[test]
    fn suggested_names_are_valid_and_different() {
        for (given, expected) in [
            (&["ann"][..], ["ann", "ann2"]),
            (&["<>", " Ann Lee "], ["Ann.Lee", "Ann.Lee2"]),
            (&["a\u{202e}nn/../b"], ["ann..b", "ann..b2"]),
            (&["ann@a.example"], ["ann@a.example", "ann@a.example2"]),
            (&[], ["user", "user2"]),
        ] {
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            let names: Vec<String> = suggested_names(&given).collect();
            assert_eq!(names[..2], expected);
            assert_eq!(names.len(), limits::NEW_ACCOUNT_NAMES + 1);
            assert!(names.iter().all(|name| CheckedName::new(name).is_ok()), "{names:?}");
        }
        let long: Vec<String> = suggested_names(&["a".repeat(300)]).collect();
        assert!(long.iter().all(|name| CheckedName::new(name).is_ok()), "{long:?}");
        assert_ne!(long.last(), suggested_names(&["a".repeat(300)]).last().as_ref());
    }

    #[test]
    fn checked_name_is_shown_as_it_was_typed() {
        let checked = CheckedName::new(" Ann.B ").unwrap();
        assert_eq!((checked.name.as_str(), checked.key.as_str()), ("Ann.B", "ann.b"));
        assert!(CheckedName::new("a b").is_err());
        // One character, also where it was typed as two.
        assert_eq!(CheckedName::new("jose\u{301}").unwrap().name, "josé");
    }
}
