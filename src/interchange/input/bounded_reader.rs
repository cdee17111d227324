//! Enforces bounds on decompressed data.

use std::io::{self, Read};

use crate::bounds;
use crate::sink::ImportError;
use turnleaf_domain::text::byte_size::ByteSize;

/// Reads until a bound is exceeded, then fails with that bound.
pub(crate) struct BoundedReader<'a, R> {
    from: R,
    /// Compressed size in bytes.
    compressed: u64,
    read: u64,
    /// Bytes read from the whole input so far.
    total: &'a mut u64,
}

impl<'a, R: Read> BoundedReader<'a, R> {
    pub(crate) fn new(from: R, compressed: u64, total: &'a mut u64) -> Self {
        Self { from, compressed, read: 0, total }
    }
}

impl<R: Read> Read for BoundedReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.read += read as u64;
        *self.total += read as u64;
        let ratio = self.read / self.compressed.max(1);
        if self.read > bounds::ENTRY_BYTES {
            Err(LimitExceeded::io_error(format!("it is larger than {} when unpacked", ByteSize(bounds::ENTRY_BYTES))))
        } else if *self.total > bounds::TOTAL_BYTES {
            Err(LimitExceeded::io_error(format!(
                "everything together is larger than {} when unpacked",
                ByteSize(bounds::TOTAL_BYTES)
            )))
        } else if self.read > bounds::RATIO_FROM && ratio > bounds::RATIO {
            Err(LimitExceeded::io_error(format!("it expands to more than {} times its size", bounds::RATIO)))
        } else {
            Ok(read)
        }
    }
}

/// A bound was exceeded. It travels within an `io::Error`, because decoders in between know no other type.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct LimitExceeded(String);

impl LimitExceeded {
    fn io_error(text: String) -> io::Error {
        io::Error::other(Self(text))
    }
}

/// Classifies a read error: an exceeded bound, damage, or an I/O failure.
pub(crate) fn import_error(error: io::Error) -> ImportError {
    if let Some(LimitExceeded(text)) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        return ImportError::TooLarge(text.clone());
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ImportError::Damaged("it ends too early".into()),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => ImportError::Damaged(error.to_string()),
        // Decoders wrap format errors in custom errors without an OS code.
        _ if error.raw_os_error().is_none() && error.get_ref().is_some() => ImportError::Damaged(error.to_string()),
        _ => ImportError::Io(error),
    }
}
