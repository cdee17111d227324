//! Narrows a JSON text to the value of one member, however large the text around it is. Database dumps hold their
//! tables as lists within objects, where the general walk over elements does not look.

use std::io::{self, BufRead, Read};

use memchr::memchr2;

use crate::bounds;

/// The value of the member at a path of names within a text whose top-level value is an object; empty if there is no
/// such member. Of members with the same name the first counts.
pub(crate) struct MemberText<'n, R> {
    from: R,
    cursor: MemberCursor<'n>,
    /// Bytes of the current chunk that belong to the value and are not consumed yet.
    ready: usize,
}

impl<'n, R: BufRead> MemberText<'n, R> {
    pub(crate) fn new(from: R, path: &'n [&'n str]) -> Self {
        let stage = if path.is_empty() { Stage::Inside } else { Stage::Seeking };
        Self { from, cursor: MemberCursor { path, stage, ..MemberCursor::default() }, ready: 0 }
    }

    /// Returns whether there is such a member; reads up to its value.
    pub(crate) fn is_present(&mut self) -> io::Result<bool> {
        self.fill_buf().map(|value| !value.is_empty())
    }

    /// Returns the underlying reader.
    pub(crate) fn into_source(self) -> R {
        self.from
    }
}

impl<R: BufRead> BufRead for MemberText<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.ready == 0 && self.cursor.stage != Stage::Over {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                self.cursor.stage = Stage::Over;
            } else if self.cursor.stage == Stage::Seeking {
                let used = self.cursor.seek(chunk);
                self.from.consume(used);
            } else {
                self.ready = self.cursor.measure(chunk);
            }
        }
        if self.ready == 0 {
            return Ok(&[]);
        }
        // A reader returns the same chunk until it is consumed.
        let chunk = self.from.fill_buf()?;
        Ok(&chunk[..self.ready.min(chunk.len())])
    }

    fn consume(&mut self, used: usize) {
        let used = used.min(self.ready);
        self.ready -= used;
        self.from.consume(used);
    }
}

impl<R: BufRead> Read for MemberText<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let length = from.len().min(into.len());
        into[..length].copy_from_slice(&from[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// The value has not begun.
    #[default]
    Seeking,
    Inside,
    /// The value has ended, or there is none.
    Over,
}

#[derive(Default)]
struct MemberCursor<'n> {
    path: &'n [&'n str],
    stage: Stage,
    /// Number of members of the path whose objects were entered.
    entered: usize,
    /// Number of open brackets: of the whole text while seeking, of the value inside it.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last name in the object that is searched, and whether a colon followed it.
    key: Vec<u8>,
    has_colon: bool,
}

impl MemberCursor<'_> {
    /// Processes a chunk before the value; returns the number of consumed bytes.
    fn seek(&mut self, chunk: &[u8]) -> usize {
        let mut at = 0;
        while at < chunk.len() && self.stage == Stage::Seeking {
            if self.in_string {
                at = self.walk_string(chunk, at);
            } else if !self.begins_value(chunk[at]) {
                self.step(chunk[at]);
                at += 1;
            } else if self.entered + 1 == self.path.len() {
                (self.stage, self.depth) = (Stage::Inside, 0);
            } else {
                self.enter(chunk[at]);
                at += 1;
            }
        }
        at
    }

    /// Returns whether a byte begins the value of a member of the path.
    fn begins_value(&self, byte: u8) -> bool {
        self.has_colon
            && self.is_searched()
            && !byte.is_ascii_whitespace()
            && self.path.get(self.entered).is_some_and(|name| name.as_bytes() == self.key)
    }

    /// Enters the object at an inner name of the path; any other value is passed over.
    fn enter(&mut self, byte: u8) {
        self.step(byte);
        self.key.clear();
        if byte == b'{' {
            self.entered += 1;
            self.has_colon = false;
        }
    }

    /// Processes one byte outside of strings.
    fn step(&mut self, byte: u8) {
        match byte {
            b'"' if self.depth > 0 => {
                self.in_string = true;
                if self.is_searched() && !self.has_colon {
                    self.key.clear();
                }
            }
            b'{' => self.depth += 1,
            b'[' if self.depth > 0 => self.depth += 1,
            b'}' | b']' if self.depth > self.entered + 1 => self.depth -= 1,
            // The object that is searched ends without the member.
            b'}' | b']' => self.stage = Stage::Over,
            b':' if self.is_searched() => self.has_colon = true,
            b',' if self.is_searched() => self.has_colon = false,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.depth == 0 => self.stage = Stage::Over,
            _ => {}
        }
    }

    /// Skips to the end of a string or of the chunk; keeps it if it is a name in the object that is searched.
    fn walk_string(&mut self, chunk: &[u8], at: usize) -> usize {
        let end = self.string_part(chunk, at);
        if self.stage == Stage::Seeking && self.is_searched() && !self.has_colon {
            // One byte more than the bound, so that no longer name equals a name of the path.
            let room = (bounds::KEY_BYTES + 1).saturating_sub(self.key.len());
            let text = &chunk[at..if self.in_string { end } else { end - 1 }];
            self.key.extend(text.iter().take(room));
        }
        end
    }

    /// Returns the index behind the string that continues at `at`, or behind the chunk.
    fn string_part(&mut self, chunk: &[u8], mut at: usize) -> usize {
        while at < chunk.len() {
            if self.is_escaped {
                self.is_escaped = false;
                at += 1;
                continue;
            }
            let Some(found) = memchr2(b'"', b'\\', &chunk[at..]) else { return chunk.len() };
            at += found + 1;
            if chunk[at - 1] == b'"' {
                self.in_string = false;
                return at;
            }
            self.is_escaped = true;
        }
        at
    }

    /// Returns the number of bytes of the chunk that belong to the value.
    fn measure(&mut self, chunk: &[u8]) -> usize {
        let mut at = 0;
        while at < chunk.len() {
            if self.in_string {
                at = self.string_part(chunk, at);
                if !self.in_string && self.depth == 0 {
                    self.stage = Stage::Over;
                    return at;
                }
                continue;
            }
            match chunk[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                // A number or a literal ends here; without a path the text itself is the value.
                b'}' | b']' | b',' if self.depth == 0 => {
                    self.stage = Stage::Over;
                    return at;
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.stage = Stage::Over;
                        return at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Returns whether the position is directly within the object that is searched.
    fn is_searched(&self) -> bool {
        self.depth == self.entered + 1
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn value(text: &str, path: &[&str], chunk: usize) -> String {
        let mut read = String::new();
        let mut member = MemberText::new(BufReader::with_capacity(chunk, text.as_bytes()), path);
        assert_eq!(member.is_present().unwrap(), !member.fill_buf().unwrap().is_empty());
        member.read_to_string(&mut read).unwrap();
        read
    }

    #[test]
    fn value_of_member_is_found_at_any_depth() {
        let text = r#" {"a": 1, "s": "x\"}{", "é\"": [[{"b": 0}]], "b": {"a": {"b": 2}, "c" : [ {"d": "]"}, 3 ], "b": "\\"},
            "n": -1.5e3 , "t": true, "e": {}, "b": {"c": 9}}"#;
        let table: [(&[&str], &str); 12] = [
            (&["a"], "1"),
            (&["s"], r#""x\"}{""#),
            (&["b", "c"], r#"[ {"d": "]"}, 3 ]"#),
            (&["b", "b"], r#""\\""#),
            (&["b", "a", "b"], "2"),
            (&["n"], "-1.5e3 "),
            (&["t"], "true"),
            (&["e"], "{}"),
            (&["c"], ""),
            (&["a", "b"], ""),
            (&["e", "b"], ""),
            (&["b", "c", "d"], ""),
        ];
        for (path, expected) in table {
            for chunk in [1, 3, 1_000] {
                assert_eq!(value(text, path, chunk), expected, "{path:?} in chunks of {chunk}");
            }
        }
    }

    #[test]
    fn text_without_top_level_object_has_no_members() {
        for text in ["", "[]", r#"[{"a": 1}]"#, r#""a": 1"#, "a", r#"{"b": 1} {"a": 1}"#, "}", r#"{"a"}"#, r#"{"a":"#] {
            assert_eq!(value(text, &["a"], 4), "", "{text}");
        }
        assert_eq!(value(r#"{"a": [1, {"b""#, &["a"], 4), r#"[1, {"b""#, "a value may be cut");
        let long = "a".repeat(bounds::KEY_BYTES + 5);
        assert_eq!(value(&format!("{{\"{long}\": 1}}"), &[&long[..bounds::KEY_BYTES]], 4), "");
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in r#"(\{|\}|\[|\]|"a"|"|:|,|\\|1| ){0,40}"#, chunk in 1_usize..8) {
            value(&text, &["a", "a"], chunk);
        }
    }
}
