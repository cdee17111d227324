//! Patterns of `LIKE ... ESCAPE '!'` for text that a person typed.

/// Returns a pattern for texts that contain this part; letters for which `is_any` holds become wildcards.
pub(crate) fn contains_pattern(part: &str, is_any: impl Fn(char) -> bool) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for letter in part.chars() {
        match letter {
            any if is_any(any) => pattern.push('_'),
            '%' | '_' | '!' => pattern.extend(['!', letter]),
            // Stored text has this replacement for NUL.
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
    use turnleaf_domain::text::text_matcher::is_case_ambiguous;

    #[test]
    fn pattern_has_wildcards_only_at_its_ends() {
        assert_eq!(contains_pattern("100%_!", |_| false), "%100!%!_!!%");
        assert_eq!(contains_pattern("kiwi", is_case_ambiguous), "%__w_%");
        assert_eq!(contains_pattern("", |_| false), "%%");
    }
}
