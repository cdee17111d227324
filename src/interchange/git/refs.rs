//! Branch ref names: any text becomes a name that is valid for git, valid as a file name on every system, and unique
//! within the chat.

use std::collections::HashSet;

/// Maximum length in bytes: git appends a suffix while it updates a ref, and file systems allow 255.
const MAX_BYTES: usize = 200;

/// The names in use.
#[derive(Debug, Default)]
pub struct BranchRefNames(HashSet<String>);

impl BranchRefNames {
    /// Assigns a unique name to a branch; deterministic for the same branches in the same order.
    pub fn assign(&mut self, of: &str) -> String {
        let plain = to_ref_name(of);
        let mut name = plain.clone();
        let mut number = 2;
        // Some file systems are case-insensitive.
        while !self.0.insert(name.to_lowercase()) {
            let ending = format!("-{number}");
            name = format!("{}{ending}", cut(&plain, MAX_BYTES - ending.len()));
            number += 1;
        }
        name
    }
}

/// Converts text to a valid ref and file name (`git check-ref-format`).
pub fn to_ref_name(words: &str) -> String {
    let mut name = String::with_capacity(words.len());
    for c in words.chars() {
        let is_kept = !c.is_control()
            && !c.is_whitespace()
            && !is_invisible(c)
            && !matches!(
                c,
                '~' | '^' | ':' | '?' | '*' | '[' | ']' | '\\' | '/' | '"' | '<' | '>' | '|' | '@' | '{' | '}' | '.'
            );
        match (is_kept, name.chars().next_back()) {
            (true, _) => name.push(c),
            // A single dot between others is kept ("v1.5"); two would be a commit range.
            (false, Some(last)) if c == '.' => {
                if last != '.' {
                    name.push('.');
                }
            }
            (false, Some(last)) if last != '-' => name.push('-'),
            (false, _) => {}
        }
    }
    let mut name = cut(&name, MAX_BYTES).trim_matches(['-', '.']);
    // `.lock` is git's suffix for files that are being updated.
    while let Some(before) = strip_lock(name) {
        name = before.trim_matches(['-', '.']);
    }
    match name {
        "" => "branch".to_owned(),
        // Git would resolve this name as `HEAD`.
        name if name.eq_ignore_ascii_case("head") => format!("{name}-branch"),
        name => name.to_owned(),
    }
}

fn strip_lock(name: &str) -> Option<&str> {
    let at = name.len().checked_sub(".lock".len())?;
    name.get(at..)?.eq_ignore_ascii_case(".lock").then(|| &name[..at])
}

/// Returns whether a character is invisible or changes the text direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn cut(name: &str, longest: usize) -> &str {
    &name[..name.floor_char_boundary(longest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_become_valid_ref_names() {
        for (words, name) in [
            ("main", "main"),
            ("With another model", "With-another-model"),
            ("版本 二", "版本-二"),
            ("a..b", "a.b"),
            ("...", "branch"),
            ("", "branch"),
            (" \n", "branch"),
            ("x.lock", "x"),
            ("x.LOCK.lock", "x"),
            (".lock", "lock"),
            ("-rf", "rf"),
            ("a/b", "a-b"),
            ("@", "branch"),
            ("a@{1}", "a-1"),
            ("HEAD", "HEAD-branch"),
            ("refs/heads/a", "refs-heads-a"),
            ("what? why* [no] ~^:\\", "what-why-no"),
            ("v1.5", "v1.5"),
            ("end.", "end"),
            ("a\u{202e}b\u{200b}", "a-b"),
            ("a . . b", "a-.-.-b"),
        ] {
            assert_eq!(to_ref_name(words), name, "{words:?}");
        }
        assert!(to_ref_name(&"很长".repeat(999)).len() <= MAX_BYTES);
    }

    #[test]
    fn branches_with_same_name_get_distinct_refs() {
        let mut names = BranchRefNames::default();
        let long = "x".repeat(999);
        let given: Vec<String> = ["a", "a", "A", "a-2", &long, &long].into_iter().map(|of| names.assign(of)).collect();
        assert_eq!(given[..4], ["a", "a-2", "A-3", "a-2-2"]);
        assert!(given[5].ends_with("-2") && given[5].len() == MAX_BYTES, "{}", given[5]);
    }
}
