//! Spools archive data to a scratch file until it can be delivered: a turn precedes the branch that it belongs to,
//! and a generation may be as large as a response. Values are stored verbatim and parsed one by one.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use serde::de::DeserializeOwned;
use serde_json::Error;

use super::scan::{ArchiveScanner, ScanError};
use crate::bounds;

/// A private file that exists as long as it is open.
pub trait ScratchFile: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> ScratchFile for T {}

/// The position of a value in the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpoolRange {
    pub at: u64,
    pub length: u64,
}

/// Consecutive values in a scratch file.
pub(super) struct Spool {
    file: Box<dyn ScratchFile>,
    end: u64,
    /// The value that was added last, if it is short.
    held: Vec<u8>,
}

impl Spool {
    pub fn new(file: Box<dyn ScratchFile>) -> Self {
        Self { file, end: 0, held: Vec::new() }
    }

    /// Discards the contents.
    pub fn clear(&mut self) {
        self.end = 0;
    }

    /// Appends the next value of the scanner, or returns why it is too large.
    pub fn take<R: io::BufRead>(
        &mut self,
        scan: &mut ArchiveScanner<R>,
    ) -> Result<Result<SpoolRange, String>, ScanError> {
        let Self { file, end, held } = self;
        held.clear();
        let at = *end;
        let mut length = 0;
        let mut too_much = None;
        scan.read_value(&mut |piece, values| {
            if too_much.is_some() {
                return Ok(());
            }
            length += piece.len() as u64;
            if length > bounds::ELEMENT_BYTES {
                too_much = Some(bounds::byte_limit_text(bounds::ELEMENT_BYTES));
            } else if values > bounds::ELEMENT_VALUES {
                too_much = Some(bounds::value_limit_text(bounds::ELEMENT_VALUES));
            } else {
                held.extend_from_slice(piece);
                if held.len() > bounds::IN_MEMORY_BYTES {
                    write_at(file, at + length - held.len() as u64, held)?;
                    held.clear();
                }
            }
            Ok(())
        })?;
        if let Some(reason) = too_much {
            held.clear();
            return Ok(Err(reason));
        }
        write_at(file, at + length - held.len() as u64, held).map_err(ScanError::Spool)?;
        if length != held.len() as u64 {
            held.clear();
        }
        *end = at + length;
        Ok(Ok(SpoolRange { at, length }))
    }

    /// Parses a value of the spool.
    ///
    /// # Errors
    /// The value is no `T`; an I/O error if the file cannot be read.
    pub fn read<T: DeserializeOwned>(&mut self, spot: SpoolRange) -> Result<T, Error> {
        let is_last = spot.at + spot.length == self.end;
        if is_last && self.held.len() as u64 == spot.length {
            return serde_json::from_slice(&self.held);
        }
        self.file.seek(SeekFrom::Start(spot.at)).map_err(Error::io)?;
        let mut text = Read::take(&mut self.file, spot.length);
        if spot.length <= bounds::IN_MEMORY_BYTES as u64 {
            self.held.clear();
            text.read_to_end(&mut self.held).map_err(Error::io)?;
            let read = serde_json::from_slice(&self.held);
            self.held.clear();
            read
        } else {
            // A long value is parsed from the file and never held as text.
            serde_json::from_reader(BufReader::with_capacity(64 << 10, text))
        }
    }
}

fn write_at(file: &mut Box<dyn ScratchFile>, at: u64, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek, SeekFrom};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::Value;

    use super::*;

    /// A file that records its longest write.
    #[derive(Default)]
    struct WatchedFile(Cursor<Vec<u8>>, Arc<AtomicUsize>);

    impl Read for WatchedFile {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for WatchedFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.fetch_max(bytes.len(), Ordering::Relaxed);
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for WatchedFile {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn values_are_read_in_any_order_and_long_ones_are_never_held_in_memory() {
        let long = "x".repeat(3 * bounds::IN_MEMORY_BYTES);
        let text = format!("[\"short\", \"{long}\", [1, 2]]");
        let longest = Arc::new(AtomicUsize::new(0));
        let mut spool = Spool::new(Box::new(WatchedFile(Cursor::default(), longest.clone())));
        let mut scan = ArchiveScanner::from_offset(BufReader::with_capacity(1 << 10, text.as_bytes()), 0);
        scan.try_enter(b'[').unwrap();
        let mut spots = Vec::new();
        while scan.has_element().unwrap() {
            spots.push(spool.take(&mut scan).unwrap().unwrap());
            assert!(spool.held.len() <= bounds::IN_MEMORY_BYTES);
        }
        assert!(longest.load(Ordering::Relaxed) <= bounds::IN_MEMORY_BYTES + (1 << 10));
        for at in [2, 0, 1, 0] {
            let value: Value = spool.read(spots[at]).unwrap();
            assert_eq!(value, [Value::from("short"), Value::from(long.as_str()), serde_json::json!([1, 2])][at]);
        }
        assert!(spool.read::<u64>(spots[0]).is_err());
    }

    #[test]
    fn too_many_values_are_refused_and_next_value_is_taken() {
        let text = format!("[[{}0],7]", "0,".repeat(bounds::ELEMENT_VALUES));
        let mut spool = Spool::new(Box::new(Cursor::new(Vec::new())));
        let mut scan = ArchiveScanner::from_offset(text.as_bytes(), 0);
        scan.try_enter(b'[').unwrap();
        assert!(spool.take(&mut scan).unwrap().unwrap_err().contains("values"));
        assert!(scan.has_element().unwrap());
        let spot = spool.take(&mut scan).unwrap().unwrap();
        assert_eq!(spool.read::<u64>(spot).unwrap(), 7);
    }
}
