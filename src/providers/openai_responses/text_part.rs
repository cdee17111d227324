//! A text that is streamed: a text of a message, a part of a summary, or the arguments of a call. It arrives as
//! deltas, complete, or both, and every character is emitted once.

use serde_json::Value;

use crate::surrogates;

/// The position of a text in its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartPosition {
    /// An index of `content`.
    Content(u64),
    /// An index of `summary`.
    Summary(u64),
    /// The arguments of a call, or the input of a custom call.
    Arguments,
}

/// The state of one text.
#[derive(Debug, Default)]
pub struct TextPart {
    pub emitted: String,
    /// A lone high surrogate after `emitted`, which the next delta may complete.
    half: Option<u32>,
    /// The citations of this text were emitted.
    pub is_cited: bool,
}

impl TextPart {
    /// Appends a delta and returns the text to emit.
    pub fn push_delta(&mut self, delta: &str, is_mended: bool) -> String {
        let more = if is_mended || self.half.is_some() {
            let (joined, half) = surrogates::join_surrogates(self.half.take(), delta);
            self.half = half;
            joined
        } else {
            delta.to_owned()
        };
        self.emitted.push_str(&more);
        more
    }

    /// Reads the complete text and returns the part that was not emitted. A complete text that does not start with
    /// the emitted text adds nothing, because emitted text cannot be withdrawn.
    pub fn complete_with(&mut self, whole: &str, is_mended: bool) -> String {
        let whole = resolve_surrogates(whole, is_mended);
        match whole.strip_prefix(self.emitted.as_str()) {
            Some(rest) if !whole.is_empty() => {
                let rest = rest.to_owned();
                self.half = None;
                self.emitted = whole;
                rest
            }
            _ => self.flush_lone_surrogate(),
        }
    }

    /// Replaces a lone surrogate at the end with U+FFFD, because nothing follows that could complete it.
    pub fn flush_lone_surrogate(&mut self) -> String {
        let lost = self.half.take().map_or(String::new(), |_| char::REPLACEMENT_CHARACTER.to_string());
        self.emitted.push_str(&lost);
        lost
    }
}

/// Replaces the surrogate placeholders in a complete text.
fn resolve_surrogates(text: &str, is_mended: bool) -> String {
    if !is_mended {
        return text.to_owned();
    }
    let (mut joined, half) = surrogates::join_surrogates(None, text);
    joined.extend(half.map(|_| char::REPLACEMENT_CHARACTER));
    joined
}

/// Replaces the surrogate placeholders in every text of a value.
pub fn resolve_all_surrogates(value: &mut Value) {
    match value {
        Value::String(text) => *text = resolve_surrogates(text, true),
        Value::Array(list) => list.iter_mut().for_each(resolve_all_surrogates),
        Value::Object(map) => map.values_mut().for_each(resolve_all_surrogates),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_and_whole_texts_emit_every_character_once() {
        for (what, deltas, wholes, told) in [
            ("deltas, then the same", vec!["ab", "c"], vec!["abc", "abc"], "abc"),
            ("a whole alone", vec![], vec!["abc", "abc"], "abc"),
            ("a missing end", vec!["a"], vec!["abc"], "abc"),
            ("an empty whole", vec!["a"], vec![""], "a"),
            ("another whole", vec!["ab"], vec!["xyz"], "ab"),
            ("wholes that grow", vec![], vec!["a", "ab", "a"], "ab"),
        ] {
            let mut part = TextPart::default();
            let mut said = String::new();
            deltas.iter().for_each(|delta| said.push_str(&part.push_delta(delta, false)));
            wholes.iter().for_each(|whole| said.push_str(&part.complete_with(whole, false)));
            assert_eq!(said, told, "{what}");
            assert_eq!(part.emitted, told, "{what}");
        }
    }

    #[test]
    fn split_surrogate_pair_becomes_one_character() {
        let mended = |json: &str| serde_json::from_str::<String>(&surrogates::replace_lone_surrogates(json)).unwrap();
        let (high, low) = (mended(r#""a\ud83d""#), mended(r#""\ude00""#));
        let mut part = TextPart::default();
        assert_eq!(part.push_delta(&high, true), "a");
        assert_eq!(part.push_delta(&low, true), "😀");
        let mut part = TextPart::default();
        part.push_delta(&high, true);
        assert_eq!(part.complete_with("a😀b", false), "😀b");
        let mut part = TextPart::default();
        part.push_delta(&high, true);
        assert_eq!((part.flush_lone_surrogate(), part.flush_lone_surrogate()), ("\u{fffd}".into(), String::new()));
    }
}
