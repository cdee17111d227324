//! Detection of invisible characters in untrusted text, which can make it read differently from how it looks.

/// Counts the invisible characters of a text: controls, bidirectional marks, zero-width spaces, tags, and joiners and
/// variation selectors that have no effect.
pub fn count_hidden_characters(text: &str) -> u32 {
    u32::try_from(find_hidden_characters(text).count()).unwrap_or(u32::MAX)
}

/// The black flag, which tags turn into the flag of a nation.
const FLAG: char = '\u{1f3f4}';
/// The nations whose flags are emoji (Unicode TR 51, ED-23) as tag sequences, with the terminating tag.
const NATIONS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The preceding character, as far as joiners and variation selectors may follow it.
#[derive(Clone, Copy, PartialEq)]
enum PrecedingChar {
    Nothing,
    /// A digit or a phone key, which a variation selector turns into an emoji.
    Key,
    Letter,
    Varied,
}

/// Returns the invisible characters of a text with their byte offsets. Emoji and several scripts need joiners and
/// variation selectors, so one of each after a letter or emoji is legitimate; more are hidden text.
pub fn find_hidden_characters(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut base = PrecedingChar::Nothing;
    let mut flag_end = 0;
    text.char_indices().filter(move |&(at, c)| {
        if at < flag_end {
            return false;
        }
        let (next, is_seen) = match c {
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => match base {
                PrecedingChar::Letter | PrecedingChar::Key => (PrecedingChar::Varied, true),
                PrecedingChar::Nothing | PrecedingChar::Varied => (PrecedingChar::Nothing, false),
            },
            '\u{200c}' | '\u{200d}' => {
                (PrecedingChar::Nothing, matches!(base, PrecedingChar::Letter | PrecedingChar::Varied))
            }
            c if is_hidden_character(c) => (PrecedingChar::Nothing, false),
            FLAG => {
                let behind = at + c.len_utf8();
                let nation = NATIONS.into_iter().find(|nation| text[behind..].starts_with(nation));
                flag_end = behind + nation.map_or(0, str::len);
                (PrecedingChar::Letter, true)
            }
            '0'..='9' | '#' | '*' => (PrecedingChar::Key, true),
            c => (if c.is_ascii() { PrecedingChar::Nothing } else { PrecedingChar::Letter }, true),
        };
        base = next;
        !is_seen
    })
}

/// Returns true if a character is invisible by itself. Joiners and variation selectors belong to the character before
/// them.
pub fn is_hidden_character(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{200c}' | '\u{200d}' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// Returns the text with each hidden character written as its code, such as `[U+200B]`.
pub fn visible_text(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut shown = 0;
    for (at, hidden) in find_hidden_characters(text) {
        visible.push_str(&text[shown..at]);
        visible.push_str(&format!("[U+{:04X}]", u32::from(hidden)));
        shown = at + hidden.len_utf8();
    }
    visible.push_str(&text[shown..]);
    visible
}

/// Replaces NUL with its symbol, because the databases cannot store NUL in text.
pub fn replace_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_counted() {
        let tags: String = ('\u{e0061}'..='\u{e007a}').collect();
        let table = [
            ("plain text\n\twith a tab\r\n", 0),
            ("report\u{202e}gnp.exe", 1),
            (&format!("hi{tags}") as &str, 26),
            ("a\u{200b}b\u{feff}", 2),
            ("\u{1b}[31mred\u{1b}[0m", 2),
            ("👩\u{200d}👩\u{200d}👧 and می\u{200c}خواهم", 0),
            // Flags, a heart on fire, a key, hands and families; Persian, Hindi, Malayalam, Arabic, Japanese names.
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}!", 0),
            ("❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} ☝🏽 ☺\u{fe0e}", 0),
            ("क्\u{200d}ष ന്\u{200d} می\u{200c}شود", 0),
            ("葛\u{e0100}城", 0),
            // The same characters are hidden text if nothing needs them.
            ("a\u{200d}b\u{200c}c", 2),
            ("می\u{200c}\u{200d}\u{200c}", 2),
            ("👍\u{fe0f}\u{fe01}\u{fe02}\u{e0101}", 3),
            ("a\u{fe0f} \u{fe0f}", 2),
            ("\u{1f3f4}\u{e0061}\u{e007f}", 2),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0061}", 1),
            ("nul\0", 1),
            ("中文，没有什么隐藏", 0),
        ];
        for (text, hidden) in table {
            assert_eq!(count_hidden_characters(text), hidden, "{text:?}");
        }
    }

    #[test]
    fn nul_becomes_its_picture() {
        assert_eq!(replace_nul("a\0b".into()), "a␀b");
        assert_eq!(replace_nul("ab".into()), "ab");
    }
}
