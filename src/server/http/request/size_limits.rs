//! Bounds on the size of a request, checked before any route sees it: 431 for its head, 413 for a body whose declared
//! length is too large. A body without a declared length is cut while it is read (`body`).

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, COOKIE};
use http::{HeaderMap, StatusCode};

use crate::domain::CodedMessage;
use crate::domain::limits;
use crate::server::http::request::body::BodyKind;
use crate::server::http::response::problem::Problem;

/// Refuses requests that are too large.
pub async fn layer(request: Request, next: Next) -> Response {
    match check(request.headers(), BodyKind::from_path(request.uri().path()).byte_limit()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(headers: &HeaderMap, most: usize) -> Result<(), Problem> {
    let too_large = |name: &str| {
        let detail = CodedMessage::uncoded(format!("The header `{name}` is too large."));
        Problem::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "header_too_large", detail)
    };
    if let Some((name, _)) = headers.iter().find(|(_, value)| value.len() > limits::HEADER_BYTES) {
        return Err(too_large(name.as_str()));
    }
    let cookies: usize = headers.get_all(COOKIE).iter().map(|value| value.len()).sum();
    if cookies > limits::COOKIE_BYTES {
        return Err(too_large("cookie"));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length > most as u64 => Err(Problem::too_large(most)),
        _ => Ok(()),
    }
}

/// Returns the declared length of the body; 0 without one.
pub fn declared_length(headers: &HeaderMap) -> u64 {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn upload_forms_may_be_as_long_as_their_files() {
        let headers = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from(3_u32 << 20))]);
        for path in ["/forms/edit", "/forms/attach", "/forms/documents/upload", "/forms/import", "/api/blobs"] {
            assert_eq!(check(&headers, BodyKind::from_path(path).byte_limit()), Ok(()), "{path}");
        }
        assert_eq!(
            check(&headers, BodyKind::from_path("/forms/send").byte_limit()),
            Err(Problem::too_large(limits::BODY_BYTES))
        );
    }
}
