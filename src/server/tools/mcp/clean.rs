//! Text of a stranger made fit to be shown and stored: no escape sequences, no NUL, no other control character, and no
//! longer than it may be.

/// One that is cut ends so.
const CUT: char = '…';

/// The text with its lines.
pub fn text(text: &str, at_most: usize) -> String {
    shorten(visible(text, |c| c == '\n' || c == '\t'), at_most)
}

/// The text as one line; runs of white space are one space.
pub fn line(text: &str, at_most: usize) -> String {
    let plain = visible(text, char::is_whitespace);
    shorten(plain.split_whitespace().collect::<Vec<_>>().join(" "), at_most)
}

fn visible(text: &str, stays: impl Fn(char) -> bool) -> String {
    // Stripping loses tabs, so only what has an escape sequence goes through it.
    let has_escapes = text.contains(['\u{1b}', '\u{9b}']);
    let text = if has_escapes { strip_ansi_escapes::strip_str(text) } else { text.to_owned() };
    text.chars().filter(|c| !c.is_control() || stays(*c)).collect()
}

/// At most so many bytes of it, whole characters.
pub fn shorten(mut text: String, at_most: usize) -> String {
    if text.len() > at_most {
        text.truncate(text.floor_char_boundary(at_most.saturating_sub(CUT.len_utf8())));
        text.push(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_left() {
        assert_eq!(text("\u{1b}[31mred\u{1b}[0m\0 and\tplain\r\nnext\u{7}", 100), "red andplain\nnext");
        assert_eq!(text("tab\tstays\nhere", 100), "tab\tstays\nhere");
        assert_eq!(line("  two\r\n\tlines \u{1b}]0;title\u{7}here ", 100), "two lines here");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(line("ääää", 6), "ä…");
        assert_eq!(line("äää", 6), "äää");
        assert_eq!(line("abc", 1), "…");
    }
}
