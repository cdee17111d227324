//! The error type of all server functions: a closed list. Failed replies are `domain::Failure` instead, a part of the
//! turn.

use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Deserializer, Serialize};

use crate::api::json::JsonEncoding;
use crate::domain::encoding::json_reader::{JsonMembers, deserialize_members, unknown_variant};

/// The reason why a server function failed. The messages are for people; none contains an internal cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ApiError {
    /// No one is signed in.
    #[error("Sign in first.")]
    Unauthenticated,
    /// The entity does not exist or belongs to someone else: one answer for both, so that existence is not revealed.
    #[error("It does not exist, or you do not have access to it.")]
    NotFound,
    /// One field of the request is invalid.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field as the caller named it.
        field: String,
        /// The requirement, as a sentence in the reader's language.
        reason: String,
    },
    /// The request conflicts with the stored state.
    #[error("{message}")]
    Conflict {
        /// A stable code for scripts (`branch_locked`, `already_over`).
        #[serde(rename = "reason")]
        code: String,
        /// A sentence in the reader's language.
        message: String,
    },
    #[error("Too many requests. Try again in {retry_after_s} s.")]
    TooMany { retry_after_s: u64 },
    #[error("This is too large.")]
    TooLarge,
    /// The server or the connection to it is unavailable at the moment; the same request may succeed later.
    #[error("{message}")]
    Unavailable { message: String },
    /// The page got no response.
    #[error("Could not reach the server.")]
    Unreachable,
    /// The page did not understand the response, because the server has another version by now.
    #[error("This page is out of date. Reload it.")]
    Outdated,
    /// An internal error. The reference identifies it in the server's log.
    #[error("Something went wrong on this server. Reference: {reference}")]
    Internal { reference: String },
}

fn parse_error(error: &JsonMembers<'_>) -> Result<ApiError, serde_json::Error> {
    Ok(match error.tag("code")? {
        "unauthenticated" => ApiError::Unauthenticated,
        "not_found" => ApiError::NotFound,
        "invalid" => ApiError::Invalid { field: error.get("field")?, reason: error.get("reason")? },
        "conflict" => ApiError::Conflict { code: error.get("reason")?, message: error.get("message")? },
        "too_many" => ApiError::TooMany { retry_after_s: error.get("retry_after_s")? },
        "too_large" => ApiError::TooLarge,
        "unavailable" => ApiError::Unavailable { message: error.get("message")? },
        "internal" => ApiError::Internal { reference: error.get("reference")? },
        other => return Err(unknown_variant(other)),
    })
}

impl<'de> Deserialize<'de> for ApiError {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from, parse_error)
    }
}

impl FromServerFnError for ApiError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::Unreachable,
            ServerFnErrorErr::Args(reason) | ServerFnErrorErr::MissingArg(reason) => {
                Self::Invalid { field: "request".into(), reason }
            }
            ServerFnErrorErr::Deserialization(_) => Self::Outdated,
            ServerFnErrorErr::Registration(_)
            | ServerFnErrorErr::UnsupportedRequestMethod(_)
            | ServerFnErrorErr::ServerError(_)
            | ServerFnErrorErr::MiddlewareError(_)
            | ServerFnErrorErr::Serialization(_)
            | ServerFnErrorErr::Response(_) => Self::Internal { reference: "server-fn".into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_survives_serialization() {
        for error in [
            ApiError::Unauthenticated,
            ApiError::NotFound,
            ApiError::Invalid { field: "text".into(), reason: "must not be empty".into() },
            ApiError::Conflict { code: "branch_locked".into(), message: "This branch is locked.".into() },
            ApiError::TooMany { retry_after_s: 7 },
            ApiError::TooLarge,
            ApiError::Unavailable { message: "The disk is full.".into() },
            ApiError::Internal { reference: "r-1".into() },
        ] {
            assert_eq!(ApiError::de(error.ser()), error);
        }
    }

    #[test]
    fn internal_cause_is_not_shown() {
        let error = ApiError::from_server_fn_error(ServerFnErrorErr::ServerError("secret path".into()));
        assert!(!error.to_string().contains("secret"));
    }
}
