//! Reads the records of comma-separated values (RFC 4180) of any size, one at a time.

use std::io::{self, BufRead};

use crate::bounds;
use crate::input::import_error;
use crate::report;
use crate::sink::ImportError;

/// Iterates over the records of a text. Blank lines are skipped.
pub(super) struct CsvRecords<R> {
    from: R,
    /// The bounds of one record in bytes and in fields.
    largest: usize,
    most_fields: usize,
    is_over: bool,
}

/// The state within a record.
#[derive(Default)]
struct RecordBuilder {
    fields: Vec<String>,
    field: Vec<u8>,
    bytes: usize,
    /// The record is above a bound: only its end is looked for.
    is_dropped: bool,
    /// The field has characters.
    has_text: bool,
    /// Within quotes.
    is_quoted: bool,
    /// A quote ended the quoted text, or begins an escaped quote.
    has_quote: bool,
}

impl RecordBuilder {
    fn end_field(&mut self) {
        if !self.is_dropped {
            let field = std::mem::take(&mut self.field);
            self.fields.push(String::from_utf8_lossy(&field).into_owned());
        }
        (self.has_text, self.has_quote) = (false, false);
    }

    fn push(&mut self, byte: u8) {
        self.has_text = true;
        if !self.is_dropped {
            self.field.push(byte);
        }
    }

    /// Takes one byte; returns whether it ends the record.
    fn take(&mut self, byte: u8, largest: usize, most_fields: usize) -> bool {
        self.bytes += 1;
        if !self.is_dropped && (self.bytes > largest || self.fields.len() >= most_fields) {
            self.is_dropped = true;
            (self.fields, self.field) = (Vec::new(), Vec::new());
        }
        match byte {
            b'"' if self.is_quoted => (self.is_quoted, self.has_quote) = (false, true),
            b'"' if self.has_quote => {
                (self.is_quoted, self.has_quote) = (true, false);
                self.push(b'"');
            }
            b'"' if !self.has_text => self.is_quoted = true,
            b',' if !self.is_quoted => self.end_field(),
            b'\n' if !self.is_quoted => return true,
            b'\r' if !self.is_quoted => {}
            byte => self.push(byte),
        }
        false
    }

    fn is_blank(&self) -> bool {
        !self.is_dropped && self.fields.is_empty() && !self.has_text && !self.has_quote && !self.is_quoted
    }
}

impl<R: BufRead> CsvRecords<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, largest: bounds::CONVERSATION_BYTES, most_fields: bounds::VALUES, is_over: false }
    }

    /// Returns the fields of the next record, or why it cannot be read; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Result<Vec<String>, String>>, ImportError> {
        let mut record = RecordBuilder::default();
        while !self.is_over {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk.map_err(import_error)?,
            };
            let length = chunk.len();
            self.is_over = length == 0;
            let (largest, most_fields) = (self.largest, self.most_fields);
            let end = chunk.iter().position(|byte| record.take(*byte, largest, most_fields));
            self.from.consume(end.map_or(length, |end| end + 1));
            if end.is_none() && !self.is_over {
                continue;
            }
            if record.is_blank() {
                record = RecordBuilder::default();
                continue;
            }
            return Ok(Some(self.finish(record)));
        }
        Ok(None)
    }

    fn finish(&self, mut record: RecordBuilder) -> Result<Vec<String>, String> {
        if record.bytes > self.largest {
            return Err(bounds::byte_limit_text(self.largest as u64));
        }
        if record.is_dropped {
            return Err(bounds::value_limit_text(self.most_fields));
        }
        if record.is_quoted {
            return Err(report::ENDS_WITHIN.to_owned());
        }
        record.end_field();
        Ok(record.fields)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn records(text: &str, largest: usize) -> Vec<Result<Vec<String>, String>> {
        let from = BufReader::with_capacity(3, text.as_bytes());
        let mut records = CsvRecords { from, largest, most_fields: 4, is_over: false };
        std::iter::from_fn(|| records.next().unwrap()).collect()
    }

    #[test]
    fn records_have_quoted_and_plain_fields() {
        let text = "a,\"b\"\r\n\r\n\"x \"\"y\"\", z\",\"two\nlines\"\n,\"\"\nlast";
        let expected: [&[&str]; 4] = [&["a", "b"], &["x \"y\", z", "two\nlines"], &["", ""], &["last"]];
        let read: Vec<Vec<String>> = records(text, 100).into_iter().map(Result::unwrap).collect();
        assert_eq!(read, expected);
        assert!(records("", 100).is_empty());
    }

    #[test]
    fn long_and_cut_records_say_so() {
        let read = records("short\n\"much too long\"\nnext\n\"cut", 8);
        let read: Vec<String> =
            read.into_iter().map(|record| record.map_or_else(|why| why, |fields| fields.join("|"))).collect();
        assert_eq!(read, ["short", "it is larger than 8", "next", "the file ends in the middle of it"]);
    }

    #[test]
    fn record_above_bounds_is_dropped_up_to_its_end() {
        let read = records("1,2,3,4\n1,2,3,4,\"5\n\"\"\"\nnext\na long text \"with\nnext\n\"\"\"\"\"\"\"\"\nlast", 16);
        let read: Vec<String> =
            read.into_iter().map(|record| record.map_or_else(|why| why, |fields| fields.join("|"))).collect();
        let (few, large) = ("it has more than 4 values", "it is larger than 16");
        assert_eq!(read, ["1|2|3|4", few, "next", large, "next", "\"\"\"", "last"]);

        let mut record = RecordBuilder::default();
        (0..100).for_each(|_| assert!(!record.take(b',', 8, 1_000)));
        "\"\"\"\"\"\"".bytes().for_each(|byte| assert!(!record.take(byte, 8, 1_000)));
        assert!(record.fields.is_empty() && record.field.is_empty() && record.take(b'\n', 8, 1_000));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\"|,|\n|\r|a|é){0,40}") {
            records(&text, 10);
        }
    }
}
