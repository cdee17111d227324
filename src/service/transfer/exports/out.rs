//! An archive on its way out: written into memory, and passed on piece by piece.

use bytes::Bytes;
use tokio::sync::mpsc::Sender;

use super::beside::LookedFor;
use super::damages::Damages;
use crate::ServiceError;
use turnleaf_interchange::archive::Writer;
use turnleaf_store::StoreError;

/// Bytes that are written before they are passed on.
pub(super) const PIECE: usize = 64 << 10;

/// What is written, on its way to whoever reads it.
pub(super) struct Out<'s> {
    pub writer: Writer<Vec<u8>>,
    pub send: &'s Sender<Bytes>,
    pub blobs: LookedFor,
    /// Of what stands beside the chats.
    pub damages: Damages,
    /// How many damages the chats have that were written.
    pub damaged: u64,
}

impl Out<'_> {
    /// Passes on what is there, if it is much. False when nobody reads any more.
    pub async fn flush(&mut self) -> bool {
        let buffer = self.writer.get_mut();
        if buffer.len() < PIECE {
            return true;
        }
        // A long element goes in small pieces, so that few of them wait and not a whole one of each.
        let mut much = Bytes::from(std::mem::take(buffer));
        while !much.is_empty() {
            if self.send.send(much.split_to(much.len().min(PIECE))).await.is_err() {
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
