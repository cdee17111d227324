//! Why an action of accounts was refused.

use std::time::Duration;

use crate::ServiceError;
use turnleaf_domain::{CodedMessage, InvalidField, MessageCode};
use turnleaf_store::StoreError;

/// The reason why an action of accounts failed.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// It was tried too often, or too many people sign in at once. The same request may work after these seconds.
    #[error("{message}")]
    Wait { message: CodedMessage, seconds: u64 },
    /// The actor has lost the right meanwhile.
    #[error("the right to do this was taken away")]
    Forbidden,
    #[error("{0}")]
    Service(#[from] ServiceError),
    /// A password could not be hashed. The text is for the log.
    #[error("{0}")]
    Internal(String),
}

impl From<StoreError> for AccountError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl From<InvalidField> for AccountError {
    fn from(invalid: InvalidField) -> Self {
        Self::Service(invalid.into())
    }
}

impl AccountError {
    /// Returns the refusal of an attempt that comes too early.
    pub(super) fn too_many_attempts(wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Self::Wait { message: MessageCode::TooManyAttempts.with("seconds", seconds), seconds }
    }

    /// Returns the refusal while others wait for their passwords to be checked.
    pub(super) fn busy() -> Self {
        Self::Wait { message: MessageCode::SignInBusy.into(), seconds: 5 }
    }

    pub(super) fn not_found() -> Self {
        Self::Service(ServiceError::NotFound)
    }

    pub(super) fn conflict(code: &'static str, message: impl Into<CodedMessage>) -> Self {
        Self::Service(ServiceError::conflict(code, message))
    }

    /// Returns the refusal of a name that another account has. Names that look alike count as equal.
    pub(super) fn name_taken() -> Self {
        InvalidField::new("name", MessageCode::AccountNameTaken).into()
    }
}
