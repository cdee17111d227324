//! A streaming scanner for the structure of an archive: it enters lists and chats step by step, and skips or spools
//! whole values without holding them. It only counts brackets and skips strings; `serde_json` parses the values.

use std::io::{self, BufRead};

use memchr::memchr2;

use crate::bounds;

/// The reason why scanning stopped.
#[derive(Debug)]
pub(super) enum ScanError {
    /// The input ends within a value.
    Truncated,
    /// A byte that is not valid JSON.
    NotJson,
    /// The input cannot be read.
    Io(io::Error),
    /// The spool cannot be written.
    Spool(io::Error),
}

/// Returns the number of values in a JSON text, which bounds the memory that they take. `None` if it is not JSON.
pub(crate) fn value_count(text: &[u8]) -> Option<usize> {
    let mut count = 0;
    let mut count_values = |_: &[u8], values| {
        count = values;
        Ok(())
    };
    ArchiveScanner::from_offset(text, 0).read_value(&mut count_values).ok()?;
    Some(count)
}

/// A document and the position in it.
pub(super) struct ArchiveScanner<R> {
    from: R,
    /// Number of consumed bytes.
    at: u64,
}

impl<R: BufRead> ArchiveScanner<R> {
    /// Creates a scanner at this offset of a document.
    pub fn from_offset(from: R, at: u64) -> Self {
        Self { from, at }
    }

    /// Returns the number of consumed bytes.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Returns the underlying reader.
    pub fn into_source(self) -> R {
        self.from
    }

    /// Enters the next list or object (`[` or `{`) if it is one; returns whether it was.
    pub fn try_enter(&mut self, bracket: u8) -> Result<bool, ScanError> {
        let is_one = self.peek_byte()?.ok_or(ScanError::Truncated)? == bracket;
        if is_one {
            self.advance(1);
        }
        Ok(is_one)
    }

    /// Returns whether the current list has another element; leaves the list if not.
    pub fn has_element(&mut self) -> Result<bool, ScanError> {
        match self.next_byte_after_comma()? {
            b']' => {
                self.advance(1);
                Ok(false)
            }
            b'}' => Err(ScanError::NotJson),
            _ => Ok(true),
        }
    }

    /// Returns the name of the next member of the current object, whose value follows, or leaves the object. A long
    /// name is truncated.
    pub fn next_member(&mut self) -> Result<Option<String>, ScanError> {
        match self.next_byte_after_comma()? {
            b'}' => {
                self.advance(1);
                return Ok(None);
            }
            b'"' => {}
            _ => return Err(ScanError::NotJson),
        }
        let mut name = Vec::new();
        self.read_value(&mut |piece, _| {
            let room = (bounds::KEY_BYTES + 2).saturating_sub(name.len());
            name.extend(piece.iter().take(room));
            Ok(())
        })?;
        if self.peek_byte()?.ok_or(ScanError::Truncated)? != b':' {
            return Err(ScanError::NotJson);
        }
        self.advance(1);
        Ok(Some(String::from_utf8_lossy(&name).trim_matches('"').to_owned()))
    }

    /// Skips a value.
    pub fn skip_value(&mut self) -> Result<(), ScanError> {
        self.read_value(&mut |_, _| Ok(()))
    }

    /// Skips a value and passes its text on in chunks, each with the number of values up to its end.
    pub fn read_value(&mut self, give: &mut dyn FnMut(&[u8], usize) -> io::Result<()>) -> Result<(), ScanError> {
        let first = self.peek_byte()?.ok_or(ScanError::Truncated)?;
        if matches!(first, b'}' | b']' | b',' | b':') {
            return Err(ScanError::NotJson);
        }
        let is_bare = !matches!(first, b'{' | b'[' | b'"');
        let (mut depth, mut values) = (0_usize, 1);
        let (mut in_string, mut is_escaped) = (false, false);
        let mut name = LastString::default();
        loop {
            let chunk = fill_buffer(&mut self.from)?;
            if chunk.is_empty() {
                return if is_bare { Ok(()) } else { Err(ScanError::Truncated) };
            }
            let (mut at, mut is_over) = (0, false);
            while at < chunk.len() && !is_over {
                if is_escaped {
                    name.append(&chunk[at..=at]);
                    (is_escaped, at) = (false, at + 1);
                    continue;
                }
                if in_string {
                    let Some(found) = memchr2(b'"', b'\\', &chunk[at..]) else {
                        name.append(&chunk[at..]);
                        at = chunk.len();
                        break;
                    };
                    name.append(&chunk[at..=at + found]);
                    is_escaped = chunk[at + found] == b'\\';
                    in_string = is_escaped;
                    is_over = !in_string && depth == 0;
                    at += found + 1;
                    continue;
                }
                match chunk[at] {
                    b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => {
                        is_over = true;
                        continue;
                    }
                    b'"' => {
                        in_string = true;
                        name.start();
                    }
                    b':' if name.is_raw_value_marker() => return Err(ScanError::NotJson),
                    b'{' | b'[' => (depth, values) = (depth + 1, values + 1),
                    b'}' | b']' => {
                        depth -= 1;
                        is_over = depth == 0;
                    }
                    b',' => values += 1,
                    _ => {}
                }
                at += 1;
            }
            give(&chunk[..at], values).map_err(ScanError::Spool)?;
            self.advance(at);
            if is_over {
                return Ok(());
            }
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.from.consume(bytes);
        self.at += bytes as u64;
    }

    fn next_byte_after_comma(&mut self) -> Result<u8, ScanError> {
        loop {
            match self.peek_byte()?.ok_or(ScanError::Truncated)? {
                b',' => self.advance(1),
                sign => return Ok(sign),
            }
        }
    }

    /// Returns the next byte that is no white space without consuming it; `None` at the end.
    fn peek_byte(&mut self) -> Result<Option<u8>, ScanError> {
        loop {
            let chunk = fill_buffer(&mut self.from)?;
            let length = chunk.len();
            if length == 0 {
                return Ok(None);
            }
            match chunk.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                Some(at) => {
                    let sign = chunk[at];
                    self.advance(at);
                    return Ok(Some(sign));
                }
                None => self.advance(length),
            }
        }
    }
}

/// The current string, recorded only if it may be the private name by which `serde_json` recognizes raw JSON: such a
/// text would expand to more and deeper values than were counted.
#[derive(Default)]
struct LastString(Vec<u8>);

impl LastString {
    const PRIVATE: &str = "$serde_json::private::RawValue";
    /// Each character may be written as an escape of six bytes.
    const MOST: usize = 6 * Self::PRIVATE.len() + 2;

    fn start(&mut self) {
        self.0.clear();
        self.0.push(b'"');
    }

    fn append(&mut self, piece: &[u8]) {
        let room = (Self::MOST + 1).saturating_sub(self.0.len());
        // Nearly every other string is excluded by its first character.
        if self.0.len() == 1 && !matches!(piece.first(), Some(b'$' | b'\\')) {
            return self.0.clear();
        }
        if !self.0.is_empty() {
            self.0.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    }

    fn is_raw_value_marker(&self) -> bool {
        !self.0.is_empty() && serde_json::from_slice::<String>(&self.0).is_ok_and(|name| name == Self::PRIVATE)
    }
}

fn fill_buffer(from: &mut impl BufRead) -> Result<&[u8], ScanError> {
    // `fill_buf` is called twice, because the borrow checker does not allow returning the first borrow from within a
    // loop.
    loop {
        match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ScanError::Io(error)),
            Ok(_) => break,
        }
    }
    from.fill_buf().map_err(ScanError::Io)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn scan(text: &[u8], chunk: usize) -> ArchiveScanner<BufReader<&[u8]>> {
        ArchiveScanner::from_offset(BufReader::with_capacity(chunk, text), 0)
    }

    /// Returns the text of a value and the number of values in it.
    fn value<R: BufRead>(scan: &mut ArchiveScanner<R>) -> Result<(String, usize), ScanError> {
        let (mut text, mut count) = (Vec::new(), 0);
        scan.read_value(&mut |piece, values| {
            text.extend_from_slice(piece);
            count = values;
            Ok(())
        })?;
        Ok((String::from_utf8(text).unwrap(), count))
    }

    #[test]
    fn lists_and_members_are_entered_and_values_are_read_whole() {
        let text = br#" { "a" : [ 1 ,"]\"\\", {"b": [[], "}"]},null ] , "c\"d": -1.5e3, "e": "x" } "#;
        for chunk in [1, 3, 64] {
            let mut scan = scan(text, chunk);
            assert!(!scan.try_enter(b'[').unwrap() && scan.try_enter(b'{').unwrap());
            assert_eq!(scan.next_member().unwrap().as_deref(), Some("a"));
            assert!(scan.try_enter(b'[').unwrap());
            let mut values = Vec::new();
            while scan.has_element().unwrap() {
                values.push(value(&mut scan).unwrap());
            }
            let expected =
                [("1", 1), (r#""]\"\\""#, 1), (r#"{"b": [[], "}"]}"#, 5), ("null", 1)].map(|(a, b)| (a.to_owned(), b));
            assert_eq!(values, expected);
            assert!(scan.next_member().unwrap().unwrap().starts_with('c'));
            assert_eq!(value(&mut scan).unwrap().0, "-1.5e3");
            assert_eq!(scan.next_member().unwrap().as_deref(), Some("e"));
            scan.skip_value().unwrap();
            assert_eq!(scan.next_member().unwrap(), None);
            assert!(matches!(scan.try_enter(b'{'), Err(ScanError::Truncated)));
        }
    }

    #[test]
    fn truncated_or_invalid_json_is_reported() {
        // The scanner counts brackets without matching their kinds; the parser does that.
        for (text, is_cut) in [("[1", true), ("[\"", true), ("[{]", true), ("[:", false), ("[}", false), ("", true)] {
            let mut scan = scan(text.as_bytes(), 8);
            let walked = (|| {
                scan.try_enter(b'[')?;
                while scan.has_element()? {
                    scan.skip_value()?;
                }
                Ok(())
            })();
            match walked {
                Err(ScanError::Truncated) => assert!(is_cut, "{text}"),
                Err(ScanError::NotJson) => assert!(!is_cut, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn raw_value_marker_is_rejected() {
        let escaped = r"\u0024serde_json\u003a\u003aprivate\u003a:RawV\u0061lue";
        for (name, is_rejected) in [
            (LastString::PRIVATE, true),
            (escaped, true),
            ("$serde_json::private::RawValues", false),
            ("$ref", false),
            ("a $serde_json::private::RawValue", false),
            (&"\\\\".repeat(500), false),
        ] {
            for chunk in [1, 7, 4096] {
                let text = format!(r#"{{"a": ["\"", {{ "{name}" : "[[1]]"}}]}}"#);
                assert_eq!(scan(text.as_bytes(), chunk).skip_value().is_err(), is_rejected, "{name}, {chunk}");
                // The name is allowed as ordinary content.
                let text = format!(r#"{{"a": ["{name}", 1], "b": "{name}"}}"#);
                assert!(scan(text.as_bytes(), chunk).skip_value().is_ok(), "{name}, {chunk}");
            }
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic_or_loop(text in r#"[\[\]{}",:\\1 ]{0,60}"#, chunk in 1usize..20) {
            let mut scan = scan(text.as_bytes(), chunk);
            let mut steps = 0;
            while scan.next_member().is_ok_and(|name| name.is_some()) && scan.skip_value().is_ok() {
                steps += 1;
                prop_assert!(steps <= text.len());
            }
            let mut scan = super::ArchiveScanner::from_offset(BufReader::with_capacity(chunk, text.as_bytes()), 0);
            while scan.has_element().is_ok_and(|is_there| is_there) && scan.skip_value().is_ok() {
                steps += 1;
                prop_assert!(steps <= 2 * text.len());
            }
        }
    }
}
