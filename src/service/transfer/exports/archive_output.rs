//! The output of an archive: a memory buffer that is streamed in pieces.

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use super::damages::ExportDamages;
use super::metadata::BlobPresence;
use crate::ServiceError;
use turnleaf_interchange::archive::ArchiveWriter;
use turnleaf_store::StoreError;

/// The number of bytes that are buffered before they are sent.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// An archive writer with its buffer and the channel to the reader.
pub(super) struct ArchiveOutput<'s> {
    pub writer: ArchiveWriter<Vec<u8>>,
    pub send: &'s Sender<Bytes>,
    pub blobs: BlobPresence,
    /// Damages outside the chats.
    pub damages: ExportDamages,
    /// The number of damages of the chats written so far.
    pub damaged: u64,
}

impl ArchiveOutput<'_> {
    /// Sends the buffer once it is large enough. Returns false when the reader has disconnected.
    pub async fn flush(&mut self) -> bool {
        let buffer = self.writer.get_mut();
        if buffer.len() < PIECE_BYTES {
            return true;
        }
        // A long element is split into small pieces, so that the channel's capacity bounds memory.
        let mut much = Bytes::from(std::mem::take(buffer));
        while !much.is_empty() {
            if self.send.send(much.split_to(much.len().min(PIECE_BYTES))).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// Converts a write error. Writing into memory fails only when parts are out of order.
pub(super) fn unwritable(error: std::io::Error) -> ServiceError {
    ServiceError::Store(StoreError::Inconsistent {
        table: "archive",
        column: "json",
        id: String::new(),
        reason: error.to_string(),
    })
}
