//! Numbers as texts: grouped thousands, and counts with their noun in English for texts that are not localized (the
//! command line, logs and import findings).

/// Formats a number with grouped thousands: "12,345".
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with the noun in its number: "1 chat", "2 chats".
pub fn counted(count: u64, singular: &str, plural: &str) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let all = [0, 999, 1_204, 12_345, 1_234_567].map(group_thousands);
        assert_eq!(all, ["0", "999", "1,204", "12,345", "1,234,567"]);
    }

    #[test]
    fn noun_has_number_of_count() {
        let all = [0, 1, 2].map(|count| counted(count, "branch", "branches"));
        assert_eq!(all, ["0 branches", "1 branch", "2 branches"]);
    }
}
