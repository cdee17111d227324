//! One text that grows: a text of a message, a part of a summary, the arguments of a call. It comes in deltas, as a
//! whole, or in both ways, and is told once.

use serde_json::Value;

use crate::halves;

/// Where a text stands in its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// This place of `content`.
    Content(u64),
    /// This place of `summary`.
    Summary(u64),
    /// The arguments of a call, or the input of a custom one.
    Arguments,
}

/// What of a text is known.
#[derive(Debug, Default)]
pub struct Part {
    pub told: String,
    /// A surrogate half behind `told` that waits for its other.
    half: Option<u32>,
    /// Its citations were told.
    pub is_cited: bool,
}

impl Part {
    /// Takes a delta; gives what may be shown of it.
    pub fn grow(&mut self, delta: &str, is_mended: bool) -> String {
        let more = if is_mended || self.half.is_some() {
            let (joined, half) = halves::join(self.half.take(), delta);
            self.half = half;
            joined
        } else {
            delta.to_owned()
        };
        self.told.push_str(&more);
        more
    }

    /// Takes the whole text; gives what of it was not told. A whole that does not begin with what was told cannot take
    /// that back, and adds nothing.
    pub fn whole(&mut self, whole: &str, is_mended: bool) -> String {
        let whole = resolved(whole, is_mended);
        match whole.strip_prefix(self.told.as_str()) {
            Some(rest) if !whole.is_empty() => {
                let rest = rest.to_owned();
                self.half = None;
                self.told = whole;
                rest
            }
            _ => self.give_up(),
        }
    }

    /// Nothing can complete a half any more.
    pub fn give_up(&mut self) -> String {
        let lost = self.half.take().map_or(String::new(), |_| char::REPLACEMENT_CHARACTER.to_string());
        self.told.push_str(&lost);
        lost
    }
}

/// A text that is complete, with its stand-ins of surrogate halves resolved.
fn resolved(text: &str, is_mended: bool) -> String {
    if !is_mended {
        return text.to_owned();
    }
    let (mut joined, half) = halves::join(None, text);
    joined.extend(half.map(|_| char::REPLACEMENT_CHARACTER));
    joined
}

/// The same for every text in a value.
pub fn resolve_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = resolved(text, true),
        Value::Array(list) => list.iter_mut().for_each(resolve_all),
        Value::Object(map) => map.values_mut().for_each(resolve_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_and_wholes_tell_every_letter_once() {
        for (what, deltas, wholes, told) in [
            ("deltas, then the same", vec!["ab", "c"], vec!["abc", "abc"], "abc"),
            ("a whole alone", vec![], vec!["abc", "abc"], "abc"),
            ("a missing end", vec!["a"], vec!["abc"], "abc"),
            ("an empty whole", vec!["a"], vec![""], "a"),
            ("another whole", vec!["ab"], vec!["xyz"], "ab"),
            ("wholes that grow", vec![], vec!["a", "ab", "a"], "ab"),
        ] {
            let mut part = Part::default();
            let mut said = String::new();
            deltas.iter().for_each(|delta| said.push_str(&part.grow(delta, false)));
            wholes.iter().for_each(|whole| said.push_str(&part.whole(whole, false)));
            assert_eq!(said, told, "{what}");
            assert_eq!(part.told, told, "{what}");
        }
    }

    #[test]
    fn a_character_in_two_halves_is_one() {
        let mended = |json: &str| serde_json::from_str::<String>(&halves::mend(json)).unwrap();
        let (high, low) = (mended(r#""a\ud83d""#), mended(r#""\ude00""#));
        let mut part = Part::default();
        assert_eq!(part.grow(&high, true), "a");
        assert_eq!(part.grow(&low, true), "😀");
        let mut part = Part::default();
        part.grow(&high, true);
        assert_eq!(part.whole("a😀b", false), "😀b");
        let mut part = Part::default();
        part.grow(&high, true);
        assert_eq!((part.give_up(), part.give_up()), ("\u{fffd}".into(), String::new()));
    }
}
