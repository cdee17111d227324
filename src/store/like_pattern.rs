//! Patterns of `LIKE ... ESCAPE '!'` for words that somebody typed.

/// A pattern for texts that have this part somewhere, letter for letter but for those that stand for any one.
pub(super) fn contains_pattern(part: &str, is_any: impl Fn(char) -> bool) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for letter in part.chars() {
        match letter {
            any if is_any(any) => pattern.push('_'),
            '%' | '_' | '!' => pattern.extend(['!', letter]),
            // As stored text has it.
            '\0' => pattern.push('\u{2400}'),
            _ => pattern.push(letter),
        }
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::text_matcher::is_case_ambiguous;

    #[test]
    fn pattern_has_wildcards_only_at_its_ends() {
        assert_eq!(contains_pattern("100%_!", |_| false), "%100!%!_!!%");
        assert_eq!(contains_pattern("kiwi", is_case_ambiguous), "%__w_%");
        assert_eq!(contains_pattern("", |_| false), "%%");
    }
}
