//! Text accumulator for decoders whose text pieces are complete strings: surrogates that were split over two pieces
//! are joined, and replaced with U+FFFD if the text ends.

use crate::provider::DecodedItem;
use crate::surrogates;

/// The kind of text that is being accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    Text,
    Thinking,
}

impl TextKind {
    fn item(self, text: String) -> DecodedItem {
        match self {
            Self::Text => DecodedItem::Text(text),
            Self::Thinking => DecodedItem::Thinking(text),
        }
    }
}

/// The state at the end of the emitted text.
#[derive(Debug, Default)]
pub struct TextAccumulator {
    now: Option<TextKind>,
    /// The high surrogate at its end.
    surrogate: Option<u32>,
}

impl TextAccumulator {
    /// Emits one more piece and returns it as emitted. `is_mended` means that it may contain surrogate placeholders
    /// (`BodyValue::is_mended`).
    pub fn push(&mut self, growth: TextKind, text: &str, is_mended: bool, out: &mut Vec<DecodedItem>) -> String {
        if self.now != Some(growth) {
            self.flush(out);
            self.now = Some(growth);
        }
        let given = if is_mended || self.surrogate.is_some() {
            let (joined, surrogate) = surrogates::join_surrogates(self.surrogate.take(), text);
            self.surrogate = surrogate;
            joined
        } else {
            text.to_owned()
        };
        if !given.is_empty() {
            out.push(growth.item(given.clone()));
        }
        given
    }

    /// Ends the text, at a block boundary or at the end of the body.
    pub fn flush(&mut self, out: &mut Vec<DecodedItem>) {
        if let (Some(growth), Some(_)) = (self.now.take(), self.surrogate.take()) {
            out.push(growth.item(char::REPLACEMENT_CHARACTER.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_join_within_one_text_and_are_replaced_between_texts() {
        let high = "a\u{10F03D}";
        let low = "\u{10F600}b";
        let mut growing = TextAccumulator::default();
        let mut out = Vec::new();
        assert_eq!(growing.push(TextKind::Text, high, true, &mut out), "a");
        assert_eq!(growing.push(TextKind::Text, low, true, &mut out), "😀b");
        growing.push(TextKind::Text, high, true, &mut out);
        growing.push(TextKind::Thinking, "why", false, &mut out);
        growing.flush(&mut out);
        let text = |text: &str| DecodedItem::Text(text.to_owned());
        assert_eq!(out, [text("a"), text("😀b"), text("a"), text("\u{fffd}"), DecodedItem::Thinking("why".to_owned())]);
    }
}
