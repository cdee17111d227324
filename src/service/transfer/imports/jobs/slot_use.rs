//! Why the slot of an owner is held, and the refusals of a request that needs it.

use crate::ServiceError;
use turnleaf_domain::MessageCode;

/// The purpose for which an owner's slot is held.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ImportSlotUse {
    /// An upload or import of a file.
    File,
    /// The undo or restoring of an import.
    Reversal,
    /// The deletion of everything.
    Deletion,
}

impl ImportSlotUse {
    /// Returns the error for a request that needs the slot.
    pub(super) fn conflict(self) -> ServiceError {
        match self {
            Self::File => import_running(),
            Self::Reversal => ServiceError::conflict("import_running", MessageCode::ImportReversing),
            Self::Deletion => ServiceError::conflict("deletion_running", MessageCode::DeletionRunning),
        }
    }
}

pub(super) fn import_running() -> ServiceError {
    ServiceError::conflict("import_running", MessageCode::ImportRunning)
}
