//! Uploads on their way: each lies in a spool while it arrives, in memory as long as it is short, else in a file without a
//! name. What it says that it is long, or is by now, counts against the quota and the disk before it is there.

use std::io::{self, Read, Seek, Write};

use tempfile::SpooledTempFile;

use crate::usage::storage::spooled::{Reservation, SpooledSize};
use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};

/// One upload on its way.
pub struct UploadSpool {
    service: Service,
    owner: UserId,
    file: SpooledTempFile,
    reservation: Option<Reservation>,
    written: u64,
    checked_at: u64,
}

/// Why a spool takes no more.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error(transparent)]
    Refused(#[from] ServiceError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Service {
    /// A spool for an upload that says that it has so many bytes; 0 where it does not say.
    pub fn upload_spool(&self, owner: UserId, declared: u64) -> UploadSpool {
        UploadSpool {
            service: self.clone(),
            owner,
            file: self.import_job_registry().scratch_files().new_spool(),
            reservation: Some(Reservation::new(self.spooled().clone(), owner, declared)),
            written: 0,
            checked_at: 0,
        }
    }
}

impl UploadSpool {
    /// Whether there is room for it, before anything of it is read. What was declared counts already.
    ///
    /// # Errors
    /// `Storage`, with what there is too little of.
    pub async fn check_room(&self) -> Result<(), ServiceError> {
        self.service.check_growth(self.owner, 0).await
    }

    /// Writes the next piece; looks again whether there is room after each so many bytes.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), SpoolError> {
        self.write_unchecked(piece)?;
        if self.written - self.checked_at >= limits::STORAGE_CHECKED_EVERY as u64 {
            self.checked_at = self.written;
            self.check_room().await?;
        }
        Ok(())
    }

    /// The same without a look, for the first part of a form that is refused already: its words go back to its page.
    pub fn write_unchecked(&mut self, piece: &[u8]) -> io::Result<()> {
        // The disk's buffer takes a piece at once.
        self.file.write_all(piece)?;
        self.written += piece.len() as u64;
        if let Some(reservation) = &mut self.reservation {
            let promised = reservation.part.promised.max(self.written);
            reservation.change(SpooledSize { promised, written: self.written });
        }
        Ok(())
    }

    pub fn written_bytes(&self) -> u64 {
        self.written
    }

    /// Goes to its start, to be read.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()
    }

    /// Counts no longer: what is kept of it is counted as it is kept.
    pub fn release(&mut self) {
        self.reservation = None;
    }
}

impl Read for UploadSpool {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}
