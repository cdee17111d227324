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

/// The kind of event that has a complete text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalSource {
    /// The end of the text, or of its part.
    Text,
    /// The end of its item. `is_completed` means that the item says that nothing is missing.
    Item { is_completed: bool },
    /// The final snapshot, likewise.
    Snapshot { is_completed: bool },
}

impl FinalSource {
    fn bit(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::Item { .. } => 2,
            Self::Snapshot { .. } => 4,
        }
    }

    fn is_completed(self) -> bool {
        matches!(self, Self::Item { is_completed: true } | Self::Snapshot { is_completed: true })
    }
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
    /// The length of a final text that the emitted one begins with, and the kinds of events that had it.
    shorter: (usize, u8),
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

    /// Compares the complete text with the emitted one. A blank text erases nothing, and neither does one that the
    /// emitted text begins with, because servers cut final texts off; unless nothing can be missing
    /// ([`Self::is_really_shorter`]). The caller applies a correction with [`Self::correct`] if the emitted text can
    /// still be replaced.
    pub fn complete_with(&mut self, whole: &str, source: FinalSource) -> TextCompletion {
        if let Some(rest) = whole.strip_prefix(self.emitted.as_str())
            && !whole.is_empty()
        {
            self.surrogate = None;
            whole.clone_into(&mut self.emitted);
            return TextCompletion::Rest(rest.to_owned());
        }
        if whole.trim().is_empty() || (self.emitted.starts_with(whole) && !self.is_really_shorter(whole.len(), source))
        {
            return TextCompletion::Rest(self.flush_lone_surrogate());
        }
        TextCompletion::Correction(whole.to_owned())
    }

    /// Returns true if the emitted text beyond this length is surplus: it repeats the final text, or the item is
    /// completed, or the ends of text and item and the snapshot all have this text.
    fn is_really_shorter(&mut self, length: usize, source: FinalSource) -> bool {
        const ALL: u8 = 7;
        let (whole, surplus) = self.emitted.split_at(length);
        let is_repetition = surplus.len() >= length && surplus.bytes().zip(whole.bytes().cycle()).all(|(a, b)| a == b);
        if source.is_completed() || is_repetition {
            return true;
        }
        let (known, seen) = self.shorter;
        let seen = if known == length { seen | source.bit() } else { source.bit() };
        self.shorter = (length, seen);
        seen == ALL
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
            ("a cut whole", vec!["abc"], vec!["ab", "ab"], "abc"),
            ("a text that was repeated", vec!["ab", "ab"], vec!["ab"], "ab"),
            ("a text that was repeated in part", vec!["ab", "aba"], vec!["ab"], "ab"),
            ("a text that begins like its end", vec!["ab", "abc"], vec!["ab"], "ababc"),
            ("a blank whole", vec!["ab"], vec![" \n"], "ab"),
            ("another whole", vec!["ab"], vec!["xyz", "xyz"], "xyz"),
            ("another whole that grows", vec!["ab"], vec!["xyz", "xyz!", "xy"], "xyz!"),
            ("wholes that grow", vec![], vec!["a", "ab", "a"], "ab"),
        ] {
            let mut part = TextPart::default();
            let mut emitted = String::new();
            deltas.iter().for_each(|delta| emitted.push_str(&part.push_delta(delta, false)));
            for whole in wholes {
                match part.complete_with(whole, FinalSource::Text) {
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
    fn shorter_final_text_counts_where_nothing_can_be_missing() {
        use FinalSource::{Item, Snapshot, Text};
        let item = |is_completed| Item { is_completed };
        let snapshot = |is_completed| Snapshot { is_completed };
        for (case, finals, expected) in [
            ("one event", vec![("ab", Text)], "abc"),
            ("an item without status", vec![("ab", item(false))], "abc"),
            ("a completed item", vec![("ab", item(true))], "ab"),
            ("a completed item without text", vec![("", item(true)), (" ", snapshot(true))], "abc"),
            ("a completed snapshot", vec![("ab", Text), ("ab", snapshot(true))], "ab"),
            ("two events", vec![("ab", Text), ("ab", item(false))], "abc"),
            ("one kind of event", vec![("ab", Text), ("ab", Text), ("ab", Text)], "abc"),
            ("all agree", vec![("ab", Text), ("ab", item(false)), ("ab", snapshot(false))], "ab"),
            ("they differ", vec![("ab", Text), ("a", item(false)), ("ab", snapshot(false))], "abc"),
        ] {
            let mut part = TextPart::default();
            part.push_delta("abc", false);
            for (whole, source) in finals {
                if let TextCompletion::Correction(whole) = part.complete_with(whole, source) {
                    part.correct(whole);
                }
            }
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
        assert_eq!(part.complete_with("a😀b", FinalSource::Text), TextCompletion::Rest("😀b".to_owned()));
        let mut part = TextPart::default();
        part.push_delta(&high, true);
        assert_eq!((part.flush_lone_surrogate(), part.flush_lone_surrogate()), ("\u{fffd}".into(), String::new()));
    }
}
