//! Errors as every client sees them: RFC 9457 `application/problem+json` with a stable `code` and the request's id.
//! Never the words of a driver, never a stack trace.

use std::fmt::Display;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::domain::failure::{FailureKind, InvalidField};
use crate::server::http::request::request_id;

/// Characters of a reason that are shown; it may quote the input, which may be long.
const REASON_CHARS: usize = 300;

/// One error answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    /// Members beside the standard ones: `field`, or what a client needs to go on.
    members: Vec<(String, Value)>,
    /// Seconds after which the same request may work.
    retry_after: Option<u64>,
}

impl Problem {
    /// Any status with a code that scripts may rely on and a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), members: Vec::new(), retry_after: None }
    }

    /// 404. The same for what does not exist and for what is not the caller's.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here.")
    }

    /// 400 for the shape of a request: what is wrong with which field.
    pub fn invalid(invalid: InvalidField) -> Self {
        if invalid.field.is_empty() {
            return Self::new(StatusCode::BAD_REQUEST, "invalid", invalid.reason);
        }
        Self::new(StatusCode::BAD_REQUEST, "invalid", invalid.to_string()).with_member("field", invalid.field)
    }

    /// 400 for an input that serde could not read: at which path as far as known, and its reason.
    pub fn unreadable(path: &str, reason: &str) -> Self {
        // A missing, repeated or unknown field is named only in the reason.
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

    /// 422 for a well-formed request that cannot be done, such as an empty message.
    pub fn unprocessable(code: &'static str, invalid: InvalidField) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, invalid.to_string()).with_member("field", invalid.field)
    }

    /// 409 for a request that the present state does not allow.
    pub fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
    }

    /// 400 for a body that ended before its end.
    pub fn broken_body() -> Self {
        Self::invalid(InvalidField::new("", "the body broke off"))
    }

    /// 413 with the bound in bytes.
    pub fn too_large(limit: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("The body is larger than {limit} bytes."))
            .with_member("limit", limit)
    }

    /// The sentence for people of what is wrong with a request; none where the server is what is wrong.
    pub fn invalid_sentence(&self) -> Option<String> {
        self.status.is_client_error().then(|| self.detail.clone())
    }

    /// 415 with what would be accepted.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        let detail = format!("The body must be {accepted}, not compressed.");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    /// 503 while the server starts, drains or waits for its database.
    pub fn unavailable(detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// The same while it ends.
    pub fn shutting_down() -> Self {
        Self::unavailable("The server is shutting down.", 5)
    }

    /// 429, worth trying again after this long.
    pub fn too_many(detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", detail);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// 500. The cause is logged here, once, under the request's id; the caller is told only the id.
    pub fn internal(cause: impl Display) -> Self {
        tracing::error!(request_id = %request_id::current_request_id().unwrap_or_default(), %cause, "request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", FailureKind::FAULT)
    }

    /// The same with one more member.
    pub fn with_member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.members.push((name.into(), value.into()));
        self
    }

    /// Whether it has this member beside the standard ones.
    pub fn has_member(&self, name: &str) -> bool {
        self.members.iter().any(|(member, _)| member == name)
    }

    /// The same as an event of a stream that goes on.
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

    /// One of the members beside the standard ones.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The sentence for people, in English.
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
        // For whoever tells it in another form (`error_page`).
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
