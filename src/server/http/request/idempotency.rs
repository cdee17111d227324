//! Requests that a client names, so that the same one sent twice makes one thing (docs/reference/api.md 3).

use axum::http::{HeaderMap, StatusCode};

use crate::domain::InvalidField;
use crate::server::http::response::problem::Problem;

/// 201 for what was made now, 200 for what the same request made before.
pub fn created_status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

/// The client's name of a request: `client_request_id` in the body, or the header `Idempotency-Key`. Every `POST` that
/// makes something reads it with this.
pub fn client_request_id(in_body: Option<String>, headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let in_header = match headers.get("idempotency-key") {
        Some(value) => {
            let text = value.to_str().map_err(|_| InvalidField::new("Idempotency-Key", "must be visible ASCII"))?;
            Some(text.trim_matches('"').to_owned())
        }
        None => None,
    };
    match (in_body, in_header) {
        (Some(a), Some(b)) if a != b => {
            // Each of them could be a name: what is wrong is that they are two.
            let invalid = InvalidField::new("client_request_id", "differs from the Idempotency-Key header");
            Err(Problem::unprocessable("invalid", invalid))
        }
        (a, b) => Ok(a.or(b)),
    }
}
