//! Decodes text of any encoding into a UTF-8 stream.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

const CHUNK: usize = 64 << 10;

/// Decodes while reading: a byte order mark decides; without one the text is UTF-8, or UTF-16 if its first character
/// is ASCII. Invalid sequences become U+FFFD and are reported.
pub(crate) struct DecodedText<R> {
    from: R,
    decoder: Option<Decoder>,
    out: Vec<u8>,
    at: usize,
    end: usize,
    is_over: bool,
    has_replacements: bool,
}

impl<R: BufRead> DecodedText<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, decoder: None, out: vec![0; CHUNK], at: 0, end: 0, is_over: false, has_replacements: false }
    }

    /// Returns whether anything could not be decoded so far.
    pub(crate) fn has_replacements(&self) -> bool {
        self.has_replacements
    }

    fn refill(&mut self) -> io::Result<()> {
        while self.at == self.end && !self.is_over {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let decoder = self.decoder.get_or_insert_with(|| encoding(chunk).new_decoder());
            let is_last = chunk.is_empty();
            let (result, read, written, replaced) = decoder.decode_to_utf8(chunk, &mut self.out, is_last);
            self.from.consume(read);
            (self.at, self.end) = (0, written);
            self.has_replacements |= replaced;
            self.is_over = is_last && result == CoderResult::InputEmpty;
        }
        Ok(())
    }
}

/// Returns the encoding of a text without a byte order mark; the decoder itself detects a mark.
fn encoding(start: &[u8]) -> &'static Encoding {
    match start {
        [0, first, ..] if *first != 0 => UTF_16BE,
        [first, 0, ..] if *first != 0 => UTF_16LE,
        _ => UTF_8,
    }
}

impl<R: BufRead> BufRead for DecodedText<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.refill()?;
        Ok(&self.out[self.at..self.end])
    }

    fn consume(&mut self, used: usize) {
        self.at = (self.at + used).min(self.end);
    }
}

impl<R: BufRead> Read for DecodedText<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let length = from.len().min(into.len());
        into[..length].copy_from_slice(&from[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn every_encoding_gives_same_text() {
        let text = "[\"Grüße, 世界 😀\"]";
        let marked = format!("\u{feff}{text}");
        let table: [(Vec<u8>, &str, bool); 8] = [
            (text.into(), text, false),
            (marked.clone().into(), text, false),
            (utf16(&marked, u16::to_le_bytes), text, false),
            (utf16(&marked, u16::to_be_bytes), text, false),
            (utf16(text, u16::to_le_bytes), text, false),
            (utf16(text, u16::to_be_bytes), text, false),
            (b"[\"caf\xe9\"]".to_vec(), "[\"caf\u{fffd}\"]", true),
            (b"[\"cut \xe4\xb8".to_vec(), "[\"cut \u{fffd}", true),
        ];
        for (bytes, expected, is_replaced) in table {
            for chunk in [2, 3, 64] {
                let mut read = String::new();
                let mut reader = DecodedText::new(BufReader::with_capacity(chunk, Cursor::new(&bytes)));
                reader.read_to_string(&mut read).unwrap();
                assert_eq!((read.as_str(), reader.has_replacements()), (expected, is_replaced), "{bytes:?}");
            }
        }
    }

    #[test]
    fn empty_text_stays_empty() {
        let mut read = String::new();
        DecodedText::new(Cursor::new(b"")).read_to_string(&mut read).unwrap();
        assert_eq!(read, "");
    }
}
