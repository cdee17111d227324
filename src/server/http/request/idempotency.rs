//! Idempotency keys: a create request that is sent twice creates one thing (docs/reference/api.md 3.5).

use axum::http::{HeaderMap, StatusCode};

use crate::domain::InvalidField;
use crate::domain::MessageCode;
use crate::server::http::response::problem::Problem;

/// Returns 201 for a new resource, and 200 for one that the same request created before.
pub fn created_status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

/// Reads the idempotency key: `client_request_id` in the body, or the header `Idempotency-Key`. Every `POST` that
/// creates something uses it.
pub fn client_request_id(in_body: Option<String>, headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let in_header = match headers.get("idempotency-key") {
        Some(value) => {
            let text =
                value.to_str().map_err(|_| InvalidField::new("Idempotency-Key", MessageCode::NotVisibleAscii))?;
            Some(text.trim_matches('"').to_owned())
        }
        None => None,
    };
    match (in_body, in_header) {
        (Some(a), Some(b)) if a != b => {
            // Each of the two would be valid; the error is that they differ.
            let invalid = InvalidField::new("client_request_id", MessageCode::RequestIdMismatch);
            Err(Problem::unprocessable("invalid", invalid))
        }
        (a, b) => Ok(a.or(b)),
    }
}
