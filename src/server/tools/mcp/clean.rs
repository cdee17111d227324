//! Text of a stranger made fit to be shown and stored: no escape sequences, no NUL, no other control character, no
//! credential of its server, and no longer than it may be. It is cut last: a part of a credential would not be known.

use crate::server::outbound::redact::Secrets;

/// One that is cut ends so.
const CUT: char = '…';

/// The text with its lines.
pub fn text(text: &str, secrets: &Secrets, at_most: usize) -> String {
    shorten(secrets.redact_known(visible(text, |c| c == '\n' || c == '\t')), at_most)
}

/// The text as one line; runs of white space are one space.
pub fn line(text: &str, secrets: &Secrets, at_most: usize) -> String {
    let plain = secrets.redact_known(visible(text, char::is_whitespace));
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
        let none = Secrets::default();
        assert_eq!(text("\u{1b}[31mred\u{1b}[0m\0 and\tplain\r\nnext\u{7}", &none, 100), "red andplain\nnext");
        assert_eq!(text("tab\tstays\nhere", &none, 100), "tab\tstays\nhere");
        assert_eq!(line("  two\r\n\tlines \u{1b}]0;title\u{7}here ", &none, 100), "two lines here");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let none = Secrets::default();
        assert_eq!(line("ääää", &none, 6), "ä…");
        assert_eq!(line("äää", &none, 6), "äää");
        assert_eq!(line("abc", &none, 1), "…");
    }

    #[test]
    fn credential_within_escapes_or_at_the_cut_leaves_no_part() {
        let secrets = Secrets::new(["9f8e7d6c5b4a3f2e".into()]);
        for said in ["xx 9f8e7d6c5b4a3f2e", "xx 9f8e7d6c\u{1b}[1m5b4a3f2e"] {
            for at_most in [8, 12, 100] {
                let found = [text(said, &secrets, at_most), line(said, &secrets, at_most)];
                assert!(found.iter().all(|found| found.starts_with("xx ") && !found.contains("9f8")), "{found:?}");
            }
        }
    }
}
