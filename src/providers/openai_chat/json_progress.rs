//! Tells while JSON arrives in pieces whether it is complete, without keeping it.

/// The progress of one JSON value, usually the object of a call's arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonProgress {
    has_begun: bool,
    /// The number of open objects and arrays.
    depth: usize,
    /// One bit for each of the innermost 64 of them, the newest in the lowest: 1 for an array.
    arrays: u64,
    /// The last byte outside of strings that is no white space.
    last: u8,
    is_in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl JsonProgress {
    /// Reads the next piece. Only brackets and strings are read: a value that is neither an object nor an array
    /// counts as complete once it begins.
    pub fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.is_complete {
                return;
            }
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => continue,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.arrays = (self.arrays << 1) | u64::from(byte == b'[');
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.arrays >>= 1;
                }
                b'"' if self.depth > 0 => self.is_in_string = true,
                _ => {}
            }
            self.last = byte;
            self.has_begun = true;
            self.is_complete = self.depth == 0;
        }
    }

    /// Returns true once anything but white space arrived.
    pub fn has_begun(self) -> bool {
        self.has_begun
    }

    /// Returns true if a value or a text can go on with a bracket here.
    pub fn takes_value(self) -> bool {
        let may_follow = match self.last {
            b':' | b'[' => true,
            b',' => self.arrays & 1 == 1,
            _ => false,
        };
        !self.is_complete && (self.is_in_string || may_follow)
    }

    /// Returns true once the value has ended.
    pub fn is_complete(self) -> bool {
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_may_follow_where_json_has_room_for_one() {
        for (text, expected) in [
            ("", false),
            ("{", false),
            ("[", true),
            (r#"{"a""#, false),
            (r#"{"a": "#, true),
            (r#"{"a": "x"#, true),
            (r#"{"a": "x","#, false),
            (r#"{"a": [1,"#, true),
            (r#"{"a": [[1], "#, true),
            (r#"{"a": [[1]], "#, false),
            (r#"{"a": {"b": 1"#, false),
            (r#"{"a": {"b": 1}}"#, false),
        ] {
            let mut progress = JsonProgress::default();
            progress.push(text);
            assert_eq!(progress.takes_value(), expected, "{text}");
        }
    }

    #[test]
    fn value_is_complete_with_its_last_bracket_wherever_it_is_split() {
        for (text, has_begun, is_complete) in [
            ("", false, false),
            (" \n", false, false),
            ("{", true, false),
            ("{}", true, true),
            (r#"{"a": [1, {"b": "}]\"}"}]"#, true, false),
            (r#" {"a": [1, {"b": "}]\"}"}]} "#, true, true),
            (r#"{"a": "\\"}"#, true, true),
            (r#"{"a": "\\}"#, true, false),
            ("null", true, true),
            ("}", true, true),
        ] {
            for split in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let mut progress = JsonProgress::default();
                progress.push(&text[..split]);
                progress.push(&text[split..]);
                assert_eq!(
                    (progress.has_begun(), progress.is_complete()),
                    (has_begun, is_complete),
                    "{text} at {split}"
                );
            }
        }
    }
}
