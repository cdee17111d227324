//! Spools of uploads in progress: each is held in memory while it is short, else in an unnamed file. Its declared or
//! written size counts against the quota and the disk before it is stored.

use std::io::{self, Read, Seek, Write};

use tempfile::SpooledTempFile;

use crate::usage::storage::spooled::{Reservation, SpooledSize};
use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};

/// One upload in progress.
pub struct UploadSpool {
    service: Service,
    owner: UserId,
    file: SpooledTempFile,
    reservation: Option<Reservation>,
    written: u64,
    checked_at: u64,
}

/// The reason why a spool rejects more bytes.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error(transparent)]
    Refused(#[from] ServiceError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Service {
    /// Returns a spool for an upload of `declared` bytes; 0 when the size is unknown.
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
    /// Checks the storage bounds before anything is read. The declared size already counts.
    ///
    /// # Errors
    /// `Storage`, with the exceeded bound.
    pub async fn check_room(&self) -> Result<(), ServiceError> {
        self.service.check_growth(self.owner, 0).await
    }

    /// Writes the next piece, and checks the storage bounds again after every [`limits::STORAGE_CHECKED_EVERY`]
    /// bytes.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), SpoolError> {
        self.write_unchecked(piece)?;
        if self.written - self.checked_at >= limits::STORAGE_CHECKED_EVERY as u64 {
            self.checked_at = self.written;
            self.check_room().await?;
        }
        Ok(())
    }

    /// Writes without a check, for the first part of a form that is already refused: its text returns to its page.
    pub fn write_unchecked(&mut self, piece: &[u8]) -> io::Result<()> {
        // Blocking is acceptable: the page cache takes a piece at once.
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

    /// Seeks to the start for reading.
    pub fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()
    }

    /// Releases the reservation: the stored result is counted by itself.
    pub fn release(&mut self) {
        self.reservation = None;
    }
}

impl Read for UploadSpool {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}
