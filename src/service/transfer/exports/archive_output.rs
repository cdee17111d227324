//! An archive on its way out: written into memory, and passed on piece by piece.

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use super::damages::ExportDamages;
use super::metadata::BlobPresence;
use crate::ServiceError;
use turnleaf_interchange::archive::ArchiveWriter;
use turnleaf_store::StoreError;

/// Bytes that are written before they are passed on.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// What is written, on its way to whoever reads it.
pub(super) struct ArchiveOutput<'s> {
    pub writer: ArchiveWriter<Vec<u8>>,
    pub send: &'s Sender<Bytes>,
    pub blobs: BlobPresence,
    /// Of what stands beside the chats.
    pub damages: ExportDamages,
    /// How many damages the chats have that were written.
    pub damaged: u64,
}

impl ArchiveOutput<'_> {
    /// Passes on what is there, if it is much. False when nobody reads any more.
    pub async fn flush(&mut self) -> bool {
        let buffer = self.writer.get_mut();
        if buffer.len() < PIECE_BYTES {
            return true;
        }
        // A long element goes in small pieces, so that few of them wait and not a whole one of each.
        let mut much = Bytes::from(std::mem::take(buffer));
        while !much.is_empty() {
            if self.send.send(much.split_to(much.len().min(PIECE_BYTES))).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// Writing into memory does not fail, but for a part out of its order.
pub(super) fn unwritable(error: std::io::Error) -> ServiceError {
    ServiceError::Store(StoreError::Inconsistent {
        table: "archive",
        column: "json",
        id: String::new(),
        reason: error.to_string(),
    })
}
