//! Errors of the service: why a use case was refused, independent of HTTP.

use serde_json::Value;

use crate::usage::storage::bounds::StorageRefusal;
use turnleaf_domain::{BudgetState, CodedMessage, InvalidField, MessageCode};
use turnleaf_store::StoreError;

/// The reason why a service call failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The object does not exist for this person; objects of other people look the same.
    #[error("not found")]
    NotFound,
    /// The request is well formed, but a value is invalid.
    #[error("{0}")]
    Invalid(#[from] InvalidField),
    /// The present state forbids the change. `code` is stable; `extra` may say how to continue.
    #[error("{message}")]
    Conflict { code: &'static str, message: CodedMessage, extra: Value },
    /// The account may not do this. `code` is stable; `extra` may say how to continue.
    #[error("{message}")]
    Forbidden { code: &'static str, message: CodedMessage, extra: Box<Value> },
    /// The value exceeds a bound.
    #[error("{field} is too large: {limit}")]
    TooLarge { field: &'static str, limit: CodedMessage },
    /// A file, an image or a reference cannot be used as it is. `code` is stable; `extra` may say how to continue.
    #[error("{message}")]
    Unfit {
        reason: UnfitReason,
        code: &'static str,
        field: &'static str,
        message: CodedMessage,
        extra: Option<Box<Value>>,
    },
    #[error("too many replies are being generated")]
    TooManyRunning,
    /// Nothing is left of a budget of the account.
    #[error("{}", .0.refusal())]
    BudgetExhausted(BudgetState),
    /// The disk or the person's quota has no room for anything new.
    #[error("{0}")]
    Storage(StorageRefusal),
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// The kind of problem with a file, an image or a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitReason {
    /// It references something that no longer exists.
    Gone,
    /// Its type is not supported.
    Kind,
    /// Its content cannot be used.
    Content,
    /// It exceeds a bound.
    Size,
    /// The quota has no room for it.
    Room,
}

impl From<StorageRefusal> for ServiceError {
    fn from(refusal: StorageRefusal) -> Self {
        Self::Storage(refusal)
    }
}

impl ServiceError {
    /// Returns the refusal of a file, an image or a reference.
    pub(super) fn unfit(
        reason: UnfitReason,
        code: &'static str,
        field: &'static str,
        message: impl Into<CodedMessage>,
    ) -> Self {
        Self::Unfit { reason, code, field, message: message.into(), extra: None }
    }

    pub fn conflict(code: &'static str, message: impl Into<CodedMessage>) -> Self {
        Self::Conflict { code, message: message.into(), extra: Value::Null }
    }

    /// Returns the refusal of what needs a password that was entered lately in the session.
    pub(super) fn password_needed() -> Self {
        let (code, message) = ("password_needed", MessageCode::PasswordNeeded.into());
        Self::Forbidden { code, message, extra: Box::default() }
    }

    /// Returns the refusal of a message after a reply that is still running.
    pub(super) fn earlier_reply_running() -> Self {
        Self::conflict("turn_running", MessageCode::EarlierReplyRunning)
    }

    /// Returns the refusal to change, cancel or send a queued message that was sent.
    pub(super) fn queued_message_sent() -> Self {
        Self::conflict("queued_message_sent", MessageCode::QueuedMessageSent)
    }

    /// Returns the refusal to retry a reply that answers no message.
    pub(super) fn answers_no_message() -> Self {
        Self::conflict("no_message", MessageCode::AnswersNoMessage)
    }

    /// Returns the refusal of an idempotency key that was used for a different request.
    pub(super) fn reused_request_id() -> Self {
        Self::conflict("idempotency_mismatch", MessageCode::RequestIdReused)
    }
}
