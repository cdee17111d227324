//! Why a deed was refused. Carries meaning, not HTTP.

use serde_json::Value;

use crate::usage::storage::bounds::StorageRefusal;
use turnleaf_domain::InvalidField;
use turnleaf_store::StoreError;

/// Why a service call did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no such thing for this person; a stranger's thing looks the same.
    #[error("not found")]
    NotFound,
    /// The request is well formed, but a value cannot be.
    #[error("{0}")]
    Invalid(#[from] InvalidField),
    /// The state of things forbids it. `code` is stable; `extra` may say how to go on.
    #[error("{message}")]
    Conflict { code: &'static str, message: String, extra: Value },
    /// Larger than a bound.
    #[error("{field} is too large: {limit}")]
    TooLarge { field: &'static str, limit: String },
    /// A file, an image or a reference that cannot be taken as it is. `code` is stable; `extra` may say how to go on.
    #[error("{message}")]
    Unfit { why: UnfitReason, code: &'static str, field: &'static str, message: String, extra: Option<Box<Value>> },
    #[error("too many replies run at once")]
    TooManyRunning,
    /// The disk or the person's quota has no room for anything new.
    #[error("{0}")]
    Storage(StorageRefusal),
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// What is wrong with a file, an image or a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitReason {
    /// It names something that is not there any more.
    Gone,
    /// Nothing here reads its kind.
    Kind,
    /// What is in it cannot be used.
    Content,
    /// There is more of it than a bound allows.
    Size,
    /// There is no room left for it.
    Room,
}

impl From<StorageRefusal> for ServiceError {
    fn from(refusal: StorageRefusal) -> Self {
        Self::Storage(refusal)
    }
}

impl ServiceError {
    /// A file, an image or a reference cannot be taken.
    pub(super) fn unfit(why: UnfitReason, code: &'static str, field: &'static str, message: impl Into<String>) -> Self {
        Self::Unfit { why, code, field, message: message.into(), extra: None }
    }

    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::Conflict { code, message: message.into(), extra: Value::Null }
    }

    /// Nothing is asked behind a reply that is not over.
    pub(super) fn earlier_reply_running() -> Self {
        Self::conflict("turn_running", "the reply before this message is still running")
    }

    /// Only a reply to a message can be had again.
    pub(super) fn answers_no_message() -> Self {
        Self::conflict("no_message", "this reply answers no message")
    }

    /// A request's name was used before, for something else.
    pub(super) fn reused_request_id() -> Self {
        Self::conflict("idempotency_mismatch", "this client_request_id was used for another request")
    }
}
