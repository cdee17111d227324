//! Echo of a continued text: some providers repeat the text that a request ends with before they continue it. The
//! repetition is left out (docs/reference/providers.md 2.12).

/// The repetition of a text with which a response may begin, and its progress.
#[derive(Debug, Default)]
pub(super) struct TextEcho {
    /// The text that is continued; empty once it is decided whether the response repeats it.
    text: String,
    /// The number of its bytes that the response has repeated so far. They are held back.
    repeated: usize,
}

impl TextEcho {
    pub(super) fn of_text(text: String) -> Self {
        Self { text, repeated: 0 }
    }

    /// Returns what is new in the next piece of the response: nothing while it may be a repetition, and the held pieces
    /// with it where it turns out not to be one.
    pub(super) fn strip(&mut self, piece: String) -> String {
        let rest = &self.text[self.repeated..];
        if rest.is_empty() {
            return piece;
        }
        if rest.len() > piece.len() && rest.starts_with(&piece) {
            self.repeated += piece.len();
            return String::new();
        }
        match piece.strip_prefix(rest).map(str::to_owned) {
            Some(new) => {
                *self = Self::default();
                new
            }
            None => self.take_held() + &piece,
        }
    }

    /// Returns what was held back, which is no repetition.
    pub(super) fn take_held(&mut self) -> String {
        let Self { mut text, repeated } = std::mem::take(self);
        text.truncate(repeated);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is new in a response of these pieces, which continues the text.
    fn new_text(pieces: &[&str]) -> String {
        let mut echo = TextEcho::of_text("Ein Stück weit und".to_owned());
        let new: String = pieces.iter().map(|piece| echo.strip((*piece).to_owned())).collect();
        new + &echo.take_held()
    }

    #[test]
    fn repetition_is_left_out_however_it_is_split() {
        for pieces in [
            &["Ein Stück weit und mehr"][..],
            &["Ein Stü", "ck weit und", " mehr"],
            &["Ein Stück weit und", " ", "mehr"],
            &["E", "in Stück weit und m", "ehr"],
        ] {
            assert_eq!(new_text(pieces), " mehr", "{pieces:?}");
        }
    }

    #[test]
    fn text_that_differs_stays_whole() {
        for (pieces, expected) in [
            (&[" mehr"][..], " mehr"),
            (&["Ein Stück", " Brot"], "Ein Stück Brot"),
            (&["Ein", " Stück"], "Ein Stück"),
            (&["E", "rst", "Ein Stück weit und"], "ErstEin Stück weit und"),
            (&[], ""),
        ] {
            assert_eq!(new_text(pieces), expected, "{pieces:?}");
        }
    }
}
