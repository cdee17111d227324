//! The text that grows now, for decoders whose pieces of text are whole strings: halves of surrogate pairs that came in
//! two pieces are put together, and given up where the text ends.

use crate::halves;
use crate::provider::Item;

/// What grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    Text,
    Thinking,
}

impl Growth {
    fn item(self, text: String) -> Item {
        match self {
            Self::Text => Item::Text(text),
            Self::Thinking => Item::Thinking(text),
        }
    }
}

/// The end of what was given out.
#[derive(Debug, Default)]
pub struct Growing {
    now: Option<Growth>,
    /// A high half at its end.
    half: Option<u32>,
}

impl Growing {
    /// Gives out one more piece and returns it as it was given out. `is_mended` says that it may hold stand-ins of
    /// halves (`Piece::is_mended`).
    pub fn grow(&mut self, growth: Growth, text: &str, is_mended: bool, out: &mut Vec<Item>) -> String {
        if self.now != Some(growth) {
            self.seam(out);
            self.now = Some(growth);
        }
        let given = if is_mended || self.half.is_some() {
            let (joined, half) = halves::join(self.half.take(), text);
            self.half = half;
            joined
        } else {
            text.to_owned()
        };
        if !given.is_empty() {
            out.push(growth.item(given.clone()));
        }
        given
    }

    /// The place between two blocks, or the end.
    pub fn seam(&mut self, out: &mut Vec<Item>) {
        if let (Some(growth), Some(_)) = (self.now.take(), self.half.take()) {
            out.push(growth.item(char::REPLACEMENT_CHARACTER.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_meet_inside_one_text_and_are_given_up_between_two() {
        let high = "a\u{10F03D}";
        let low = "\u{10F600}b";
        let mut growing = Growing::default();
        let mut out = Vec::new();
        assert_eq!(growing.grow(Growth::Text, high, true, &mut out), "a");
        assert_eq!(growing.grow(Growth::Text, low, true, &mut out), "😀b");
        growing.grow(Growth::Text, high, true, &mut out);
        growing.grow(Growth::Thinking, "why", false, &mut out);
        growing.seam(&mut out);
        let text = |text: &str| Item::Text(text.to_owned());
        assert_eq!(out, [text("a"), text("😀b"), text("a"), text("\u{fffd}"), Item::Thinking("why".to_owned())]);
    }
}
