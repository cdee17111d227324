//! Sanitizes untrusted text for display and storage: removes escape sequences, NUL, other control characters and the
//! credentials of its server, and bounds the length. A text of megabytes is cut before it is cleaned, because
//! messages are read concurrently with everything else; a partial credential at the cut is removed, too.

use turnleaf_domain::text::hidden_text::visible_text;
use turnleaf_providers::redaction::SecretSet;

/// Marks a text that was cut.
const CUT: char = '…';

/// Sanitizes a text and keeps its lines.
pub fn clean_text(text: &str, secrets: &SecretSet, at_most: usize) -> String {
    let (mut plain, is_cut) = clean_start(text, secrets, at_most, |c| c == '\n' || c == '\t');
    plain.extend(is_cut.then_some(CUT));
    shorten(plain, at_most)
}

/// Sanitizes a text into one line; runs of white space become one space.
pub fn clean_line(text: &str, secrets: &SecretSet, at_most: usize) -> String {
    let (plain, is_cut) = clean_start(text, secrets, at_most, char::is_whitespace);
    let mut line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.extend(is_cut.then_some(CUT));
    shorten(line, at_most)
}

/// Works like [`clean_text`], and writes hidden characters as their codes.
pub fn visible_clean_text(text: &str, secrets: &SecretSet, at_most: usize) -> String {
    shorten(visible_text(&clean_text(text, secrets, at_most)), at_most)
}

/// Works like [`clean_line`], and writes hidden characters as their codes.
pub fn visible_clean_line(text: &str, secrets: &SecretSet, at_most: usize) -> String {
    shorten(visible_text(&clean_line(text, secrets, at_most)), at_most)
}

/// Bytes of the source that are examined for this many bytes of output; terminal escapes and blanks may be most of
/// them.
fn scan_limit(at_most: usize) -> usize {
    8 * at_most + (4 << 10)
}

/// Returns the sanitized beginning of the text and whether the rest was cut. Credentials are redacted before the
/// escapes are stripped, because a broken escape swallows a character, and again afterwards, because escapes may
/// stand within a credential.
fn clean_start(text: &str, secrets: &SecretSet, at_most: usize, is_kept: impl Fn(char) -> bool) -> (String, bool) {
    let is_cut = text.len() > scan_limit(at_most);
    let redact = |text: String| match is_cut {
        true => String::from_utf8_lossy(&secrets.redact_truncated(text.into())).into_owned(),
        false => secrets.redact_known(text),
    };
    let whole = &text[..text.floor_char_boundary(scan_limit(at_most))];
    (redact(visible(&redact(whole.to_owned()), is_kept)), is_cut)
}

fn visible(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    // Stripping loses tabs, so only text with an escape sequence is stripped.
    let has_escapes = text.contains(['\u{1b}', '\u{9b}']);
    let text = if has_escapes { strip_ansi_escapes::strip_str(text) } else { text.to_owned() };
    text.chars().filter(|c| !c.is_control() || is_kept(*c)).collect()
}

/// Shortens a text to this many bytes at a character boundary.
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
    fn only_visible_text_is_left() {
        let none = SecretSet::default();
        assert_eq!(clean_text("\u{1b}[31mred\u{1b}[0m\0 and\tplain\r\nnext\u{7}", &none, 100), "red andplain\nnext");
        assert_eq!(clean_text("tab\tstays\nhere", &none, 100), "tab\tstays\nhere");
        assert_eq!(clean_line("  two\r\n\tlines \u{1b}]0;title\u{7}here ", &none, 100), "two lines here");
    }

    #[test]
    fn too_long_text_is_cut_between_characters() {
        let none = SecretSet::default();
        assert_eq!(clean_line("ääää", &none, 6), "ä…");
        assert_eq!(clean_line("äää", &none, 6), "äää");
        assert_eq!(clean_line("abc", &none, 1), "…");
    }

    #[test]
    fn credential_within_escapes_or_at_cut_leaves_no_part() {
        let secrets = SecretSet::new(["9f8e7d6c5b4a3f2e".into()]);
        for text in ["xx 9f8e7d6c5b4a3f2e", "xx 9f8e7d6c\u{1b}[1m5b4a3f2e"] {
            for at_most in [8, 12, 100] {
                let found = [clean_text(text, &secrets, at_most), clean_line(text, &secrets, at_most)];
                assert!(found.iter().all(|found| found.starts_with("xx ") && !found.contains("9f8")), "{found:?}");
            }
        }
    }

    #[test]
    fn long_text_is_cut_before_search_and_leaves_no_part_of_credential() {
        let key = format!("{}bcdef", "a".repeat(4000));
        let secrets = SecretSet::new([key.as_str().into()]);
        let started = std::time::Instant::now();
        let text = r"\u0061".repeat(1 << 20);
        assert!(clean_line(&text, &secrets, 300).len() <= 300 && clean_text(&text, &secrets, 300).len() <= 300);
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
        let secrets = SecretSet::new(["9f8e7d6c5b4a3f2e".into()]);
        // The cut may fall anywhere, also within terminal escapes.
        for before in scan_limit(100) - 30..=scan_limit(100) {
            for key in ["9f8e7d6c5b4a3f2e", "9f8e7d6c\u{1b}[1m5b4a3f2e"] {
                let escapes = "\u{1b}[1m".repeat(before / 4) + &"x".repeat(before % 4);
                let text = format!("{escapes}{key}{}", " behind".repeat(20));
                let found = clean_text(&text, &secrets, 100);
                assert!(found.len() <= 100 && found.ends_with('…') && !found.contains("9f"), "{before}: {found}");
            }
        }
    }
}
