//! Surrogates that a provider split over two deltas. JSON writes 😀 as `\ud83d\ude00`; a provider that splits its text
//! by UTF-16 code units sends each surrogate in its own event, and `serde_json` accepts neither. A lone surrogate is
//! replaced by a placeholder character that survives parsing, and adjacent deltas of one text are joined to the
//! character again. A surrogate without its counterpart becomes U+FFFD.

use std::borrow::Cow;

/// The first placeholder, in plane 16 of the private use area; there is one for each of the 2048 surrogates.
const FIRST_PLACEHOLDER: u32 = 0x10_F000;
const FIRST_SURROGATE: u32 = 0xD800;
const SURROGATE_COUNT: u32 = 0x800;
const FIRST_LOW_SURROGATE: u32 = 0xDC00;

/// Returns the JSON text with every lone surrogate replaced by its placeholder; borrowed if there is none.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    replace_lone(json, |half| char::from_u32(FIRST_PLACEHOLDER + half - FIRST_SURROGATE))
}

/// Returns the JSON text with every lone surrogate replaced by U+FFFD; borrowed if there is none.
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    replace_lone(json, |_| Some(char::REPLACEMENT_CHARACTER))
}

fn replace_lone(json: &str, replacement: impl Fn(u32) -> Option<char>) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let Some(surrogate) = escaped_surrogate(bytes, at) else {
            at += 2;
            continue;
        };
        if surrogate < FIRST_LOW_SURROGATE
            && escaped_surrogate(bytes, at + 6).is_some_and(|low| low >= FIRST_LOW_SURROGATE)
        {
            at += 12;
            continue;
        }
        mended.push_str(&json[copied..at]);
        mended.extend(replacement(surrogate));
        at += 6;
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[copied..]);
    Cow::Owned(mended)
}

/// Returns the surrogate of the escape at `at`, if it is one.
fn escaped_surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    (FIRST_SURROGATE..FIRST_SURROGATE + SURROGATE_COUNT).contains(&unit).then_some(unit)
}

fn surrogate_of_placeholder(c: char) -> Option<u32> {
    let offset = u32::from(c).checked_sub(FIRST_PLACEHOLDER)?;
    (offset < SURROGATE_COUNT).then_some(FIRST_SURROGATE + offset)
}

/// Resolves the placeholders in a text, given the high surrogate that the previous delta ended with. Returns the text
/// and the high surrogate that it ends with.
pub fn join_surrogates(held: Option<u32>, text: &str) -> (String, Option<u32>) {
    let mut high = held;
    let mut joined = String::with_capacity(text.len());
    for c in text.chars() {
        let surrogate = surrogate_of_placeholder(c);
        match (high.take(), surrogate) {
            (Some(up), Some(low)) if low >= FIRST_LOW_SURROGATE => {
                let whole = 0x1_0000 + ((up - FIRST_SURROGATE) << 10) + (low - FIRST_LOW_SURROGATE);
                joined.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
                continue;
            }
            (Some(_), _) => joined.push(char::REPLACEMENT_CHARACTER),
            (None, _) => {}
        }
        match surrogate {
            Some(surrogate) if surrogate < FIRST_LOW_SURROGATE => high = Some(surrogate),
            Some(_) => joined.push(char::REPLACEMENT_CHARACTER),
            None => joined.push(c),
        }
    }
    (joined, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deltas(events: &[&str]) -> String {
        let mut held = None;
        let mut whole = String::new();
        for event in events {
            let text: String = serde_json::from_str(&replace_lone_surrogates(event)).unwrap();
            let (joined, high) = join_surrogates(held, &text);
            whole.push_str(&joined);
            held = high;
        }
        if held.is_some() {
            whole.push(char::REPLACEMENT_CHARACTER);
        }
        whole
    }

    #[test]
    fn surrogates_of_two_events_become_one_character() {
        for (events, expected) in [
            (&[r#""a\ud83d""#, r#""\ude00b""#][..], "a😀b"),
            (&[r#""\ud83d""#, r#""""#, r#""\ude00""#], "😀"),
            (&[r#""\ud83d\ude00\ud83d""#, r#""\ude00""#], "😀😀"),
            (&[r#""\ud83d""#], "\u{fffd}"),
            (&[r#""\ude00\ud83d""#, r#""x""#], "\u{fffd}\u{fffd}x"),
            (&[r#""\ud83d\ud83d""#, r#""\ude00""#], "\u{fffd}😀"),
            (&[r#""\\ud83d""#], "\\ud83d"),
            (&[r#""\\\ud83d""#, r#""\ude00""#], "\\😀"),
            (&[r#""\ud83dx""#], "\u{fffd}x"),
            (&[r#""😀""#], "😀"),
        ] {
            assert_eq!(deltas(events), expected, "{events:?}");
        }
    }

    #[test]
    fn text_without_surrogates_is_not_copied() {
        assert!(matches!(replace_lone_surrogates(r#"{"a":"\ud83d\ude00 \n é"}"#), Cow::Borrowed(_)));
    }
}
