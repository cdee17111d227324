//! Errors as clients see them: RFC 9457 `application/problem+json` with a stable `code` and the request id. They
//! never contain messages of a database driver or stack traces.

use std::fmt::Display;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::domain::failure::{FailureKind, InvalidField};
use crate::server::http::request::request_id;

/// Maximum characters of a reason that are shown. It may quote the input, which may be long.
const REASON_CHARS: usize = 300;

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    /// Additional members: `field`, or what a client needs to recover.
    members: Vec<(String, Value)>,
    /// Seconds after which the same request may work.
    retry_after: Option<u64>,
}

impl Problem {
    /// Creates a problem with any status, a code that programs may rely on, and a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), members: Vec::new(), retry_after: None }
    }

    /// Returns 404, which is the same for what does not exist and for what belongs to another user.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "It does not exist, or you do not have access to it.")
    }

    /// Returns 400 for an error in the shape of a request, with the field and the reason.
    pub fn invalid(invalid: InvalidField) -> Self {
        if invalid.field.is_empty() {
            return Self::new(StatusCode::BAD_REQUEST, "invalid", invalid.reason);
        }
        Self::new(StatusCode::BAD_REQUEST, "invalid", invalid.to_string()).with_member("field", invalid.field)
    }

    /// Returns 400 for an input that serde could not read, with its path as far as known, and the reason.
    pub fn unreadable(path: &str, reason: &str) -> Self {
        // Serde names a missing, repeated or unknown field in the reason only.
        let named = ["missing field `", "duplicate field `", "unknown field `"]
            .iter()
            .find_map(|start| reason.strip_prefix(start)?.split('`').next());
        let field = match named {
            Some(named) if path.is_empty() => named.to_owned(),
            Some(named) if path != named && !path.ends_with(&format!(".{named}")) => format!("{path}.{named}"),
            _ => path.to_owned(),
        };
        Self::invalid(InvalidField::new(field, reason.chars().take(REASON_CHARS).collect::<String>()))
    }

    /// Returns 422 for a well-formed request that cannot be done, such as an empty message.
    pub fn unprocessable(code: &'static str, invalid: InvalidField) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, invalid.to_string()).with_member("field", invalid.field)
    }

    /// Returns 409 for a request that the present state does not allow.
    pub fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// Returns 400 for an incomplete body.
    pub fn broken_body() -> Self {
        Self::invalid(InvalidField::new("", "the request body is incomplete"))
    }

    /// Returns 413 with the bound in bytes.
    pub fn too_large(limit: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("The request body is larger than {limit} bytes."))
            .with_member("limit", limit)
    }

    /// Returns the sentence for people of a client error; `None` for a server error.
    pub fn invalid_sentence(&self) -> Option<String> {
        self.status.is_client_error().then(|| self.detail.clone())
    }

    /// Returns 415 with the accepted types.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        let detail = format!("The request body must be {accepted}, not compressed.");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    /// Returns 503, for a server that starts, drains or waits for its database.
    pub fn unavailable(detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// Returns 503, for a server that shuts down.
    pub fn shutting_down() -> Self {
        Self::unavailable("The server is shutting down.", 5)
    }

    /// Returns 429 with the seconds after which a retry may work.
    pub fn too_many(detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// Returns 500. The cause is logged here, once, under the request id; the client gets only the id.
    pub fn internal(cause: impl Display) -> Self {
        tracing::error!(request_id = %request_id::current_request_id().unwrap_or_default(), %cause, "request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", FailureKind::FAULT)
    }

    /// Adds a member.
    pub fn with_member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.members.push((name.into(), value.into()));
        self
    }

    /// Returns whether the problem has this additional member.
    pub fn has_member(&self, name: &str) -> bool {
        self.members.iter().any(|(member, _)| member == name)
    }

    /// Returns the problem as an event of a stream that continues.
    pub fn as_event(&self) -> Value {
        let mut event = json!({ "type": "error", "message": self.detail, "code": self.code });
        if let Value::Object(object) = &mut event {
            object.extend(self.members.iter().cloned());
        }
        event
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns an additional member.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the sentence for people, in English.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<InvalidField> for Problem {
    fn from(invalid: InvalidField) -> Self {
        Self::invalid(invalid)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Kept in the extensions for layers that render it in another form (`error_page`).
        let itself = self.clone();
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
        });
        if let Value::Object(object) = &mut body {
            object.extend(self.members);
            object.insert("request_id".into(), request_id::current_request_id().into());
        }
        let mut response = (self.status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(itself);
        response
    }
}
