//! Text from outside that nobody should take at its face: characters that are not seen but change what is read
//! (badinputs.md S-UN, reliability.md F76).

/// How many characters of a text are there but not seen: controls, marks that turn the direction of writing, spaces of
/// no width, tags.
pub fn hidden_characters(text: &str) -> u32 {
    u32::try_from(text.chars().filter(|c| is_hidden(*c)).count()).unwrap_or(u32::MAX)
}

/// Whether a character is there but not seen.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        // Emoji and several scripts are joined by these; alone they hide nothing.
        '\u{200c}' | '\u{200d}' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// A text as it can be stored by every database: NUL becomes its picture.
pub fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_counted() {
        let tags: String = ('\u{e0061}'..='\u{e007a}').collect();
        let table = [
            ("plain text\n\twith a tab\r\n", 0),
            ("report\u{202e}gnp.exe", 1),
            (&format!("hi{tags}") as &str, 26),
            ("a\u{200b}b\u{feff}", 2),
            ("\u{1b}[31mred\u{1b}[0m", 2),
            ("👩\u{200d}👩\u{200d}👧 and می\u{200c}خواهم", 0),
            ("nul\0", 1),
            ("中文，没有什么隐藏", 0),
        ];
        for (text, hidden) in table {
            assert_eq!(hidden_characters(text), hidden, "{text:?}");
        }
    }

    #[test]
    fn a_nul_becomes_its_picture() {
        assert_eq!(without_nul("a\0b".into()), "a␀b");
        assert_eq!(without_nul("ab".into()), "ab");
    }
}
