//! Errors as clients see them: RFC 9457 `application/problem+json` with a stable `code` and the request id. They
//! never contain messages of a database driver or stack traces.

use std::fmt::Display;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::domain::text::byte_size::ByteSize;
use crate::domain::{CodedMessage, InvalidField, MessageCode};
use crate::server::http::request::request_id;
use crate::ui::locale::coded_messages::{labelled_sentence, translated_sentence};

/// Maximum characters of a reason that are shown. It may quote the input, which may be long.
const REASON_CHARS: usize = 300;

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    message: CodedMessage,
    /// The field that the message is about, unless the message names it.
    field: Option<String>,
    /// Additional members, which a client may need to recover.
    members: Vec<(String, Value)>,
    /// Seconds after which the same request may work.
    retry_after: Option<u64>,
}

impl Problem {
    /// Creates a problem with any status, a code that programs may rely on, and a sentence for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<CodedMessage>) -> Self {
        let mut message = message.into();
        // Arguments may quote the input, and appear in several members.
        message.args.values_mut().for_each(|value| *value = value.chars().take(REASON_CHARS).collect());
        Self { status, code, message, field: None, members: Vec::new(), retry_after: None }
    }

    /// Creates a problem of a field.
    pub fn of_field(status: StatusCode, code: &'static str, invalid: InvalidField) -> Self {
        let InvalidField { field, reason } = invalid;
        Self { field: Some(field).filter(|field| !field.is_empty()), ..Self::new(status, code, reason) }
    }

    /// Returns 401 for a request without a principal.
    pub fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", MessageCode::Unauthenticated)
    }

    /// Returns 403 for a principal without the right.
    pub fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", MessageCode::Forbidden)
    }

    /// Returns 404, which is the same for what does not exist and for what belongs to another user.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", MessageCode::NotFound)
    }

    /// Returns 400 for an error in the shape of a request, with the field and the reason.
    pub fn invalid(invalid: InvalidField) -> Self {
        Self::of_field(StatusCode::BAD_REQUEST, "invalid", invalid)
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
        Self::invalid(InvalidField::new(field, CodedMessage::uncoded(reason)))
    }

    /// Returns 422 for a well-formed request that cannot be done, such as an empty message.
    pub fn unprocessable(code: &'static str, invalid: InvalidField) -> Self {
        Self::of_field(StatusCode::UNPROCESSABLE_ENTITY, code, invalid)
    }

    /// Returns 409 for a request that the present state does not allow.
    pub fn conflict(code: &'static str, message: impl Into<CodedMessage>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// Returns 400 for an incomplete body.
    pub fn broken_body() -> Self {
        Self::invalid(InvalidField::new("", MessageCode::IncompleteBody))
    }

    /// Returns 413 with the bound in bytes.
    pub fn too_large(limit: usize) -> Self {
        let message = MessageCode::BodyTooLarge.with("limit", ByteSize::from_usize(limit).rounded());
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message).with_member("limit", limit)
    }

    /// Returns the sentence of a client error in the reader's language; `None` for a server error.
    pub fn client_error_sentence(&self) -> Option<String> {
        self.status.is_client_error().then(|| self.sentence())
    }

    /// Returns 415 with the accepted types.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        let detail = CodedMessage::uncoded(format!("The request body must be {accepted}, not compressed."));
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    /// Returns 503, for a server that starts, drains or waits for its database.
    pub fn unavailable(message: impl Into<CodedMessage>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// Returns 503, for a server that shuts down.
    pub fn shutting_down() -> Self {
        Self::unavailable(MessageCode::ShuttingDown, 5)
    }

    /// Returns 429 with the seconds after which a retry may work.
    pub fn too_many(message: impl Into<CodedMessage>, retry_after_seconds: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message);
        Self { retry_after: Some(retry_after_seconds), ..problem }
    }

    /// Returns 500. The cause is logged here, once, under the request id; the client gets only the id.
    pub fn internal(cause: impl Display) -> Self {
        tracing::error!(request_id = %request_id::current_request_id().unwrap_or_default(), %cause, "request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", MessageCode::Internal)
    }

    /// Adds the seconds after which the same request may work.
    pub fn with_retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Adds a member.
    pub fn with_member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.members.push((name.into(), value.into()));
        self
    }

    /// Returns the field that the problem is about.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Returns the reason without the field.
    pub fn message(&self) -> &CodedMessage {
        &self.message
    }

    /// Returns the field, the code of the reason with its arguments, and the additional members. Uncoded reasons have
    /// no code.
    fn all_members(&self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        all.extend(self.field.as_ref().map(|field| ("field".to_owned(), Value::from(field.as_str()))));
        if !self.message.is_uncoded() {
            all.push(("reason_code".to_owned(), self.message.code.code().into()));
        }
        if !self.message.is_uncoded() && !self.message.args.is_empty() {
            all.push(("args".to_owned(), json!(self.message.args)));
        }
        all.extend(self.members.iter().cloned());
        all
    }

    /// Returns the problem as an event of a stream that continues.
    pub fn as_event(&self) -> Value {
        let mut event = json!({ "type": "error", "message": self.detail(), "code": self.code });
        if let Value::Object(object) = &mut event {
            object.extend(self.all_members());
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
    pub fn detail(&self) -> String {
        match &self.field {
            Some(field) => format!("{field}: {}", self.message),
            None => self.message.to_string(),
        }
    }

    /// Returns the sentence for people, in the reader's language.
    pub fn sentence(&self) -> String {
        labelled_sentence(self.field.as_deref().unwrap_or_default(), &self.message)
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
            "detail": self.detail(),
        });
        if let Value::Object(object) = &mut body {
            object.extend(self.all_members());
            if translated_sentence(&self.message).is_some() {
                object.insert("localized".into(), self.sentence().into());
            }
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
