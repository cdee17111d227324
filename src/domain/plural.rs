//! Counts with their noun in English, for texts that are not localized: the command line, logs and import findings.

/// Formats a count with the noun in its number: "1 chat", "2 chats".
pub fn counted(count: u64, singular: &str, plural: &str) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noun_has_number_of_count() {
        let all = [0, 1, 2].map(|count| counted(count, "branch", "branches"));
        assert_eq!(all, ["0 branches", "1 branch", "2 branches"]);
    }
}
