//! What can go wrong on the way from the page to the server and back: one closed list, the same for every server
//! function. Not for failed replies: those are `domain::Failure`, part of the turn.

use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Deserializer, Serialize};

use crate::api::json::JsonEncoding;
use crate::domain::json_reader::{JsonMembers, deserialize_members, unknown_variant};

/// Why a server function did not do what was asked. The words are for people; none carries a cause from inside the
/// server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ApiError {
    /// Nobody is signed in.
    #[error("Sign in first.")]
    Unauthenticated,
    /// It is not there, or not the caller's: one answer for both.
    #[error("This does not exist or is not yours.")]
    NotFound,
    /// One field of the request is wrong.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field as the caller named it.
        field: String,
        /// What it should be, as a sentence.
        reason: String,
    },
    /// The request contradicts what is stored by now.
    #[error("{message}")]
    Conflict {
        /// A stable word for scripts (`branch_locked`, `already_over`).
        #[serde(rename = "reason")]
        code: String,
        message: String,
    },
    #[error("Too many requests. Try again in {retry_after_s} s.")]
    TooMany { retry_after_s: u64 },
    #[error("This is too large.")]
    TooLarge,
    /// The server, or the way to it, does not work at the moment; the same request may work later.
    #[error("{message}")]
    Unavailable { message: String },
    /// A fault of the server. The reference finds it in the server's log.
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

/// What a page says when no answer came.
const UNREACHED: &str = "The server cannot be reached at the moment.";

impl ApiError {
    /// No answer came.
    pub fn server_unreachable() -> Self {
        Self::Unavailable { message: UNREACHED.into() }
    }

    /// Whether it is that.
    pub fn is_server_unreachable(&self) -> bool {
        matches!(self, Self::Unavailable { message } if message == UNREACHED)
    }
}

impl FromServerFnError for ApiError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::server_unreachable(),
            ServerFnErrorErr::Args(reason) | ServerFnErrorErr::MissingArg(reason) => {
                Self::Invalid { field: "request".into(), reason }
            }
            // A page of another version of the server speaks another language.
            ServerFnErrorErr::Deserialization(_) => {
                Self::Unavailable { message: "The server answered in a way this page does not know. Reload it.".into() }
            }
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
