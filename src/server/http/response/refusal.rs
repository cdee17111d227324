//! What the service refuses, as problems. The one room that may see both.

use http::StatusCode;

use crate::domain::{FailureKind, Invalid};
use crate::server::http::response::problem::Problem;
use crate::server::pages::storage_words;
use crate::ui::words::told::told_of_field;
use turnleaf_service::error::Unfit;
use turnleaf_service::turns::membership::OF_ANOTHER_CHAT;
use turnleaf_service::turns::messages;
use turnleaf_service::usage::storage::StorageRefusal;
use turnleaf_service::{ServiceError, StoreError};

/// The member of a problem that says how large the quota is.
pub const QUOTA_BYTES: &str = "quota_bytes";

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NotFound => Self::not_found(),
            ServiceError::Invalid(invalid) => refused(invalid),
            ServiceError::Conflict { code, message, extra } => with_members(Self::conflict(code, message), extra),
            ServiceError::TooLarge { field, limit } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("{field}: {limit}")).with("field", field)
            }
            ServiceError::Unfit { why, code, field, message, extra } => {
                let status = match why {
                    Unfit::Gone => StatusCode::NOT_FOUND,
                    Unfit::Kind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    Unfit::Content => StatusCode::UNPROCESSABLE_ENTITY,
                    Unfit::Size => StatusCode::PAYLOAD_TOO_LARGE,
                    Unfit::Room => StatusCode::INSUFFICIENT_STORAGE,
                };
                let extra = extra.map(|extra| *extra).unwrap_or_default();
                let problem = Self::new(status, code, message).with("field", field);
                let problem = match advice(code) {
                    Some(advice) => problem.with("advice", advice),
                    None => problem,
                };
                with_members(problem, extra)
            }
            ServiceError::TooManyRunning => Self::too_many("Too many replies run at once.", 5),
            ServiceError::Storage(refusal) => {
                let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, refusal.code(), refusal.to_string());
                match refusal {
                    StorageRefusal::DiskLow => problem,
                    StorageRefusal::QuotaReached { quota_bytes } => problem.with(QUOTA_BYTES, quota_bytes),
                }
            }
            ServiceError::Store(StoreError::Full) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", FailureKind::DISK_FULL)
            }
            ServiceError::Store(StoreError::Deleted(_)) => Self::not_found(),
            ServiceError::Store(error @ StoreError::BrokenPath(_)) => {
                Self::conflict("corrupt_tree", format!("{error}; `turnleaf fsck` says where."))
            }
            // This process is about to end; the one that took its database answers.
            ServiceError::Store(StoreError::InUse) => Self::shutting_down(),
            ServiceError::Store(error) if error.is_busy() => Self::unavailable("The database is busy.", 2),
            ServiceError::Store(error) => Self::internal(error),
        }
    }
}

/// What a page says of a refusal, in the reader's language.
pub fn refusal_sentence(error: &ServiceError) -> String {
    match error {
        ServiceError::Storage(refusal) => storage_words::sentence(*refusal),
        error => told_of_field(&error.to_string()),
    }
}

/// What a script can do about a file that was refused.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "empty_file" => "Send the bytes of the file as the body of the request.",
        "unsupported_file" => "Send text, HTML, CSV, PDF, DOCX, PPTX, XLSX, PNG, JPEG, GIF or WebP.",
        "image_too_large" => "Make the image smaller and send it again.",
        "encoding" => "Name one of `choices` as `encoding`, or save the file as UTF-8.",
        "unpacks_too_large" | "unreadable_file" => "Send a smaller file, or its parts one by one.",
        "damaged_file" => "Open the file in the program that made it, save it again, and send that.",
        "no_text" => "Send a file whose pages have text, or its pages as images.",
        _ => return None,
    })
}

fn with_members(problem: Problem, extra: serde_json::Value) -> Problem {
    match extra {
        serde_json::Value::Object(members) => {
            members.into_iter().fold(problem, |problem, (name, value)| problem.with(&name, value))
        }
        _ => problem,
    }
}

/// Parameters are part of a request's shape (400, badinputs.md S-SZ-08); what a well-formed message says is not (422).
fn refused(invalid: Invalid) -> Problem {
    if invalid.field.starts_with("params.") {
        return Problem::invalid(invalid);
    }
    let code = match (invalid.field.as_str(), invalid.reason.as_str()) {
        ("content", messages::IS_EMPTY) => "empty_message",
        ("prev_turn_id", OF_ANOTHER_CHAT) => "parent_other_chat",
        _ => "invalid",
    };
    Problem::unprocessable(code, invalid)
}
