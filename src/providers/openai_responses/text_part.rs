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

impl PartPosition {
    /// Returns true for two parts of the same list of an item.
    pub fn is_same_list(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Returns the index in its list.
    pub fn index(self) -> u64 {
        match self {
            Self::Content(index) | Self::Summary(index) => index,
            Self::Arguments => 0,
        }
    }
}

/// The event that ended a text: servers may send both for the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEnding {
    /// `response.output_text.done` and the like.
    Text,
    /// `response.content_part.done` and the like.
    Part,
}

/// The state of one text.
#[derive(Debug, Default)]
pub struct TextPart {
    pub emitted: String,
    /// A lone high surrogate after `emitted`, which the next delta may complete.
    surrogate: Option<u32>,
    /// The citations of this text were emitted.
    pub is_cited: bool,
    /// The text ended: another text with its index is another part.
    pub is_closed: bool,
    /// The text ended with [`PartEnding::Text`], and with [`PartEnding::Part`].
    endings: (bool, bool),
}

/// The difference between a complete text and the emitted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextCompletion {
    /// This text at the end, which may be empty.
    Rest(String),
    /// The complete text corrects the emitted one.
    Correction(String),
}

impl TextPart {
    /// Returns true if this kind of event ended the text already.
    pub fn has_ended(&self, ending: PartEnding) -> bool {
        match ending {
            PartEnding::Text => self.endings.0,
            PartEnding::Part => self.endings.1,
        }
    }

    /// Notes that an event ended the text.
    pub fn end(&mut self, ending: PartEnding) {
        self.is_closed = true;
        match ending {
            PartEnding::Text => self.endings.0 = true,
            PartEnding::Part => self.endings.1 = true,
        }
    }

    /// Returns true if one of the emitted and the complete text begins with the other.
    pub fn is_compatible(&self, whole: &str) -> bool {
        whole.starts_with(&self.emitted) || self.emitted.starts_with(whole)
    }

    /// Appends a delta and returns the text to emit.
    pub fn push_delta(&mut self, delta: &str, is_mended: bool) -> String {
        let more = if is_mended || self.surrogate.is_some() {
            let (joined, surrogate) = surrogates::join_surrogates(self.surrogate.take(), delta);
            self.surrogate = surrogate;
            joined
        } else {
            delta.to_owned()
        };
        self.emitted.push_str(&more);
        more
    }

    /// Compares the complete text with the emitted one. A blank text, and one that the emitted text begins with, was
    /// cut off by the server and corrects nothing. The caller applies a correction with [`Self::correct`] if the
    /// emitted text can still be replaced.
    pub fn complete_with(&mut self, whole: &str, is_mended: bool) -> TextCompletion {
        let whole = resolve_surrogates(whole, is_mended);
        if let Some(rest) = whole.strip_prefix(self.emitted.as_str())
            && !whole.is_empty()
        {
            let rest = rest.to_owned();
            self.surrogate = None;
            self.emitted = whole;
            return TextCompletion::Rest(rest);
        }
        if whole.trim().is_empty() || self.emitted.starts_with(&whole) {
            return TextCompletion::Rest(self.flush_lone_surrogate());
        }
        TextCompletion::Correction(whole)
    }

    /// Replaces the emitted text.
    pub fn correct(&mut self, whole: String) {
        self.surrogate = None;
        self.emitted = whole;
    }

    /// Replaces a lone surrogate at the end with U+FFFD, because nothing follows that could complete it.
    pub fn flush_lone_surrogate(&mut self) -> String {
        let lost = self.surrogate.take().map_or(String::new(), |_| char::REPLACEMENT_CHARACTER.to_string());
        self.emitted.push_str(&lost);
        lost
    }
}

/// Replaces the surrogate placeholders in a complete text.
pub fn resolve_surrogates(text: &str, is_mended: bool) -> String {
    if !is_mended {
        return text.to_owned();
    }
    let (mut joined, surrogate) = surrogates::join_surrogates(None, text);
    joined.extend(surrogate.map(|_| char::REPLACEMENT_CHARACTER));
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
        for (case, deltas, wholes, expected) in [
            ("deltas, then the same", vec!["ab", "c"], vec!["abc", "abc"], "abc"),
            ("a whole alone", vec![], vec!["abc", "abc"], "abc"),
            ("a missing end", vec!["a"], vec!["abc"], "abc"),
            ("an empty whole", vec!["a"], vec![""], "a"),
            ("a cut whole", vec!["abc"], vec!["ab"], "abc"),
            ("a blank whole", vec!["ab"], vec![" \n"], "ab"),
            ("another whole", vec!["ab"], vec!["xyz", "xyz"], "xyz"),
            ("another whole that grows", vec!["ab"], vec!["xyz", "xyz!", "xy"], "xyz!"),
            ("wholes that grow", vec![], vec!["a", "ab", "a"], "ab"),
        ] {
            let mut part = TextPart::default();
            let mut emitted = String::new();
            deltas.iter().for_each(|delta| emitted.push_str(&part.push_delta(delta, false)));
            for whole in wholes {
                match part.complete_with(whole, false) {
                    TextCompletion::Rest(rest) => emitted.push_str(&rest),
                    TextCompletion::Correction(whole) => {
                        part.correct(whole.clone());
                        emitted = whole;
                    }
                }
            }
            assert_eq!(emitted, expected, "{case}");
            assert_eq!(part.emitted, expected, "{case}");
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
        assert_eq!(part.complete_with("a😀b", false), TextCompletion::Rest("😀b".to_owned()));
        let mut part = TextPart::default();
        part.push_delta(&high, true);
        assert_eq!((part.flush_lone_surrogate(), part.flush_lone_surrogate()), ("\u{fffd}".into(), String::new()));
    }
}
