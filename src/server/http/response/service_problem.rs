//! Maps service errors to HTTP problems. Only this module knows both.

use http::StatusCode;

use crate::domain::{BudgetState, InvalidField, MessageCode};
use crate::server::http::response::problem::Problem;
use crate::ui::locale::coded_messages::{coded_sentence, field_error_sentence, too_large_sentence};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::error::UnfitReason;
use turnleaf_service::usage::storage::StorageRefusal;
use turnleaf_service::{ServiceError, StoreError};

/// The member of a problem that contains the quota in bytes.
pub const QUOTA_BYTES: &str = "quota_bytes";

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NotFound => Self::not_found(),
            ServiceError::Invalid(invalid) => invalid_input_problem(invalid),
            ServiceError::Conflict { code, message, extra } => with_members(Self::conflict(code, message), extra),
            ServiceError::Forbidden { code, message, extra } => {
                with_members(Self::new(StatusCode::FORBIDDEN, code, message), *extra)
            }
            ServiceError::TooLarge { field, limit } => {
                Self::of_field(StatusCode::PAYLOAD_TOO_LARGE, "too_large", InvalidField::new(field, limit))
            }
            ServiceError::Unfit { reason, code, field, message, extra } => {
                let status = match reason {
                    UnfitReason::Gone => StatusCode::NOT_FOUND,
                    UnfitReason::Kind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    UnfitReason::Content => StatusCode::UNPROCESSABLE_ENTITY,
                    UnfitReason::Size => StatusCode::PAYLOAD_TOO_LARGE,
                    UnfitReason::Room => StatusCode::INSUFFICIENT_STORAGE,
                };
                let extra = extra.map(|extra| *extra).unwrap_or_default();
                let problem = Self::new(status, code, message).with_member("field", field);
                let problem = match advice(code) {
                    Some(advice) => problem.with_member("advice", advice),
                    None => problem,
                };
                with_members(problem, extra)
            }
            ServiceError::TooManyRunning => Self::too_many(MessageCode::TooManyRunning, 5),
            ServiceError::Storage(refusal) => {
                let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, refusal.code(), refusal);
                match refusal {
                    StorageRefusal::DiskLow => problem,
                    StorageRefusal::QuotaReached { quota_bytes } => problem.with_member(QUOTA_BYTES, quota_bytes),
                }
            }
            ServiceError::BudgetExhausted(budget) => {
                let seconds = (budget.resets_at - SystemClock.now()).num_seconds().max(1).unsigned_abs();
                Self::new(StatusCode::TOO_MANY_REQUESTS, BudgetState::EXHAUSTED, budget.refusal())
                    .with_retry_after(seconds)
                    .with_member("budget", budget.kind.as_str())
                    .with_member("most", budget.most)
                    .with_member("used", budget.used)
                    .with_member("resets_at", budget.resets_at.to_rfc3339())
            }
            ServiceError::Store(StoreError::Full) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", MessageCode::DiskFull)
            }
            ServiceError::Store(StoreError::Deleted(_)) => Self::not_found(),
            ServiceError::Store(error @ StoreError::BrokenPath(_)) => {
                Self::conflict("corrupt_tree", MessageCode::DamagedPath.with("reason", error))
            }
            // Another process has claimed the database and this one is about to end, so clients should try again.
            ServiceError::Store(StoreError::InUse) => Self::shutting_down(),
            ServiceError::Store(error) if error.is_busy() => Self::unavailable(MessageCode::DatabaseBusy, 2),
            ServiceError::Store(error) => Self::internal(error),
        }
    }
}

impl From<AccountError> for Problem {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::Wait { message, seconds } => Self::too_many(message, seconds),
            AccountError::Forbidden => Self::forbidden(),
            AccountError::Service(error) => error.into(),
            AccountError::Internal(cause) => Self::internal(cause),
        }
    }
}

/// Returns the sentence of a refusal for pages, in the reader's language.
pub fn refusal_sentence(error: &ServiceError) -> String {
    match error {
        ServiceError::TooLarge { field, limit } => too_large_sentence(field, limit),
        ServiceError::Invalid(invalid) => field_error_sentence(invalid),
        ServiceError::Conflict { message, .. }
        | ServiceError::Forbidden { message, .. }
        | ServiceError::Unfit { message, .. } => coded_sentence(message),
        ServiceError::Storage(refusal) => coded_sentence(&(*refusal).into()),
        ServiceError::BudgetExhausted(budget) => coded_sentence(&budget.refusal()),
        ServiceError::NotFound => coded_sentence(&MessageCode::NotFound.into()),
        ServiceError::TooManyRunning => coded_sentence(&MessageCode::TooManyRunning.into()),
        ServiceError::Store(error) => error.to_string(),
    }
}

/// Returns what a program can do about a file that was refused.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "empty_file" => "Send the file's bytes as the request body.",
        "unsupported_file" => "Send text, HTML, CSV, PDF, DOCX, PPTX, XLSX, PNG, JPEG, GIF or WebP.",
        "image_too_large" => "Make the image smaller and send it again.",
        "encoding" => "Set `encoding` to one of `choices`, or save the file as UTF-8.",
        "unpacks_too_large" | "unreadable_file" => "Send a smaller file, or split it into parts.",
        "damaged_file" => "Open the file in the program that created it, save it again, and send the new copy.",
        "no_text" => "Send a file whose pages have text, or its pages as images.",
        _ => return None,
    })
}

fn with_members(problem: Problem, extra: serde_json::Value) -> Problem {
    match extra {
        serde_json::Value::Object(members) => {
            members.into_iter().fold(problem, |problem, (name, value)| problem.with_member(&name, value))
        }
        _ => problem,
    }
}

/// Bad parameters are an error in the shape of a request (400); a well-formed message that cannot be sent is 422.
fn invalid_input_problem(invalid: InvalidField) -> Problem {
    if invalid.field.starts_with("params.") {
        return Problem::invalid(invalid);
    }
    let code = match (invalid.field.as_str(), invalid.reason.code) {
        ("content", MessageCode::EmptyMessage) => "empty_message",
        ("prev_turn_id", MessageCode::OtherChat) => "parent_other_chat",
        _ => "invalid",
    };
    Problem::unprocessable(code, invalid)
}
